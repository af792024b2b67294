"""Why an entity is a member of a plan: for each condition one way, node by node, each step a triple."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from crmrag_query.graph.arrays import Ints
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.literals import LiteralValue, literal
from crmrag_query.plans.members import anchored, satisfying, within_period
from crmrag_query.plans.records import Constraint, Dated, Either, Member, Plan, Related, Way
from crmrag_query.plans.routes import Routes, links_of
from crmrag_query.plans.ways import admits, begins, leading_by, link_pairs, pairs
from crmrag_query.plans.world import Mask, World
from crmrag_query.relationships.explain import Hop, way_over


@dataclass(frozen=True, slots=True)
class Proof:
    """How a member meets a constraint of the plan: by ``hops`` it leads to ``target``.

    ``constraint``: its place in the plan; ``within``: where it stands in an `Either` or the plan of a `Member`, and so on
    inwards. ``hops`` are empty where the way takes none: the member is its own target. ``literal``: what a way ends in from
    the target on, where it ends in no node.
    """

    constraint: int
    target: int
    hops: tuple[Hop, ...]
    within: tuple[int, ...] = ()
    literal: LiteralValue | None = None


@dataclass(frozen=True, slots=True)
class _Ends:
    """What a constraint's way must lead to, worked out once for all members: nodes, None for anything."""

    place: int
    constraint: Constraint
    nodes: Ints | None = None
    inner: tuple[_Ends, ...] = ()
    holds: Mask | None = None


def explain(world: World, plan: Plan, member: int) -> tuple[Proof, ...]:
    """One shortest way for each relation, relationship, path or date that the plan demands, link by link.

    Of an `Either` the first that holds; of a `Member` what the other plan demands. Of several targets the one with the lowest
    number counts; negated constraints have no way.
    """
    return explain_all(world, plan, [member])[0]


def explain_all(world: World, plan: Plan, members: Sequence[int]) -> list[tuple[Proof, ...]]:
    """`explain` of each member; what the plan's ways must lead to is worked out once."""
    among = world.mask(np.array(members, np.int32))
    ends = _ends(world, plan.where, among)
    return [tuple(_proofs(world, ends, member)) for member in members]


def _ends(world: World, where: Sequence[Constraint], among: Mask) -> tuple[_Ends, ...]:
    found = []
    for place, one in enumerate(where):
        match one:
            case _ if one.negated:
                continue
            case Related():
                found.append(_Ends(place, one, anchored(world, one.to, members_of)))
            case Dated() if one.way is not None:
                found.append(_Ends(place, one, np.flatnonzero(within_period(world, one)).astype(np.int32)))
            case Member():
                found.append(_Ends(place, one, inner=_ends(world, one.plan.where, among)))
            case Either():
                ends = {end.place: end for end in _ends(world, one.of, among)}
                parts = [
                    replace(ends.get(at, _Ends(at, part)), holds=_holding(world, part, among))
                    for at, part in enumerate(one.of)
                ]
                found.append(_Ends(place, one, inner=tuple(parts)))
    return tuple(found)


def _holding(world: World, one: Constraint, among: Mask) -> Mask:
    held = satisfying(world, one, among, members_of)
    return among & (~held if one.negated else held)


def _proofs(world: World, ends: Sequence[_Ends], member: int) -> list[Proof]:
    proofs = []
    for end in ends:
        match end.constraint:
            case Either():
                inner = [
                    next((part for part in end.inner if part.holds is not None and part.holds[member]), None)
                ]
                chosen = [part for part in inner if part is not None]
            case Member():
                chosen = list(end.inner)
            case Related() | Dated() if end.constraint.way is not None and not end.constraint.negated:
                proofs += _proof(world, end, end.constraint.way, member)
                continue
            case _:
                continue
        proofs += [
            replace(one, constraint=end.place, within=(one.constraint, *one.within))
            for one in _proofs(world, chosen, member)
        ]
    return proofs


def _proof(world: World, end: _Ends, way: Way, member: int) -> list[Proof]:
    literals = end.nodes is None
    reached = pairs(world, way, np.array([member], np.int32), literals=literals).cell
    nodes = reached[reached < world.size]
    targets = nodes if end.nodes is None else np.intersect1d(nodes, end.nodes, assume_unique=True)
    if len(targets):
        target = int(targets[0])
        return [Proof(end.place, target, _hops(world, links_of(world, way), member, target))]
    found = _to_literal(world, way, member) if literals and len(reached) else None
    return [] if found is None else [replace(found, constraint=end.place)]


def _hops(world: World, links: Sequence[Routes], member: int, target: int) -> tuple[Hop, ...]:
    """The links' shortest ways, one after the other, over the lowest nodes between them."""
    if len(links) == 1:
        return _shortest(world, links[0], member, target)
    ends = _one(target)
    for routes in reversed(links[1:]):
        ends = np.flatnonzero(leading_by(world, routes, ends, literals=False)).astype(np.int32)
    between = np.intersect1d(link_pairs(world, links[0], _one(member)).cell, ends)
    middle = int(between[0])
    return (*_shortest(world, links[0], member, middle), *_hops(world, links[1:], middle, target))


def _to_literal(world: World, way: Way, member: int) -> Proof | None:
    """The way to the first literal: over nodes to the one that has it."""
    *before, last = links_of(world, way)
    at = np.array([member], np.int64)
    for routes in before:
        at = np.unique(link_pairs(world, routes, at.astype(np.int32)).cell)
    ptr = world.graph.literal_ptr
    for node in at.tolist():
        for route in last:
            for walked, properties in route.literals:
                start = replace(route, legs=route.legs[:walked], literals=(), far=None)
                for owner in np.unique(link_pairs(world, [start], _one(node)).cell).tolist():
                    rows = np.arange(int(ptr[owner]), int(ptr[owner + 1]))
                    rows = rows[np.isin(world.literal_property[rows], properties)]
                    if len(rows):
                        hops = _hops(world, [*before, (start,)], member, owner)
                        return Proof(0, owner, hops, literal=literal(world, int(rows[0])))
    return None


def _shortest(world: World, routes: Routes, member: int, target: int) -> tuple[Hop, ...]:
    """The shortest of the routes' ways, the first of equally short ones."""
    source, end = _one(member), _one(target)
    found: list[list[Hop]] = []
    for route in routes:
        if begins(world, route, source)[0] and admits(world, route, end)[0]:
            if member == target and route.relationship is None and all(leg.recursive for leg in route.legs):
                return ()
            hops = way_over(route.graph(world), route.legs, member, target)
            if hops:
                found.append(hops)
    return tuple(sorted(found, key=len)[0]) if found else ()


def _one(node: int) -> Ints:
    return np.array([node], np.int32)
