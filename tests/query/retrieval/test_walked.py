"""Personalised PageRank around what is named; its oracle is networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from crmrag_query.retrieval.release_channels import neighbourhood, personalised_pagerank
from tests.support.frgraphs import Edge, Net

NODES = 12
WEIGHTS = {"P1": 0.5, "P2": 0.6, "P55": 0.9}
ARCS = st.dictionaries(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), st.floats(0.1, 1), max_size=30
)
EDGE_LISTS = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.sampled_from(sorted(WEIGHTS)), st.integers(0, NODES - 1)),
    min_size=1,
    max_size=30,
)
SEEDS = st.lists(st.integers(0, NODES - 1), min_size=1, max_size=4)


def pagerank(
    arcs: dict[tuple[int, int], float], restart: np.ndarray, damping: float = 0.85, iterations: int = 1000
) -> np.ndarray:
    rows, columns = ([arc[end] for arc in arcs] for end in (0, 1))
    n = len(restart)
    edges = sparse.csr_array(sparse.coo_array((list(arcs.values()), (rows, columns)), shape=(n, n)))
    return personalised_pagerank(edges, restart, damping, 1e-12, iterations)


@given(ARCS, st.lists(st.integers(0, 3), min_size=NODES, max_size=NODES), st.floats(0.1, 0.95))
def test_equals_networkx_with_dangling_nodes(
    arcs: dict[tuple[int, int], float], shares: list[int], damping: float
) -> None:
    assume(sum(shares))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(NODES))
    graph.add_weighted_edges_from((a, b, weight) for (a, b), weight in arcs.items())
    wanted = dict(enumerate(shares))
    expected = nx.pagerank(graph, damping, personalization=wanted, dangling=wanted, tol=1e-12, max_iter=2000)
    found = pagerank(arcs, np.array(shares) / sum(shares), damping)
    assert found == pytest.approx([expected[node] for node in range(NODES)], abs=1e-8)
    assert found.sum() == pytest.approx(1)


def test_iterations_bound_the_work() -> None:
    once = pagerank({(0, 1): 1.0, (1, 0): 1.0}, np.array([1.0, 0.0]), iterations=1)
    assert once == pytest.approx([0.15, 0.85])


def around(edges: list[Edge], seeds: list[int], hops: int, limit: int) -> tuple[list[int], np.ndarray]:
    net = Net(tuple(edges), (0,) * NODES)
    nodes, matrix = neighbourhood(net.adjacency, np.array(seeds, np.int32), WEIGHTS.__getitem__, hops, limit)
    return nodes.tolist(), matrix.toarray()


@given(EDGE_LISTS, SEEDS, st.integers(1, 4))
def test_nodes_are_those_of_a_breadth_first_search(edges: list[Edge], seeds: list[int], hops: int) -> None:
    graph = nx.Graph([(s, o) for s, _, o in edges])
    graph.add_nodes_from(range(NODES))
    expected = {
        node for seed in seeds for node in nx.single_source_shortest_path_length(graph, seed, cutoff=hops)
    }
    nodes, _ = around(edges, seeds, hops, NODES)
    assert nodes == sorted(expected)


@given(EDGE_LISTS, SEEDS, st.integers(1, 3), st.integers(1, NODES))
def test_edges_join_the_nodes_with_the_heaviest_of_parallel_ones(
    edges: list[Edge], seeds: list[int], hops: int, limit: int
) -> None:
    nodes, matrix = around(edges, seeds, hops, limit)
    expected = np.zeros((len(nodes), len(nodes)))
    for s, code, o in edges:
        if s != o and s in nodes and o in nodes:
            a, b = nodes.index(s), nodes.index(o)
            expected[a, b] = expected[b, a] = max(expected[a, b], WEIGHTS[code])
    assert matrix.tolist() == expected.tolist()


@given(EDGE_LISTS, SEEDS, st.integers(1, 4), st.integers(1, NODES))
def test_the_limit_holds_and_is_used_up(edges: list[Edge], seeds: list[int], hops: int, limit: int) -> None:
    whole, _ = around(edges, seeds, hops, NODES)
    nodes, _ = around(edges, seeds, hops, limit)
    named = set(seeds)
    assert named <= set(nodes) <= set(whole)
    assert len(nodes) <= max(limit, len(named))
    first, _ = around(edges, seeds, 1, NODES)
    assert len(nodes) >= min(limit, len(first))


def test_those_with_most_edges_to_what_is_there_are_taken_first() -> None:
    edges = [(0, "P1", 5), (0, "P1", 3), (1, "P1", 5), (0, "P1", 4), (0, "P2", 4), (0, "P55", 4)]
    assert around(edges, [0, 1], 1, 3)[0] == [0, 1, 4]
    assert around(edges, [0, 1], 1, 4)[0] == [0, 1, 4, 5]
    assert around([(0, "P1", n) for n in (7, 3, 5)], [0], 1, 3)[0] == [0, 3, 5]
