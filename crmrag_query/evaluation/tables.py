"""Tables of an evaluation, for people and for programs: what each stage is worth, by kind, contexts, answers, latency."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
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
    measures = {str(kind): measure for kind, measure in config.headline.items()}
    systems = list(dict.fromkeys(name for one in evaluations for name in one.retrieval))
    rows = []
    for system in systems:
        theirs: list[float] = []
        ahead: list[float] = []
        worse = 0.0
        for one in evaluations:
            own, other = headline(one, PIPELINE, measures), headline(one, system, measures)
            gap = [own[id] - other[id] for id in other]
            theirs += list(other.values())
            ahead += gap
            worse = max(worse, -sum(gap))
        rows.append(
            Compared(
                system, "headline", len(theirs), _interval(theirs, config), _interval(ahead, config), worse
            )
        )
    return rows


def compare_on(evaluations: Sequence[Evaluation], measure: str, config: EvaluationConfig) -> list[Compared]:
    """As ``compare`` by one measure over every question that has relevant documents."""
    rows = []
    for system in dict.fromkeys(name for one in evaluations for name in one.retrieval):
        gaps = [
            [
                one.retrieval[PIPELINE][measure][id] - value
                for id, value in one.retrieval[system][measure].items()
            ]
            for one in evaluations
        ]
        theirs = [value for one in evaluations for value in one.retrieval[system][measure].values()]
        ahead = [gap for of_set in gaps for gap in of_set]
        worse = max(0.0, *(-sum(of_set) for of_set in gaps))
        rows.append(
            Compared(system, measure, len(theirs), _interval(theirs, config), _interval(ahead, config), worse)
        )
    return rows


def _interval(values: Sequence[float], config: EvaluationConfig) -> Interval:
    return interval(values, config.resamples, config.confidence, config.seed)


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of those that are there."""
    there = [value for value in values if value is not None]
    return statistics.mean(there) if there else None


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """Median and 95th percentile (nearest rank)."""
    ordered = sorted(values)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def form_accuracy(evaluation: Evaluation) -> tuple[int, int]:
    """Questions whose query type was found right, and those that have one."""
    expected = evaluation.form_expected
    return sum(evaluation.form_found.get(id) == form for id, form in expected.items()), len(expected)
