"""Why an entity is a member of a plan: for each condition one way, node by node, each step a triple."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crmrag_query.graph.arrays import Ints
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.members import anchored, within_period
from crmrag_query.plans.records import Dated, Plan, Related, Way
from crmrag_query.plans.routes import routes_of
from crmrag_query.plans.ways import admits, begins, pairs
from crmrag_query.plans.world import World
from crmrag_query.relationships.explain import Hop, way_over


@dataclass(frozen=True, slots=True)
class Proof:
    """How a member meets the constraint at place ``constraint`` of the plan: by ``hops`` it leads to ``target``.

    ``hops`` are empty where the way takes none: the member is its own target.
    """

    constraint: int
    target: int
    hops: tuple[Hop, ...]


def explain(world: World, plan: Plan, member: int) -> tuple[Proof, ...]:
    """One shortest way for each relationship, path or date that the plan demands; a way that ends in a literal has none.

    Of several targets the one with the lowest number counts.
    """
    proofs = []
    for place, one in enumerate(plan.where):
        if not isinstance(one, Related | Dated) or one.negated or one.way is None:
            continue
        ends = (
            anchored(world, one.to, members_of)
            if isinstance(one, Related)
            else np.flatnonzero(within_period(world, one)).astype(np.int32)
        )
        reached = pairs(world, one.way, np.array([member], np.int32), literals=False).cell
        targets = reached if ends is None else np.intersect1d(reached, ends, assume_unique=True)
        if len(targets):
            target = int(targets[0])
            proofs.append(Proof(place, target, _shortest(world, one.way, member, target)))
    return tuple(proofs)


def _shortest(world: World, way: Way, member: int, target: int) -> tuple[Hop, ...]:
    """The shortest of the routes' ways, the first of equally short ones."""
    source, end = _one(member), _one(target)
    found: list[list[Hop]] = []
    for route in routes_of(world, way):
        if begins(world, route, source)[0] and admits(world, route, end)[0]:
            hops = way_over(route.graph(world), route.legs, member, target)
            if hops:
                found.append(hops)
    return tuple(sorted(found, key=lambda hops: len(hops))[0]) if found else ()


def _one(node: int) -> Ints:
    return np.array([node], np.int32)
