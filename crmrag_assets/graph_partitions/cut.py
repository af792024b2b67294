"""Cutting the entity graph into parts, none of which is larger than a limit: by METIS, by Leiden, or by both with meaning.

`metis` (Karypis & Kumar 1998) cuts few edges and gives parts of nearly equal size; what it leaves above the limit is moved.
`leiden` follows what belongs together, cut again until it fits, and leaves dust. `hybrid` is the same, its dust gathered:
small parts join the most similar that has room, and what is left is packed. All are repeatable: same graph, same parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pymetis
from scipy import sparse

from crmrag_assets.communities.detect import Net, leiden
from crmrag_query.config.loading import GraphPartitionsConfig
from crmrag_query.graph.arrays import Ints, Longs, places_in, run_starts
from crmrag_query.graph_partitions import PartitionEdges
from crmrag_query.retrieval.encoder import unit

Floats = npt.NDArray[np.float32]
WHOLE = 100  # by which weights are multiplied, their mean being 1: METIS takes whole numbers
FINER = 2.0  # by which the resolution is raised where Leiden finds one community only
TRIES = 8
SEED = 0
TOGETHER = 4096  # small parts that are compared with all others at once


def cut(net: Net, vectors: Floats, settings: GraphPartitionsConfig) -> Ints:
    """The part of each node, int32 [nodes], numbered from 0 in the order of their first nodes.

    ``vectors`` float32 [nodes, d], of length 1 or 0: by these small parts are gathered, which for METIS are the nodes without
    edges.
    """
    found = np.arange(len(net.inside)) + len(net.inside)
    if settings.method == "metis":
        joined = np.flatnonzero(net.strength > 0)
        found[joined] = balanced(net, joined, settings)
    else:
        for number, nodes in enumerate(_split(net, np.arange(len(net.inside)), settings)):
            found[nodes] = number
        if settings.method == "leiden":
            return numbered(found)
    least = settings.limit // 2 if settings.method == "hybrid" else 2
    together = gathered(numbered(found), vectors, least, settings.limit)
    return numbered(_without_crumbs(net, together, vectors, least))


def numbered(parts: npt.NDArray[np.integer]) -> Ints:
    """The same parts numbered from 0 in the order of their first nodes."""
    _, first, inverse = np.unique(parts, return_index=True, return_inverse=True)
    found: Ints = places_in(np.argsort(first))[inverse.reshape(-1)]
    return found


def matrix(net: Net, nodes: Longs | Ints) -> sparse.csr_array:
    """The weights of the edges among ``nodes``, both ways, in their order."""
    place = np.full(len(net.inside), -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    low, high = place[net.low], place[net.high]
    kept = (low >= 0) & (high >= 0)
    return both_ways(low[kept], high[kept], net.weight[kept], len(nodes))


def both_ways(
    low: npt.NDArray[np.integer], high: npt.NDArray[np.integer], weight: npt.NDArray[np.floating], count: int
) -> sparse.csr_array:
    """The weights of edges between ``count`` nodes, from either end."""
    ends = np.concatenate([low, high]), np.concatenate([high, low])
    return sparse.csr_array((np.concatenate([weight, weight]), ends), shape=(count, count))


def balanced(net: Net, nodes: Longs | Ints, settings: GraphPartitionsConfig) -> Longs:
    """METIS on the graph of ``nodes``: which part each is in, int64 [nodes], no part above the limit."""
    count = settings.num_parts or max(1, round(len(nodes) / settings.target_size))
    count = min(max(count, -(-len(nodes) // settings.limit)), max(1, len(nodes)))
    weights = matrix(net, nodes)
    return repaired(_metis(weights, count), weights, settings.limit)


def _metis(weights: sparse.csr_array, count: int) -> Longs:
    """``count`` parts of nearly equal size by METIS."""
    nodes = weights.shape[0]
    if count == 1 or not weights.nnz:
        return np.arange(nodes) * count // max(1, nodes)
    whole = np.maximum(1, np.rint(weights.data * (WHOLE / weights.data.mean()))).astype(np.int32)
    graph: Any = pymetis.CSRAdjacency(weights.indptr.astype(np.int32), weights.indices.astype(np.int32))
    options = pymetis.Options(seed=SEED)
    _, found = pymetis.part_graph(count, graph, eweights=whole, options=options, recursive=False)
    return np.asarray(found, np.int64)


def repaired(parts: Longs, weights: sparse.csr_array, limit: int) -> Longs:
    """The parts with none above ``limit``: of one that is, the nodes that lose least by it move to the part with room to
    which they are joined most, else to the smallest, else to a new one."""
    parts = parts.copy()
    sizes = np.bincount(parts)
    for part in np.flatnonzero(sizes > limit).tolist():
        nodes = np.flatnonzero(parts == part)
        others = _joined(parts, weights, nodes, len(sizes))
        own = others[:, part].copy()
        others[:, part] = -1.0
        moved = nodes[np.lexsort((nodes, own - others.max(axis=1)))][: int(sizes[part]) - limit]
        for node in moved.tolist():
            if not (sizes < limit).any():
                sizes = np.append(sizes, 0)
            reached = _joined(parts, weights, np.array([node]), len(sizes))[0]
            room = sizes < limit
            to = int(np.lexsort((np.arange(len(sizes)), sizes, -reached, ~room))[0])
            parts[node] = to
            sizes[part] -= 1
            sizes[to] += 1
    return parts


def _joined(parts: Longs, weights: sparse.csr_array, nodes: Longs, count: int) -> npt.NDArray[np.float64]:
    """How strongly each of ``nodes`` is joined to each part, float64 [nodes, parts]."""
    rows = weights[nodes].tocoo()
    found = np.zeros((len(nodes), count))
    np.add.at(found, (rows.coords[0], parts[rows.coords[1]]), rows.data)
    return found


def _split(net: Net, nodes: Longs, settings: GraphPartitionsConfig) -> Sequence[Longs]:
    """Leiden on the graph of ``nodes``, again on each community that is above the limit; METIS where it finds but one."""
    if len(nodes) <= settings.limit:
        return [nodes]
    within = _within(net, nodes)
    for attempt in range(TRIES):
        groups = leiden(within, FINER**attempt)
        if groups.max() > 0:
            break
    else:
        groups = balanced(net, nodes, settings).astype(np.int32)
    order = np.argsort(groups, kind="stable")
    found: list[Longs] = []
    for group in np.split(nodes[order], np.flatnonzero(np.diff(groups[order])) + 1):
        found += _split(net, group, settings)
    return found


def _within(net: Net, nodes: Longs) -> Net:
    """The graph of ``nodes`` by itself."""
    if len(nodes) == len(net.inside):
        return net
    upper = sparse.triu(matrix(net, nodes)).tocoo()
    ends = [axis.astype(np.int64) for axis in upper.coords]
    return Net(ends[0], ends[1], upper.data, np.zeros(len(nodes)), float(upper.data.sum()))


def centroids(parts: npt.NDArray[np.integer], vectors: Floats) -> Floats:
    """The mean vector of each part, scaled to length 1, float32 [parts, d]; 0 for a part without vectors."""
    count = int(parts.max(initial=-1)) + 1
    of = sparse.csr_array(
        (np.ones(len(parts), np.float32), (parts, np.arange(len(parts)))), shape=(count, len(parts))
    )
    return unit(of @ vectors)


def gathered(parts: Ints, vectors: Floats, least: int, limit: int) -> Ints:
    """Each part below ``least`` joined to the part with room to which it is most similar by the cosine of their mean vectors,
    the largest first; those that find none packed together in the order of their first nodes."""
    sizes = np.bincount(parts)
    means = centroids(parts, vectors)
    small = np.flatnonzero(sizes < least)
    small = small[np.argsort(-sizes[small], kind="stable")]
    whole = np.flatnonzero(sizes >= least)
    room = limit - sizes[whole]
    into = np.arange(len(sizes), dtype=np.int32)
    left = []
    for first in range(0, len(small), TOGETHER):
        block = small[first : first + TOGETHER]
        for part, cosine in zip(block.tolist(), (means[block] @ means[whole].T).round(6), strict=True):
            cosine[room < sizes[part]] = -np.inf
            if not len(cosine) or cosine[to := int(cosine.argmax())] == -np.inf:
                left.append(part)
                continue
            into[part] = whole[to]
            room[to] -= sizes[part]
    filled: list[tuple[int, int]] = []  # parts with room, and how much
    for part in sorted(left):
        size = int(sizes[part])
        for place, (other, free) in enumerate(filled):
            if free >= size:
                into[part] = other
                filled[place] = (other, free - size)
                break
        else:
            filled.append((part, limit - size))
        filled = [one for one in filled if one[1]]
    return numbered(into[parts])


def _without_crumbs(net: Net, parts: Ints, vectors: Floats, least: int) -> Ints:
    """What is still small is united with the most similar part, and both are cut in two halves: all others are full."""
    parts = parts.copy()
    for small in np.flatnonzero(np.bincount(parts) < least).tolist():
        means = centroids(parts, vectors)
        if len(means) == 1:
            break
        cosine = (means @ means[small]).round(6)
        cosine[small] = -np.inf
        other = int(cosine.argmax())
        both = np.flatnonzero((parts == small) | (parts == other))
        weights = matrix(net, both)
        halves = repaired(_metis(weights, 2), weights, -(-len(both) // 2))
        parts[both] = np.where(halves == 0, small, other)
    return parts


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
