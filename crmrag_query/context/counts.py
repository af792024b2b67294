"""Counts over the whole data set, for questions that count, rank or list (facts: method, Query, Context)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crmrag_query.artifacts.release import Release
from crmrag_query.context.budget import Budget, pay
from crmrag_query.context.records import ContextLine, Kind, frame
from crmrag_query.context.text import plain, shorten
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.form import Form

NAME_CHARACTERS = 60  # of a name in a list


def counts_lines(
    release: Release, analysis: Analysis, budget: Budget, others: Sequence[Budget]
) -> tuple[ContextLine, ...]:
    """Lines of counts, those first that bear most on the question; none for a SPECIFIC question or without room.

    The frame of the block is paid for too. A list that does not fit whole is cut, and says how many it leaves out.
    """
    budgets = [budget, *others]
    lines: list[ContextLine] = []
    if analysis.form is Form.SPECIFIC:
        return ()
    for head, items in _lists(release, analysis):
        around = () if lines else frame("counts", 0)
        text = _within(head, items, budgets, around)
        if text:
            lines.append(ContextLine(text, Kind.COUNT))
    return tuple(lines)


def _within(head: str, items: Sequence[str], budgets: Sequence[Budget], around: Sequence[str]) -> str:
    """``head: a; b and 3 more`` with as many items as can be paid for, ``around`` included; "" for none."""
    kept = list(items)
    while kept:
        left = len(items) - len(kept)
        text = f"{head}: {'; '.join(kept)}" + (f" and {left} more" if left else "")
        if pay([text], budgets, frame=around):
            return text
        del kept[len(kept) * 4 // 5 :]
    return ""


def _lists(release: Release, analysis: Analysis) -> Iterator[tuple[str, list[str]]]:
    """Heads and items, the most telling first."""
    limits, counts = release.method.context.aggregation, release.aggregation
    wanted = analysis.targets | analysis.contexts | analysis.reading.expects
    categories = sorted(
        counts.categories,
        key=lambda count: (not _bit(count.category) & analysis.targets, not _bit(count.category) & wanted),
    )
    yield (
        f"All {counts.entities} entities of the data set by category",
        [f"{count.category} {count.primary}" for count in categories if count.primary],
    )
    yield (
        "Entities by class",
        [f"{_name(count.label)} {count.entities}" for count in counts.classes[: limits.types]],
    )
    if not wanted or wanted & (Category.Actor | Category.Thing | Category.Event):
        yield (
            "Actors by number of works",
            [f"{_name(actor.label)} {actor.score:.0f}" for actor in counts.actors(limits.makers)],
        )
    for count in categories:
        if _bit(count.category) & (analysis.targets or wanted):
            names = (_name(ranked.label) for ranked in counts.top(count.category, limits.central))
            yield f"Most connected of {count.category}", list(dict.fromkeys(names))
    yield "Relationships by pairs", _relationships(release, analysis.targets, wanted)[: limits.relationships]


def _relationships(release: Release, targets: int, wanted: int) -> list[str]:
    """Relationships with pairs: those to or from the targets first, then by number of pairs."""
    catalogue = release.catalogue
    ends = {one.id: one.domain | one.range for one in catalogue}
    known = [count for count in release.aggregation.relationships if count.pairs]
    known.sort(
        key=lambda count: (
            not ends.get(count.key, 0) & targets,
            not ends.get(count.key, 0) & wanted,
            -count.pairs,
        )
    )
    return [
        f"{_name(count.label)} {count.pairs} (from {count.sources} to {count.targets} entities)"
        for count in known
    ]


def _bit(category: str) -> int:
    return int(Category.__members__.get(category, 0))


def _name(label: str) -> str:
    return shorten(plain(label), NAME_CHARACTERS)
