"""Tables of what members lead to, column by column, and pairs of members that lead to the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.plans.identity import once, same_cells
from crmrag_query.plans.outcome import Pairing
from crmrag_query.plans.records import Column, Compute
from crmrag_query.plans.ways import pairs
from crmrag_query.plans.world import World, distinct

Ends = Sequence[Ints | None]
"""For each column the nodes that its cells are among, None for anything."""


def table(world: World, columns: Sequence[Column], ends: Ends, members: Ints) -> Longs:
    """Rows int64 [r, 1 + columns], distinct, in the order of members, then of the columns' cells from left to right.

    Raises QuestionError for more rows than ``plans.most_rows``.
    """
    rows = members.astype(np.int64)[:, None]
    for column, within in zip(columns, ends, strict=True):
        source = rows[:, 0 if column.of is None else column.of + 1]
        asked, place = np.unique(source, return_inverse=True)
        asked = asked[asked < world.size]
        found = pairs(world, column.way, asked.astype(np.int32), direct=True).within(world, within)
        count = np.bincount(found.index, minlength=len(asked) + 1)
        size = int(count[np.minimum(place, len(asked))].sum())
        if size > world.config.most_rows:
            raise QuestionError(f"The table has {size} rows or more.", "Ask for fewer columns or members.")
        origin, at = found.rows_of(place)
        rows = np.column_stack([rows[origin], found.cell[at]])
    return rows


def pairing(world: World, how: Compute, members: Ints) -> tuple[Pairing, Ints]:
    """The pairs of members that lead by each way to the same cells, and the members that lead to any."""
    columns = [Column(way=way) for way in how.ways]
    rows = table(world, columns, [None] * len(columns), members)
    if how.identity == "same_as":
        rows = same_rows(world, rows, members)
    cells = rows[:, 1:]
    order = np.lexsort((rows[:, 0], *cells.T[::-1]))
    rows = rows[order]
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:, 1:] != rows[:-1, 1:]).any(axis=1)
    first = np.flatnonzero(new)
    count = np.diff(np.append(first, len(rows)))
    several = count > 1
    kept = np.repeat(several, count)
    ptr = np.concatenate([[0], np.cumsum(count[several])]).astype(np.int64)
    shared = rows[first[several], 1:]
    having = distinct(rows[:, 0]).astype(np.int32)
    return Pairing(shared, ptr, rows[kept, 0].astype(np.int32), how.partner), having


def same_rows(world: World, rows: Longs, members: Ints) -> Longs:
    """Rows whose members and cells are the same things, each once."""
    kept, place = once(world, members)
    first = kept[place[np.searchsorted(members, rows[:, 0])]].astype(np.int64)
    merged = np.column_stack([first, same_cells(world, rows[:, 1:])])
    order = np.lexsort(merged.T[::-1])
    merged = merged[order]
    new = np.ones(len(merged), bool)
    new[1:] = (merged[1:] != merged[:-1]).any(axis=1)
    return merged[new]
