"""Walking a set of nodes at once: what any of them reaches, without telling which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crmrag_query.graph.arrays import FLAG_SUSPECT, Adjacency, Ints, Rows
from crmrag_query.plans.world import Mask, distinct
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
        if not (len(self.still) and len(self.moved)):
            return self.still if len(self.still) else self.moved
        return distinct(np.concatenate([self.still, self.moved]))


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
    """What the nodes reach by any of the moves, ascending."""
    found = np.zeros(adjacency.nodes, bool)
    if len(nodes) * TABLE_SHARE >= adjacency.nodes:
        leaving = None if len(nodes) == adjacency.nodes else found.copy()
        if leaving is not None:
            leaving[nodes] = True
        for prop, forward in moves:
            found[_arriving(adjacency.backward if forward else adjacency.forward, prop, leaving)] = True
        return np.flatnonzero(found).astype(np.int32)
    parts = [
        (adjacency.forward if forward else adjacency.backward).expand(prop, nodes)[1]
        for prop, forward in moves
    ]
    if sum(map(len, parts)) * TABLE_SHARE < adjacency.nodes:
        return distinct(np.concatenate([NONE, *parts]))
    for part in parts:
        found[part] = True
    return np.flatnonzero(found).astype(np.int32)


def _arriving(back: Rows, prop: int, nodes: Mask | None) -> Ints:
    """Nodes that have a row of ``prop`` with one of the nodes (None: anything) in it; no node is walked by itself."""
    low, high = int(back.prop[prop]), int(back.prop[prop + 1])
    if nodes is None or low == high:
        return back.row[low:high]
    first = int(back.ptr[low])
    hits = nodes[back.val[first : int(back.ptr[high])]]
    return back.row[low:high][np.logical_or.reduceat(hits, back.ptr[low:high] - first)]
