"""Every client chooses a mode for each question, and tells which there are."""

from __future__ import annotations

import pytest

from crmrag_query import Client, Done, errors
from tests.query.client.conftest import Calling
from tests.support.modes import SHIPPED, THERE_ARE, WITHOUT_MODEL

QUESTION = "Which churches were built before 1200?"


@pytest.mark.parametrize("mode", WITHOUT_MODEL)
def test_a_question_is_answered_in_the_mode_that_is_named(
    compared: Calling, local: Client, mode: str
) -> None:
    answer = compared("ask", QUESTION, mode=mode)
    assert answer.mode == mode and answer == local.ask(QUESTION, mode=mode)
    assert (answer.set is not None) is (mode in ("crm", "graph"))
    done = compared("stream", QUESTION, mode=mode)[-1]
    assert isinstance(done, Done) and done.answer == answer
    assert compared("ask", "And by whom?", history=answer, mode="vector").mode == "vector"


def test_without_one_it_is_the_default(compared: Calling, local: Client) -> None:
    assert compared("ask", QUESTION) == local.ask(QUESTION, mode="crm")


@pytest.mark.parametrize(("mode", "channel"), [("vector", "dense"), ("fulltext", "sparse")])
def test_a_ranking_tells_its_mode_and_what_its_channels_measured(
    compared: Calling, local: Client, mode: str, channel: str
) -> None:
    ranking = compared("retrieve", QUESTION, k=5, mode=mode)
    assert ranking.mode == mode and ranking == local.retrieve(QUESTION, k=5, mode=mode)
    measured = [one.similarities[channel] for one in ranking]
    assert measured == sorted(measured, reverse=True) and all({*one.ranks} == {channel} for one in ranking)


def test_modes_are_told_with_what_they_need(compared: Calling, local: Client) -> None:
    modes = compared("modes")
    assert modes == local.modes() and modes.dataset == "sample"
    assert [one.name for one in modes.modes] == [*SHIPPED]
    assert all(one.title["en"] and one.lacks == () and one.build == "" for one in modes.modes)
    assert modes.to_polars()["mode"].to_list() == [*SHIPPED]


def test_an_unknown_mode_is_refused_with_the_list(call: Calling) -> None:
    for name in ("ask", "stream", "retrieve"):
        with pytest.raises(errors.QuestionError, match=f"no mode 'best'. {THERE_ARE}"):
            call(name, QUESTION, mode="best")


def test_what_nothing_meets_has_no_documents_and_no_sources(call: Calling) -> None:
    ranking, answer = call("retrieve", "qqqq zzzz"), call("ask", "qqqq zzzz")
    assert (len(ranking), ranking.sources, answer.sources, answer.refused) == (0, (), (), True)


def test_one_question_stands_in_several_modes_with_the_sources_that_they_share(
    compared: Calling, local: Client
) -> None:
    found = compared("compare_modes", QUESTION)
    assert found == local.compare_modes(QUESTION)
    assert [one.mode for one in found] == [*SHIPPED]
    without = next(one for one in found if one.mode == "agent")
    assert without.answer is None and "needs a language model that calls tools" in without.failed
    for one in found:
        if one is without:
            continue
        assert (
            one.milliseconds > 0
            and one.answer is not None
            and one.answer == local.ask(QUESTION, mode=one.mode)
        )
        assert (one.tokens, one.failed) == (None, "")
        iris = {source.iri for source in one.answer.sources}
        assert iris == {source.iri for source in found.sources if one.mode in source.modes}
        cited = {source.iri for source in one.answer.sources if source.cited}
        assert cited == {source.iri for source in found.sources if one.mode in source.cited}
        others = {
            source.iri for other in found if other != one and other.answer for source in other.answer.sources
        }
        assert found.alone(one.mode) == len(iris - others)
    assert [*{len(source.modes): 0 for source in found.sources}] == sorted(
        {len(source.modes) for source in found.sources}, reverse=True
    )
    two = compared("compare_modes", QUESTION, modes=["fulltext", "crm"])
    assert [one.mode for one in two] == ["fulltext", "crm"]
    assert two.to_polars()["mode"].to_list() == ["fulltext", "crm"]
    with pytest.raises(errors.QuestionError, match=THERE_ARE):
        compared("compare_modes", QUESTION, modes=["best"])
    with pytest.raises(errors.QuestionError, match="empty"):
        compared("compare_modes", " ")


@pytest.mark.parametrize(("silent", "which"), [((), "all"), (("agent",), "all 2 that answered")])
def test_sources_of_all_are_those_of_all_modes_that_answered(
    compared: Calling, local: Client, silent: tuple[str, ...], which: str
) -> None:
    found = compared("compare_modes", QUESTION, modes=["crm", "graph", *silent])
    crm, graph = ({one.iri for one in local.ask(QUESTION, mode=mode).sources} for mode in ("crm", "graph"))
    assert crm & graph and found.head().endswith(f", {len(crm & graph)} of them in {which}")


def test_a_part_of_the_data_is_asked(compared: Calling, local: Client) -> None:
    whole = local.ask(QUESTION).set
    assert whole is not None
    one = whole.members[0].iri
    part = compared("ask", QUESTION, within={"iris": [one]})
    assert part.set is not None and [member.iri for member in part.set.members] == [one]
    assert part == local.ask(QUESTION, within={"iris": [one]})
    done = compared("stream", QUESTION, within={"iris": [one]})[-1]
    assert isinstance(done, Done) and done.answer == part
    for within in (whole, whole.plan, {"plan": whole.plan}):
        ranking = compared("retrieve", QUESTION, within=within, mode="fulltext")
        assert {found.iri for found in ranking} <= {member.iri for member in whole.members}
        assert ranking == local.retrieve(QUESTION, within=whole, mode="fulltext")
    with pytest.raises(errors.QuestionError, match=r"within\.kinds.*docs/modes\.md"):
        compared("ask", QUESTION, within={"kinds": ["church"]})


def test_what_the_encoder_means_by_a_similarity_is_told(call: Calling) -> None:
    told = call("modes").calibration
    assert [*told] == ["0.3", "0.5", "0.9"] and told["0.3"] < told["0.5"] < told["0.9"]
    assert "a similarity of 0.3 is" in call("modes").head()
