"""The graph of the parts: which are joined, how strongly, and by which edges."""

from __future__ import annotations

import numpy as np

from crmrag_assets.communities.detect import Net
from crmrag_query.graph.arrays import Ints, run_starts
from crmrag_query.graph_partitions import PartitionEdges


def edges_between(net: Net, part: Ints) -> PartitionEdges:
    """Every edge between two parts as a bridge of that pair; nothing is added and nothing is left out."""
    ends = np.stack([part[net.low], part[net.high]])
    turned = ends[0] > ends[1]
    low, high = np.where(turned, ends[1], ends[0]), np.where(turned, ends[0], ends[1])
    source, target = np.where(turned, net.high, net.low), np.where(turned, net.low, net.high)
    across = np.flatnonzero(low != high)
    order = across[np.lexsort((target[across], source[across], high[across], low[across]))]
    low, high = low[order], high[order]
    first = np.flatnonzero(run_starts(low, high))
    weight = np.add.reduceat(net.weight[order], first) if len(first) else np.empty(0)
    return PartitionEdges(
        low[first].astype(np.int32), high[first].astype(np.int32), weight.astype(np.float32),
        np.append(first, len(order)).astype(np.int64), source[order].astype(np.int32), target[order].astype(np.int32),
    )  # fmt: skip
