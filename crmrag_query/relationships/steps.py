"""What a step follows in data: its property, the properties below it, and the inverses of all of them."""

from __future__ import annotations

from crmrag_query.ontology.tables import Directed, Ontology
from crmrag_query.relationships.catalogue import Step


def resolve(step: Step, ontology: Ontology) -> tuple[Directed, ...]:
    """Every property and direction in which data may state the step, sorted.

    Data states either direction: `x P108i y` counts for a step P108 from y, as `y P108 x` does for a step
    P108i from x. Symmetric properties count both ways. An unknown code is followed as it stands.
    """
    return directed(step.code, ontology)


def directed(code: str, ontology: Ontology, below: bool = True) -> tuple[Directed, ...]:
    """What `resolve` gives for a step by this code; not ``below``: without the properties below it."""
    return ontology.directed(code, below)
