"""Every client chooses a mode for each question, and tells which there are."""

from __future__ import annotations

import pytest

from crmrag_query import Client, Done, errors
from tests.query.client.conftest import Calling

QUESTION = "Which churches were built before 1200?"


@pytest.mark.parametrize("mode", ["crm", "vector", "fulltext", "global_vector"])
def test_a_question_is_answered_in_the_mode_that_is_named(call: Calling, local: Client, mode: str) -> None:
    answer = call("ask", QUESTION, mode=mode)
    assert answer.mode == mode and answer == local.ask(QUESTION, mode=mode)
    assert (answer.set is not None) is (mode == "crm")
    done = call("stream", QUESTION, mode=mode)[-1]
    assert isinstance(done, Done) and done.answer == answer
    assert call("ask", "And by whom?", history=answer, mode="vector").mode == "vector"


def test_without_one_it_is_the_default(call: Calling, local: Client) -> None:
    assert call("ask", QUESTION) == local.ask(QUESTION, mode="crm")


@pytest.mark.parametrize(("mode", "channel"), [("vector", "dense"), ("fulltext", "sparse")])
def test_a_ranking_tells_its_mode_and_what_its_channels_measured(
    call: Calling, local: Client, mode: str, channel: str
) -> None:
    ranking = call("retrieve", QUESTION, k=5, mode=mode)
    assert ranking.mode == mode and ranking == local.retrieve(QUESTION, k=5, mode=mode)
    measured = [one.similarities[channel] for one in ranking]
    assert measured == sorted(measured, reverse=True) and all({*one.ranks} == {channel} for one in ranking)


def test_modes_are_told_with_what_they_need(call: Calling, local: Client) -> None:
    modes = call("modes")
    assert modes == local.modes() and modes.dataset == "sample"
    assert [one.name for one in modes.modes] == [
        "crm",
        "vector",
        "fulltext",
        "global_vector",
        "graph",
        "agent",
    ]
    assert all(one.title["en"] and one.lacks == () and one.build == "" for one in modes.modes)
    assert modes.to_polars()["mode"].to_list() == [
        "crm",
        "vector",
        "fulltext",
        "global_vector",
        "graph",
        "agent",
    ]


def test_an_unknown_mode_is_refused_with_the_list(call: Calling) -> None:
    for name in ("ask", "stream", "retrieve"):
        with pytest.raises(
            errors.QuestionError, match=r"no mode 'best'. There are: crm, vector, fulltext, global_vector"
        ):
            call(name, QUESTION, mode="best")


def test_what_nothing_meets_has_no_documents_and_no_sources(call: Calling) -> None:
    ranking, answer = call("retrieve", "qqqq zzzz"), call("ask", "qqqq zzzz")
    assert (len(ranking), ranking.sources, answer.sources, answer.refused) == (0, (), (), True)
