"""Whether recorded dates decide what a plan ranks by date: spans that overlap leave open which comes first."""

from __future__ import annotations

from crmrag_query.parsing.structured_check import parts_of
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Plan
from crmrag_query.plans.world import World


def is_settled(plan: Plan, world: World) -> bool:
    """Whether the dates decide every ranking of the plan, those of plans within it included. Raises QuestionError."""
    ranked = (one for one in parts_of(plan) if isinstance(one, Plan) and one.compute.kind == "rank")
    return all(execute(one, world).settled for one in ranked if one.compute.first is not None)
