"""Reading the aggregation index: counts, FR statistics, PageRank, works per actor."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.versions import other_version, rebuild
from crmrag_query.errors import ReleaseError

SCHEMA_VERSION = 1
INDEX = "aggregation_index.json"
PAGERANK = "pagerank.npy"


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
    def open(cls, folder: Path) -> Aggregation:
        """Raises ReleaseError when the index is missing or of another version."""
        try:
            content = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ReleaseError(f"No aggregation index in {folder}: {error}.", rebuild(folder)) from error
        if not isinstance(content, dict) or content.get("schema") != SCHEMA_VERSION:
            found = content.get("schema") if isinstance(content, dict) else None
            raise other_version("The aggregation index", folder, found, [SCHEMA_VERSION])
        return cls(folder, content)

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
        try:
            rank: npt.NDArray[np.float32] = np.load(self.folder / PAGERANK, mmap_mode="r")
        except (OSError, ValueError) as error:
            raise ReleaseError(
                f"{self.folder / PAGERANK} cannot be read: {error}.", rebuild(self.folder)
            ) from error
        return rank
