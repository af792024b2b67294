"""The widest extent of the dates that are stated on each node, as arrays."""

from __future__ import annotations

from typing import Final

import numpy as np

from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.graph import Graph

OPEN_BEGIN: Final = -(2**31)
OPEN_END: Final = 2**31 - 1
"""Day numbers that stand for an unknown begin or end."""


def extents(graph: Graph) -> tuple[Ints, Ints]:
    """Begin and end of every node's own dates, int32 [n] each; open where unknown or contradictory."""
    import pyarrow.compute as pc

    table = graph.timespan_table
    node, first, last = (
        table.column("node").to_numpy(),
        pc.coalesce(table.column("outer_begin"), table.column("inner_begin"), OPEN_BEGIN).to_numpy(),
        pc.coalesce(table.column("outer_end"), table.column("inner_end"), OPEN_END).to_numpy(),
    )
    sound = first <= last
    begin, end = np.full(graph.nodes, OPEN_BEGIN, np.int32), np.full(graph.nodes, OPEN_END, np.int32)
    begin[node[sound]], end[node[sound]] = first[sound], last[sound]
    return begin, end
