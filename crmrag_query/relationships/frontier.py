"""Frontiers: sets of (source, node) pairs as sorted int64 keys, and the one gather that moves them a hop on.

A key holds, from the highest bits down, the source's place in its block (16), the node (31), and the hops taken so far
(16): sorting groups by source, then node, and puts the fewest hops first. Once a path ends, the lower half of the hops
makes room for the path's index (8 bits each), so that one sort also finds the lowest path. Where a walk tells apart by
which properties it went (see `Branch`), the rank of the way so far stands there from the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from crmrag_query.graph.arrays import FLAG_SUSPECT, Adjacency, Ints, Longs, Rows

Move = tuple[int, bool]
"""Property number, and whether its triples are followed from subject to object."""

Ranks = Sequence[Longs]
"""For each move of a leg the rank of the way by its rank before: int64 [256]."""

SOURCE_SHIFT = 47
NODE_SHIFT = 16
PATH_SHIFT = 8
BLOCK = 1 << (63 - SOURCE_SHIFT)
MAX_PATHS = 1 << (NODE_SHIFT - PATH_SHIFT)
TABLE_SHARE = 8  # a table over all nodes beats a binary search for frontiers above this share of them
_NODE_MASK = (1 << (SOURCE_SHIFT - NODE_SHIFT)) - 1
_HOPS_MASK = (1 << NODE_SHIFT) - 1
_LOW_MASK = (1 << PATH_SHIFT) - 1


def start(places: Longs, nodes: Ints) -> Longs:
    """The frontier in which each source stands on its own node; ``places`` ascending, below BLOCK."""
    return (places << SOURCE_SHIFT) | (nodes.astype(np.int64) << NODE_SHIFT)


def sources_of(keys: Longs) -> Longs:
    return keys >> SOURCE_SHIFT


def nodes_of(keys: Longs) -> Longs:
    return (keys >> NODE_SHIFT) & _NODE_MASK


def hops_of(keys: Longs) -> Longs:
    return keys & _HOPS_MASK


def finished(keys: Longs, path: int) -> Longs:
    """Keys of a frontier at the end of ``path``: path above hops, which count to 255 at most."""
    hops: Longs = np.minimum(keys & _HOPS_MASK, _LOW_MASK)
    return (keys & ~_HOPS_MASK) | (path << PATH_SHIFT) | hops


def path_of(keys: Longs) -> Longs:
    """Path index of finished keys; rank of the way of those that carry one."""
    return (keys >> PATH_SHIFT) & _LOW_MASK


def named(keys: Longs, paths: Longs) -> Longs:
    """Keys that carry a rank at the end of a path: the path of each rank, int64 [256], in its place."""
    return (keys & ~(_LOW_MASK << PATH_SHIFT)) | (paths[path_of(keys)] << PATH_SHIFT)


def finished_hops(keys: Longs) -> Longs:
    """Hops of finished keys, 255 for 255 or more."""
    return keys & _LOW_MASK


def distinct(parts: Sequence[Longs]) -> Longs:
    """Sorted keys of all parts, of each (source, node) pair only the lowest."""
    if not parts:
        return np.empty(0, np.int64)
    keys = np.sort(parts[0] if len(parts) == 1 else np.concatenate(parts))
    pairs = keys >> NODE_SHIFT
    first = np.ones(len(keys), bool)
    np.not_equal(pairs[1:], pairs[:-1], out=first[1:])
    return keys[first]


def halves(keys: Longs) -> tuple[Longs, Longs] | None:
    """The frontier in two, each source whole; None for a frontier of one source."""
    places = sources_of(keys)
    if len(keys) == 0 or places[0] == places[-1]:
        return None
    middle = places[len(keys) // 2]
    cut = int(np.searchsorted(places, middle))
    if cut == 0:
        cut = int(np.searchsorted(places, middle, side="right"))
    return keys[:cut], keys[cut:]


def hop(
    adjacency: Adjacency, moves: Sequence[Move], frontier: Longs, limit: int, ranks: Ranks | None = None
) -> Longs | None:
    """One hop by any of the moves: the frontier reached, distinct; None when it exceeds ``limit`` pairs and can be halved.

    Nothing leaves a suspected merge of identities except at its own start. Never more than about ``limit`` pairs plus
    one node's neighbours are gathered before duplicates go, whatever the hubs; a frontier of one source is always
    finished, since it cannot exceed the number of nodes.
    """
    mask = _HOPS_MASK if ranks is None else _LOW_MASK
    leaving = _leaving(adjacency, frontier, mask)
    nodes = nodes_of(leaving).astype(np.int32)
    bare = (leaving & ~(_NODE_MASK << NODE_SHIFT)) + ((leaving & mask) < mask)
    parts: list[Longs] = []
    pending, settled = 0, 0
    for number, (prop, forward) in enumerate(moves):
        following = bare if ranks is None else named(bare, ranks[number])
        rows = adjacency.forward if forward else adjacency.backward
        for origin, reached in _gather(rows, prop, nodes, adjacency.nodes, limit):
            parts.append(following[origin] | (reached.astype(np.int64) << NODE_SHIFT))
            pending += len(reached)
            if pending > max(limit, settled):
                parts = [distinct(parts)]
                pending, settled = 0, len(parts[0])
                if settled > limit and halves(frontier) is not None:
                    return None
    return distinct(parts)


def closure(
    adjacency: Adjacency, moves: Sequence[Move], frontier: Longs, limit: int, ranks: Ranks | None = None
) -> Longs | None:
    """Zero or more hops, each pair with its fewest hops; None as in `hop`. Cycles end, since only better pairs go on.

    What has been reached is kept in layers of falling size, so that a chain of n hops costs about n log n.
    """
    layers, fresh = [frontier], frontier
    while len(fresh):
        found = hop(adjacency, moves, fresh, limit, ranks)
        if found is None:
            return None
        fresh = _improved(found, layers)
        layers.append(fresh)
        while len(layers) > 1 and len(layers[-2]) < 2 * len(layers[-1]):
            layers[-2:] = [distinct(layers[-2:])]
        if sum(map(len, layers)) > limit and halves(frontier) is not None:
            return None
    return distinct(layers)


def _leaving(adjacency: Adjacency, frontier: Longs, mask: int) -> Longs:
    stays = (adjacency.flags[nodes_of(frontier)] & FLAG_SUSPECT) != 0
    if not stays.any():
        return frontier
    kept: Longs = frontier[~stays | ((frontier & mask) == 0)]
    return kept


def _improved(found: Longs, layers: Sequence[Longs]) -> Longs:
    """Those of the keys found whose pair no layer has with as few hops."""
    better = np.ones(len(found), bool)
    for layer in layers:
        at = np.searchsorted(layer, found)
        better &= layer[np.minimum(at, len(layer) - 1)] != found
        before = np.maximum(at - 1, 0)
        better &= (at == 0) | ((layer[before] >> NODE_SHIFT) != (found >> NODE_SHIFT))
    kept: Longs = found[better]
    return kept


def _gather(rows: Rows, prop: int, nodes: Ints, size: int, limit: int) -> Iterator[tuple[Longs, Ints]]:
    """(index into ``nodes``, node reached) for all triples of ``prop``; at most ``limit``, or one node's, at a time."""
    found, at = _locate(rows, prop, nodes, size)
    begin = np.asarray(rows.ptr)[at]
    count = np.asarray(rows.ptr)[at + 1] - begin
    total = np.cumsum(count)
    first = 0
    while first < len(found):
        done = int(total[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(total, done + limit, side="right")))
        part = slice(first, last)
        offset = np.arange(done, int(total[last - 1])) - np.repeat(total[part] - count[part], count[part])
        reached = np.asarray(rows.val)[np.repeat(begin[part], count[part]) + offset]
        yield np.repeat(found[part], count[part]), reached
        first = last


def _locate(rows: Rows, prop: int, nodes: Ints, size: int) -> tuple[Longs, Longs]:
    """Indices of the nodes that have ``prop``, and their rows; ``size`` is the number of nodes in the graph."""
    low, high = int(rows.prop[prop]), int(rows.prop[prop + 1])
    listed = np.asarray(rows.row[low:high])
    if len(listed) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if len(nodes) > size // TABLE_SHARE:
        table = np.full(size, -1, np.int64)
        table[listed] = np.arange(low, high)
        at = table[nodes]
        found = np.flatnonzero(at >= 0)
        return found, at[found]
    at = np.minimum(np.searchsorted(listed, nodes), len(listed) - 1)
    found = np.flatnonzero(listed[at] == nodes)
    return found, low + at[found]
