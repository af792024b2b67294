"""Which entities stand in a Fundamental Relationship to those that a question names, or in a period that it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import FLAG_SUSPECT, Adjacency, Ints
from crmrag_query.ontology.categories import Category
from crmrag_query.ontology.tables import Ontology
from crmrag_query.relationships.catalogue import Catalogue, Relationship
from crmrag_query.relationships.frontier import BLOCK
from crmrag_query.relationships.plan import Leg, legs_of
from crmrag_query.relationships.walk import walk_legs

Shares = npt.NDArray[np.float32]
Way = tuple[tuple[Leg, ...], bool]
"""Legs from the far end, and whether the path has several steps: a suspected merge of identities takes none of these."""
EVERY = sum(Category)


@dataclass(frozen=True)
class Reach:
    """Fundamental Relationships walked from their far end over one graph.

    ``limit``: nodes at most that a walk starts from.
    """

    adjacency: Adjacency
    ontology: Ontology
    catalogue: Catalogue
    limit: int = BLOCK

    @cached_property
    def _ways(self) -> list[tuple[Relationship, list[Way]]]:
        """The relationships that occur in this graph, each with its paths reversed."""
        found = []
        for relationship in self.catalogue:
            ways: list[Way] = []
            for path in relationship.paths:
                if legs := legs_of(self.adjacency, self.ontology, path):
                    ways.append((tuple(leg.reversed() for leg in reversed(legs)), len(path.steps) > 1))
            if ways:
                found.append((relationship, ways))
        return found

    def to(self, nodes: Sequence[int], targets: int, weight: Mapping[str, float], other: float) -> Shares:
        """How strongly each entity is tied to one of ``nodes``, float32 [n]: the weight of the best relationship.

        Relationships that start from a category of ``targets`` (a mask; 0 for any) count with ``weight`` of their label, or
        ``other``; direct triples count as ``other``. Ends and suspected merges are admitted as the engine admits them.
        """
        tied = np.zeros(len(self.adjacency.category), np.float32)
        start = np.unique(np.asarray(nodes, np.int32))[: self.limit]
        categories = self.adjacency.categories[start]
        for relationship, ways in self._ways:
            ends = start[(categories == 0) | ((categories & int(relationship.range)) != 0)]
            if len(ends) == 0 or not int(relationship.domain) & (targets or EVERY):
                continue
            share = weight.get(relationship.label, other)
            for legs, careful in ways:
                _, found = walk_legs(self.adjacency, legs, ends)
                fits = self.adjacency.category[found] == int(relationship.domain)
                if careful:
                    fits &= (self.adjacency.flags[found] & FLAG_SUSPECT) == 0
                tied[found[fits]] = np.maximum(tied[found[fits]], share)
        direct = self._beside(start)
        if targets:
            direct = direct[(self.adjacency.categories[direct] & targets) != 0]
        tied[direct] = np.maximum(tied[direct], other)
        tied[start] = 0
        return tied

    def _beside(self, nodes: Ints) -> Ints:
        """Nodes one triple away from ``nodes``."""
        rows = (
            direction.expand(prop, nodes)[1]
            for prop in range(len(self.adjacency.codes))
            for direction in (self.adjacency.forward, self.adjacency.backward)
        )
        return np.unique(np.concatenate([np.empty(0, np.int32), *rows]))


def by_document(shares: Shares, entity_document: Ints, documents: int) -> Shares:
    """Shares of entities, float32 [n], as those of the documents that hold them, float32 [documents]: the largest."""
    found = np.zeros(documents, np.float32)
    tied = np.flatnonzero(shares)
    document = entity_document[tied]
    held = document >= 0
    np.maximum.at(found, document[held], shares[tied[held]])
    return found


def coverage(groups: Sequence[tuple[float, Shares]], documents: int) -> Shares:
    """How much of what a question names each document is tied to, 0..1, float32 [documents].

    ``groups``: for each thing that is named its weight and how strongly each document is tied to it; the weighted mean.
    """
    total = sum(weight for weight, _ in groups)
    found = np.zeros(documents, np.float32)
    for weight, shares in groups:
        found += np.float32(weight / total) * shares
    return found
