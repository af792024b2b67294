"""CIDOC-QA (github.com/mountanton/CIDOC-QA-using-LLMs), its questions on one museum: whole tables compared as bags of rows.

A question is answered exactly when the table of its plan holds the columns of the gold query's variables, in any order and
with others besides, and the same bag of rows. Variables that are never bound are left out.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from exact_scores import matched_columns
from gold_rows import GoldRows

from crmrag_query.answers.ask import ask
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import CrmRagError
from crmrag_query.evaluation.report import table
from crmrag_query.plans.execute import BLOCK_ROWS, Outcome, cell, execute
from crmrag_query.plans.records import Plan, read_plan
from crmrag_query.plans.world import World

LANGUAGES = {"en": "question", "el": "greek_question"}
IDEAL = "ideal plans"


@dataclass(frozen=True, slots=True)
class Tried:
    """A question in one language (or its ideal plan): whether it is exact, and what was answered instead."""

    id: str
    language: str
    question: str
    gold: int
    rows: int
    exact: bool
    confident: bool
    text: str
    plan: dict[str, Any] = field(default_factory=dict)
    milliseconds: float = 0.0


def by_asking(release: Release, questions: Sequence[Mapping[str, Any]], gold: GoldRows) -> Iterator[Tried]:
    """Every question in English and Greek, answered without a model."""
    for language, key in LANGUAGES.items():
        for one in questions:
            started = time.perf_counter()
            answer = ask(release, one[key])
            spent = (time.perf_counter() - started) * 1000
            found = getattr(answer, "set", None)
            plan = read_plan(found.plan) if found is not None else None
            yield tried(
                release[World], one, language, one[key], plan, gold,
                confident=answer.exhaustive or bool(found and found.exhaustive), text=answer.text, spent=spent,
            )  # fmt: skip


def by_plans(
    release: Release, questions: Sequence[Mapping[str, Any]], plans: Mapping[str, Any], gold: GoldRows
) -> Iterator[Tried]:
    """Every question by its ideal plan, as a model would return it."""
    for one in questions:
        plan = read_plan(plans[one["id"]]) if plans.get(one["id"]) else None
        started = time.perf_counter()
        if plan is not None:
            execute(plan, release[World])
        spent = (time.perf_counter() - started) * 1000
        yield tried(release[World], one, IDEAL, one["question"], plan, gold, text="", spent=spent)


def tried(
    world: World,
    one: Mapping[str, Any],
    language: str,
    question: str,
    plan: Plan | None,
    gold: GoldRows,
    text: str,
    spent: float,
    confident: bool = True,
) -> Tried:
    wanted = [column for column in gold.columns(one["gold_sparql"]) if any(column)]
    rows = len(wanted[0]) if wanted else 0
    columns: list[list[str]] = []
    try:
        if plan is not None:
            columns = columns_of(world, execute(plan, world))
    except CrmRagError as error:
        text = f"{error}"
    exact = plan is not None and (
        matched_columns(wanted, columns) is not None if rows else not (columns and columns[0])
    )
    shown = plan.model_dump(mode="json", exclude_defaults=True) if plan else {}
    answered = len(columns[0]) if columns else 0
    return Tried(
        one["id"],
        language,
        question,
        rows,
        answered,
        exact,
        confident and plan is not None,
        text,
        shown,
        spent,
    )


def columns_of(world: World, outcome: Outcome) -> list[list[str]]:
    """What a plan gives, as a table of IRIs and texts: rows, groups and their sizes, the value, or the members."""
    if outcome.value is not None:
        return [[str(outcome.value)]]
    blocks = list(outcome.blocks(BLOCK_ROWS))
    if not blocks:
        return []
    rows = np.concatenate(blocks)
    if outcome.kind == "group":
        keys = texts(world, rows[:, 0]) if outcome.by == "entity" else list(map(str, rows[:, 0].tolist()))
        return [keys, [str(count) for count in rows[:, 1].tolist()]]
    named = [texts(world, rows[:, place]) for place in range(rows.shape[1])]
    return named if outcome.values is None else [*named, [str(value) for value in outcome.values.tolist()]]


def texts(world: World, cells: np.ndarray[Any, Any]) -> list[str]:
    """Cells as IRIs, and as the text of literals; each distinct one is read once."""
    distinct, back = np.unique(cells, return_inverse=True)
    found = [cell(world, int(one)) for one in distinct]
    named = [one if isinstance(one, str) else one.text for one in found]
    return [named[place] for place in back.tolist()]


def report(tries: Sequence[Tried]) -> str:
    """Shares by language among those with a gold that is not empty, and every question."""
    languages = list(dict.fromkeys(one.language for one in tries))
    head = (
        "asked in",
        "with gold rows",
        "exact",
        "confident and not exact",
        "no rows in gold",
        "of these answered by rows",
    )
    rows = []
    for language in languages:
        here = [one for one in tries if one.language == language]
        there = [one for one in here if one.gold]
        rows.append((
            language, len(there), share(sum(one.exact for one in there), len(there)),
            sum(one.confident and not one.exact for one in there),
            len(here) - len(there), sum(one.confident and not one.exact for one in here if not one.gold),
        ))  # fmt: skip
    asked = (
        (one.language, one.id, one.question, one.gold, one.rows, "yes" if one.exact else "no",
         f"`{json.dumps(one.plan, ensure_ascii=False)}`" if one.plan else one.text[:120])
        for one in tries
    )  # fmt: skip
    return "\n\n".join((
        table(head, rows),
        table(("asked in", "id", "question", "gold rows", "rows", "exact", "plan, or what was said"), asked),
    ))  # fmt: skip


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})" if whole else ""


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
