"""Ways walked at once: what walking each by itself finds, by the same ways and in as few hops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.documents.ways import Ways, make_ways_plan, split_ways
from crmrag_query.graph.arrays import Adjacency
from crmrag_query.relationships.engine import LIMIT, Matches, walk
from tests.assets.documents.made import method_and_ontology
from tests.support.frgraphs import Net, catalogue_of, chained
from tests.support.froracle import Alphabet

CODES = (
    "P108", "P108i", "P14", "P11", "P12", "P31i", "P7", "P89", "P62", "P67", "P129", "P138", "P46", "P94i", "P16", "P131",
)  # fmt: skip
KINDS = (0, 1, 2, 4, 8, 16, 3)
nets = st.integers(2, 9).flatmap(
    lambda n: st.builds(
        Net,
        st.lists(
            st.tuples(st.integers(0, n - 1), st.sampled_from(CODES), st.integers(0, n - 1)),
            min_size=1,
            max_size=30,
        ).map(tuple),
        st.lists(st.sampled_from(KINDS), min_size=n, max_size=n).map(tuple),
        st.frozensets(st.integers(0, n - 1), max_size=1),
    )
)


def both(ways: Ways, adjacency: Adjacency, limit: int = LIMIT) -> tuple[Matches, Matches]:
    """The matches of all nodes by walking the ways at once, and one by one."""
    everyone = np.arange(adjacency.nodes, dtype=np.int32)
    plan = make_ways_plan(adjacency, ways)
    at_once = walk(adjacency, ways.ontology, ways.walked, everyone, limit, plan)
    return at_once, walk(adjacency, ways.ontology, ways.walked, everyone)


def compare(ways: Ways, adjacency: Adjacency, limit: int = LIMIT) -> int:
    """The number of matches compared."""
    at_once, alone = both(ways, adjacency, limit)
    for name in Matches.__slots__:
        np.testing.assert_array_equal(getattr(at_once, name), getattr(alone, name), err_msg=name)
    return len(alone)


@settings(max_examples=150, deadline=None)
@given(nets)
def test_the_ways_of_a_random_graph(net: Net) -> None:
    method, ontology = method_and_ontology()
    ways = split_ways(catalogue_of(method.relationships), ontology, net.adjacency.codes)
    compare(ways, net.adjacency)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fr76", "fr109"])
@pytest.mark.parametrize("limit", [LIMIT, 7])
def test_the_ways_of_a_graph_in_which_every_path_holds(name: str, limit: int) -> None:
    _, ontology = method_and_ontology()
    catalogue = catalogue_of(name)
    net = chained(catalogue, Alphabet(ontology), seed=3)
    ways = split_ways(catalogue, ontology, net.adjacency.codes)
    assert compare(ways, net.adjacency, limit) > 200


def test_the_narrowest_way_is_taken() -> None:
    """Node 1 took part in the production of 0, by way of 2, and carried it out, by way of 3."""
    method, ontology = method_and_ontology()
    net = Net(((2, "P108", 0), (2, "P11", 1), (3, "P108", 0), (3, "P14", 1)), (1, 2, 8, 8), frozenset())
    ways = split_ways(catalogue_of(method.relationships), ontology, net.adjacency.codes)
    found, alone = both(ways, net.adjacency)
    assert found.path.tolist() == alone.path.tolist()
    assert len(set(found.path.tolist())) > 1
