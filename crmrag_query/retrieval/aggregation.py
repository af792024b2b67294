"""Indexes of the whole data set: counts, PageRank and works per actor; when entities were made, happened or lived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.manifest import open_array, open_arrays, open_meta, rebuild
from crmrag_query.artifacts.release import Release
from crmrag_query.dates import Interval
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END
from crmrag_query.ontology.load import Category

SCHEMA_VERSION = 1
INDEX = "aggregation_index.json"
PAGERANK = "pagerank.npy"
DATED_BY = "fr109"  # the set whose relationships to Time the date index is by: the only one that has such


class ClassCount(NamedTuple):
    """Entities with a class, its sub-classes not counted."""

    iri: str
    code: str
    label: str
    entities: int


class CategoryCount(NamedTuple):
    """Entities whose primary category this is, and those that have it among others."""

    category: str
    primary: int
    any: int


class RelationshipCount(NamedTuple):
    """Distinct (source, target) pairs of a Fundamental Relationship, its sources and its targets."""

    key: str
    label: str
    pairs: int
    sources: int
    targets: int


class Ranked(NamedTuple):
    """An entity with its PageRank (a share of 1) or its number of works."""

    iri: str
    label: str
    score: float


@dataclass(frozen=True)
class Aggregation:
    """The aggregation index of a release, read when opened; PageRank of all nodes is mapped on demand."""

    folder: Path
    content: dict[str, Any]

    @classmethod
    def from_release(cls, release: Release) -> Aggregation:
        return cls.open(release.folder / "aggregation")

    @classmethod
    def open(cls, folder: Path) -> Aggregation:
        """Raises ReleaseError when the index is missing or of another version."""
        return cls(folder, open_meta(folder / INDEX, "aggregation index"))

    @property
    def entities(self) -> int:
        return int(self.content["entities"])

    @cached_property
    def classes(self) -> list[ClassCount]:
        """Classes by count, highest first."""
        return [ClassCount(**row) for row in self.content["classes"]]

    @cached_property
    def categories(self) -> list[CategoryCount]:
        return [CategoryCount(**row) for row in self.content["categories"]]

    @cached_property
    def relationships(self) -> list[RelationshipCount]:
        """Fundamental Relationships in the order of the catalogue."""
        return [RelationshipCount(**row) for row in self.content["relationships"]]

    def top(self, category: str, k: int) -> list[Ranked]:
        """The ``k`` entities of a category with the highest PageRank; empty for an unknown category."""
        return [Ranked(*row) for row in self.content["pagerank"].get(category, [])[:k]]

    def actors(self, k: int) -> list[Ranked]:
        """The ``k`` actors with most works."""
        return [Ranked(*row) for row in self.content["actors"]["works"][:k]]

    @cached_property
    def pagerank(self) -> npt.NDArray[np.float32]:
        """PageRank of every node, float32 [n]; 0 for a node outside the graph of relationships."""
        return open_array(self.folder, PAGERANK.removesuffix(".npy"))


DATING: Mapping[Category, tuple[str, ...]] = {
    Category.Thing: ("thing_time_a_created", "own"),
    Category.Event: ("event_time_a", "own"),
    Category.Actor: ("actor_time_b", "actor_time_a"),
    Category.Place: ("own",),
    Category.Concept: ("own",),
    Category.Time: ("own",),
}
"""Relationships of the date index that date what is of a category, where a question names a period and not which of them."""
META = "dates.json"
COLUMNS = ("entity", "begin", "end")


@dataclass(frozen=True)
class DateIndex:
    """Dates of entities by relationship, rows of a relationship sorted by begin, then entity.

    ``relationships``: ids, the number of one being its place; ``ptr`` int64 [R+1]: relationship -> range of rows;
    ``entity``, ``begin``, ``end`` int32 [rows]: day numbers of the widest extent that the data gives, each inclusive.
    """

    relationships: tuple[str, ...]
    ptr: Longs
    entity: Ints
    begin: Ints
    end: Ints

    @classmethod
    def from_release(cls, release: Release) -> DateIndex:
        return cls.open(release.folder / "dates")

    @classmethod
    def open(cls, folder: Path) -> DateIndex:
        """Memory-map the index in ``folder``; raises ReleaseError when missing, damaged or of another version."""
        meta = open_meta(folder / META, "date index")
        try:
            relationships = tuple(meta["relationships"])
        except (KeyError, TypeError) as error:
            raise ReleaseError(f"No date index in {folder}: {error}.", rebuild(folder)) from error
        kinds = dict.fromkeys(COLUMNS, "int32") | {"ptr": "int64"}
        arrays = open_arrays(folder, kinds, {"ptr": "entity"}, alike=[COLUMNS])
        if len(arrays["ptr"]) != len(relationships) + 1:
            raise ReleaseError(f"The arrays of the date index in {folder} do not fit.", rebuild(folder))
        return cls(relationships, **arrays)

    def dated_by(self, relationship: str) -> tuple[Ints, Ints, Ints]:
        """``entity``, ``begin`` and ``end`` of the rows of a relationship; none of an unknown one."""
        known = relationship in self.relationships
        number = self.relationships.index(relationship) if known else 0
        rows = slice(int(self.ptr[number]), int(self.ptr[number + 1])) if known else slice(0)
        return self.entity[rows], self.begin[rows], self.end[rows]

    def within(self, relationships: Iterable[str], period: Interval) -> tuple[Ints, Ints]:
        """Entities dated by one of ``relationships`` (ids; unknown ones have none), each once and ascending.

        First those whose whole extent lies in ``period``, then those that only may lie in it: their extent overlaps it.
        """
        first = OPEN_BEGIN if period.begin is None else period.begin
        last = OPEN_END if period.end is None else period.end
        certain, possible = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for relationship in relationships:
            entity, begin, end = self.dated_by(relationship)
            low = slice(int(np.searchsorted(begin, last, "right")))
            entity, begin, end = entity[low], begin[low], end[low]
            overlaps, inside = end >= first, (begin >= first) & (end <= last)
            certain.append(entity[inside])
            possible.append(entity[overlaps & ~inside])
        sure = np.unique(np.concatenate(certain))
        return sure, np.setdiff1d(np.concatenate(possible), sure)

    def of(self, entity: int, relationship: str) -> Interval | None:
        """The dates of an entity by a relationship, or None."""
        entities, begins, ends = self.dated_by(relationship)
        for at in np.flatnonzero(entities == entity)[:1]:
            begin, end = int(begins[at]), int(ends[at])
            return Interval(None if begin == OPEN_BEGIN else begin, None if end == OPEN_END else end)
        return None
