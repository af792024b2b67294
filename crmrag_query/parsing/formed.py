"""A plan as it was formed from a question."""

from __future__ import annotations

from dataclasses import dataclass

from crmrag_query.parsing.bind import Bound
from crmrag_query.plans.records import Compute, Plan


@dataclass
class Formed:
    """A plan; ``score``: how sure of what is made of the members; ``lacking``: what could not be understood of it."""

    plan: Plan
    score: float = 1.0
    lacking: str = ""


def plan_of(bound: Bound, compute: Compute) -> Plan:
    """What is made of a bound thing."""
    return Plan(target=bound.target, where=tuple(bound.where), compute=compute)
