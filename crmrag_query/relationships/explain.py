"""By which way an entity reaches another: one shortest chain of triples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crmrag_query.graph.arrays import FLAG_SUSPECT, Adjacency, Ints, Longs
from crmrag_query.ontology import Ontology
from crmrag_query.relationships import frontier as fr
from crmrag_query.relationships.catalogue import Path, Relationship
from crmrag_query.relationships.plan import Leg, legs_of
from crmrag_query.relationships.walk import advance


@dataclass(frozen=True, slots=True)
class Hop:
    """A triple on the way, as the data states it; ``forward`` when the way leads from its subject to its object."""

    subject: int
    property: int
    object: int
    forward: bool


def explain(
    adjacency: Adjacency, ontology: Ontology, relationship: Relationship, source: int, target: int
) -> list[Hop]:
    """A shortest way from source to target over the relationship's paths; empty when none leads there.

    Between ways of equal length the lowest path decides, then, from the target backwards, the lowest property number,
    then the lowest node.
    """
    ways = (way_by(adjacency, ontology, path, source, target) for path in relationship.paths)
    return min((way for way in ways if way), key=len, default=[])


def way_by(adjacency: Adjacency, ontology: Ontology, path: Path, source: int, target: int) -> list[Hop]:
    """A shortest way from source to target by one path; empty when it does not lead there."""
    legs = legs_of(adjacency, ontology, path)
    suspect = bool(adjacency.flags[source] & FLAG_SUSPECT)
    if not legs or source == target or (suspect and len(path.steps) > 1):
        return []
    return way_over(adjacency, legs, source, target)


def way_over(adjacency: Adjacency, legs: Sequence[Leg], source: int, target: int) -> list[Hop]:
    """A shortest way over the legs; empty when it does not lead there, or takes no hop."""
    stages = [fr.start(np.zeros(1, np.int64), np.array([source], np.int32))]
    for leg in legs:
        stages.append(next(advance(adjacency, leg, stages[-1]), stages[-1][:0]))
    return backwards(adjacency, legs, stages, target)


def backwards(adjacency: Adjacency, legs: Sequence[Leg], stages: Sequence[Longs], target: int) -> list[Hop]:
    """From the target in the last stage to the source in the first, always to a node one hop nearer; see `way_over`.

    ``stages``: the frontier of one source, as number 0, at its start and after each leg.
    """
    way: list[Hop] = []
    node, hops, at = target, _hops(stages[-1], target), len(legs)
    while hops > 0:
        leg = legs[at - 1]
        if leg.recursive and _hops(stages[at - 1], node) == hops:
            at -= 1
            continue
        at = at if leg.recursive else at - 1
        hops -= 1
        hop = _hop_into(adjacency, leg, stages[at], node, hops)
        way.append(hop)
        node = hop.subject if hop.forward else hop.object
    return way[::-1]


def _hops(stage: Longs, node: int) -> int:
    """Hops to the node in a stage of one source, -1 when it is not there."""
    at = int(np.searchsorted(stage, node << fr.NODE_SHIFT))
    if at == len(stage) or int(fr.nodes_of(stage[at : at + 1])[0]) != node:
        return -1
    return int(fr.hops_of(stage[at : at + 1])[0])


def _hop_into(adjacency: Adjacency, leg: Leg, stage: Longs, node: int, hops: int) -> Hop:
    """The lowest triple that leads to the node from one that the stage holds at ``hops``."""
    level = stage[fr.hops_of(stage) == hops]
    nodes = fr.nodes_of(level).astype(np.int32)
    if hops:
        nodes = nodes[(adjacency.flags[nodes] & FLAG_SUSPECT) == 0]
    for prop, forward in leg.moves:
        rows = adjacency.backward if forward else adjacency.forward
        before: Ints = np.intersect1d(rows.neighbours(prop, node), nodes, assume_unique=True)
        if len(before):
            first = int(before[0])
            return Hop(first, prop, node, True) if forward else Hop(node, prop, first, False)
    raise AssertionError("a stage holds no node that was not reached from the one before")
