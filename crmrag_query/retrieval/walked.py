"""Personalised PageRank from the entities that a question names, over the part of the graph around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Adjacency, Ints
from crmrag_query.retrieval.adjacency import edges_of

if TYPE_CHECKING:  # loaded when first walked: opening a release must not load it
    from scipy import sparse

Reals = npt.NDArray[np.float64]


def neighbourhood(
    graph: Adjacency, seeds: Ints, weight: Callable[[str], float], hops: int, limit: int
) -> tuple[Ints, sparse.csr_array]:
    """Nodes within ``hops`` steps of ``seeds``, ascending, and the symmetric matrix of the edges between them.

    Nodes are taken step by step, those with most edges to what is there first, until there are ``limit``; parallel edges
    count with the heaviest.
    """
    from scipy import sparse

    nodes = np.unique(seeds).astype(np.int32)
    frontier = nodes
    for _ in range(hops):
        _, others, _ = edges_of(graph, frontier, weight)
        found, times = np.unique(others, return_counts=True)
        new = ~np.isin(found, nodes)
        found, times = found[new], times[new]
        frontier = np.sort(found[np.lexsort((found, -times))][: max(0, limit - len(nodes))])
        nodes = np.union1d(nodes, frontier).astype(np.int32)
        if len(frontier) == 0:
            break
    rows, others, weights = edges_of(graph, nodes, weight)
    column = np.searchsorted(nodes, others)
    column[column == len(nodes)] = 0
    inside = (nodes[column] == others) & (column != rows)
    key = np.minimum(rows, column)[inside] * len(nodes) + np.maximum(rows, column)[inside]
    pairs, first = np.unique(key, return_inverse=True)
    heaviest = np.zeros(len(pairs))
    np.maximum.at(heaviest, first, weights[inside])
    a, b = np.divmod(pairs, max(1, len(nodes)))
    shape = (len(nodes), len(nodes))
    upper = sparse.coo_array((heaviest, (a, b)), shape=shape)
    return nodes, sparse.csr_array(upper + upper.T)


def personalised_pagerank(
    edges: sparse.csr_array, restart: Reals, damping: float, tolerance: float, iterations: int
) -> Reals:
    """Share of each node, float64 [n], sum 1: a walk along ``edges`` [n, n] that starts anew by ``restart`` [n], sum 1.

    A node without edges sends its share back to ``restart``. Page et al. 1999; Haveliwala 2002. Power iteration until the
    L1 change falls below ``n * tolerance``, as networkx does.
    """
    from scipy import sparse

    n = len(restart)
    out = np.asarray(edges.sum(axis=1)).ravel()
    stuck = out == 0
    step = sparse.diags_array(np.divide(1.0, out, out=np.zeros(n), where=~stuck)) @ edges
    rank = restart.copy()
    for _ in range(iterations):
        moved = damping * (rank @ step + rank[stuck].sum() * restart) + (1 - damping) * restart
        if np.abs(moved - rank).sum() < n * tolerance:
            return np.asarray(moved)
        rank = moved
    return np.asarray(rank)
