"""Figures of one or several evaluations: systems against the pipeline, means, percentiles, query types."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from crmrag_query.config.query import EvaluationConfig
from crmrag_query.evaluation.bootstrap import Interval, interval
from crmrag_query.evaluation.records import Evaluation
from crmrag_query.evaluation.systems import PIPELINE


class Compared(NamedTuple):
    """A system beside the pipeline on one measure: its mean, and the pipeline's mean less it, question by question.

    ``worse`` by how many questions' worth the pipeline is behind on the set where it is most behind (0 when nowhere).
    """

    system: str
    measure: str
    questions: int
    mean: Interval
    ahead: Interval
    worse: float


def headline(evaluation: Evaluation, system: str, measures: Mapping[str, str]) -> dict[str, float]:
    """One value a question: for each kind the measure that ``measures`` name; kinds that they do not name have none."""
    scores = evaluation.retrieval[system]
    return {
        id: scores[measures[kind]][id]
        for id, kind in evaluation.kinds.items()
        if kind in measures and id in scores[measures[kind]]
    }


def compare(evaluations: Sequence[Evaluation], config: EvaluationConfig) -> list[Compared]:
    """The headline of every system against the pipeline's, over all the sets together."""
    return _compared(
        evaluations, "headline", config, lambda one, system: headline(one, system, config.headline)
    )


def compare_on(evaluations: Sequence[Evaluation], measure: str, config: EvaluationConfig) -> list[Compared]:
    """As ``compare`` by one measure over every question that has relevant documents."""
    return _compared(evaluations, measure, config, lambda one, system: one.retrieval[system][measure])


def systems_of(evaluations: Sequence[Evaluation]) -> list[str]:
    """The systems that every evaluation measured, in order."""
    first, *rest = (one.retrieval for one in evaluations)
    return [name for name in first if all(name in other for other in rest)]


def _compared(
    evaluations: Sequence[Evaluation],
    measure: str,
    config: EvaluationConfig,
    values_of: Callable[[Evaluation, str], Mapping[str, float]],
) -> list[Compared]:
    rows = []
    for system in systems_of(evaluations):
        theirs: list[float] = []
        ahead: list[float] = []
        worse = 0.0
        for one in evaluations:
            own, other = values_of(one, PIPELINE), values_of(one, system)
            gaps = [own[id] - value for id, value in other.items()]
            theirs += other.values()
            ahead += gaps
            worse = max(worse, -sum(gaps))
        mean_of, gap = _interval(theirs, config), _interval(ahead, config)
        rows.append(Compared(system, measure, len(theirs), mean_of, gap, worse))
    return rows


def _interval(values: Sequence[float], config: EvaluationConfig) -> Interval:
    return interval(values, config.resamples, config.confidence, config.seed)


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of those that are there."""
    there = [value for value in values if value is not None]
    return statistics.mean(there) if there else None


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """Median and 95th percentile (nearest rank) of one value or more."""
    ordered = sorted(values)
    return statistics.median(ordered), ordered[math.ceil(0.95 * len(ordered)) - 1]


def form_accuracy(evaluation: Evaluation) -> tuple[int, int]:
    """Questions whose query type was found right, and those that have one."""
    expected = evaluation.form_expected
    return sum(evaluation.form_found.get(id) == form for id, form in expected.items()), len(expected)
