"""The channels of a release: its dense and sparse indexes and the edges between its documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.retrieval.pipeline import Mask, Ranking


@dataclass(frozen=True)
class ReleaseChannels:
    """Retrieval channels over an open release."""

    release: Release

    def dense_search(self, question: str, k: int, mask: Mask | None = None) -> Ranking:
        vector = self.release.encoder.encode([question])[0]
        return self.release.dense.search(vector, k, mask)

    def sparse_search(self, question: str, k: int, mask: Mask | None = None) -> Ranking:
        return self.release.sparse.search(question, k, mask)

    def document_edges(self, documents: Sequence[int]) -> list[tuple[int, int, float]]:
        """Edges between the documents' own entities; the weight is the heaviest predicate's (facts: relationship weights)."""
        graph, store, weights = self.release.graph, self.release.documents, self.release.method.weights
        nodes = np.array([store.entity(document) for document in documents], np.int32)
        order = np.argsort(nodes)
        nodes, numbers = nodes[order], np.array(documents, np.int64)[order]
        heaviest: dict[tuple[int, int], float] = {}
        forward = graph.adjacency.forward
        for prop, code in enumerate(graph.adjacency.codes):
            origin, reached = forward.expand(prop, nodes)
            at = np.searchsorted(nodes, reached)
            at[at == len(nodes)] = 0
            weight = weights.of(code)
            for a, b in zip(origin[hit := nodes[at] == reached], at[hit], strict=True):
                pair = (int(numbers[min(a, b)]), int(numbers[max(a, b)]))
                if pair[0] != pair[1]:
                    heaviest[pair] = max(weight, heaviest.get(pair, 0.0))
        return [(a, b, weight) for (a, b), weight in sorted(heaviest.items())]
