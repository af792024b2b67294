"""What the asset ``evaluation`` says of itself: the ablation table, plots, and the figures that a person asks for first."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from crmrag_assets.metadata import ROW_COUNT, VERSION_LENGTH, markdown_bars, markdown_table
from crmrag_query.config.query import EvaluationConfig
from crmrag_query.evaluation.markdown import stage_table
from crmrag_query.evaluation.records import Evaluation
from crmrag_query.evaluation.report import REPORT_MARKDOWN
from crmrag_query.evaluation.runs import MEASURES
from crmrag_query.evaluation.systems import PIPELINE
from crmrag_query.evaluation.tables import form_accuracy, mean, percentiles

SPAN = 2000  # characters


def evaluation_metadata(found: Evaluation, config: EvaluationConfig, folder: Path) -> dict[str, Any]:
    """Tables and bars of an evaluation, and its main figures; shares are of 1."""
    right, typed = form_accuracy(found)
    contexts = list(found.contexts.values())
    shown: dict[str, Any] = {
        ROW_COUNT: dg.IntMetadataValue(found.questions),
        "release": found.release,
        "report": dg.MetadataValue.path(str(folder / REPORT_MARKDOWN)),
        "stages": dg.MetadataValue.md(stage_table([found], config)),
        f"{config.overall}_by_system_percent": _bars(
            (system, 100 * (mean(scores[config.overall].values()) or 0.0))
            for system, scores in found.retrieval.items()
        ),
        f"{config.overall}_by_kind_percent": _bars(_by_kind(found, config.overall)),
        "pipeline": dg.MetadataValue.md(markdown_table([_pipeline(found)])),
        "query_types_right": f"{right} of {typed}",
        "context_characters": _bars(_spread([one.characters for one in contexts])),
        "most_context_characters": max((one.characters for one in contexts), default=0),
        "most_context_tokens": max((one.tokens for one in contexts), default=0),
        "latency_ms": dg.MetadataValue.md(markdown_table(_latency(found))),
    }
    figures = {
        "gold_entities_among_sources": mean(one.entities for one in contexts),
        "gold_facts_in_context": mean(one.facts for one in contexts),
        "answer_set_f1": mean(one.f1 for one in found.answers.values()),
        "answer_gold_facts": mean(one.facts for one in found.answers.values()),
    }
    return shown | {name: round(value, 3) for name, value in figures.items() if value is not None}


def data_version_of(found: Evaluation) -> str:
    """Hash of all that was measured but time: the same release and questions keep it."""
    told = {key: value for key, value in found.as_dict().items() if key != "latency"}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:VERSION_LENGTH]


def _bars(values: Iterable[tuple[str, float]]) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md(markdown_bars([(name, round(value)) for name, value in values]))


def _spread(sizes: Sequence[int]) -> list[tuple[str, float]]:
    """How many sizes there are in each span of ``SPAN``, from the smallest to the largest."""
    spans = Counter(size // SPAN for size in sizes)
    every = range(min(spans), max(spans) + 1) if spans else ()
    return [(f"{span * SPAN:,}–{(span + 1) * SPAN - 1:,}", spans[span]) for span in every]


def _by_kind(found: Evaluation, measure: str) -> list[tuple[str, float]]:
    scores = found.retrieval[PIPELINE][measure]
    kinds = dict.fromkeys(found.kinds[id] for id in scores)
    return [
        (kind, 100 * (mean(value for id, value in scores.items() if found.kinds[id] == kind) or 0.0))
        for kind in kinds
    ]


def _pipeline(found: Evaluation) -> dict[str, str]:
    """The means of every measure over all questions."""
    means = {measure: mean(found.retrieval[PIPELINE][measure].values()) for measure in MEASURES}
    return {measure: "" if value is None else f"{value:.3f}" for measure, value in means.items()}


def _latency(found: Evaluation) -> list[dict[str, str]]:
    rows = []
    for stage, values in found.latency.items():
        median, late = percentiles(values)
        rows.append({"stage": stage, "median": f"{median:.1f}", "95th percentile": f"{late:.1f}"})
    return rows
