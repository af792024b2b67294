"""Scores of contexts and answers, worked out by hand; the bootstrap; measures against their definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.errors import QuestionError
from crmrag_query.evaluation.bootstrap import interval
from crmrag_query.evaluation.questions import GoldQuestion
from crmrag_query.evaluation.runs import MEASURES, judged, measure, qrels_text, run_text
from crmrag_query.evaluation.scores import score_context, set_scores, share_of_entities, share_of_facts
from crmrag_query.evaluation.systems import NAMES, PIPELINE, parse_stages, systems
from crmrag_query.questions.form import Form

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


def test_a_context_is_read_as_a_reader_would_unescaped() -> None:
    score = score_context(
        question(["a"], facts=["Peter & Paul"]), "<source>Peter &amp; Paul</source>", 1, {"a"}
    )
    assert (score.entities, score.facts, score.sources, score.characters) == (1.0, 1.0, 1, 33)


def test_sets_are_compared_without_what_is_neither_right_nor_wrong() -> None:
    asked = question(["a", "b", "c"], also_ok=["d", "a"])
    assert set_scores(asked, {"a", "b", "d", "e"}) == (2 / 3, 2 / 3, pytest.approx(2 / 3))
    assert set_scores(asked, set()) == (0.0, 0.0, 0.0)
    assert set_scores(question([]), set()) == (1.0, 1.0, 1.0)
    assert set_scores(question([]), {"a"}) == (0.0, 0.0, 0.0)


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
    assert judged(["x", "a", "y", "b"], frozenset({"a", "b"}), frozenset({"x", "b"})) == ["a", "y", "b"]


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
    stages = load_method().retrieval.stages
    found = {system.name: system.stages for system in systems(stages)}
    assert found[PIPELINE] == stages
    assert [name for name, on in found["plain RRF"] if on] == ["dense", "sparse"]
    assert len(found) == 4 + len(NAMES)
    for name in NAMES:
        on = getattr(stages, name)
        turned = found[f"{'without' if on else 'with'} {name}"]
        assert {key for key in NAMES if getattr(turned, key) != getattr(stages, key)} == {name}


def test_names_of_stages_are_checked() -> None:
    assert parse_stages("typed, walked,typed") == ("typed", "walked")
    assert (parse_stages("all"), parse_stages("none")) == (NAMES, ())
    with pytest.raises(QuestionError, match="rerank"):
        parse_stages("typed,rerank")
