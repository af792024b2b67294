"""The catalogue of relationships: paths as records, read from their text, and the Fundamental Relationships made of them.

A path is written as its steps, with blanks between them. A step is a property by its code, with or without its name
(`P108i_was_produced_by`), or, outside the CRM family, by its IRI. `^` before it: followed from object to subject; `!` after
a code: without the properties below it; `*` at the end: followed zero or more times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Method
from crmrag_query.config.parts import RelationshipSet
from crmrag_query.errors import ConfigError
from crmrag_query.ontology.categories import Category, CategoryMap, load_categories
from crmrag_query.ontology.load import Directed, Ontology, as_words, take_apart


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path, as its text says it: see the module.

    ``code``: of the property (`P108i` is P108 walked backwards), or its IRI; an IRI is always ``alone``.
    """

    code: str
    recursive: bool = False
    forward: bool = True
    alone: bool = False
    label: str = ""

    def __str__(self) -> str:
        return f"{self.code} {self.label}{'*' if self.recursive else ''}"


@lru_cache(8192)
def read_step(text: str) -> Step:
    """A step from its text; one that names no property at all occurs in no data."""
    name = text.removesuffix("*")
    forward, recursive = not name.startswith("^"), name != text
    name = name.removeprefix("^")
    if is_iri(name):
        return Step(name, recursive, forward, alone=True)
    code = name.removesuffix("!")
    spelling = take_apart(code)
    return Step(spelling.code if spelling else code, recursive, forward, code != name, as_words(code))


def is_iri(name: str) -> bool:
    return "://" in name or name.startswith("urn:")


@dataclass(frozen=True, slots=True)
class Path:
    """A way from an entity to what it is related to."""

    id: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return " | ".join(str(step) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Wording:
    """How a text states a relationship that holds by one of these paths, each of which implies one of the relationship's."""

    words: str
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Relationship:
    """A Fundamental Relationship: from entities of one category to entities of another, by any of its paths.

    `specialises` is the id of the more general relationship, "" for none. `told`: how texts state it, the first wording that
    holds; none at all: no text does; None: by its label, whatever the path.
    """

    id: str
    label: str
    domain: Category
    range: Category
    specialises: str
    paths: tuple[Path, ...]
    told: tuple[Wording, ...] | None = None

    def as_told(self, words: str) -> Relationship:
        """The relationship by the paths that these words tell alone; itself where none of its wordings has them."""
        paths = [path for wording in self.told or () if wording.words == words for path in wording.paths]
        return replace(self, paths=tuple(paths)) if paths else self


@dataclass(frozen=True)
class Catalogue:
    """A set of Fundamental Relationships; their numbers are their positions."""

    name: str
    relationships: tuple[Relationship, ...]

    @classmethod
    def from_release(cls, release: Release) -> Catalogue:
        return cls.load(release.method)

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

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {relationship.id: number for number, relationship in enumerate(self.relationships)}

    def number(self, id: str) -> int:
        """The number of the relationship with this id; raises KeyError."""
        return self._numbers[id]


def from_set(name: str, relationships: RelationshipSet) -> Catalogue:
    """The records of a parsed set; ConfigError for a step that carries no code."""
    found = []
    for id, entry in relationships.relationships.items():
        wordings = entry.told or {}
        written = [(f"paths.{path}", steps) for path, steps in entry.paths.items()]
        written += [(f"told.{words}", steps) for words, ways in wordings.items() for steps in ways]
        for key, steps in written:
            for step in steps:
                if take_apart(read_step(step).code) is None:
                    raise ConfigError.single(
                        f"relationships/{name}.yaml",
                        f"relationships.{id}.{key}",
                        "a step names a property by its code",
                        value=repr(step),
                        remedy="As in P108i_was_produced_by.",
                    )
        paths = tuple(Path(path, tuple(map(read_step, steps))) for path, steps in entry.paths.items())
        told = tuple(
            Wording(words, tuple(Path(words, tuple(map(read_step, steps))) for steps in ways))
            for words, ways in wordings.items()
        )
        ends = Category[entry.domain], Category[entry.range]
        told_or_none = None if entry.told is None else told
        found.append(Relationship(id, entry.label, *ends, entry.specialises, paths, told_or_none))
    return Catalogue(name, tuple(found))


def resolve(step: Step, ontology: Ontology) -> tuple[Directed, ...]:
    """Every property and direction in which data may state the step, sorted.

    Data states either direction: `x P108i y` counts for a step P108 from y, as `y P108 x` does for a step
    P108i from x. Symmetric properties count both ways. An unknown code is followed as it stands.
    """
    found = ontology.directed(step.code, below=not step.alone)
    return found if step.forward else tuple(sorted((code, not forward) for code, forward in found))


Way = tuple[tuple[frozenset[Directed], bool], ...]
"""For each step of a path what it follows in data, and whether any number of times."""


def way_of(path: Path, ontology: Ontology) -> Way:
    return tuple((frozenset(resolve(step, ontology)), step.recursive) for step in path.steps)


def implies(way: Way, wider: Way) -> bool:
    """Whether every walk of one way is a walk of the other: step by step the same or less is followed, and what may be
    walked any number of times takes up any number of steps."""
    if not way:
        return all(recursive for _, recursive in wider)
    if not wider:
        return False
    (own, own_recursive), (other, recursive) = way[0], wider[0]
    if recursive:
        return implies(way, wider[1:]) or (own <= other and implies(way[1:], wider))
    return not own_recursive and own <= other and implies(way[1:], wider[1:])


Classes = frozenset[str]


@dataclass(frozen=True, slots=True)
class DeadPath:
    """A path that nothing can match, and why."""

    relationship: str
    path_id: str
    reason: str


def dead_paths(catalogue: Catalogue, ontology: Ontology) -> list[DeadPath]:
    """Paths of the catalogue that no data can match in which every entity has one class, and every triple
    keeps to its property's domain and range; in the catalogue's order.

    The walk starts from every class of the relationship's domain category. An entity may end a path when its
    categories hold the range, or when its class has none. Data that breaks domains and ranges, or gives an
    entity several classes, may still match such a path: the list warns, it forbids nothing.
    """
    classes = _ClassWalk(ontology, load_categories())
    return [
        DeadPath(relationship.id, path.id, reason)
        for relationship in catalogue
        for path in relationship.paths
        if (reason := classes.why_dead(relationship, path))
    ]


@dataclass(frozen=True)
class _ClassWalk:
    """Walks paths over classes in place of entities."""

    ontology: Ontology
    categories: CategoryMap
    _followed: dict[tuple[Classes, Step], Classes] = field(default_factory=dict)  # many paths begin alike

    def why_dead(self, relationship: Relationship, path: Path) -> str:
        """The first step that cannot be made, or the end that cannot be reached; "" for a live path."""
        at = self._of_category[relationship.domain]
        for number, step in enumerate(path.steps, start=1):
            if (at, step) not in self._followed:
                self._followed[at, step] = self._follow(at, step)
            reached = self._followed[at, step]
            if not reached:
                first = f"no {relationship.domain.name} is one"
                why = first if number == 1 else "the step before leads to none"
                return f"step {number}, {step}, starts from {self._end(step, 'domain')}; {why}"
            at = reached
        if any(not (mask := self._categories[code]) or mask & relationship.range for code in at):
            return ""
        return f"it ends in {self._end(path.steps[-1], 'range')}, of another category than {relationship.range.name}"

    def _follow(self, at: Classes, step: Step) -> Classes:
        moves = []
        for code, forward in resolve(step, self.ontology):
            if code in self.ontology.properties:
                term = self.ontology.property_(code)
                ends = self._below.get(term.domain, frozenset()), self._below.get(term.range, frozenset())
                moves.append(ends if forward else ends[::-1])

        def reached(starts: Classes) -> Iterable[Classes]:
            return (ends for begins, ends in moves if not begins.isdisjoint(starts))

        if not step.recursive:
            return frozenset().union(*reached(at))
        while (grown := at.union(*reached(at))) != at:
            at = grown
        return at

    @cached_property
    def _below(self) -> dict[str, Classes]:
        """Each class with all below it; every class where none is stated ("")."""
        found = {code: frozenset((code, *self.ontology.subclasses(code))) for code in self.ontology.classes}
        return found | {"": frozenset(found)}

    @cached_property
    def _categories(self) -> dict[str, Category]:
        return {code: self.categories.all_of((code,)) for code in self.ontology.classes}

    def _end(self, step: Step, side: str) -> str:
        """The class at the domain or range of the step's property, in words."""
        if step.code not in self.ontology.properties:
            return "a property that no ontology table declares"
        code: str = getattr(self.ontology.property_(step.code), side)
        if code in self.ontology.classes:
            return f"{code} {self.ontology.label(code, kind='class')}"
        return code or "anything"

    @cached_property
    def _of_category(self) -> dict[Category, Classes]:
        of = {code: self.categories.of((code,)) for code in self.ontology.classes}
        return {category: frozenset(code for code in of if of[code] == category) for category in Category}
