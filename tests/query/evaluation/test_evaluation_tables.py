"""Figures over several data sets, worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from crmrag_query.artifacts.manifest import PIPELINE
from crmrag_query.config import load_method
from crmrag_query.evaluation.report import (
    compare,
    compare_on,
    form_accuracy,
    headline,
    markdown,
    mean,
    percentiles,
    table,
)
from crmrag_query.evaluation.scores import BASELINES, MEASURES, AnswerScore, ContextScore, Evaluation

CONFIG = load_method().evaluation


def evaluation(
    name: str, kinds: Mapping[str, str], values: Mapping[str, Mapping[str, float]], **more: object
) -> Evaluation:
    """An evaluation whose systems have the same value by every measure."""
    base: dict[str, object] = {
        "dataset": name, "release": "r", "relationships": "fr109", "encoder": "hash", "file": "f", "sha256": "0" * 64,
        "asked": dict.fromkeys(kinds, "?"), "kinds": kinds, "unheld": {}, "form_expected": {},
        "form_found": dict.fromkeys(kinds, "specific"),
        "contexts": {id: ContextScore(1.0, None, 2, 100 + len(id), 30) for id in kinds},
        "retrieval": {system: dict.fromkeys(MEASURES, scores) for system, scores in values.items()},
    }  # fmt: skip
    return Evaluation(**(base | more))  # type: ignore[arg-type]


FIRST = evaluation(
    "first",
    {"a": "specific", "b": "time", "c": "list"},
    {PIPELINE: {"a": 1.0, "b": 0.5, "c": 0.0}, "plain BM25": {"a": 0.0, "b": 1.0, "c": 1.0}},
)
SECOND = evaluation(
    "second",
    {"a": "specific", "d": "specific"},
    {PIPELINE: {"a": 0.0, "d": 0.5}, "plain BM25": {"a": 1.0, "d": 1.0}, "plain RRF": {"a": 1.0, "d": 1.0}},
)


def test_the_headline_is_of_the_kinds_that_have_one() -> None:
    assert headline(FIRST, PIPELINE, CONFIG.headline) == {"a": 1.0, "b": 0.5}


def test_questions_of_all_sets_count_together_and_the_worst_set_is_told() -> None:
    pipeline, bm25 = compare([FIRST, SECOND], CONFIG)
    assert (pipeline.system, pipeline.questions, pipeline.mean.mean) == (PIPELINE, 4, 0.5)
    assert (bm25.questions, bm25.mean.mean) == (4, 0.75)
    assert bm25.ahead.mean == pytest.approx((1.0 - 0.5 - 1.0 - 0.5) / 4)
    assert bm25.worse == 1.5, "on the second; on the first it is ahead by 0.5"
    assert (pipeline.ahead.mean, pipeline.worse) == (0.0, 0.0)


def test_a_system_that_is_not_measured_on_every_set_is_not_compared() -> None:
    assert [row.system for row in compare([FIRST, SECOND], CONFIG)] == [PIPELINE, "plain BM25"]
    assert [row.system for row in compare([SECOND], CONFIG)] == [PIPELINE, "plain BM25", "plain RRF"]


def test_one_measure_is_over_questions_of_every_kind() -> None:
    assert [row.questions for row in compare_on([FIRST, SECOND], "nDCG@20")] == [5, 5]


def test_percentiles_are_by_nearest_rank() -> None:
    for size in (1, 2, 19, 20, 21, 100):
        values = [float(value) for value in range(size, 0, -1)]
        expected = np.percentile(values, 95, method="inverted_cdf")
        assert percentiles(values) == (pytest.approx(np.median(values)), expected)


def test_means_leave_out_what_is_not_there() -> None:
    assert (mean([1.0, None, 0.0]), mean([None]), mean([])) == (0.5, None, None)


def test_query_types_count_where_one_is_expected() -> None:
    one = evaluation(
        "x", {"a": "k", "b": "k", "c": "k"}, {PIPELINE: {}},
        form_expected={"a": "specific", "b": "enumeration"},
    )  # fmt: skip
    assert form_accuracy(one) == (1, 2)


def answer(**values: object) -> AnswerScore:
    base: dict[str, object] = dict.fromkeys(
        ("precision", "recall", "f1", "facts", "number", "labels", "quality")
    )
    base |= {"refused": False, "unsupported": 0, "written_by": "extractive", "text": "t"}
    return AnswerScore(**(base | values))  # type: ignore[arg-type]


def test_answers_are_summed_up_with_who_wrote_them() -> None:
    answers = {
        "a": answer(refused=True, number=True, unsupported=2),
        "b": answer(refused=True, written_by="m"),
        "c": answer(f1=0.5, number=False, written_by="m"),
    }
    one = evaluation("x", dict.fromkeys("abc", "k"), {PIPELINE: {}}, answers=answers, refusals=frozenset("a"))
    text = markdown([one], CONFIG, "c")
    assert "| x | extractive (1), m (2) |  |  | 0.500 |  | 1 of 2 |  | 1 of 1 | 1 of 2 | 2 |  |" in text


def test_several_sets_stand_side_by_side_against_the_baselines() -> None:
    values = {system: {"a": 1.0} for system in (PIPELINE, *BASELINES)}
    sets = [evaluation(name, {"a": "specific"}, values) for name in ("one", "two")]
    text = markdown(sets, CONFIG, "c")
    assert "# Evaluation of one, two" in text
    assert "| one | 1 | 1.000 | 1.000 | 1.000 | 1.000 |" in text
    assert "## Question by question" not in text


def test_an_interval_on_one_side_of_nought_is_bold() -> None:
    values = {PIPELINE: dict.fromkeys("abcd", 1.0), "plain BM25": dict.fromkeys("abcd", 0.0)}
    text = markdown([evaluation("x", dict.fromkeys("abcd", "specific"), values)], CONFIG, "c")
    assert "**+1.000 [+1.000, +1.000]**" in text


def test_cells_stay_within_their_table() -> None:
    assert table(("a",), [("x | y\n<i>",)]).splitlines()[-1] == "| x \\| y &lt;i> |"
