"""Every document is in one part, none is above the limit, whatever the graph; bridges are all edges between two parts."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crmrag_assets.communities.detect import Net
from crmrag_assets.graph_partitions.cut import cut, edges_between, repaired
from crmrag_assets.graph_partitions.evaluate import Quality, coherence, controls, penalties, pieces_of
from crmrag_query.config.loading import GraphPartitionsConfig
from crmrag_query.graph_partitions import GraphPartitions
from crmrag_query.retrieval.encoder import unit

Method = Literal["leiden", "metis", "hybrid"]
METHODS: tuple[Method, ...] = ("leiden", "metis", "hybrid")


def how(method: Method = "metis", limit: int = 20, **others: Any) -> GraphPartitionsConfig:
    given = {"target_size": 18 * limit // 20, "num_parts": 0} | others
    return GraphPartitionsConfig(method=method, limit=limit, **given)


def net_of(nodes: int, edges: set[tuple[int, int]]) -> Net:
    ends = np.array(sorted(edges), np.int64).reshape(-1, 2)
    weight = 1.0 + (ends.sum(axis=1) % 3)
    return Net(ends[:, 0], ends[:, 1], weight, np.zeros(nodes), float(weight.sum()))


def vectors_of(nodes: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    return unit(np.random.default_rng(seed).standard_normal((nodes, 8)))


@st.composite
def graphs(draw: st.DrawFn) -> Net:
    """Dense and sparse ones, stars, and nodes without edges."""
    nodes, seed = draw(st.integers(1, 150)), draw(st.integers(0, 1000))
    random = np.random.default_rng(seed)
    pairs = random.integers(0, nodes, (draw(st.integers(0, 600)), 2))
    if draw(st.booleans()):
        pairs[: len(pairs) // 2, 0] = 0
    edges = {(min(a, b), max(a, b)) for a, b in pairs.tolist() if a != b and max(a, b) < nodes * 0.9}
    return net_of(nodes, edges)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.sampled_from(METHODS), st.integers(2, 40))
@example(net_of(1, set()), "metis", 20)
@example(net_of(90, set()), "hybrid", 20)
@example(net_of(100, {(0, n) for n in range(1, 100)}), "leiden", 20)
def test_each_document_is_in_one_part_and_none_is_above_the_limit(
    net: Net, method: Method, limit: int
) -> None:
    nodes = len(net.inside)
    part = cut(net, vectors_of(nodes), how(method, limit))
    sizes = np.bincount(part)
    assert len(part) == nodes and sizes.sum() == nodes
    assert sizes.min() >= 1 and sizes.max() <= limit
    if method == "hybrid" and nodes >= limit:
        assert sizes.min() >= limit // 2, "small parts are gathered"
    assert [*dict.fromkeys(part.tolist())] == [*range(len(sizes))], "numbered by their first documents"


@pytest.mark.parametrize("method", METHODS)
def test_the_same_graph_gives_the_same_parts(method: Method) -> None:
    graph = nx.powerlaw_cluster_graph(400, 3, 0.3, seed=1)
    net = net_of(400, {(min(e), max(e)) for e in graph.edges})
    first, second = (cut(net, vectors_of(400), how(method)) for _ in range(2))
    assert np.array_equal(first, second)


def test_rings_that_hardly_touch_are_parts_of_their_own() -> None:
    edges = {
        (18 * ring + a, 18 * ring + b) for ring in range(10) for a in range(18) for b in range(a + 1, 18)
    }
    edges |= {(18 * ring, 18 * ring + 18) for ring in range(9)}
    for method in METHODS:
        part = cut(net_of(180, edges), vectors_of(180), how(method))
        assert part.tolist() == [one // 18 for one in range(180)], method


def test_a_number_of_parts_may_stand_in_the_place_of_a_size() -> None:
    graph = nx.connected_watts_strogatz_graph(300, 6, 0.1, seed=2)
    net = net_of(300, {(min(e), max(e)) for e in graph.edges})
    assert cut(net, vectors_of(300), how(limit=100, num_parts=10)).max() + 1 == 10
    assert cut(net, vectors_of(300), how(limit=20, num_parts=3)).max() + 1 >= 15, (
        "the limit holds all the same"
    )


def test_small_parts_join_what_they_are_most_similar_to() -> None:
    """Documents without edges, in two kinds, beside two whole parts of these kinds."""
    edges = {(a, b) for a in range(12) for b in range(a + 1, 12)} | {
        (a, b) for a in range(12, 24) for b in range(a + 1, 24)
    }
    kind = np.array([0] * 12 + [1] * 12 + [0, 1, 0, 1])
    part = cut(net_of(28, edges), np.eye(2, dtype=np.float32)[kind], how("hybrid"))
    assert part.tolist() == kind.tolist()


def test_what_a_cut_leaves_above_the_limit_moves_to_where_it_is_joined_most() -> None:
    weights = nx.to_scipy_sparse_array(nx.Graph([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]))
    assert repaired(np.array([0, 0, 0, 0, 1, 1]), weights, 3).tolist() == [0, 0, 0, 1, 1, 1]


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_bridges_and_inner_edges_are_all_edges(net: Net) -> None:
    part = cut(net, vectors_of(len(net.inside)), how())
    found = edges_between(net, part)
    expected = Counter[tuple[int, int]]()
    weights = Counter[tuple[int, int]]()
    for a, b, weight in zip(net.low.tolist(), net.high.tolist(), net.weight.tolist(), strict=True):
        pair = tuple(sorted((int(part[a]), int(part[b]))))
        if pair[0] != pair[1]:
            expected[pair[0], pair[1]] += 1
            weights[pair[0], pair[1]] += weight
    told = dict(
        zip(
            zip(found.low.tolist(), found.high.tolist(), strict=True),
            np.diff(found.bridge_ptr).tolist(),
            strict=True,
        )
    )
    assert told == expected
    assert np.allclose(found.weight, [weights[a, b] for a, b in told])
    for at, (a, b) in enumerate(told):
        here = slice(int(found.bridge_ptr[at]), int(found.bridge_ptr[at + 1]))
        assert set(part[found.bridge_low[here]].tolist()) == {a} and set(
            part[found.bridge_high[here]].tolist()
        ) == {b}
    bridges = zip(found.bridge_low.tolist(), found.bridge_high.tolist(), strict=True)
    whole = Counter(map(frozenset, bridges))
    inner = [(a, b) for a, b in zip(net.low.tolist(), net.high.tolist(), strict=True) if part[a] == part[b]]
    assert whole + Counter(map(frozenset, inner)) == Counter(
        map(frozenset, zip(net.low.tolist(), net.high.tolist(), strict=True))
    )


@settings(max_examples=30, deadline=None)
@given(graphs())
def test_quality_is_what_networkx_and_plain_loops_count(net: Net) -> None:
    nodes = len(net.inside)
    vectors = vectors_of(nodes)
    part = cut(net, vectors, how())
    found = Quality.of("metis", net, part, vectors, 20)
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_weighted_edges_from(zip(net.low.tolist(), net.high.tolist(), net.weight.tolist(), strict=True))
    groups = [np.flatnonzero(part == one).tolist() for one in range(found.parts)]
    expected = nx.community.modularity(graph, groups) if graph.number_of_edges() else 0.0
    assert found.modularity == pytest.approx(expected, abs=1e-3)
    assert pieces_of(net, part).tolist() == [
        nx.number_connected_components(graph.subgraph(group)) for group in groups
    ]
    for group, cosine in zip(groups, coherence(part, vectors).tolist(), strict=True):
        pairs = [float(vectors[a] @ vectors[b]) for a in group for b in group if a != b]
        assert cosine == pytest.approx(np.mean(pairs) if pairs else 1.0, abs=1e-4)
    for other in controls(net, part, vectors).values():
        assert len(other) == nodes


def test_a_hub_is_weighed_down_and_what_is_about_something_is_not() -> None:
    """Five parts, each about one thing; the last is joined to all of them and about anything."""
    part = np.repeat(np.arange(5, dtype=np.int32), 10)
    vectors = np.eye(5, dtype=np.float32)[part]
    vectors[40:] = unit(np.random.default_rng(0).standard_normal((10, 5)))
    found = penalties(net_of(50, {(a, 40 + a % 10) for a in range(40)}), part, vectors)
    assert found[4] > 0.5 and not found[:4].any()
    parts = GraphPartitions.of(part, found)
    scores = np.array([0.1, 0.2, 0.3, 0.4, 0.5], np.float32)
    assert parts.best(scores, 2).tolist() == [3, 2]
