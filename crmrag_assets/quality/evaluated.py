"""How well questions with known answers are answered, compared with the release that was evaluated before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality.finding import Finding, Row
from crmrag_query.evaluation.bootstrap import interval
from crmrag_query.evaluation.report import BEFORE_JSON, REPORT_JSON, evaluations_folder
from crmrag_query.evaluation.systems import PIPELINE

Scores = Mapping[str, float]


def retrieval_is_as_good(context: BuildContext) -> Finding:
    """The measure over all questions did not fall by more than chance, question by question."""
    config, folder = context.method.evaluation, evaluations_folder(context.data, context.name)
    now, before = _stored(folder / REPORT_JSON), _stored(folder / BEFORE_JSON)
    if now is None or before is None:
        return Finding(True, _not_compared(context, now), _counts(now, config.overall, 0.0))
    own, old = _scores(now, config.overall), _scores(before, config.overall)
    both = [id for id in own if id in old and now["asked"].get(id) == before["asked"].get(id)]
    gaps = {id: own[id] - old[id] for id in both}
    if not gaps:
        says = f"Not compared: release {before['release']} was asked none of these questions."
        return Finding(True, says, _counts(now, config.overall, 0.0))
    change = interval(list(gaps.values()), config.resamples, config.confidence, config.seed)
    worst = sorted((id for id in both if gaps[id] < 0), key=lambda id: gaps[id])
    rows: list[Row] = [
        {"question": now["asked"][id], "before": f"{old[id]:.3f}", "now": f"{own[id]:.3f}"}
        for id in worst[: context.method.checks.shown]
    ]
    says = (
        f"{config.overall} changed by {change.mean:+.3f} since release {before['release']} over {len(both)} questions "
        f"({config.confidence:.0%} interval {change.low:+.3f} to {change.high:+.3f})."
    )
    remedy = (
        f"See {folder / 'evaluation.md'} for the questions that became worse, and crmrag diff {context.name} for what "
        f"changed; crmrag rollback {context.name} goes back."
    )
    return Finding(
        change.high >= 0,
        says,
        _counts(now, config.overall, round(change.mean, 6)),
        {"became_worse": rows} if rows else {},
        remedy,
    )


def _stored(path: Path) -> dict[str, Any] | None:
    """An evaluation as it was written; None where there is none, or none that can be read."""
    try:
        found = json.loads(path.read_bytes())
        return found if PIPELINE in found["retrieval"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _scores(evaluation: Mapping[str, Any], measure: str) -> Scores:
    found: Scores = evaluation["retrieval"][PIPELINE].get(measure, {})
    return found


def _counts(now: Mapping[str, Any] | None, measure: str, change: float) -> dict[str, int | float | str]:
    scores = _scores(now, measure) if now else {}
    mean = sum(scores.values()) / len(scores) if scores else 0.0
    return {"questions": len(scores), "score": round(mean, 6), "change": change}


def _not_compared(context: BuildContext, now: Mapping[str, Any] | None) -> str:
    if now is not None:
        return "Not compared: no other release was evaluated before."
    if not context.config.questions:
        return (
            f"Not compared: datasets.yaml declares no questions for '{context.name}' (add `questions: FILE`)."
        )
    return f"Not compared: nothing was evaluated yet (crmrag evaluate {context.name})."
