"""Which entities are held against shapes: evenly of all classes, the same ones for the same data."""

from __future__ import annotations

import numpy as np

from crmrag_assets.harvest.chunks import Hashes
from crmrag_query.graph.arrays import FLAG_ENTITY, Ints
from crmrag_query.graph.graph import Graph


def sampled(graph: Graph, ids: Hashes, size: int) -> Ints:
    """Up to ``size`` entities, ascending: of each class, and of none, those of the lowest ids, in turns.

    ``ids`` uint64 [n]: of the nodes, by the hash of their IRIs, so that a change of the data changes few of the sample.
    """
    ptr, val = graph.type_rows
    counts = np.diff(ptr)
    nodes = np.concatenate([np.repeat(np.arange(graph.nodes), counts), np.flatnonzero(counts == 0)])
    classes = np.concatenate([val, np.full(int((counts == 0).sum()), len(graph.class_codes), np.int32)])
    entity = (graph.flags & FLAG_ENTITY)[nodes] != 0
    nodes, classes = nodes[entity], classes[entity]
    order = np.lexsort((ids[nodes], classes))
    nodes, classes = nodes[order], classes[order]
    turn = np.arange(len(nodes)) - np.searchsorted(classes, classes)  # place within the class
    early = np.flatnonzero(turn < size)
    in_turns = nodes[early[np.lexsort((classes[early], turn[early]))]]
    _, first = np.unique(in_turns, return_index=True)
    return np.sort(in_turns[np.sort(first)[:size]]).astype(np.int32)
