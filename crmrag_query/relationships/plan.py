"""Paths made ready for one graph: steps as moves over its properties, shared prefixes joined into a trie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from crmrag_query.errors import CrmRagError
from crmrag_query.graph.arrays import Adjacency, Longs
from crmrag_query.ontology import Category, Ontology
from crmrag_query.relationships.catalogue import Catalogue, Path, Step
from crmrag_query.relationships.frontier import MAX_PATHS, Move
from crmrag_query.relationships.steps import resolve

End = tuple[int, int]
"""Number of a relationship in its catalogue, and of a path in that relationship."""


@dataclass(frozen=True, slots=True)
class Leg:
    """A step in one graph: any of the moves, once or (``recursive``) zero or more times; ``moves`` ascending.

    ``choices``: by which of the step's narrower steps each move is told, where these are told apart, and ``costs``: what
    each of them adds to the cost of a way.
    """

    moves: tuple[Move, ...]
    recursive: bool
    choices: tuple[int, ...] = ()
    costs: tuple[int, ...] = ()

    def reversed(self) -> Leg:
        """The leg that undoes this one."""
        return Leg(tuple((prop, not forward) for prop, forward in self.moves), self.recursive)


@dataclass(slots=True)
class Branch:
    """A node of the trie: the paths that end here, and the legs that go on.

    Where a walk tells apart by which properties it went, keys carry the rank of their way so far, the narrowest lowest:
    ``ranks``, for each move of the leg that leads here, is the rank here by the rank before, and ``ways`` holds
    the relationships that end here with the path of each rank (int64 [256] both).
    """

    ends: list[End] = field(default_factory=list)
    legs: dict[Leg, Branch] = field(default_factory=dict)
    ranks: tuple[Longs, ...] | None = None
    ways: list[tuple[int, Longs]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plan:
    """Tries of all paths by domain; a suspect source takes those of a single step only (``cautious``)."""

    full: dict[Category, Branch]
    cautious: dict[Category, Branch]


def legs_of(adjacency: Adjacency, ontology: Ontology, path: Path) -> tuple[Leg, ...] | None:
    """The path's legs in this graph; None when one of its steps occurs nowhere in it.

    A recursive step that occurs nowhere is left out, as zero times is all it can be walked.
    """
    legs = []
    for step in path.steps:
        moves = moves_of(adjacency, ontology, step)
        if moves:
            legs.append(Leg(moves, step.recursive))
        elif not step.recursive:
            return None
    return tuple(legs)


def moves_of(adjacency: Adjacency, ontology: Ontology, step: Step) -> tuple[Move, ...]:
    """The properties of this graph that state the step: sub-properties and inverses included, ascending."""
    numbers = (
        (n, forward) for code, forward in resolve(step, ontology) for n in adjacency.by_code.get(code, ())
    )
    return tuple(sorted(numbers))


def make_plan(adjacency: Adjacency, ontology: Ontology, catalogue: Catalogue) -> Plan:
    """The catalogue's paths for this graph; raises CrmRagError for a relationship with more than 256 paths."""
    plan = Plan({}, {})
    for number, relationship in enumerate(catalogue):
        if len(relationship.paths) > MAX_PATHS:
            raise CrmRagError(
                f"Relationship {relationship.id} of {catalogue.name} has {len(relationship.paths)} paths.",
                f"At most {MAX_PATHS} fit one relationship: split it.",
            )
        for index, path in enumerate(relationship.paths):
            legs = legs_of(adjacency, ontology, path)
            if legs:
                add_way(plan.full.setdefault(relationship.domain, Branch()), legs, (number, index))
                if len(path.steps) == 1:
                    add_way(plan.cautious.setdefault(relationship.domain, Branch()), legs, (number, index))
    return plan


def add_way(root: Branch, legs: Sequence[Leg], end: End) -> None:
    """Join a path to a trie: its legs from the root, and what ends there."""
    branch = root
    for leg in legs:
        branch = branch.legs.setdefault(leg, Branch())
    branch.ends.append(end)
