"""The walker step by step: what is stitched, how it is walked through, by which ways; oracles are networkx and loops."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query.config.loading import Walk
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.graph_partitions import GraphPartitions
from crmrag_query.retrieval.release_channels import personalised_pagerank
from crmrag_query.retrieval.scores import Hits
from crmrag_query.retrieval.walker import (
    Stitched,
    Walked,
    around,
    by_steps,
    fused,
    stitch,
    think,
    votes,
    ways_to_all,
)
from tests.query.retrieval.test_expand import Weights, graph_of

DOCUMENTS = 14
EDGES = st.dictionaries(
    st.tuples(st.integers(0, DOCUMENTS - 1), st.integers(0, DOCUMENTS - 1)).filter(
        lambda pair: pair[0] < pair[1]
    ),
    st.sampled_from([0.25, 0.5, 1.0]),
    max_size=40,
)
SOME = st.sets(st.integers(0, DOCUMENTS - 1), min_size=1)
NEAR = st.lists(st.sampled_from([0.1, 0.4, 0.6, 0.95]), min_size=DOCUMENTS, max_size=DOCUMENTS)


def whole(edges: Weights) -> Stitched:
    """The stitched graph of all documents, whose rows are the documents."""
    return stitch(graph_of(DOCUMENTS, edges), np.arange(DOCUMENTS, dtype=np.int32))


@given(EDGES, SOME)
@settings(max_examples=100)
def test_all_edges_among_the_chosen_are_stitched_and_no_others(edges: Weights, chosen: set[int]) -> None:
    found = stitch(graph_of(DOCUMENTS, edges), np.array(sorted(chosen) * 2, np.int32))
    assert found.documents.tolist() == sorted(chosen)
    expected = np.zeros((len(chosen), len(chosen)))
    place = {document: row for row, document in enumerate(sorted(chosen))}
    for (a, b), weight in edges.items():
        if a in place and b in place:
            expected[place[a], place[b]] = expected[place[b], place[a]] = weight
    assert found.edges.toarray() == pytest.approx(expected)
    assert found.rows([13, 0]).tolist() == [place[one] for one in (13, 0) if one in place]


@given(EDGES, SOME, st.integers(1, DOCUMENTS + 1))
@settings(max_examples=100)
def test_without_parts_what_is_near_the_landings_is_taken_until_there_is_enough(
    edges: Weights, landings: set[int], most: int
) -> None:
    found = set(around(graph_of(DOCUMENTS, edges), np.array(sorted(landings), np.int32), most).tolist())
    net = nx.Graph([*edges])
    net.add_nodes_from(range(DOCUMENTS))
    near = {end for one in landings for end in nx.single_source_shortest_path_length(net, one, cutoff=2)}
    assert landings <= found <= near
    assert len(found) == max(len(landings), min(most, len(near)))


@given(EDGES, SOME, st.floats(0.3, 0.9))
@settings(max_examples=50)
def test_pagerank_on_what_is_stitched_is_that_of_networkx(
    edges: Weights, landings: set[int], damping: float
) -> None:
    graph = stitch(graph_of(DOCUMENTS, edges), np.arange(1, DOCUMENTS, dtype=np.int32))
    rows = graph.rows(sorted(landings))
    restart = np.zeros(DOCUMENTS - 1)
    restart[rows] = 1 + np.arange(len(rows))
    if not len(rows):
        return
    net = nx.Graph()
    net.add_nodes_from(range(1, DOCUMENTS))
    net.add_weighted_edges_from((a, b, weight) for (a, b), weight in edges.items() if a > 0)
    wanted = dict(enumerate(restart.tolist(), 1))
    expected = nx.pagerank(net, damping, personalization=wanted, dangling=wanted, tol=1e-12, max_iter=2000)
    found = personalised_pagerank(graph.edges, restart / restart.sum(), damping, 1e-12, 2000)
    assert found == pytest.approx([expected[document] for document in range(1, DOCUMENTS)], abs=1e-8)


def walked(edges: Weights, landings: list[int], near: list[float], how: Walk) -> list[int]:
    """The published walk as it is told: what it sees, in the order in which it sees it, by levels."""
    joined = {
        one: sorted({b for a, b in [*edges, *((b, a) for a, b in edges)] if a == one})
        for one in range(DOCUMENTS)
    }
    seen, standing = list(landings), list(landings)
    for _ in range(how.steps):
        if any(near[one] >= how.stop for one in standing) or not standing:
            break
        new = sorted({end for one in standing for end in joined[one]} - set(seen))
        seen += new
        standing = sorted(new, key=lambda one: (-near[one], one))[: how.beam]
    return seen


@given(EDGES, SOME, NEAR, st.integers(1, 3), st.integers(1, 4), st.sampled_from([0.5, 0.9, 1.0]))
@settings(max_examples=200)
def test_the_published_walk_sees_neighbours_and_goes_on_from_the_nearest(
    edges: Weights, landings: set[int], near: list[float], beam: int, steps: int, stop: float
) -> None:
    how = Walk(by="steps", beam=beam, steps=steps, stop=stop)
    start = sorted(landings)
    found, before = by_steps(whole(edges), np.array(start, np.int32), np.array(near).__getitem__, how)
    seen = walked(edges, start, near, how)
    assert found.ranking == sorted(seen, key=lambda one: (-near[one], one))
    assert set(before) == set(seen) - landings
    assert all((min(pair), max(pair)) in edges for pair in before.items())
    told = Walked(found, tuple(start), before, len(found))
    for one in seen:
        way = told.path(one)
        assert way[0] in landings and way[-1] == one and len(way) <= 1 + how.steps
        assert all((min(pair), max(pair)) in edges for pair in pairwise(way))


@given(EDGES, SOME)
@settings(max_examples=100)
def test_ways_are_shortest_and_of_these_the_strongest(edges: Weights, landings: set[int]) -> None:
    before = ways_to_all(whole(edges), np.array(sorted(landings), np.int32))
    told = Walked(Hits.of([]), tuple(sorted(landings)), before, 0)
    net = nx.Graph()
    net.add_nodes_from(range(DOCUMENTS))
    net.add_weighted_edges_from((a, b, 1.0) for a, b in edges)
    lengths = nx.multi_source_dijkstra_path_length(net, landings)
    for one in range(DOCUMENTS):
        way = told.path(one)
        assert len(way) == (lengths[one] + 1 if one in lengths else 0)
        assert all((min(pair), max(pair)) in edges for pair in pairwise(way))
    weak_and_strong = whole({(0, 1): 0.25, (1, 3): 0.25, (0, 2): 1.0, (2, 3): 1.0})
    assert ways_to_all(weak_and_strong, np.array([0], np.int32))[3] == 2


def test_parts_are_voted_for_by_what_was_found_and_hubs_weigh_less() -> None:
    part = np.array([0, 0, 1, 1, 2, -1], np.int32)
    plain = GraphPartitions.of(part, np.zeros(3, np.float32))
    assert votes(plain, [(2, 0.5), (0, 0.3), (1, 0.3), (5, 9.0)]).tolist() == [0, 1]
    hub = GraphPartitions.of(part, np.array([0.5, 0, 0], np.float32))
    assert votes(hub, [(2, 0.5), (0, 0.3), (1, 0.3)]).tolist() == [1, 0]
    assert votes(plain, []).tolist() == []


def test_parts_that_aligner_and_votes_agree_on_come_first() -> None:
    aligned, voted = np.array([4, 2, 7], np.int32), np.array([2, 9], np.int32)
    assert think([aligned, voted], 2)[0] == 2


def test_measures_are_fused_by_rank() -> None:
    found = fused([np.array([0.1, 0.9, 0.5]), np.zeros(3), np.array([0.0, 0.2, 0.9])])
    expected = {1: 1 / 61 + 1 / 62, 2: 1 / 62 + 1 / 61, 0: 2 / 63}
    assert dict(found) == pytest.approx(expected) and found.ranking == [1, 2, 0]


def test_a_graph_without_edges_has_no_ways() -> None:
    empty = EntityGraph(np.zeros(4, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    graph = stitch(empty, np.array([0, 2], np.int32))
    assert ways_to_all(graph, np.array([0], np.int32)) == {}
    assert graph.edges.shape == (2, 2)
