"""The channels of a release: its dense and sparse indexes and the edges between its documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.retrieval.pipeline import Mask, Ranking
from crmrag_query.retrieval.tokenizer import tokenize, with_singulars


@dataclass(frozen=True)
class ReleaseChannels:
    """Retrieval channels over an open release."""

    release: Release

    def dense_search(self, question: str, k: int, mask: Mask | None = None) -> Ranking:
        vector = self.release.encoder.encode([question])[0]
        return self.release.dense.search(vector, k, mask)

    def sparse_search(self, question: str, k: int, mask: Mask | None = None) -> Ranking:
        return self.release.sparse.search(question, k, mask)

    def named(self, question: str, documents: Sequence[int]) -> list[int]:
        """Those of the documents whose entity's name stands whole in the question, the longest name first."""
        words = with_singulars(tokenize(question))
        graph, store = self.release.graph, self.release.documents
        longest: dict[int, int] = {}
        for document in documents:
            names = (frozenset(tokenize(label.text)) for label in graph.labels(store.entity(document)))
            longest[document] = max((len(name) for name in names if name and name <= words), default=0)
        found = [document for document in documents if longest[document]]
        return sorted(found, key=lambda document: (-longest[document], document))

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
