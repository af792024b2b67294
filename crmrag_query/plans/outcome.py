"""What executing a plan gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.plans.ways import LiteralValue, literal
from crmrag_query.plans.world import World

UNDATED = "undated"  # no date where a date was asked for
UNCERTAIN = "uncertain"  # a date that may lie in the period, but need not
UNMEASURED = "unmeasured"  # nothing to rank by
UNGROUPED = "ungrouped"  # leads to no group
INCOMPLETE = "incomplete"  # a column of the table would be empty

NO_CELLS = np.empty((0, 2), np.int64)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The exact result of a plan.

    ``members`` int32: nodes ascending, or of a ranking in its order with ``values`` int64 beside them; ``value``: the count,
    or whether there is any; ``groups`` int64 [g, 2]: cell and how many members lead to it; ``rows`` int64 [r, 1 + columns]:
    member and cells, see `cell`; ``excluded``: reason -> nodes for which everything else holds.
    """

    members: Ints
    values: Longs | None = None
    value: int | bool | None = None
    groups: Longs = field(default_factory=lambda: NO_CELLS)
    rows: Longs = field(default_factory=lambda: NO_CELLS)
    excluded: Mapping[str, Ints] = field(default_factory=dict)


def cell(world: World, number: int) -> str | LiteralValue:
    """A cell of a table or group: the IRI of a node, or a literal."""
    return world.graph.iri(number) if number < world.size else literal(world, number - world.size)


def ranking(values: npt.NDArray[np.int64], nodes: npt.NDArray[np.integer], ascending: bool) -> Longs:
    """The order of a ranking: by value, the highest first unless ``ascending``; equal ones by node."""
    return np.lexsort((nodes, values if ascending else -values)).astype(np.int64)
