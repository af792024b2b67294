"""What executing a plan gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.plans.literals import LiteralValue, literal
from crmrag_query.plans.records import ComputeKind, GroupedBy
from crmrag_query.plans.world import World, ranges

UNDATED = "undated"  # no date where a date was asked for
UNCERTAIN = (
    "uncertain"  # a date that may lie in the period, but need not; or in several years, decades or centuries
)
UNMEASURED = "unmeasured"  # nothing to rank by
UNGROUPED = "ungrouped"  # leads to no group
INCOMPLETE = "incomplete"  # a column of the table, or what pairs share, would be empty

NO_CELLS = np.empty((0, 2), np.int64)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Members that lead to the same cells, held by what they share: n of them make n * (n - 1) pairs.

    ``shared`` int64 [s, ways]: cells that two members or more have in common; ``ptr`` int64 [s+1]: range of their members;
    ``member`` int32, ascending within a range; ``partner``: whether rows tell the other one.
    """

    shared: Longs
    ptr: Longs
    member: Ints
    partner: bool

    @property
    def size(self) -> int:
        """How many rows there are."""
        count = np.diff(self.ptr)
        return int((count * (count - 1)).sum()) if self.partner else len(self.member)

    def blocks(self, most: int) -> Iterator[Longs]:
        """Rows (member, partner, cells…) or (member, cells…), about ``most`` at a time, by what is shared."""
        count = np.diff(self.ptr)
        width = np.repeat(count - 1 if self.partner else np.ones_like(count), count)  # rows of each place
        total, first = np.cumsum(width), 0
        while first < len(width):
            done = int(total[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(total, done + most, side="right")))
            yield self._rows(np.arange(first, last))
            first = last

    def _rows(self, places: Longs) -> Longs:
        of = np.searchsorted(self.ptr, places, side="right") - 1
        if not self.partner:
            return np.column_stack([self.member[places].astype(np.int64), self.shared[of]])
        start, count = self.ptr[of], self.ptr[of + 1] - self.ptr[of]
        other, one = ranges(start, count), np.repeat(places, count)
        apart = one != other
        one, other = one[apart], other[apart]
        cells = self.shared[np.repeat(of, count)[apart]]
        return np.column_stack(
            [self.member[one].astype(np.int64), self.member[other].astype(np.int64), cells]
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The exact result of a plan.

    ``members`` int32: nodes ascending, or of a ranking in its order with ``values`` beside them (int64; float64 of numbers);
    ``value``: the count, or whether there is any; ``groups`` int64 [g, 2]: cell (or year, decade, century: see ``by``) and
    how many members lead to it; ``rows`` int64 [r, 1 + columns] of a table: member and cells, see `cell`; ``pairing``: the
    rows of pairs; ``sizes``: of compared sets, this one first, and what is ``common`` to them; ``iris`` and ``identities``:
    how many members there are by IRI, and how many different ones by what the data says to be the same; ``excluded``:
    reason -> nodes for which everything else holds.

    Years are historical (1 BC is -1), a decade goes by its first year, 19 is the 19th century, -5 the fifth BC.
    """

    members: Ints
    kind: ComputeKind = "list"
    values: Longs | npt.NDArray[np.float64] | None = None
    value: int | bool | None = None
    groups: Longs = field(default_factory=lambda: NO_CELLS)
    by: GroupedBy = "entity"
    rows: Longs = field(default_factory=lambda: NO_CELLS)
    pairing: Pairing | None = None
    sizes: tuple[int, ...] = ()
    common: Ints | None = None
    iris: int = 0
    identities: int = 0
    excluded: Mapping[str, Ints] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many rows it has: of the table, groups, pairs; else how many members."""
        if self.pairing is not None:
            return self.pairing.size
        if self.kind == "table":
            return len(self.rows)
        return len(self.groups) if self.kind == "group" else len(self.members)

    def blocks(self, most: int) -> Iterator[Longs]:
        """The rows of a table, of groups or of pairs, else the members in one column, about ``most`` at a time."""
        if self.pairing is not None:
            yield from self.pairing.blocks(most)
            return
        whole = {"table": self.rows, "group": self.groups}.get(self.kind)
        rows = self.members.astype(np.int64)[:, None] if whole is None else whole
        for first in range(0, len(rows), most):
            yield rows[first : first + most]


def cell(world: World, number: int) -> str | LiteralValue:
    """A cell of a table, pair or group of entities: the IRI of a node, or a literal."""
    return world.graph.iri(number) if number < world.size else literal(world, number - world.size)


def ranking(values: npt.NDArray[np.number], nodes: npt.NDArray[np.integer], ascending: bool) -> Longs:
    """The order of a ranking: by value, the highest first unless ``ascending``; equal ones by node."""
    return np.lexsort((nodes, values if ascending else -values)).astype(np.int64)
