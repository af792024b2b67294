"""What is known of entities, compared with the earlier release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality.earlier import earlier_release
from crmrag_assets.quality.finding import Finding, Row, percent, share
from crmrag_query.plans.profile import Coverage, Profile

KINDS = ("label", "type", "date")
ALL = "all"


def as_much_is_known(context: BuildContext) -> Finding:
    """The shares of entities with a label, a type and a date are not below those of the earlier release."""
    checks = context.method.checks
    now = Profile.open(context.folder("profile")).coverage
    earlier = earlier_release(context, "profile")
    before = Profile.open(earlier.folder / "profile").coverage if earlier else {}
    both = [
        (now[name], before[name])
        for name in now
        if name in before and min(now[name].entities, before[name].entities) >= checks.coverage_entities
    ]
    falls = [_fall(own, old, kind) for own, old in both for kind in KINDS]
    worst = sorted((row for row in falls if row["fall"] > 0), key=lambda row: -row["fall"])
    fell = [row for row in worst if row["fall"] > checks.coverage_fall]
    counts: dict[str, int | float | str] = {f"{kind}_share": _share(now[ALL], kind) for kind in KINDS}
    counts["largest_fall"] = worst[0]["fall"] if worst else 0.0
    tables = {"fell_most": [_shown(row) for row in worst[: checks.shown]]} if worst else {}
    remedy = (
        "Was something left out of the source? Compare the two releases: crmrag diff "
        f"{context.name}. The current release stays for rollback."
    )
    return Finding(not fell, _says(fell, earlier.id if earlier else None, counts), counts, tables, remedy)


def _share(coverage: Coverage, kind: str) -> float:
    return share(getattr(coverage, kind), coverage.entities)


def _fall(now: Coverage, before: Coverage, kind: str) -> dict[str, Any]:
    own, old = _share(now, kind), _share(before, kind)
    return {"category": now.category, "kind": kind, "before": old, "now": own, "fall": round(old - own, 6)}


def _shown(row: Row) -> Row:
    return {**row, **{name: percent(row[name]) for name in ("before", "now", "fall")}}


def _says(fell: Sequence[Row], earlier: str | None, counts: Row) -> str:
    known = ", ".join(f"{percent(counts[f'{kind}_share'])} have a {kind}" for kind in KINDS)
    if earlier is None:
        return f"Of the entities {known}. There is no earlier release to compare with."
    if not fell:
        return f"Of the entities {known}: no share fell much since release {earlier}."
    told = "; ".join(
        f"{row['kind']}s of {'all entities' if row['category'] == ALL else row['category']} from "
        f"{percent(row['before'])} to {percent(row['now'])}"
        for row in fell
    )
    return f"Less is known than in release {earlier}: {told}."
