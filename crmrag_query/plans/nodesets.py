"""Walking a set of nodes at once: what any of them reaches, without telling which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crmrag_query.graph.arrays import FLAG_SUSPECT, Adjacency, Ints, Rows
from crmrag_query.plans.world import ranges
from crmrag_query.relationships.frontier import TABLE_SHARE, Move
from crmrag_query.relationships.plan import Leg

NONE = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class NodeSet:
    """Nodes that a walk has come to, ascending: those where it began and has not moved, and those that it moved to.

    The two are told apart since a suspected merge of identities may be left at a walk's beginning only.
    """

    still: Ints
    moved: Ints

    @property
    def all(self) -> Ints:
        return np.union1d(self.still, self.moved) if len(self.still) else self.moved


def follow(adjacency: Adjacency, leg: Leg, nodes: NodeSet) -> NodeSet:
    """The set after one leg."""
    if not leg.recursive:
        return NodeSet(NONE, _hop(adjacency, leg.moves, _leaving(adjacency, nodes)))
    reached = np.zeros(adjacency.nodes, bool)
    reached[nodes.moved] = True
    fresh = _leaving(adjacency, nodes)
    left = np.zeros(adjacency.nodes, bool)
    while len(fresh):
        left[fresh] = True
        found = _hop(adjacency, leg.moves, fresh)
        reached[found] = True
        found = found[(adjacency.flags[found] & FLAG_SUSPECT) == 0]
        fresh = found[~left[found]]
    return NodeSet(nodes.still, np.flatnonzero(reached).astype(np.int32))


def walk_set(
    adjacency: Adjacency, legs: Sequence[Leg], start: Ints, memo: dict[tuple[Leg, ...], NodeSet] | None = None
) -> NodeSet:
    """The set after all legs; ``memo`` keeps what the same start reaches by the beginnings of other walks."""
    known = {} if memo is None else memo
    at = NodeSet(start, NONE)
    for done in range(1, len(legs) + 1):
        key = tuple(legs[:done])
        if key not in known:
            known[key] = follow(adjacency, legs[done - 1], at)
        at = known[key]
    return at


def _leaving(adjacency: Adjacency, nodes: NodeSet) -> Ints:
    free = nodes.moved[(adjacency.flags[nodes.moved] & FLAG_SUSPECT) == 0]
    return NodeSet(nodes.still, free).all


def _hop(adjacency: Adjacency, moves: Sequence[Move], nodes: Ints) -> Ints:
    parts = [
        _neighbours(adjacency.forward if forward else adjacency.backward, prop, nodes, adjacency.nodes)
        for prop, forward in moves
    ]
    total = sum(map(len, parts))
    if total * TABLE_SHARE < adjacency.nodes:
        return np.unique(np.concatenate([NONE, *parts]))
    found = np.zeros(adjacency.nodes, bool)
    for part in parts:
        found[part] = True
    return np.flatnonzero(found).astype(np.int32)


def _neighbours(rows: Rows, prop: int, nodes: Ints, size: int) -> Ints:
    """Values of the rows of ``nodes``, with repetitions."""
    low, high = int(rows.prop[prop]), int(rows.prop[prop + 1])
    if low == high or len(nodes) == 0:
        return NONE
    if len(nodes) * TABLE_SHARE < high - low or len(nodes) * TABLE_SHARE < size:
        return rows.expand(prop, nodes)[1]
    table = np.zeros(size, bool)
    table[nodes] = True
    chosen = low + np.flatnonzero(table[rows.row[low:high]])
    if len(chosen) == high - low:
        return np.asarray(rows.val[rows.ptr[low] : rows.ptr[high]])
    start = rows.ptr[chosen]
    return np.asarray(rows.val[ranges(start, rows.ptr[chosen + 1] - start)])
