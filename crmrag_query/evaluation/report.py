"""The report of an evaluation: Markdown for people, JSON and TREC files for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from crmrag_query.artifacts.files import write_text
from crmrag_query.config.query import EvaluationConfig
from crmrag_query.evaluation.bootstrap import Interval
from crmrag_query.evaluation.evaluate import Outcome
from crmrag_query.evaluation.records import Evaluation
from crmrag_query.evaluation.runs import MEASURES, qrels_text, run_text
from crmrag_query.evaluation.systems import PIPELINE
from crmrag_query.evaluation.tables import Compared, compare, compare_on, form_accuracy, mean, percentiles

REPORT_JSON, REPORT_MARKDOWN, RUNS, QRELS = "evaluation.json", "evaluation.md", "runs", "qrels.txt"
SHOWN_MEASURE = "nDCG@20"


def write_report(outcome: Outcome, config: EvaluationConfig, command: str, out: Path) -> None:
    """Write ``evaluation.json``, ``evaluation.md``, ``qrels.txt`` and ``runs/SYSTEM.run`` into ``out``."""
    (out / RUNS).mkdir(parents=True, exist_ok=True)
    text = json.dumps(outcome.evaluation.as_dict(), ensure_ascii=False, indent=1)
    write_text(out / REPORT_JSON, text + "\n")
    write_text(out / REPORT_MARKDOWN, markdown([outcome.evaluation], config, command))
    write_text(out / QRELS, qrels_text(outcome.qrels))
    for system, run in outcome.runs.items():
        tag = system.replace(" ", "-")
        write_text(out / RUNS / f"{tag}.run", run_text(run, tag))


def markdown(evaluations: Sequence[Evaluation], config: EvaluationConfig, command: str) -> str:
    """The tables of one or several evaluations, with the command that made them."""
    parts = [
        "# Evaluation",
        f"Made by `{command}`.",
        _table(
            ("data set", "release", "relationships", "encoder", "questions"),
            ((one.dataset, one.release, one.relationships, one.encoder, one.questions) for one in evaluations),
        ),
        "## What each stage is worth",
        _headline_text(config),
        _compared(compare(evaluations, config)),
        f"The same by {SHOWN_MEASURE}, over every question that has relevant documents:",
        _compared(compare_on(evaluations, SHOWN_MEASURE, config)),
        "## Retrieval by kind of question",
        _table(("data set", "kind", "questions", *MEASURES), _kinds(evaluations)),
        "## Query types, contexts, latency",
        _table(
            ("data set", "types right", "gold entities among sources", "gold facts in context",
             "sources", "characters (most)", "retrieval ms p50 / p95", "to the context ms p50 / p95"),
            map(_summary, evaluations),
        ),
        _latency(evaluations),
    ]  # fmt: skip
    if any(one.answers for one in evaluations):
        parts += ["## Answers", _table(
            ("data set", "written by", "set precision", "recall", "F1", "gold facts", "refused when it should",
             "refused when it should not", "unsupported sentences", "quality"),
            (_answers(one) for one in evaluations if one.answers),
        )]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def _headline_text(config: EvaluationConfig) -> str:
    measures = ", ".join(f"{measure} for {kind}" for kind, measure in config.headline.items())
    return (
        f"One value a question: {measures}. *Ahead* is the pipeline's value less the system's, question by question, with "
        f"the {config.confidence:.0%} interval of a paired bootstrap ({config.resamples} resamples, seed {config.seed}); "
        "*most behind* is by how many questions' worth the pipeline is behind on the data set where it is most behind."
    )


def _compared(rows: Iterable[Compared]) -> str:
    return _table(
        ("system", "questions", "mean", "pipeline ahead by", "most behind"),
        (
            (row.system, row.questions, _number(row.mean.mean),
             "" if row.system == PIPELINE else _interval(row.ahead),
             "" if row.system == PIPELINE else f"{row.worse:.2f}")
            for row in rows
        ),
    )  # fmt: skip


def _kinds(evaluations: Sequence[Evaluation]) -> Iterator[tuple[object, ...]]:
    for one in evaluations:
        scores = one.retrieval[PIPELINE]
        for kind in dict.fromkeys(one.kinds.values()):
            ids = [id for id, k in one.kinds.items() if k == kind and id in scores[MEASURES[0]]]
            if ids:
                yield (
                    one.dataset,
                    kind,
                    len(ids),
                    *(_number(mean(scores[m][id] for id in ids)) for m in MEASURES),
                )


def _summary(one: Evaluation) -> tuple[object, ...]:
    contexts = list(one.contexts.values())
    right, typed = form_accuracy(one)
    return (
        one.dataset,
        f"{right} of {typed}" if typed else "",
        _number(mean(c.entities for c in contexts)),
        _number(mean(c.facts for c in contexts)),
        _number(mean(float(c.sources) for c in contexts)),
        max((c.characters for c in contexts), default=0),
        _both(one.latency.get("retrieval", [])),
        _both(one.latency.get("total", [])),
    )


def _latency(evaluations: Sequence[Evaluation]) -> str:
    stages = list(dict.fromkeys(stage for one in evaluations for stage in one.latency))
    return "Milliseconds by stage, p50 / p95:\n\n" + _table(
        ("data set", *stages),
        ((one.dataset, *(_both(one.latency.get(stage, [])) for stage in stages)) for one in evaluations),
    )


def _answers(one: Evaluation) -> tuple[object, ...]:
    scores = one.answers
    should = [scores[id].refused for id, form in _refusals(one).items() if form]
    should_not = [scores[id].refused for id, form in _refusals(one).items() if not form]
    return (
        one.dataset,
        one.written_by,
        *(
            _number(mean(getattr(s, name) for s in scores.values()))
            for name in ("precision", "recall", "f1", "facts")
        ),
        f"{sum(should)} of {len(should)}",
        f"{sum(should_not)} of {len(should_not)}",
        sum(s.unsupported for s in scores.values()),
        _number(mean(s.quality for s in scores.values())),
    )


def _refusals(one: Evaluation) -> dict[str, bool]:
    """Question id -> whether a refusal is the right answer: such questions have no query type."""
    return {id: id not in one.form_expected for id in one.answers}


def _both(values: Sequence[float]) -> str:
    return (
        " / ".join(f"{value:.0f}" if value >= 10 else f"{value:.1f}" for value in percentiles(values))
        if values
        else ""
    )


def _number(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.3f}"


def _interval(found: Interval) -> str:
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]" if not math.isnan(found.mean) else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    )
