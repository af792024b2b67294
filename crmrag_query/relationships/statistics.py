"""What the Fundamental Relationships found in a data set, in figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from crmrag_query.relationships.catalogue import Catalogue
from crmrag_query.relationships.engine import Matches


@dataclass(frozen=True, slots=True)
class RelationshipCount:
    """Matches of one relationship; ``paths`` counts those whose lowest path is each of its paths."""

    id: str
    label: str
    matches: int
    sources: int
    targets: int
    paths: tuple[int, ...]


def relationship_counts(catalogue: Catalogue, parts: Iterable[Matches]) -> list[RelationshipCount]:
    """Figures of each relationship in the catalogue's order, over parts whose sources are distinct."""
    size = len(catalogue)
    matches = np.zeros(size, np.int64)
    sources = np.zeros(size, np.int64)
    paths = [np.zeros(len(relationship.paths), np.int64) for relationship in catalogue]
    reached = np.empty(0, np.int64)
    for part in parts:
        number = part.relationship.astype(np.int64)
        matches += np.bincount(number, minlength=size)
        changes = np.ones(len(part), bool)
        changes[1:] = (part.source[1:] != part.source[:-1]) | (number[1:] != number[:-1])
        sources += np.bincount(number[changes], minlength=size)
        for at in np.unique(number):
            paths[at] += np.bincount(part.path[number == at], minlength=len(paths[at]))
        reached = np.union1d(reached, (number << 32) | part.target)
    targets = np.bincount(reached >> 32, minlength=size)
    return [
        RelationshipCount(
            r.id, r.label, int(matches[n]), int(sources[n]), int(targets[n]), tuple(paths[n].tolist())
        )
        for n, r in enumerate(catalogue)
    ]
