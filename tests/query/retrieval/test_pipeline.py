"""Fusion and coherence over small rankings worked out by hand, and against networkx."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.retrieval.pipeline import Candidate, cohere, fuse

CONFIG = load_method().retrieval
RANKINGS = st.lists(st.integers(0, 40), unique=True, max_size=20)


def test_a_document_found_by_both_channels_comes_first() -> None:
    fused = fuse([1, 2], [2, 3], [], CONFIG)
    assert [candidate.document for candidate in fused] == [2, 1, 3]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert (fused[0].dense, fused[0].sparse) == (1, 0)
    assert (fused[2].dense, fused[2].sparse) == (None, 1)


def test_a_named_document_passes_those_found_alike() -> None:
    assert [candidate.document for candidate in fuse([1, 2, 3], [1, 2, 3], [3], CONFIG)] == [3, 1, 2]


@given(RANKINGS, RANKINGS)
def test_fusion_keeps_every_document_once_in_falling_order(dense: list[int], sparse: list[int]) -> None:
    fused = fuse(dense, sparse, [], CONFIG)
    assert {candidate.document for candidate in fused} == {*dense, *sparse}
    assert len({candidate.document for candidate in fused}) == len(fused)
    assert all(a.score >= b.score for a, b in itertools.pairwise(fused))


def test_without_edges_or_weight_the_order_stays() -> None:
    pool = [Candidate(5, 0.5), Candidate(2, 0.4)]
    assert cohere(pool, [], 0.3) == pool
    assert cohere(pool, [(5, 2, 1.0)], 0.0) == pool


def test_a_candidate_that_others_lead_to_overtakes_an_isolated_one() -> None:
    pool = [Candidate(0, 0.30), Candidate(1, 0.29), Candidate(2, 0.28)]
    raised = cohere(pool, [(0, 2, 0.9)], 0.5)
    assert [candidate.document for candidate in raised] == [0, 2, 1]


@given(
    st.lists(st.floats(0.01, 1), min_size=2, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.floats(0.1, 1)), min_size=1, max_size=12),
)
def test_with_full_weight_the_score_is_networkx_pagerank(scores: list[float], edges: list) -> None:
    size = len(scores)
    edges = [(a, b, w) for a, b, w in edges if a < size and b < size and a != b]
    pool = [Candidate(i, score) for i, score in enumerate(scores)]
    assume(edges)
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_weighted_edges_from(edges)
    expected = nx.pagerank(graph, personalization={i: s / sum(scores) for i, s in enumerate(scores)})
    assert {c.document: c.score for c in cohere(pool, edges, 1.0)} == pytest.approx(expected)
