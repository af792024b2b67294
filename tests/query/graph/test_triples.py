"""The triples index against all triples of the graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_assets.graph.build import write_triples_index
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.graph import Triple, TriplesIndex
from tests.support.graphs import graph_from_turtle, node_of

TRIPLES = """
:a crm:P2_has_type :t ; crm:P46_is_composed_of :b, :a .
:b crm:P2_has_type :t .
:g { :b crm:P46_is_composed_of :c }
"""


def test_an_entity_has_its_triples_from_both_ends_once(tmp_path: Path) -> None:
    graph = graph_from_turtle(TRIPLES, tmp_path)
    write_triples_index(graph.folder, tmp_path / "index")
    index = TriplesIndex.open(tmp_path / "index", graph)
    everything = [index.triple(number) for number in range(graph.triples)]
    forward = graph.adjacency.forward
    assert all(triple.o in forward.neighbours(triple.p, triple.s) for triple in everything)
    assert len({(triple.s, triple.p, triple.o) for triple in everything}) == graph.triples == 5
    for node in range(graph.nodes):
        assert index.of(node) == [triple for triple in everything if node in (triple.s, triple.o)]
        for other in range(graph.nodes):
            ends = {other, graph.nodes - 1}
            beside = [one for one in index.of(node) if not ends.isdisjoint((one.s, one.o))]
            assert index.between(node, [*ends]) == beside
        assert index.degree(node) == sum((t.s == node) + (t.o == node) for t in everything)
    a = node_of(graph, "a")
    assert index.of(a, limit=2) == index.of(a)[:2]


def test_a_triple_names_the_graphs_that_state_it(tmp_path: Path) -> None:
    graph = graph_from_turtle(TRIPLES, tmp_path)
    write_triples_index(graph.folder, tmp_path / "index")
    index = TriplesIndex.open(tmp_path / "index", graph)
    c = node_of(graph, "c")
    (triple,) = index.of(c)
    assert isinstance(triple, Triple) and triple.o == c
    assert index.graphs(triple.number) == ("http://example.org/g",)
    assert {index.graphs(n) for n in range(graph.triples) if n != triple.number} == {()}


def test_a_missing_index_is_refused(tmp_path: Path) -> None:
    graph = graph_from_turtle(TRIPLES, tmp_path)
    with pytest.raises(ReleaseError, match="tri_s"):
        TriplesIndex.open(tmp_path, graph)
