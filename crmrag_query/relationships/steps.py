"""What a step follows in data: its property, the properties below it, and the inverses of all of them."""

from __future__ import annotations

from crmrag_query.ontology.tables import Ontology
from crmrag_query.relationships.catalogue import Step

Directed = tuple[str, bool]
"""A property's code, and whether its triples are followed from subject to object."""


def resolve(step: Step, ontology: Ontology) -> tuple[Directed, ...]:
    """Every property and direction in which data may state the step, sorted.

    Data states either direction: `x P108i y` counts for a step P108 from y, as `y P108 x` does for a step
    P108i from x. Symmetric properties count both ways. An unknown code is followed as it stands.
    """
    return directed(step.code, ontology)


def directed(code: str, ontology: Ontology, below: bool = True) -> tuple[Directed, ...]:
    """What `resolve` gives for a step by this code; not ``below``: without the properties below it."""
    found: set[Directed] = set()
    waiting: list[Directed] = [(code, True)]
    while waiting:
        at = waiting.pop()
        if at in found:
            continue
        found.add(at)
        waiting.extend(_equivalent(at, ontology))
        if below:
            waiting.extend((one, at[1]) for one in ontology.subproperties(at[0]))
    return tuple(sorted(found))


def _equivalent(at: Directed, ontology: Ontology) -> list[Directed]:
    code, forward = at
    inverse = ontology.inverse(code)
    ways = [(inverse, not forward)] if inverse else []
    return [*ways, (code, not forward)] if inverse and ontology.property_(code).symmetric else ways
