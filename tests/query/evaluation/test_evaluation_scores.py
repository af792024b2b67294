"""Scores of contexts and answers, worked out by hand; the bootstrap; measures against their definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.answers.records import Answer, Source
from crmrag_query.artifacts.manifest import PIPELINE
from crmrag_query.context.context import Context, ContextLine, ContextSource, Kind
from crmrag_query.errors import QuestionError
from crmrag_query.evaluation.evaluate import parse_stages, systems
from crmrag_query.evaluation.questions import GoldQuestion
from crmrag_query.evaluation.scores import (
    MEASURES,
    alike,
    interval,
    judged,
    measure,
    qrels_text,
    run_text,
    score_answer,
    score_context,
    set_scores,
    share_of_entities,
    share_of_facts,
    states_number,
)
from crmrag_query.questions.form import Form
from crmrag_query.shown import Named
from tests.support.modes import CRM, STAGES

pytest.importorskip("ir_measures")


def question(gold: Sequence[str], also_ok: Sequence[str] = (), facts: Sequence[str] = ()) -> GoldQuestion:
    entities = tuple(frozenset([iri]) for iri in gold)
    return GoldQuestion(
        "q", "list", "iris", "Which?", (), entities, frozenset(also_ok), tuple(facts), None, Form.ENUMERATION
    )


def test_facts_count_without_case_and_across_line_ends() -> None:
    assert share_of_facts(["South lunette", "1105", "gone"], "the SOUTH\n lunette of 1105–1106") == 2 / 3
    assert share_of_facts([], "anything") is None


def test_one_iri_of_an_entity_is_enough() -> None:
    gold = [frozenset({"a", "A"}), frozenset({"b"})]
    assert share_of_entities(gold, {"A", "c"}) == 0.5
    assert share_of_entities([], {"a"}) is None


def source(iri: str, *shown: str, n: int = 1, cited: bool = True) -> Source:
    return Source(n, iri, iri, "Thing", (), entities=tuple(Named(one, one) for one in shown), cited=cited)


def answer(text: str, *sources: Source, **more: Any) -> Answer:
    return Answer("?", text, sources, "crm", "r", False, "extractive", **more)


def valued(answer_form: Any, value: object, labels: Sequence[str] = ()) -> GoldQuestion:
    return GoldQuestion(
        "q",
        "count",
        answer_form,
        "How many?",
        (),
        (),
        frozenset(),
        (),
        value,
        Form.AGGREGATION,
        tuple(labels),
    )


def test_a_context_is_read_as_a_reader_would_unescaped() -> None:
    line = ContextLine("Peter & Paul", Kind.DOCUMENT, 1)
    context = Context((ContextSource(1, 0, 0, (line,), (0,)),), characters=45, tokens=12)
    score = score_context(question(["a"], facts=["Peter & Paul"]), context, {"a"})
    assert (score.entities, score.facts) == (1.0, 1.0)
    assert (score.sources, score.characters, score.tokens) == (1, 45, 12)


def test_sets_are_compared_without_what_is_neither_right_nor_wrong() -> None:
    asked = question(["a", "b", "c"], also_ok=["d", "a"])
    cited = [source("a"), source("b"), source("d"), source("e")]
    assert set_scores(asked, cited) == (2 / 3, 2 / 3, pytest.approx(2 / 3))
    assert set_scores(asked, []) == (0.0, 0.0, 0.0)
    assert set_scores(question([]), []) == (1.0, 1.0, 1.0)
    assert set_scores(question([]), [source("a")]) == (0.0, 0.0, 0.0)


def test_a_source_stands_for_the_entities_that_it_shows() -> None:
    assert set_scores(question(["a", "b", "c", "d"]), [source("x", "a", "b"), source("y", "z")]) == (
        0.5, 0.5, 0.5,
    )  # fmt: skip


def test_any_iri_of_an_entity_makes_a_source_right_and_counts_once() -> None:
    asked = GoldQuestion(
        "q", "list", "iris", "?", (), (frozenset("aA"), frozenset("b")), frozenset(), (), None, None
    )
    assert set_scores(asked, [source("a"), source("A")]) == (1.0, 0.5, pytest.approx(2 / 3))


def test_only_cited_sources_are_the_answer() -> None:
    score = score_answer(question(["a"]), answer("A [1].", source("a"), source("b", n=2, cited=False)))
    assert (score.precision, score.recall, score.f1) == (1.0, 1.0, 1.0)
    assert (score.number, score.labels, score.facts) == (None, None, None)


@pytest.mark.parametrize(
    ("value", "text", "stated"),
    [
        (3, "There are 3 churches [1].", True),
        (3, "There are many churches [3].", False),
        (3, "There are many. Of these 3 are old.", False),
        (3, "3: Narthex, Naos [1]", True),
        (3, "There are 13, or 30, or 3rd.", False),
        (3, "It was painted in 1105–3.", False),
        (1234, "There are 1,234 works.", True),
        (1234, "Es gibt 1.234 Werke.", True),
        (1234, "Il y a 1\u202f234 œuvres.", True),
        (1234, "There are 11,234 works.", False),
        (2.5, "It is 2.5 m high.", True),
        (2.5, "Sie ist 2,5 m hoch.", True),
        (-12, "It was −12 degrees.", True),
        (0, "", False),
    ],
)
def test_a_number_counts_in_figures_in_the_first_sentence(value: float, text: str, stated: bool) -> None:
    assert states_number(value, text) is stated
    assert score_answer(valued("number", value), answer(text)).number is stated


def test_labels_of_a_ranking_count_where_they_are_named() -> None:
    asked = valued(
        "ranking", [{"label": "Narthex"}, {"label": "South lunette"}], ["Narthex", "South lunette"]
    )
    assert score_answer(asked, answer("The narthex [1].")).labels == 0.5


def test_yes_and_no_are_not_scored_yet() -> None:
    score = score_answer(valued("bool", True), answer("Yes."))
    assert {score.precision, score.facts, score.number, score.labels} == {None}


RANKINGS = st.dictionaries(
    st.sampled_from("abc"),
    st.lists(st.sampled_from([f"d{i}" for i in range(30)]), unique=True, max_size=25),
    min_size=1,
)


@given(RANKINGS, st.sets(st.sampled_from([f"d{i}" for i in range(30)]), min_size=1, max_size=12))
def test_measures_are_as_defined(run: dict[str, list[str]], relevant: set[str]) -> None:
    qrels = {id: frozenset(relevant) for id in run}
    found = measure(run, qrels)
    assert set(found) == set(MEASURES)
    for id, ranking in run.items():
        hits = [document in relevant for document in ranking]
        size = len(relevant)
        gains = sum(hit / math.log2(rank + 2) for rank, hit in enumerate(hits[:10]))
        ideal = sum(1 / math.log2(rank + 2) for rank in range(min(size, 10)))
        expected = {
            "Success@10": float(any(hits[:10])),
            "Rprec": sum(hits[:size]) / size,
            "R@20": sum(hits[:20]) / size,
            "nDCG@10": gains / ideal,
            "RR": next((1 / (rank + 1) for rank, hit in enumerate(hits) if hit), 0.0),
        }
        assert {name: found[name][id] for name in expected} == pytest.approx(expected)


def test_a_question_that_found_nothing_counts_as_nought() -> None:
    assert measure({"a": []}, {"a": frozenset({"d"})})["Rprec"] == {"a": 0.0}


def test_what_is_neither_right_nor_wrong_leaves_the_ranking() -> None:
    relevant = {"a": "a", "b": "b"}
    assert judged(["x", "a", "y", "b"], relevant, frozenset({"x", "b"})) == ["a", "y", "b"]


def test_documents_of_one_entity_count_once_where_the_first_of_them_stands() -> None:
    relevant = alike([frozenset({"a2", "a1"}), frozenset({"b"}), frozenset()])
    assert relevant == {"a1": "a1", "a2": "a1", "b": "b"}
    assert judged(["a2", "x", "a1", "b"], relevant, frozenset()) == ["a1", "x", "b"]


def test_entities_that_share_a_document_count_as_one() -> None:
    assert alike([frozenset({"b"}), frozenset({"a", "b"})]) == {"b": "b", "a": "b"}


def test_runs_and_qrels_are_written_as_trec_reads_them() -> None:
    assert run_text({"1": ["http://e/a", "b"]}, "rrf") == "1 Q0 http://e/a 1 2 rrf\n1 Q0 b 2 1 rrf\n"
    assert qrels_text({"1": frozenset({"b", "a"})}) == "1 0 a 1\n1 0 b 1\n"


def test_the_interval_of_a_mean_is_the_normal_one_for_many_values() -> None:
    values = np.random.default_rng(1).normal(0.3, 1, 2000)
    found = interval(values.tolist(), 4000, 0.95, 7)
    half = 1.96 * values.std() / math.sqrt(len(values))
    assert found.mean == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.006)
    assert interval(values.tolist(), 4000, 0.95, 7) == found


def test_the_interval_of_one_value_is_that_value_and_of_none_is_none() -> None:
    assert interval([0.5], 100, 0.95, 1) == (0.5, 0.5, 0.5)
    assert all(math.isnan(value) for value in interval([], 100, 0.95, 1))


def test_the_pipeline_is_compared_with_baselines_and_with_each_stage_turned_round() -> None:
    found = {system.name: system.mode for system in systems(CRM)}
    assert found[PIPELINE] == CRM
    assert (found["plain RRF"].channels, found["plain RRF"].expansion) == (("dense", "sparse"), ())
    assert len(found) == 4 + len(STAGES)
    for name in STAGES:
        turned = found[f"{'without' if CRM.has(name) else 'with'} {name}"]
        assert {one for one in STAGES if turned.has(one) != CRM.has(one)} == {name}


def test_names_of_stages_are_checked() -> None:
    assert parse_stages("typed, walked,typed") == ("typed", "walked")
    assert (parse_stages("all"), parse_stages("none")) == (STAGES, ())
    assert parse_stages("postgres_dense") == ("postgres_dense",), "a database is asked where it is named"
    with pytest.raises(QuestionError, match="rerank"):
        parse_stages("typed,rerank")
