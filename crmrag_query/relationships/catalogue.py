"""Fundamental Relationships as frozen records, in the order of their file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from crmrag_query.config.models import Method, RelationshipEntry
from crmrag_query.config.parts import RelationshipSet
from crmrag_query.errors import ConfigError
from crmrag_query.ontology.categories import Category
from crmrag_query.ontology.spelling import as_words, take_apart


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path.

    `code` is the property as the path names it: `P108i` is P108 walked backwards, `inverse` says so.
    A recursive step is followed zero or more times.
    """

    code: str
    inverse: bool
    recursive: bool
    label: str

    def __str__(self) -> str:
        return f"{self.code} {self.label}{'*' if self.recursive else ''}"


@dataclass(frozen=True, slots=True)
class Path:
    """A way from an entity to what it is related to."""

    id: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return " | ".join(str(step) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Relationship:
    """A Fundamental Relationship: from entities of one category to entities of another, by any of its paths.

    `specialises` is the id of the more general relationship, "" for none.
    """

    id: str
    label: str
    domain: Category
    range: Category
    specialises: str
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A set of Fundamental Relationships; their numbers are their positions."""

    name: str
    relationships: tuple[Relationship, ...]
    _numbers: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._numbers.update({relationship.id: n for n, relationship in enumerate(self.relationships)})

    @classmethod
    def load(cls, method: Method, name: str = "") -> Catalogue:
        """The set `name` of the method, else its default; ConfigError where the method has no such set."""
        name = name or method.relationships
        if name not in method.relationship_sets:
            raise ConfigError.single(
                "datasets.yaml", "relationships", "no such set of relationships", value=repr(name),
                remedy=f"There are: {', '.join(method.relationship_sets)}.",
            )  # fmt: skip
        return from_set(name, method.relationship_sets[name])

    def __iter__(self) -> Iterator[Relationship]:
        return iter(self.relationships)

    def __len__(self) -> int:
        return len(self.relationships)

    def __getitem__(self, number: int) -> Relationship:
        return self.relationships[number]

    def number(self, id: str) -> int:
        """The number of the relationship with this id; raises KeyError."""
        return self._numbers[id]

    def for_domain(self, category: Category) -> tuple[Relationship, ...]:
        """Relationships that start from entities of this category, in order."""
        return tuple(relationship for relationship in self.relationships if relationship.domain == category)


def from_set(name: str, relationships: RelationshipSet) -> Catalogue:
    """The records of a parsed set; ConfigError for a step that carries no code."""
    return Catalogue(
        name, tuple(_relationship(name, id, entry) for id, entry in relationships.relationships.items())
    )


def parse_step(text: str) -> Step | None:
    """A step from its text, `P9i_forms_part_of*`; None where the text carries no code."""
    name = text.removesuffix("*")
    spelling = take_apart(name)
    if spelling is None:
        return None
    return Step(spelling.code, spelling.code.endswith("i"), text.endswith("*"), as_words(name))


def _relationship(name: str, id: str, entry: RelationshipEntry) -> Relationship:
    paths = tuple(Path(path, _steps(name, id, path, text)) for path, text in entry.paths.items())
    return Relationship(
        id, entry.label, Category[entry.domain], Category[entry.range], entry.specialises, paths
    )


def _steps(name: str, relationship: str, path: str, text: str) -> tuple[Step, ...]:
    steps = []
    for part in text.split(" | "):
        step = parse_step(part)
        if step is None:
            raise ConfigError.single(
                f"relationships/{name}.yaml",
                f"relationships.{relationship}.paths.{path}",
                "a step names a property by its code",
                value=repr(part),
                remedy="As in P108i_was_produced_by.",
            )
        steps.append(step)
    return tuple(steps)
