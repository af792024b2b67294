"""Paths that no data typed after the ontology can match: a walk over classes instead of entities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from crmrag_query.ontology.categories import Category, CategoryMap, load_categories
from crmrag_query.ontology.tables import Ontology
from crmrag_query.relationships.catalogue import Catalogue, Path, Relationship, Step
from crmrag_query.relationships.steps import directed

Classes = frozenset[str]


@dataclass(frozen=True, slots=True)
class DeadPath:
    """A path that nothing can match, and why."""

    relationship: str
    path_id: str
    reason: str


def dead_paths(
    catalogue: Catalogue, ontology: Ontology, categories: CategoryMap | None = None
) -> list[DeadPath]:
    """Paths of the catalogue that no data can match in which every entity has one class, and every triple
    keeps to its property's domain and range; in the catalogue's order.

    The walk starts from every class of the relationship's domain category. An entity may end a path when its
    categories hold the range, or when its class has none. Data that breaks domains and ranges, or gives an
    entity several classes, may still match such a path: the list warns, it forbids nothing.
    """
    space = _Space(ontology, categories or load_categories())
    found = []
    for relationship in catalogue:
        for path in relationship.paths:
            reason = space.why_dead(relationship, path)
            if reason:
                found.append(DeadPath(relationship.id, path.id, reason))
    return found


@dataclass(frozen=True)
class _Space:
    """Classes as the states of the walk."""

    ontology: Ontology
    categories: CategoryMap

    def why_dead(self, relationship: Relationship, path: Path) -> str:
        """The first step that cannot be made, or the end that cannot be reached; "" for a live path."""
        at: Classes = self._of_category[relationship.domain]
        for number, step in enumerate(path.steps, start=1):
            reached = self._follow(at, step)
            if not reached:
                first = f"no {relationship.domain.name} is one"
                why = first if number == 1 else "the step before leads to none"
                return f"step {number}, {step}, starts from {self._ends(step, 0)}; {why}"
            at = reached
        if any(self._may_end(code, relationship.range) for code in at):
            return ""
        end = self._ends(path.steps[-1], 1)
        return f"it ends in {end}, of another category than {relationship.range.name}"

    def _follow(self, at: Classes, step: Step) -> Classes:
        moves = [(self._below(start), self._below(end)) for start, end in self._moves(step.code)]
        reached = at if step.recursive else frozenset()
        while True:
            origin = reached if step.recursive else at
            grown = reached.union(*(ends for starts, ends in moves if not starts.isdisjoint(origin)))
            if grown == reached or not step.recursive:
                return grown
            reached = grown

    def _moves(self, code: str) -> list[tuple[str, str]]:
        """Domain and range, as walked, of every way in which data can state the step."""
        ways = (
            (self.ontology.property_(name), forward)
            for name, forward in directed(code, self.ontology)
            if name in self.ontology.properties
        )
        return [(term.domain, term.range) if forward else (term.range, term.domain) for term, forward in ways]

    def _below(self, code: str) -> Classes:
        """The class and all below it; every class where none is stated; none for literal types."""
        if code == "":
            return self._all
        if code not in self.ontology.classes:
            return frozenset()
        return frozenset((code, *self.ontology.subclasses(code)))

    def _may_end(self, code: str, wanted: Category) -> bool:
        mask = self.categories.all_of((code,))
        return not mask or bool(mask & wanted)

    def _ends(self, step: Step, side: int) -> str:
        if step.code not in self.ontology.properties:
            return "a property that no ontology table declares"
        term = self.ontology.property_(step.code)
        code = (term.domain, term.range)[side]
        return (
            f"{code} {self.ontology.label(code, kind='class')}"
            if code in self.ontology.classes
            else code or "anything"
        )

    @cached_property
    def _all(self) -> Classes:
        return frozenset(self.ontology.classes)

    @cached_property
    def _of_category(self) -> dict[Category, Classes]:
        return {category: self._members(category) for category in Category}

    def _members(self, category: Category) -> Classes:
        return frozenset(code for code in self.ontology.classes if self.categories.of((code,)) == category)
