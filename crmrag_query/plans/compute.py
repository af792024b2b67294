"""What is made of the members of a plan: a ranking, groups, a table."""

from __future__ import annotations

import numpy as np

from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END
from crmrag_query.plans.outcome import INCOMPLETE, UNGROUPED, UNMEASURED, Outcome, ranking
from crmrag_query.plans.records import Compute, Measure
from crmrag_query.plans.ways import pairs
from crmrag_query.plans.world import World, ranges

MOST_ROWS = 5_000_000
"""Rows that a table may have (ours): a few hundred megabytes at work."""


def compute(world: World, how: Compute, members: Ints) -> Outcome:
    """The outcome of ``members``, ascending. Raises QuestionError for a table that is too large."""
    match how.kind:
        case "count":
            return Outcome(members, value=len(members))
        case "ask":
            return Outcome(members, value=len(members) > 0)
        case "rank":
            return _ranked(world, how, members)
        case "group":
            return _grouped(world, how, members)
        case "table":
            return _tabled(world, how, members)
        case _:
            return Outcome(members)


def measured(world: World, measure: Measure, members: Ints) -> tuple[Longs, Longs]:
    """(index into ``members``, value) of those that have one: how many things, or the earliest or latest day."""
    found = pairs(world, measure.way, members, literals=measure.kind == "count")
    if measure.kind == "count":
        index, value = np.unique(found.index, return_counts=True)
        return index.astype(np.int64), value.astype(np.int64)
    earliest = measure.kind == "earliest"
    day = world.extents[0 if earliest else 1][found.cell].astype(np.int64)
    known = day != (OPEN_BEGIN if earliest else OPEN_END)
    index, day = found.index[known], day[known]
    order = np.lexsort((day if earliest else -day, index))
    distinct, first = np.unique(index[order], return_index=True)
    return distinct, day[order][first]


def _ranked(world: World, how: Compute, members: Ints) -> Outcome:
    assert how.measure is not None
    index, value = measured(world, how.measure, members)
    order = ranking(value, index, how.ascending)[: _with_ties(value, how)]
    return Outcome(members[index[order]], values=value[order], excluded=_without(members, index, UNMEASURED))


def _with_ties(values: Longs, how: Compute) -> int:
    """How many come first, those as good as the last of them included."""
    if how.first is None or how.first >= len(values):
        return len(values)
    ordered = np.sort(values if how.ascending else -values)
    return int(np.searchsorted(ordered, ordered[how.first - 1], side="right"))


def _grouped(world: World, how: Compute, members: Ints) -> Outcome:
    assert how.way is not None
    found = pairs(world, how.way, members)
    cell, count = np.unique(found.cell, return_counts=True)
    order = ranking(count.astype(np.int64), cell, how.ascending)[: _with_ties(count.astype(np.int64), how)]
    groups = np.stack([cell[order], count[order]], axis=1).astype(np.int64)
    return Outcome(members, groups=groups, excluded=_without(members, np.unique(found.index), UNGROUPED))


def _tabled(world: World, how: Compute, members: Ints) -> Outcome:
    """Rows in the order of members, then of the columns' cells from left to right."""
    rows = members.astype(np.int64)[:, None]
    place = np.arange(len(members))
    for way in how.columns:
        found = pairs(world, way, members)
        low, high = np.searchsorted(found.index, [place, place + 1])
        count = high - low
        if int(count.sum()) > MOST_ROWS:
            raise QuestionError(
                f"The table has {int(count.sum())} rows or more.", "Ask for fewer columns or members."
            )
        rows = np.column_stack([np.repeat(rows, count, axis=0), found.cell[ranges(low, count)]])
        place = np.repeat(place, count)
    return Outcome(members, rows=rows, excluded=_without(members, np.unique(place), INCOMPLETE))


def _without(members: Ints, index: Longs, reason: str) -> dict[str, Ints]:
    lacking = np.ones(len(members), bool)
    lacking[index] = False
    return {reason: members[lacking]} if lacking.any() else {}
