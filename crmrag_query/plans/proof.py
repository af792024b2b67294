"""Why an entity is a member of a plan: for each condition one way, node by node, each step a triple."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.literals import LiteralValue, literal
from crmrag_query.plans.members import anchored, satisfying, within_period
from crmrag_query.plans.records import Constraint, Dated, Either, Member, Plan, Related, Way
from crmrag_query.plans.routes import Routes, links_of
from crmrag_query.plans.shortest import Walk, ways_over
from crmrag_query.plans.ways import led_on, link_pairs
from crmrag_query.plans.world import Mask, World, distinct
from crmrag_query.relationships.explain import Hop

_BLOCK = 32  # members that are walked from at once
Proofs = list["Proof"]
Meets = Callable[[Longs], Mask]
"""Tells which of the nodes that a way reached it is to lead to."""


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


def explain(world: World, plan: Plan, member: int) -> tuple[Proof, ...]:
    """One shortest way for each relation, relationship, path or date that the plan demands, link by link.

    Of an `Either` the first that holds; of a `Member` what the other plan demands. Of several targets the one with the lowest
    number counts; negated constraints have no way.
    """
    return explain_all(world, plan, [member])[0]


def explain_all(world: World, plan: Plan, members: Sequence[int]) -> list[tuple[Proof, ...]]:
    """`explain` of each member; what can be worked out for many at once is."""
    found: list[tuple[Proof, ...]] = []
    for first in range(0, len(members), _BLOCK):
        nodes = np.array(members[first : first + _BLOCK], np.int32)
        found += map(tuple, _explained(world, plan.where, nodes))
    return found


def _explained(world: World, where: Sequence[Constraint], nodes: Ints) -> list[Proofs]:
    """For each of the nodes the proofs of all constraints."""
    found: list[Proofs] = [[] for _ in nodes]
    for place, one in enumerate(where):
        for known, proofs in zip(found, _proofs(world, one, nodes), strict=True):
            known += [replace(proof, constraint=place) for proof in proofs]
    return found


def _proofs(world: World, one: Constraint, nodes: Ints) -> list[Proofs]:
    """For each of the nodes the proofs of one constraint, which is taken for number 0."""
    match one:
        case Related() if not one.negated:
            return _by_way(world, one.way, nodes, _in_anchor(world, one))
        case Dated(way=Way()) if not one.negated:
            assert one.way is not None
            return _by_way(
                world, one.way, nodes, lambda cells: within_period(world, one, cells.astype(np.int32))
            )
        case Member() if not one.negated:
            inner = _explained(world, one.plan.where, nodes)
            return [[_inwards(proof, proof.constraint) for proof in proofs] for proofs in inner]
        case Either() if not one.negated:
            return _by_first(world, one, nodes)
    return [[] for _ in nodes]


def _inwards(proof: Proof, place: int) -> Proof:
    return replace(proof, constraint=0, within=(place, *proof.within))


def _by_first(world: World, either: Either, nodes: Ints) -> list[Proofs]:
    """The proofs of the first constraint that holds."""
    found: list[Proofs] = [[] for _ in nodes]
    left = np.arange(len(nodes))
    for place, one in enumerate(either.of):
        if not len(left):
            break
        proofs = _proofs(world, one, nodes[left])
        if isinstance(one, Related) and not one.negated:
            holds = np.array([bool(proof) for proof in proofs], bool)
        else:
            held = satisfying(world, one, world.mask(nodes[left]), members_of)[nodes[left]]
            holds = ~held if one.negated else held
        for at in np.flatnonzero(holds).tolist():
            found[int(left[at])] = [_inwards(proof, place) for proof in proofs[at]]
        left = left[~holds]
    return found


def _in_anchor(world: World, one: Related) -> Meets | None:
    """Whether nodes are in the anchor, of which a plan is asked of these alone; None for one that takes anything."""
    if not (one.to.iris or one.to.types or one.to.plan):
        return None

    def meets(cells: Longs) -> Mask:
        asked = world.mask(cells)
        ends = anchored(world, one.to, lambda world, plan: members_of(world, plan, asked))
        assert ends is not None
        return world.mask(ends)[cells]

    return meets


def _by_way(world: World, way: Way, nodes: Ints, meets: Meets | None) -> list[Proofs]:
    """The way to the lowest target; where it leads to none and may lead to anything, to the first literal."""
    links = links_of(world, way)
    walk = Walk(world, links[0], nodes)
    reached = led_on(world, walk.pairs, links[1:])
    if meets is not None:
        reached = reached.part(meets(reached.cell))
    places, first = np.unique(reached.index, return_index=True)
    asks = list(zip(places.tolist(), reached.cell[first].tolist(), strict=True))
    found: list[Proofs] = [[] for _ in nodes]
    for (place, target), hops in zip(asks, ways_over(walk, links, asks), strict=True):
        found[place] = [Proof(0, target, hops)]
    if meets is None and any(route.literals for route in links[-1]):
        for place in np.setdiff1d(np.arange(len(nodes)), places).tolist():
            proof = _to_literal(world, links, int(nodes[place]))
            found[place] = [] if proof is None else [proof]
    return found


def _to_literal(world: World, links: Sequence[Routes], member: int) -> Proof | None:
    """The way to the first literal: over nodes to the one that has it."""
    *before, last = links
    at = np.array([member], np.int64)
    for routes in before:
        at = distinct(link_pairs(world, routes, at.astype(np.int32)).cell)
    ptr = world.graph.literal_ptr
    for node in at.tolist():
        for route in last:
            for walked, properties in route.literals:
                start = replace(route, legs=route.legs[:walked], literals=(), far=None)
                for owner in distinct(link_pairs(world, [start], _one(node)).cell).tolist():
                    rows = np.arange(int(ptr[owner]), int(ptr[owner + 1]))
                    rows = rows[np.isin(world.literal_property[rows], properties)]
                    if len(rows):
                        walk = Walk(world, before[0] if before else (start,), _one(member))
                        (hops,) = ways_over(walk, [*before, (start,)], [(0, owner)])
                        return Proof(0, owner, hops, literal=literal(world, int(rows[0])))
    return None


def _one(node: int) -> Ints:
    return np.array([node], np.int32)
