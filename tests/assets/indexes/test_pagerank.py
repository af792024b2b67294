"""PageRank; its oracle is networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from crmrag_assets.indexes.aggregation import pagerank
from crmrag_query.config.loading import PageRank
from crmrag_query.errors import BuildError

CONSTANTS = PageRank(damping=0.85)
NODES = 12
EDGES = st.dictionaries(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), st.integers(1, 5), max_size=40
)


def matrix(edges: dict[tuple[int, int], int], nodes: int = NODES) -> sparse.csr_array:
    rows, columns = ([pair[end] for pair in edges] for end in (0, 1))
    return sparse.csr_array(sparse.coo_array((list(edges.values()), (rows, columns)), shape=(nodes, nodes)))


def ranks(
    edges: dict[tuple[int, int], int], constants: PageRank, nodes: int = NODES
) -> npt.NDArray[np.float64]:
    found = matrix(edges, nodes)
    return pagerank(lambda sent: found.T @ sent, found.sum(axis=1), np.ones(nodes, bool), constants)


@settings(max_examples=80, deadline=None)
@given(EDGES, st.floats(0.1, 0.95))
def test_pagerank_equals_networkx_with_dangling_nodes(
    edges: dict[tuple[int, int], int], damping: float
) -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(NODES))
    graph.add_weighted_edges_from((a, b, weight) for (a, b), weight in edges.items())
    expected = nx.pagerank(graph, alpha=damping, tol=1e-12, max_iter=1000)
    found = ranks(edges, PageRank(damping=damping))
    assert np.abs(found - [expected[n] for n in range(NODES)]).max() < 1e-6
    assert found.sum() == pytest.approx(1)


def test_a_graph_without_nodes_has_no_ranks() -> None:
    assert len(ranks({}, CONSTANTS, 0)) == 0


def test_what_is_no_member_has_no_rank_and_changes_none() -> None:
    found = matrix({(0, 1): 1, (1, 2): 3}, 6)
    member = np.arange(6) < 3
    ranked = pagerank(lambda sent: found.T @ sent, found.sum(axis=1), member, CONSTANTS)
    assert ranked[3:].tolist() == [0, 0, 0]
    assert ranked[:3] == pytest.approx(ranks({(0, 1): 1, (1, 2): 3}, CONSTANTS, 3), abs=1e-12)


def test_what_never_comes_to_rest_is_an_error() -> None:
    with pytest.raises(BuildError, match=r"did not converge.*Lower `pagerank\.damping`"):
        ranks({(0, 1): 1, (1, 0): 1, (2, 0): 1}, PageRank(damping=1), 3)
