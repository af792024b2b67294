"""The profile of a data set: what occurs in it, how often, with examples. Its records, and reading it from a release.

Counts are of the whole data set; lists show the first of their kind, ``totals`` tell the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from crmrag_query.artifacts.manifest import open_meta, rebuild
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ReleaseError

SCHEMA_VERSION = 2
READ_VERSIONS = (1, 2)  # the first tells of each path how many pairs no other path gives as well
PROFILE, READABLE = "profile.json", "profile.md"

Counted = tuple[str, int]
"""A name (code, IRI, category, language …) and how often."""


@dataclass(frozen=True, slots=True)
class Example:
    """An entity to show: well-connected and named, where there is one."""

    iri: str
    label: str


@dataclass(frozen=True, slots=True)
class ExamplePair:
    source: Example
    target: Example


@dataclass(frozen=True, slots=True)
class ClassProfile:
    """``entities`` that state the class; ``instances``: with those of its sub-classes; ``mask``: bits of ``categories``.

    ``known``: how many of ``entities`` have each kind of information of ``Coverage``.
    """

    iri: str
    code: str
    label: str
    mask: int
    categories: tuple[str, ...]
    entities: int
    instances: int
    known: Mapping[str, int]
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class TypeProfile:
    """A type: what P2 points at, or an E55.

    ``entities`` that have it, by their ``classes`` and primary ``categories``; ``ways``: triples that lead to it by the
    property's code or IRI; ``broader``: IRIs.
    """

    iri: str
    label: str
    labels: Mapping[str, str]
    entities: int
    classes: tuple[Counted, ...]
    categories: tuple[Counted, ...]
    ways: tuple[Counted, ...]
    broader: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PathProfile:
    """``pairs`` of the relationship for which this is the narrowest of the paths that lead there."""

    id: str
    steps: str
    pairs: int


@dataclass(frozen=True, slots=True)
class RelationshipProfile:
    """Distinct (source, target) ``pairs`` over all entities, by path, by primary category and by class of the target."""

    id: str
    label: str
    domain: str
    range: str
    pairs: int
    sources: int
    targets: int
    paths: tuple[PathProfile, ...]
    categories: tuple[Counted, ...]
    classes: tuple[Counted, ...]
    examples: tuple[ExamplePair, ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """Lowest and highest of ``count`` values, as the data writes them."""

    count: int
    lowest: str
    highest: str


@dataclass(frozen=True, slots=True)
class LiteralProfile:
    """Literals of a property; ``length``: mean number of characters; datatype "" for plain strings, language "" for none."""

    count: int
    subjects: int
    datatypes: tuple[Counted, ...]
    languages: tuple[Counted, ...]
    length: float
    numbers: Extent | None
    dates: Extent | None
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PropertyProfile:
    """``triples`` between nodes with distinct ``subjects`` and ``objects``; ``literals`` where it has such values.

    ``classes``: (subject class, object class, triples), a triple counted for each class of its ends.
    """

    iri: str
    code: str
    label: str
    triples: int
    subjects: int
    objects: int
    classes: tuple[tuple[str, str, int], ...]
    examples: tuple[ExamplePair, ...]
    literals: LiteralProfile | None


@dataclass(frozen=True, slots=True)
class Fact:
    """How something is stated ``of`` some entities: ``count`` of ``whole`` by this property, path, class or relationship."""

    of: str
    by: str
    count: int
    whole: int

    @property
    def share(self) -> float:
        return self.count / self.whole if self.whole else 0.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """Entities of a primary category (``all``: of any or none), and how many have each kind of information."""

    category: str
    entities: int
    label: int
    type: int
    date: int
    place: int
    maker: int
    image: int


@dataclass(frozen=True, slots=True)
class Content:
    """All of `profile.json`; ``modelling``: facts by topic, as parsing and linking need them."""

    schema: int
    totals: Mapping[str, int]
    coverage: tuple[Coverage, ...]
    modelling: Mapping[str, tuple[Fact, ...]]
    classes: tuple[ClassProfile, ...]
    types: tuple[TypeProfile, ...]
    relationships: tuple[RelationshipProfile, ...]
    properties: tuple[PropertyProfile, ...]


Entry = TypeVar("Entry", ClassProfile, PropertyProfile)


class ByName(Mapping[str, Entry], Generic[Entry]):
    """Entries by code or IRI, in their order; iterating gives the code, or the IRI where there is none or it is taken."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._own: dict[str, Entry] = {}
        self._all: dict[str, Entry] = {}
        for entry in entries:
            key = entry.code if entry.code and entry.code not in self._own else entry.iri
            self._own[key] = entry
            self._all |= {key: entry, entry.iri: entry}

    def __getitem__(self, name: str) -> Entry:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


@dataclass(frozen=True)
class Profile:
    """The profile of a release."""

    content: Content

    @classmethod
    def from_release(cls, release: Release) -> Profile:
        """ReleaseError for a release that was built before there was one."""
        return cls.open(release.folder / "profile")

    @classmethod
    def open(cls, folder: Path) -> Profile:
        """Read ``profile.json`` in ``folder``; raises ReleaseError when it is missing, damaged or of another version."""
        found = open_meta(folder / PROFILE, "profile", READ_VERSIONS)
        try:
            return cls(TypeAdapter(Content).validate_python(found))
        except ValidationError as error:
            first = error.errors()[0]
            what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise ReleaseError(f"No profile in {folder}: {what}.", rebuild(folder)) from error

    @property
    def totals(self) -> Mapping[str, int]:
        return self.content.totals

    @property
    def types(self) -> tuple[TypeProfile, ...]:
        """Types, those of most entities first."""
        return self.content.types

    @property
    def modelling(self) -> Mapping[str, tuple[Fact, ...]]:
        return self.content.modelling

    @cached_property
    def classes(self) -> ByName[ClassProfile]:
        """Classes by code or IRI, those of most entities first."""
        return ByName(self.content.classes)

    @cached_property
    def properties(self) -> ByName[PropertyProfile]:
        """Properties by code or IRI, the most used first."""
        return ByName(self.content.properties)

    @cached_property
    def relationships(self) -> Mapping[str, RelationshipProfile]:
        """Fundamental Relationships by id, in the order of the catalogue."""
        return {one.id: one for one in self.content.relationships}

    @cached_property
    def coverage(self) -> Mapping[str, Coverage]:
        """By category; ``all`` for all entities."""
        return {one.category: one for one in self.content.coverage}
