"""From a question to ranked documents: dense and sparse search, reciprocal rank fusion, coherence of the candidates.

This is the seam that further stages join: each takes the candidates so far and returns candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import networkx as nx
import numpy as np
import numpy.typing as npt

from crmrag_query.config.models import RetrievalConfig
from crmrag_query.retrieval.fusion import reciprocal_rank_fusion

Mask = npt.NDArray[np.bool_]
Ranking = list[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document in the pool: its number, fused score, and its rank (from 0) on each channel, None when not found."""

    document: int
    score: float
    dense: int | None = None
    sparse: int | None = None


class Channels(Protocol):
    """What retrieval asks of a release: each method gives (document, score), best first."""

    def dense_search(self, question: str, k: int, mask: Mask | None = None) -> Ranking: ...

    def sparse_search(self, question: str, k: int, mask: Mask | None = None) -> Ranking: ...

    def named(self, question: str, documents: Sequence[int]) -> list[int]:
        """Those of the documents whose entity's name stands whole in the question, the longest name first."""
        ...

    def document_edges(self, documents: Sequence[int]) -> list[tuple[int, int, float]]:
        """Edges of the graph between the given documents: (document, document, weight)."""
        ...


def retrieve(channels: Channels, question: str, k: int, config: RetrievalConfig) -> list[Candidate]:
    """The ``k`` best documents for ``question``; cost is bounded by the pool, not by the data."""
    size = k * config.pool_factor
    dense = [document for document, _ in channels.dense_search(question, size)]
    sparse = [document for document, _ in channels.sparse_search(question, size)]
    named = channels.named(question, sorted({*dense, *sparse}))
    pool = fuse(dense, sparse, named, config)[:size]
    edges = channels.document_edges([candidate.document for candidate in pool])
    return cohere(pool, edges, config.coherence)[:k]


def fuse(
    dense: Sequence[int], sparse: Sequence[int], named: Sequence[int], config: RetrievalConfig
) -> list[Candidate]:
    """One list of candidates from the two channels and the named documents, best first.

    Reciprocal rank fusion (Cormack, Clarke & Büttcher 2009); being named counts ``config.named_weight`` times.
    """
    rank_dense = {document: rank for rank, document in enumerate(dense)}
    rank_sparse = {document: rank for rank, document in enumerate(sparse)}
    fused = reciprocal_rank_fusion([dense, sparse, *[named] * config.named_weight], config.rrf_k)
    return [
        Candidate(document, score, rank_dense.get(document), rank_sparse.get(document))
        for document, score in fused
    ]


def cohere(pool: list[Candidate], edges: list[tuple[int, int, float]], weight: float) -> list[Candidate]:
    """Raise candidates that other good candidates lead to.

    Personalised PageRank over the pool's own edges, restarted at each candidate in proportion to its fused score;
    the new score is ``(1 - weight) * fused + weight * pagerank``, both scaled to a sum of 1. No edges: order unchanged.
    """
    if not edges or weight == 0:
        return pool
    graph = nx.Graph()
    graph.add_nodes_from(candidate.document for candidate in pool)
    graph.add_weighted_edges_from(edges)
    total = sum(candidate.score for candidate in pool)
    share = {candidate.document: candidate.score / total for candidate in pool}
    rank = nx.pagerank(graph, personalization=share)
    scored = [
        replace(candidate, score=(1 - weight) * share[candidate.document] + weight * rank[candidate.document])
        for candidate in pool
    ]
    return sorted(scored, key=lambda candidate: (-candidate.score, candidate.document))
