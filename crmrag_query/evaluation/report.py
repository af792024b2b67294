"""The report of one or several evaluations: Markdown for people, JSON and TREC files for programs.

What each stage is worth comes with confidence intervals by the bootstrap (Efron 1979; paired differences as in Sakai 2006);
how long it took stands apart from the rest, which is the same whenever it is measured.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from crmrag_query.artifacts.manifest import EVALUATION, PIPELINE, write_text
from crmrag_query.config.loading import EvaluationConfig
from crmrag_query.evaluation.scores import (
    BASELINES,
    CONFIDENCE,
    MEASURES,
    RESAMPLES,
    SEED,
    Evaluation,
    Interval,
    Outcome,
    interval,
    qrels_text,
    run_text,
    tag,
)
from crmrag_query.text import shorten


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
    return _compared(evaluations, "headline", lambda one, system: headline(one, system, config.headline))


def compare_on(evaluations: Sequence[Evaluation], measure: str) -> list[Compared]:
    """As ``compare`` by one measure over every question that has relevant documents."""
    return _compared(evaluations, measure, lambda one, system: one.retrieval[system][measure])


def systems_of(evaluations: Sequence[Evaluation]) -> list[str]:
    """The systems that every evaluation measured, in order."""
    first, *rest = (one.retrieval for one in evaluations)
    return [name for name in first if all(name in other for other in rest)]


def _compared(
    evaluations: Sequence[Evaluation],
    measure: str,
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
        rows.append(Compared(system, measure, len(theirs), interval(theirs), interval(ahead), worse))
    return rows


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


ANSWER_CHARACTERS = 120  # shown of an answer; evaluation.json has the whole
HOW_TO_READ = (
    "*Pipeline ahead by*: the pipeline's value less the system's, question by question: the mean and its interval, **bold** "
    "where all of it lies on one side of 0, which chance alone hardly explains. *Without* a stage: it is on by default, and "
    "ahead above 0 means that it pays. *With* a stage: it is off by default, and ahead below 0 means that it would pay. "
    "*Most behind*: by how many questions' worth the pipeline is behind on the data set where it is most behind."
)
CONTEXT_HEAD = (
    "data set", "query types right", "gold entities among sources", "gold facts in context", "sources", "characters",
    "tokens",
)  # fmt: skip
ASKED_HEAD = (
    "id", "kind", "question", "read as", "gold entities among sources", "gold facts in context",
)  # fmt: skip
ANSWER_HEAD = (
    "data set", "written by", "set precision", "set recall", "set F1", "gold facts", "number in the first sentence",
    "labels named", "refused when it should", "refused when it should not", "unsupported sentences", "quality",
)  # fmt: skip


def markdown(evaluations: Sequence[Evaluation], config: EvaluationConfig, command: str) -> str:
    """The tables of one or several evaluations, with the command that made them."""
    parts = [
        f"# Evaluation of {', '.join(one.dataset for one in evaluations)}",
        f"Made by `{command}`. How to read and repeat it: docs/evaluation.md.",
        _measured(evaluations),
        *_unheld(evaluations),
        "## What each stage is worth",
        *_worth(evaluations, config),
    ]
    if len(evaluations) > 1:
        parts += ["## Against plain baselines, by data set", _by_set(evaluations, config)]
    parts += [
        "## The pipeline's retrieval by kind of question",
        table(("data set", "kind", "questions", *MEASURES), _kinds(evaluations)),
        "## Query types and contexts",
        "Of sources, characters and tokens (estimated): mean, highest in brackets.",
        table(CONTEXT_HEAD, map(_context, evaluations)),
    ]
    if any(one.answers for one in evaluations):
        parts += ["## Answers", table(ANSWER_HEAD, (_answers(one) for one in evaluations if one.answers))]
    if judged := [row for one in evaluations if (row := _judged(one))]:
        head = ("data set", "judged", "relevance", "faithfulness")
        parts += ["## Answers as a language model judges them", table(head, judged)]
    if len(evaluations) == 1:
        parts += ["## Question by question", _asked(evaluations[0], config)]
    parts += [
        "## Latency",
        "Milliseconds, median / 95th percentile, on the machine that ran this. Everything above is the same for the same "
        "release, questions and configuration. "
        "`retrieval` is all up to the ranked documents, `total` all up to the context, without a language model.",
        _latency(evaluations),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def stage_table(evaluations: Sequence[Evaluation], config: EvaluationConfig) -> str:
    """The ablation table by the headline, or by the overall measure where no question is of a kind that has one."""
    rows = compare(evaluations, config)
    return _comparison_table(rows if rows[0].questions else compare_on(evaluations, config.overall))


def _worth(evaluations: Sequence[Evaluation], config: EvaluationConfig) -> Iterator[str]:
    measures = ", ".join(f"{measure} of *{kind}* questions" for kind, measure in config.headline.items())
    bootstrap = f"{CONFIDENCE:.0%} interval by paired bootstrap, {RESAMPLES} resamples, seed {SEED}"
    rows, overall = compare(evaluations, config), compare_on(evaluations, config.overall)
    if not overall[0].questions:
        yield "No question names an entity that a document holds, so retrieval cannot be measured."
        return
    yield HOW_TO_READ
    if rows[0].questions:
        yield f"By {measures} ({bootstrap}):"
        yield _comparison_table(rows)
    yield f"By {config.overall} over questions of every kind ({bootstrap}):"
    yield _comparison_table(overall)


def _measured(evaluations: Sequence[Evaluation]) -> str:
    return table(
        ("data set", "release", "relationships", "encoder", "questions", "with relevant documents", "file", "SHA-256"),
        (
            (one.dataset, one.release, one.relationships, one.encoder, one.questions,
             len(one.retrieval[PIPELINE][MEASURES[0]]), one.file, one.sha256[:16])
            for one in evaluations
        ),
    )  # fmt: skip


def _unheld(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """What no system could find."""
    for one in evaluations:
        if one.unheld:
            entities = sum(map(len, one.unheld.values()))
            questions = ", ".join(one.unheld)
            yield f"No document of {one.dataset} holds {entities} of the gold entities, of these questions: {questions}."


def _comparison_table(rows: Iterable[Compared]) -> str:
    return table(
        ("system", "questions", "mean", "pipeline ahead by", "most behind"),
        (
            (row.system, row.questions, number(row.mean.mean),
             "" if row.system == PIPELINE else _interval_text(row.ahead),
             "" if row.system == PIPELINE else f"{row.worse:.2f}")
            for row in rows
        ),
    )  # fmt: skip


def _by_set(evaluations: Sequence[Evaluation], config: EvaluationConfig) -> str:
    shown = [PIPELINE, *BASELINES]
    rows = []
    for one in evaluations:
        values = [headline(one, system, config.headline) for system in shown]
        if values[0]:
            rows.append((one.dataset, len(values[0]), *(number(mean(of.values())) for of in values)))
    return table(("data set", "questions", *shown), rows)


def _kinds(evaluations: Sequence[Evaluation]) -> Iterator[tuple[object, ...]]:
    for one in evaluations:
        scores = one.retrieval[PIPELINE]
        for kind in dict.fromkeys(one.kinds.values()):
            ids = [id for id, of in one.kinds.items() if of == kind and id in scores[MEASURES[0]]]
            if ids:
                means = (number(mean(scores[measure][id] for id in ids)) for measure in MEASURES)
                yield one.dataset, kind, len(ids), *means


def _context(one: Evaluation) -> tuple[object, ...]:
    contexts = list(one.contexts.values())
    right, typed = form_accuracy(one)
    sizes = ([getattr(c, name) for c in contexts] for name in ("sources", "characters", "tokens"))
    return (
        one.dataset,
        _of(right, typed),
        number(mean(c.entities for c in contexts)),
        number(mean(c.facts for c in contexts)),
        *(f"{mean(size) or 0:,.0f} ({max(size, default=0):,})" for size in sizes),
    )


def _answers(one: Evaluation) -> tuple[object, ...]:
    scores = one.answers
    writers = Counter(score.written_by for score in scores.values())
    should = [score.refused for id, score in scores.items() if id in one.refusals]
    should_not = [score.refused for id, score in scores.items() if id not in one.refusals]
    numbers = [score.number for score in scores.values() if score.number is not None]
    return (
        one.dataset,
        ", ".join(f"{writer} ({times})" for writer, times in writers.items()),
        *(number(mean(getattr(s, name) for s in scores.values())) for name in ("precision", "recall", "f1", "facts")),
        _of(sum(numbers), len(numbers)),
        number(mean(score.labels for score in scores.values())),
        _of(sum(should), len(should)),
        _of(sum(should_not), len(should_not)),
        sum(score.unsupported for score in scores.values()),
        number(mean(score.quality for score in scores.values())),
    )  # fmt: skip


def _judged(one: Evaluation) -> tuple[object, ...]:
    """Means of a model's marks, from 0 to 1; empty where none was asked."""
    found = [score.judged for score in one.answers.values() if score.judged is not None]
    marks = (mean(getattr(judged, name) for judged in found) for name in ("relevance", "faithfulness"))
    return (one.dataset, _of(len(found), len(one.answers)), *map(number, marks)) if found else ()


def _asked(one: Evaluation, config: EvaluationConfig) -> str:
    """A row a question: what it was taken for, what retrieval, context and answer hold of what is known."""
    overall = one.retrieval[PIPELINE][config.overall]
    head = (*ASKED_HEAD, config.overall, *(("set F1", "answer") if one.answers else ()))
    rows = []
    for id, question in one.asked.items():
        found, expected, context = one.form_found[id], one.form_expected.get(id), one.contexts[id]
        read = found if expected in (None, found) else f"{found}, not {expected}"
        row = (id, one.kinds[id], question, read, number(context.entities), number(context.facts))
        answer = one.answers.get(id)
        told = (number(answer.f1), shorten(answer.text, ANSWER_CHARACTERS)) if answer else ()
        rows.append((*row, number(overall.get(id)), *told))
    return table(head, rows)


def _latency(evaluations: Sequence[Evaluation]) -> str:
    stages = list(dict.fromkeys(stage for one in evaluations for stage in one.latency))
    return table(
        ("data set", *stages),
        ((one.dataset, *(_both(one.latency.get(stage, ())) for stage in stages)) for one in evaluations),
    )


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else ""


def _both(values: Sequence[float]) -> str:
    if not values:
        return ""
    return " / ".join(f"{value:.0f}" if value >= 10 else f"{value:.1f}" for value in percentiles(values))


def number(value: float | None) -> str:
    """A share or mean in three places, nothing for none."""
    return "" if value is None or math.isnan(value) else f"{value:.3f}"


def _interval_text(found: Interval) -> str:
    if math.isnan(found.mean):
        return ""
    text = f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
    return f"**{text}**" if found.low > 0 or found.high < 0 else text


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(value: object) -> str:
    """A cell: texts of questions and answers are data, which must neither end it nor be read as HTML."""
    return " ".join(str(value).split()).replace("|", "\\|").replace("<", "&lt;")


REPORT_MARKDOWN, RUNS, QRELS = "evaluation.md", "runs", "qrels.txt"
BEFORE_JSON = "evaluation_before.json"  # the last evaluation of another release


def write_report(outcome: Outcome, config: EvaluationConfig, command: str, out: Path) -> None:
    """Write ``evaluation.json``, ``evaluation.md``, ``qrels.txt`` and ``runs/SYSTEM.run`` into ``out``.

    Runs of an earlier evaluation are removed; what it measured is kept as ``evaluation_before.json`` where it was of another
    release.
    """
    _keep_other(out, outcome.evaluation.release)
    (out / RUNS).mkdir(parents=True, exist_ok=True)
    for earlier in (out / RUNS).glob("*.run"):
        earlier.unlink()
    told = {"command": command} | outcome.evaluation.as_dict()
    write_text(out / EVALUATION, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    write_text(out / REPORT_MARKDOWN, markdown([outcome.evaluation], config, command))
    write_text(out / QRELS, qrels_text(outcome.qrels))
    for system, run in outcome.runs.items():
        write_text(out / RUNS / f"{tag(system)}.run", run_text(run, tag(system)))


def _keep_other(out: Path, release: str) -> None:
    """Set aside the evaluation in ``out`` unless it is of this release too."""
    try:
        of = json.loads((out / EVALUATION).read_bytes())["release"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if of != release:
        (out / EVALUATION).replace(out / BEFORE_JSON)
