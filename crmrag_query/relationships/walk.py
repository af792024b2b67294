"""Walk paths: what entities reach, and which entities reach them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from crmrag_query.graph.arrays import FLAG_SUSPECT, Adjacency, Ints, Longs
from crmrag_query.ontology import Ontology
from crmrag_query.relationships import frontier as fr
from crmrag_query.relationships.catalogue import Path
from crmrag_query.relationships.plan import Leg, legs_of

LIMIT = 1 << 22
"""Pairs a frontier may hold before its sources are split: 32 MiB of keys, about five times that at work."""


def advance(
    adjacency: Adjacency, leg: Leg, frontier: Longs, limit: int = LIMIT, ranks: fr.Ranks | None = None
) -> Iterator[Longs]:
    """The frontier after the leg, in pieces that hold their sources whole and (one source apart) keep to ``limit``.

    ``ranks``: given where the keys carry the rank of their way (see `Branch`).
    """
    if len(frontier) == 0:
        return
    walked = (fr.closure if leg.recursive else fr.hop)(adjacency, leg.moves, frontier, limit, ranks)
    if walked is not None:
        yield walked
        return
    parts = fr.halves(frontier)
    assert parts is not None, "a frontier of one source is always walked"
    for part in parts:
        yield from advance(adjacency, leg, part, limit, ranks)


def walk_path(
    adjacency: Adjacency, ontology: Ontology, path: Path, sources: Ints, limit: int = LIMIT
) -> tuple[Ints, Ints]:
    """What each source reaches by one path: (index into ``sources``, node), sorted, distinct.

    Categories are not looked at. A source never reaches itself; a suspected merge takes no path of several steps.
    """
    careful = len(path.steps) > 1
    chosen = (
        np.flatnonzero((adjacency.flags[sources] & FLAG_SUSPECT) == 0) if careful else np.arange(len(sources))
    )
    return _walk(adjacency, legs_of(adjacency, ontology, path), sources, chosen, limit)


def reach_back(
    adjacency: Adjacency, ontology: Ontology, path: Path, targets: Ints, limit: int = LIMIT
) -> tuple[Ints, Ints]:
    """Which entities reach each target by one path: (index into ``targets``, source node), sorted, distinct.

    The same pairs as `walk_path`, found from the other end.
    """
    legs = legs_of(adjacency, ontology, path)
    back = None if legs is None else tuple(leg.reversed() for leg in reversed(legs))
    index, found = _walk(adjacency, back, targets, np.arange(len(targets)), limit)
    if len(path.steps) > 1:
        kept = (adjacency.flags[found] & FLAG_SUSPECT) == 0
        index, found = index[kept], found[kept]
    return index, found


def _walk(
    adjacency: Adjacency, legs: Sequence[Leg] | None, nodes: Ints, chosen: Longs, limit: int
) -> tuple[Ints, Ints]:
    """Pairs (index into ``nodes``, node reached) over the legs, for the nodes at the ``chosen`` indices, by blocks."""
    index, reached = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for first in range(0, len(chosen) if legs else 0, fr.BLOCK):
        block = chosen[first : first + fr.BLOCK]
        for keys in _descend(adjacency, legs or (), fr.start(np.arange(len(block)), nodes[block]), limit):
            at, node = block[fr.sources_of(keys)], fr.nodes_of(keys)
            other = node != nodes[at]
            index.append(at[other].astype(np.int32))
            reached.append(node[other].astype(np.int32))
    return np.concatenate(index), np.concatenate(reached)


def _descend(adjacency: Adjacency, legs: Sequence[Leg], frontier: Longs, limit: int) -> Iterator[Longs]:
    if not legs:
        yield frontier
        return
    for piece in advance(adjacency, legs[0], frontier, limit):
        yield from _descend(adjacency, legs[1:], piece, limit)
