"""What is made of the members of a plan: a count, a ranking, groups, a table, pairs, a comparison."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END
from crmrag_query.plans.buckets import buckets
from crmrag_query.plans.identity import once, same_cells
from crmrag_query.plans.literals import numbers
from crmrag_query.plans.outcome import (
    INCOMPLETE,
    UNCERTAIN,
    UNDATED,
    UNGROUPED,
    UNMEASURED,
    Outcome,
    ranking,
)
from crmrag_query.plans.records import Anchor, Compute, Measure, Plan
from crmrag_query.plans.tables import pairing, same_rows, table
from crmrag_query.plans.ways import Pairs, pairs, way_literals, weights
from crmrag_query.plans.world import World, distinct

Anchored = Callable[[Anchor], Ints | None]
"""Gives the nodes of an anchor, None for anything at all."""
Inner = Callable[[Plan], Ints]
"""Gives the members of another plan."""
Values = Longs | npt.NDArray[np.float64]


def compute(world: World, how: Compute, members: Ints, anchored: Anchored, inner: Inner) -> Outcome:
    """The outcome of ``members``, ascending. Raises QuestionError for a table that is too large."""
    kept = once(world, members)[0] if how.identity == "same_as" else members
    match how.kind:
        case "count":
            return Outcome(kept, "count", value=_counted(world, how, members, kept, anchored(how.to)))
        case "ask":
            return Outcome(kept, "ask", value=len(members) > 0)
        case "rank":
            return _ranked(world, how, members, anchored(how.measure.to) if how.measure else None)
        case "group":
            return (_by_entity if how.by == "entity" else _by_date)(world, how, members, anchored(how.to))
        case "table":
            rows = table(world, how.columns, [anchored(column.to) for column in how.columns], members)
            left = _all_but(members, distinct(rows[:, 0]), INCOMPLETE)
            rows = same_rows(world, rows, members) if how.identity == "same_as" else rows
            return Outcome(kept, "table", rows=rows, excluded=left)
        case "pairs":
            pairs_, having = pairing(world, how, members)
            return Outcome(kept, "pairs", pairing=pairs_, excluded=_all_but(kept, having, INCOMPLETE))
        case "compare":
            return _compared(world, how, members, inner)
        case _:
            return Outcome(kept)


def _counted(world: World, how: Compute, members: Ints, kept: Ints, ends: Ints | None) -> int:
    if how.distinct or how.way is None:
        return len(kept)
    return int(weights(world, how.way, members, ends)[1].sum())


def _compared(world: World, how: Compute, members: Ints, inner: Inner) -> Outcome:
    sets = [members, *(inner(other) for other in how.others)]
    if how.identity == "iri":
        common = reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), sets)
    else:
        alike = reduce(
            lambda a, b: np.intersect1d(a, b, assume_unique=True),
            (distinct(world.identity[one]) for one in sets),
        )
        common = once(world, members[np.isin(world.identity[members], alike)])[0]
        sets = [once(world, one)[0] for one in sets]
    return Outcome(sets[0], "compare", sizes=tuple(map(len, sets)), common=common.astype(np.int32))


# Rankings


def measured(world: World, how: Compute, members: Ints, ends: Ints | None) -> tuple[Longs, Values]:
    """(index into ``members``, value) of those that have one; see `records.Measure`."""
    measure = how.measure
    assert measure is not None
    if measure.kind == "value":
        index, row = way_literals(world, measure.way, members, direct=True)
        stated, number = numbers(world, row)
        return _best(index[stated], number, how.ascending)
    found = pairs(world, measure.way, members, literals=measure.kind == "count", direct=True)
    found = found.within(world, ends)
    if measure.kind == "count":
        if how.identity == "same_as":
            place = once(world, members)[1]
            found = _same(world, found, place)
        index, value = np.unique(found.index, return_counts=True)
        return index.astype(np.int64), value.astype(np.int64)
    return _days(world, measure, found)


def _days(world: World, measure: Measure, found: Pairs) -> tuple[Longs, Values]:
    earliest = measure.kind == "earliest"
    day = world.extents[0 if earliest else 1][found.cell].astype(np.int64)
    known = day != (OPEN_BEGIN if earliest else OPEN_END)
    return _best(found.index[known], day[known], earliest)


def _best(index: Longs, value: Values, lowest: bool) -> tuple[Longs, Values]:
    """Of each index the lowest or highest value."""
    order = np.lexsort((value if lowest else -value, index))
    found, first = np.unique(index[order], return_index=True)
    return found, value[order][first]


def _same(world: World, found: Pairs, place: Longs) -> Pairs:
    """Pairs of what is different: ``place`` gives for each index that of the one that stands for it."""
    return Pairs.of([Pairs(place[found.index], same_cells(world, found.cell)).keys])


def _ranked(world: World, how: Compute, members: Ints, ends: Ints | None) -> Outcome:
    index, value = measured(world, how, members, ends)
    kept = members
    if how.identity == "same_as":
        kept, place = once(world, members)
        assert how.measure is not None
        if how.measure.kind != "count":  # counts go by place already
            lowest = how.measure.kind == "earliest" or (how.measure.kind == "value" and how.ascending)
            index, value = _best(place[index], value, lowest)
    left = _without(kept, index, UNMEASURED)
    if how.at_least is not None:
        enough = value >= how.at_least
        index, value = index[enough], value[enough]
    order = ranking(value, index, how.ascending)[: with_ties(value, how)]
    return Outcome(kept[index[order]], "rank", values=value[order], excluded=left)


def with_ties(values: Values, how: Compute) -> int:
    """How many come first, those as good as the last of them included."""
    if how.first is None or how.first >= len(values):
        return len(values)
    ordered = np.sort(values if how.ascending else -values)
    return int(np.searchsorted(ordered, ordered[how.first - 1], side="right"))


# Groups


def _by_entity(world: World, how: Compute, members: Ints, ends: Ints | None) -> Outcome:
    assert how.way is not None
    if not how.distinct:
        cell, count = weights(world, how.way, members, ends)
        reached = pairs(world, how.way, members, direct=True).within(world, ends)
        return _groups(how, members, cell, count, _without(members, distinct(reached.index), UNGROUPED))
    found = pairs(world, how.way, members, direct=True).within(world, ends)
    left = _without(members, distinct(found.index), UNGROUPED)
    kept = members
    if how.identity == "same_as":
        kept, place = once(world, members)
        found = _same(world, found, place)
        left = _without(kept, distinct(found.index), UNGROUPED)
    cell, count = np.unique(found.cell, return_counts=True)
    return _groups(how, kept, cell, count.astype(np.int64), left)


def _by_date(world: World, how: Compute, members: Ints, ends: Ints | None) -> Outcome:
    """A date whose whole span counts and lies in several buckets counts in none; members with such alone are uncertain."""
    assert how.way is not None
    found = pairs(world, how.way, members, literals=False, direct=True).within(world, ends)
    kept, index = members, found.index
    if how.identity == "same_as":
        kept, place = once(world, members)
        index = place[index]
    bucket, dated, sure = buckets(world, found.cell, how.by, how.edge)
    low = int(bucket.min()) if len(bucket) else 0
    shift = Pairs.of([Pairs(index[sure], bucket[sure] - low).keys])
    cell, count = np.unique(shift.cell + low, return_counts=True)
    grouped, with_date = distinct(shift.index), distinct(index[dated])
    left = {
        **_without(kept, with_date, UNDATED),
        **_picked(kept, np.setdiff1d(with_date, grouped, assume_unique=True), UNCERTAIN),
    }
    return _groups(how, kept, cell, count.astype(np.int64), left)


def _groups(how: Compute, members: Ints, cell: Longs, count: Longs, left: dict[str, Ints]) -> Outcome:
    if how.at_least is not None:
        cell, count = cell[count >= how.at_least], count[count >= how.at_least]
    order = ranking(count, cell, how.ascending)[: with_ties(count, how)]
    groups = np.stack([cell[order], count[order]], axis=1).astype(np.int64)
    return Outcome(members, "group", groups=groups, by=how.by, excluded=left)


# What is left out


def _all_but(members: Ints, having: Longs | Ints, reason: str) -> dict[str, Ints]:
    left = np.setdiff1d(members, having, assume_unique=True)
    return {reason: left} if len(left) else {}


def _without(members: Ints, having: Longs, reason: str) -> dict[str, Ints]:
    """Members but those at these indices."""
    lacking = np.ones(len(members), bool)
    lacking[having] = False
    return _picked(members, np.flatnonzero(lacking), reason)


def _picked(members: Ints, index: Longs, reason: str) -> dict[str, Ints]:
    return {reason: members[index]} if len(index) else {}
