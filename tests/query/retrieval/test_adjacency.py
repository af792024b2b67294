"""How candidates are joined; its oracles are networkx and dictionaries."""

from __future__ import annotations

import itertools
from pathlib import Path

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.graph.arrays import Adjacency
from crmrag_query.retrieval.release_channels import EDGES, connect, edges_of, normalise
from tests.support.frgraphs import Edge, Net, rows_from_triples
from tests.support.graphs import graph_from_turtle, node_of

WEIGHTS = {"P1": 0.5, "P2": 0.6, "P55": 0.9, "P108": 0.85, "": 0.25}
NODES = 9
EDGE_LISTS = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.sampled_from(sorted(WEIGHTS)), st.integers(0, NODES - 1)),
    min_size=1,
    max_size=25,
)
CANDIDATES = st.lists(st.integers(0, NODES - 1), unique=True, max_size=6)


def joined(edges: list[Edge], nodes: list[int]) -> npt.NDArray[np.float64]:
    """The matrix of the candidates ``nodes`` over edges (subject, code, object)."""
    adjacency = Net(tuple(edges), (0,) * 100).adjacency
    found = np.array(nodes, np.int32)
    return connect(found, *edges_of(adjacency, found, WEIGHTS.__getitem__))


def test_two_steps_over_a_node_outside_the_pool_weigh_half_the_product() -> None:
    edges = [(10, "P55", 99), (20, "P2", 99)]
    assert joined(edges, [10, 20])[0, 1] == pytest.approx(0.9 * 0.6 / 2)


def test_no_candidates_and_no_edges_give_matrices_of_nothing() -> None:
    assert joined([(1, "P1", 2)], []).shape == (0, 0)
    assert joined([(1, "P1", 2)], [5, 6]).tolist() == [[0, 0], [0, 0]]
    assert normalise(np.zeros((0, 0))).shape == (0, 0)


@given(EDGE_LISTS, CANDIDATES)
def test_connect_equals_networkx(edges: list[Edge], nodes: list[int]) -> None:
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(NODES))
    graph.add_edges_from((s, o, {"weight": WEIGHTS[code]}) for s, code, o in edges if s != o)

    def one(a: int, b: int) -> float:
        return max((edge["weight"] for edge in (graph.get_edge_data(a, b) or {}).values()), default=0.0)

    expected = np.zeros((len(nodes), len(nodes)))
    for (row, a), (column, b) in itertools.permutations(enumerate(nodes), 2):
        over = (set(graph[a]) & set(graph[b])) - set(nodes)
        virtual = max((one(a, c) * one(c, b) / 2 for c in over), default=0.0)
        expected[row, column] = one(a, b) or virtual
    found = joined(edges, nodes)
    assert found == pytest.approx(expected)
    assert (found == found.T).all()


@given(EDGE_LISTS, CANDIDATES)
def test_normalised_is_one_minus_the_laplacian_of_networkx_with_loops(
    edges: list[Edge], nodes: list[int]
) -> None:
    matrix = joined(edges, nodes)
    graph = nx.from_numpy_array(matrix + np.eye(len(nodes)))
    expected = np.eye(len(nodes))
    if nodes:
        expected = expected - nx.normalized_laplacian_matrix(graph).toarray()
    assert normalise(matrix) == pytest.approx(expected)


@given(EDGE_LISTS, CANDIDATES)
def test_edges_are_the_triples_from_both_ends(edges: list[Edge], nodes: list[int]) -> None:
    adjacency = Net(tuple(edges), (0,) * NODES).adjacency
    found = edges_of(adjacency, np.array(nodes, np.int32), WEIGHTS.__getitem__)
    expected = [(nodes.index(s), o, WEIGHTS[code]) for s, code, o in set(edges) if s in nodes]
    expected += [(nodes.index(o), s, WEIGHTS[code]) for s, code, o in set(edges) if o in nodes]
    assert sorted(zip(*(column.tolist() for column in found), strict=True)) == sorted(expected)


def test_edges_of_an_opened_graph_are_its_triples_between_nodes(tmp_path: Path) -> None:
    graph = graph_from_turtle(
        [
            ("icon", "a", "crm:E22_Human-Made_Object"),
            ("icon", "P55_has_current_location", "church"),
            ("painting", "P108_has_produced", "icon"),
            ("icon", "http://example.org/own", "church"),
            ("icon", "rdfs:label", '"Icon"'),
        ],
        tmp_path,
    )
    icon = np.array([node_of(graph, "icon")], np.int32)
    rows, others, weights = edges_of(graph.adjacency, icon, WEIGHTS.__getitem__)
    assert rows.tolist() == [0, 0, 0]
    church, painting = node_of(graph, "church"), node_of(graph, "painting")
    assert sorted(zip(others.tolist(), weights.tolist(), strict=True)) == sorted(
        [(church, 0.9), (church, 0.25), (painting, 0.85)]
    )


def test_of_one_property_and_direction_no_more_than_the_limit_is_looked_at() -> None:
    leaves = np.arange(1, EDGES + 11, dtype=np.int32)
    hub, prop = np.zeros_like(leaves), np.zeros_like(leaves)
    none = np.zeros(len(leaves) + 1, np.uint8)
    star = Adjacency(
        rows_from_triples(prop, hub, leaves, 1),
        rows_from_triples(prop, leaves, hub, 1),
        ("P55",),
        none,
        none,
        none,
    )
    rows, others, _ = edges_of(star, np.array([0], np.int32), WEIGHTS.__getitem__)
    assert others.tolist() == leaves[:EDGES].tolist()
    assert not rows.any()
