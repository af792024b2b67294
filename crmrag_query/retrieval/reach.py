"""Which entities stand in a Fundamental Relationship to those that a question names, or in a period that it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import FLAG_SUSPECT, Adjacency, Ints, Longs
from crmrag_query.ontology.categories import Category
from crmrag_query.ontology.tables import Ontology
from crmrag_query.relationships import frontier as fr
from crmrag_query.relationships.catalogue import Catalogue
from crmrag_query.relationships.plan import Branch, add_way, legs_of
from crmrag_query.relationships.walk import advance

Shares = npt.NDArray[np.float32]
EVERY = sum(Category)


@dataclass(frozen=True)
class Reach:
    """Fundamental Relationships walked from their far end over one graph.

    ``limit``: nodes at most that a walk starts from.
    """

    adjacency: Adjacency
    ontology: Ontology
    catalogue: Catalogue
    limit: int = fr.BLOCK

    @cached_property
    def _tries(self) -> dict[Category, Branch]:
        """The paths that occur in this graph, reversed, by the range of their relationship; shared beginnings are joined."""
        tries: dict[Category, Branch] = {}
        for number, relationship in enumerate(self.catalogue):
            for index, path in enumerate(relationship.paths):
                if legs := legs_of(self.adjacency, self.ontology, path):
                    back = tuple(leg.reversed() for leg in reversed(legs))
                    add_way(tries.setdefault(relationship.range, Branch()), back, (number, index))
        return tries

    def to(
        self,
        nodes: Sequence[int],
        targets: int,
        weight: Mapping[str, float],
        other: float,
        aside: float = 0.0,
    ) -> Shares:
        """How strongly each entity is tied to one of ``nodes``, float32 [n]: the weight of the best relationship.

        Relationships that start from a category of ``targets`` (a mask; 0 for any) count with ``weight`` of their label, or
        ``other``; direct triples count as ``other``; entities of other categories ``aside`` times as much. Ends and
        suspected merges are admitted as the engine admits them.
        """
        tied = np.zeros(len(self.adjacency.category), np.float32)
        start = np.unique(np.asarray(nodes, np.int32))[: self.limit]
        categories = self.adjacency.categories[start]
        shares = [
            (1.0 if int(one.domain) & (targets or EVERY) else aside) * weight.get(one.label, other)
            for one in self.catalogue
        ]
        for range_, trie in self._tries.items():
            ends = start[(categories == 0) | ((categories & int(range_)) != 0)]
            if len(ends):
                self._descend(trie, fr.start(np.zeros(len(ends), np.int64), ends), shares, tied)
        direct = self._beside(start)
        fits = (self.adjacency.categories[direct] & (targets or EVERY)) != 0
        tied[direct] = np.maximum(tied[direct], np.where(fits | (targets == 0), other, aside * other))
        tied[start] = 0
        return tied

    def _descend(self, branch: Branch, frontier: Longs, shares: Sequence[float], tied: Shares) -> None:
        """Walk the trie on from ``frontier``, which has one source for all ends; raise ``tied`` where a path begins."""
        for leg, following in branch.legs.items():
            for piece in advance(self.adjacency, leg, frontier):
                nodes = fr.nodes_of(piece)
                for number, index in following.ends:
                    relationship = self.catalogue[number]
                    fits = self.adjacency.category[nodes] == int(relationship.domain)
                    if len(relationship.paths[index].steps) > 1:
                        fits &= (self.adjacency.flags[nodes] & FLAG_SUSPECT) == 0
                    found = nodes[fits]
                    tied[found] = np.maximum(tied[found], shares[number])
                self._descend(following, piece, shares, tied)

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
    tied = np.flatnonzero(shares != 0)  # of truth values: six times as fast
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
