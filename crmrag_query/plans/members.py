"""Who the members of a plan are: target and constraints as sets of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.classes import class_numbers, target_classes
from crmrag_query.plans.outcome import UNCERTAIN, UNDATED
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Constraint,
    Dated,
    Either,
    Member,
    Plan,
    Related,
    StatedIn,
    Target,
    Texted,
)
from crmrag_query.plans.stated import subjects_in
from crmrag_query.plans.texts import holding
from crmrag_query.plans.ways import OF_TYPE, leading_to
from crmrag_query.plans.world import Mask, World

ALL = slice(None)
Inner = Callable[[World, Plan], Ints]
"""Gives the members of a plan within a plan."""


@dataclass(frozen=True, slots=True)
class Found:
    """Members of a plan as a mask over all nodes, and by reason those that only a lack of data keeps out."""

    members: Mask
    excluded: dict[str, Ints]


def find_members(world: World, plan: Plan, inner: Inner, asked: Mask | None = None) -> Found:
    """The members: entities of the target, of those ``asked``, for which every constraint holds. Raises QuestionError."""
    among = targeted(world, plan.target)
    among = among if asked is None else among & asked
    dates = [one for one in plan.where if isinstance(one, Dated)]
    texts = [one for one in plan.where if isinstance(one, Texted | Either)]
    for one in plan.where:
        if not isinstance(one, Dated | Texted | Either):
            among = _kept(one, among, satisfying(world, one, among, inner))
    within = among.copy()
    for one in (*dates, *texts):
        within = _kept(one, within, satisfying(world, one, within, inner))
    return Found(within, _left_out(world, plan, among, within, inner))


def _kept(constraint: Constraint, among: Mask, found: Mask) -> Mask:
    return among & (~found if constraint.negated else found)


def _left_out(world: World, plan: Plan, among: Mask, within: Mask, inner: Inner) -> dict[str, Ints]:
    """Why those that all but the dates keep are not members: no date at all, or one that only may lie in the period."""
    dates = [one for one in plan.where if isinstance(one, Dated) and not one.negated]
    left = among & ~within
    if not dates or not left.any():
        return {}
    for one in plan.where:
        if isinstance(one, Texted | Either) or (isinstance(one, Dated) and one.negated):
            left = _kept(one, left, satisfying(world, one, left, inner))
    undated, possible = np.zeros(world.size, bool), left.copy()
    for one in dates:
        undated |= left & ~_dated_at_all(world, one, left)
        possible &= satisfying(world, one.model_copy(update={"certain": False}), left, inner)
    reasons = {UNDATED: undated, UNCERTAIN: possible & ~undated}
    return {reason: _nodes(mask) for reason, mask in reasons.items() if mask.any()}


def satisfying(world: World, constraint: Constraint, among: Mask, inner: Inner) -> Mask:
    """Nodes for which what the constraint says holds, negated or not; only those of ``among`` are looked at."""
    match constraint:
        case Related():
            return leading_to(world, constraint.way, anchored(world, constraint.to, inner), among)
        case Dated():
            ends = within_period(world, constraint)
            return ends if constraint.way is None else leading_to(world, constraint.way, _nodes(ends), among)
        case Texted():
            return holding(world, constraint, among)
        case Among():
            return world.mask(world.nodes_of(constraint.iris))
        case Member():
            return world.mask(inner(world, constraint.plan))
        case StatedIn():
            return subjects_in(world, constraint.graphs)
        case Either():
            found = np.zeros(world.size, bool)
            for one in constraint.of:
                left = among & ~found
                found |= _kept(one, left, satisfying(world, one, left, inner))
            return found


def within_period(world: World, constraint: Dated, nodes: Ints | slice = ALL) -> Mask:
    """Which of the nodes have a date of their own that lies in the period, or (not ``certain``) overlaps it."""
    begin, end = (side[nodes] for side in world.extents)
    if constraint.edge != "span":
        begin = end = begin if constraint.edge == "begin" else end
    first = OPEN_BEGIN if constraint.begin is None else constraint.begin
    last = OPEN_END if constraint.end is None else constraint.end
    if constraint.certain:
        return dated(world, constraint, nodes) & (begin >= first) & (end <= last)
    return dated(world, constraint, nodes) & (begin <= last) & (end >= first)


def dated(world: World, constraint: Dated, nodes: Ints | slice = ALL) -> Mask:
    """Which of the nodes have a date of their own, or the edge of one that counts."""
    begin, end = world.extents
    match constraint.edge:
        case "begin":
            return np.asarray(begin[nodes] != OPEN_BEGIN)
        case "end":
            return np.asarray(end[nodes] != OPEN_END)
        case _:
            return world.dated[nodes]


def _dated_at_all(world: World, constraint: Dated, among: Mask) -> Mask:
    known = dated(world, constraint)
    return known if constraint.way is None else leading_to(world, constraint.way, _nodes(known), among)


def anchored(world: World, anchor: Anchor, inner: Inner) -> Ints | None:
    """The nodes of an anchor, ascending; None for anything at all."""
    if not (anchor.iris or anchor.types or anchor.plan):
        return None
    found = np.zeros(world.size, bool)
    found[world.nodes_of(anchor.iris)] = True
    if anchor.types:
        found |= world.of_classes(anchored_classes(world, anchor))
        found |= of_types(world, anchor.types)
    if anchor.plan is not None:
        found[inner(world, anchor.plan)] = True
    return _nodes(found)


def anchored_classes(world: World, anchor: Anchor) -> list[int]:
    """Class numbers that the anchor's types name; a type that is none gives none."""
    return sorted({n for name in anchor.types for n in class_numbers(world, name) or ()})


def of_types(world: World, types: Iterable[str]) -> Mask:
    """Nodes with one of these types, or with a narrower one."""
    return leading_to(world, OF_TYPE, world.nodes_of(types))


def targeted(world: World, target: Target) -> Mask:
    """Entities of the target. Raises QuestionError for a class code that nothing knows."""
    found = world.entities.copy()
    if target.categories:
        wanted = sum(int(Category[name]) for name in set(target.categories))
        found &= (world.adjacency.categories & wanted) != 0
    if target.classes:
        found &= world.of_classes(target_classes(world, target))
    if target.types:
        found &= of_types(world, target.types)
    return found


def _nodes(mask: Mask) -> Ints:
    return np.flatnonzero(mask).astype(np.int32)
