"""A data set as a whole, as the client gives it: what is in it, how fresh and whole it is, how well it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from crmrag_query.client.records import Dataset
from crmrag_query.client.shown import Row, Shown


@dataclass(frozen=True, slots=True)
class CategoryShare:
    """A Fundamental Category: the entities that have it, as many as the set of it has members, and those whose first category
    it is (``primary``: each entity counts once)."""

    name: str
    entities: int
    primary: int


@dataclass(frozen=True, slots=True)
class ClassShare:
    """A class: its entities with those of its sub-classes, as many as the set of it has members, and those that state just
    this class (``own``)."""

    label: str
    code: str
    iri: str
    count: int
    own: int


@dataclass(frozen=True, slots=True)
class RelationshipShare:
    """A Fundamental Relationship and the distinct pairs that it joins."""

    key: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class TopEntity:
    """An entity with its PageRank, a share of 1."""

    iri: str
    label: str
    category: str
    score: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many ``of`` so many have something: names, types, dates, a category, a description; ``share`` 0..1, 1 of none."""

    what: str
    count: int
    of: int
    share: float


@dataclass(frozen=True, slots=True, repr=False)
class DatasetDetail(Shown):
    """A data set as a whole. ``built``, ``fetched``: ISO 8601, "" where not told; ``whole``: whether nothing is missing of
    its source, None where that is not known; ``concerns``: what a person should look at; ``report``: Markdown."""

    dataset: Dataset
    built: str
    fetched: str
    source: tuple[str, ...]
    whole: bool | None
    concerns: tuple[str, ...]
    categories: tuple[CategoryShare, ...]
    classes: tuple[ClassShare, ...]
    relationships: tuple[RelationshipShare, ...]
    top: tuple[TopEntity, ...]
    coverage: tuple[Coverage, ...]
    report: str
    versions: dict[str, str] = field(default_factory=dict, hash=False)
    embedding: dict[str, str] = field(default_factory=dict, hash=False)

    COLUMNS: ClassVar[dict[str, type]] = {"what": str, "name": str, "number": int}

    def head(self) -> str:
        return (
            f"{self.dataset.title or self.dataset.name} (release {self.dataset.release}, built {self.built})"
        )

    def rows(self) -> Sequence[Row]:
        return [
            *(("count", name, number) for name, number in self.dataset.counts.items()),
            *(("category", one.name, one.entities) for one in self.categories),
            *(("class", one.label, one.count) for one in self.classes),
        ]


@dataclass(frozen=True, slots=True)
class EvaluationSummary:
    """An evaluation of a data set: when it was made (ISO 8601), on how many questions, its headline measures 0..1."""

    name: str
    made: str
    questions: int
    measures: dict[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, repr=False)
class Evaluations(Shown):
    """The evaluations of a data set that are at hand, the latest first."""

    evaluations: tuple[EvaluationSummary, ...]
    dataset: str

    COLUMNS: ClassVar[dict[str, type]] = {"name": str, "measure": str, "value": float}

    def head(self) -> str:
        return f"{len(self.evaluations)} evaluations of {self.dataset}"

    def rows(self) -> Sequence[Row]:
        return [
            (one.name, measure, value) for one in self.evaluations for measure, value in one.measures.items()
        ]
