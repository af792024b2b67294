"""Executing a plan exactly on the arrays of a graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints
from crmrag_query.plans.compute import compute
from crmrag_query.plans.identity import how_many
from crmrag_query.plans.members import anchored, find_members
from crmrag_query.plans.outcome import Outcome
from crmrag_query.plans.records import Plan
from crmrag_query.plans.world import Mask, World, distinct


def execute(plan: Plan, world: World) -> Outcome:
    """What the plan asks for, the same at each call.

    IRIs that the data does not have match nothing. Raises QuestionError for relations, relationships and codes that nothing
    knows, for plans nested too deep and for tables too large.
    """
    if plan.depth > world.config.deepest:
        raise QuestionError(
            f"The plan holds {plan.depth} plans within each other.", f"At most {world.config.deepest} may be."
        )
    return _execute(world, plan)


def _execute(world: World, plan: Plan) -> Outcome:
    found = find_members(world, plan, members_of)
    members = np.flatnonzero(found.members).astype(np.int32)
    outcome = compute(
        world,
        plan.compute,
        members,
        lambda anchor: anchored(world, anchor, members_of),
        lambda inner: members_of(world, inner),
    )
    return replace(
        outcome,
        iris=len(members),
        identities=how_many(world, members),
        excluded={**found.excluded, **outcome.excluded},
    )


def members_of(world: World, plan: Plan, asked: Mask | None = None) -> Ints:
    """The members of a plan within another, ascending: of a ranking those that come first, of pairs those that have one.

    ``asked``: of these nodes alone it is told which are members.
    """
    if plan.compute.kind == "rank":
        found = np.sort(_execute(world, plan).members)
    elif plan.compute.kind == "pairs":
        paired = _execute(world, plan).pairing
        assert paired is not None
        found = distinct(paired.member)
    else:
        return np.flatnonzero(find_members(world, plan, members_of, asked).members).astype(np.int32)
    return found if asked is None else found[asked[found]]
