"""How the candidates hang together: edges of the graph between their entities, one or two steps long."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Adjacency as Graph
from crmrag_query.graph.arrays import Ints

Matrix = npt.NDArray[np.float64]
EDGES = 20_000
"""Triples of one property and direction that are looked at: an entity may have more than any answer needs (ours)."""


def edges_of(graph: Graph, nodes: Ints, weight: Callable[[str], float]) -> tuple[Ints, Ints, Matrix]:
    """All edges from ``nodes``, in both directions: (row in ``nodes``, node at the other end, weight of the property).

    At most ``EDGES`` of one property and direction are given.
    """
    rows, others, weights = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0)]
    for prop, code in enumerate(graph.codes):
        for direction in (graph.forward, graph.backward):
            row, other = direction.expand(prop, nodes)
            rows.append(row[:EDGES])
            others.append(other[:EDGES])
            weights.append(np.full(len(row[:EDGES]), weight(code)))
    return np.concatenate(rows), np.concatenate(others), np.concatenate(weights)


def connect(
    nodes: Ints, rows: npt.NDArray[np.integer], others: Ints, weights: Matrix, max_hops: int, divisor: float
) -> Matrix:
    """Symmetric matrix [n, n] of how strongly the candidates' ``nodes`` (distinct) are joined; the diagonal is 0.

    One step: the largest weight of the edges between two; where none joins them, two steps over a node that is no
    candidate: ``w_a * w_b / divisor``, the largest over such nodes (facts: method, Query, Adjacency).
    """
    n = len(nodes)
    order = np.argsort(nodes)
    at = np.searchsorted(nodes, others, sorter=order)
    at[at == n] = 0
    column = order[at] if n else at
    inside = nodes[column] == others if n else np.zeros(0, bool)
    direct = np.zeros((n, n))
    np.maximum.at(direct, (rows[inside], column[inside]), weights[inside])
    direct = np.maximum(direct, direct.T)
    if max_hops == 2:
        virtual = _over_others(n, rows[~inside], others[~inside], weights[~inside]) / divisor
        direct = np.where(direct > 0, direct, virtual)
    np.fill_diagonal(direct, 0.0)
    return direct


def _over_others(n: int, rows: npt.NDArray[np.integer], others: Ints, weights: Matrix) -> Matrix:
    """Largest product of two weights over a shared node, [n, n]."""
    found = np.zeros((n, n))
    ends = np.unique(others.astype(np.int64) * n + rows) // max(1, n)
    middle, rows_beside = np.unique(ends, return_counts=True)
    middle = middle[rows_beside > 1]  # few of all that hubs lead to
    joins = np.isin(others, middle)
    reach = np.zeros((n, len(middle)))
    np.maximum.at(reach, (rows[joins], np.searchsorted(middle, others[joins])), weights[joins])
    for row in range(n):
        used = np.flatnonzero(reach[row])
        if len(used):
            found[row] = (reach[:, used] * reach[row, used]).max(axis=1)
    return found


def normalise(joined: Matrix) -> Matrix:
    """``D^-1/2 (A + I) D^-1/2`` with D the row sums of A + I: self loops, then symmetric normalisation (facts: method)."""
    looped = joined + np.eye(len(joined))
    root = 1 / np.sqrt(looped.sum(axis=1))
    scaled: Matrix = looped * root[:, None] * root[None, :]
    return scaled
