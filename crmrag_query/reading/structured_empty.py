"""Why a plan gives nothing, in words for who wrote it: each condition by itself, and the plan without it."""

from __future__ import annotations

from collections.abc import Iterator

from crmrag_query.errors import QuestionError
from crmrag_query.plans.compute import Outcome
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Compute, Constraint, Plan
from crmrag_query.plans.world import World
from crmrag_query.reading.catalogue import written
from crmrag_query.reading.structured_form import for_model

LONGEST = 300  # characters of a condition that are told
_COUNT = Compute(kind="count")


def is_empty(plan: Plan, outcome: Outcome, world: World) -> bool:
    """Whether the plan gives nothing where something may be expected.

    A set, ranking, table or comparison without rows, and a count of 0. "No" is an answer, unless a condition by itself,
    not negated, holds for nothing of the target.
    """
    if plan.compute.kind == "ask":
        alone = (size_of(plan, (one,), world) for one in plan.where if not one.negated)
        return not outcome.value and (not size_of(plan, (), world) or not all(alone))
    if plan.compute.kind == "compare":
        return not any(outcome.sizes)
    return not (outcome.value if plan.compute.kind == "count" else outcome.size)


def why_empty(plan: Plan, outcome: Outcome, world: World, most: int) -> str:
    """How many the target has, and for the first ``most`` conditions how many hold it alone and how many all others."""
    told = ["The plan is valid but gives nothing", *_told(plan, outcome, world, most)]
    return ". ".join(told) + "."


def _told(plan: Plan, outcome: Outcome, world: World, most: int) -> Iterator[str]:
    if len(outcome.members):
        yield f"It has {len(outcome.members)} members, but its {plan.compute.kind} finds nothing of them"
        return
    yield f"The target alone has {size_of(plan, (), world)}"
    for number, one in enumerate(plan.where[:most]):
        others = (*plan.where[:number], *plan.where[number + 1 :])
        condition = written(for_model(Plan(where=(one,)))["where"][0])[:LONGEST]
        counts = f"alone {size_of(plan, (one,), world)}"
        if others:
            counts += f", all conditions but it {size_of(plan, others, world)}"
        yield f"where[{number}] {condition}: {counts}"


def size_of(plan: Plan, where: tuple[Constraint, ...], world: World) -> int:
    """How many of the plan's target meet these conditions."""
    try:
        found = execute(plan.model_copy(update={"where": where, "compute": _COUNT}), world)
    except QuestionError:
        return 0
    return int(found.value or 0)
