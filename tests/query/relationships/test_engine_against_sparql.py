"""Every path of both sets finds what the same SPARQL property path finds, run by Oxigraph."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path as File

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query.graph.arrays import Bytes
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Ontology
from crmrag_query.relationships.engine import (
    Catalogue,
    Matches,
    Relationship,
    legs_of,
    turned,
    walk,
    walk_legs,
)
from tests.support.frgraphs import Net, catalogue_of, chained
from tests.support.froracle import Alphabet, mark, net_pairs, property_path, sparql_pairs, store_of
from tests.support.graphs import graph_from_turtle, read_quads

SETS = ("fr76", "fr109")
SAMPLE = File(__file__).resolve().parents[3] / "data" / "sample" / "troodos.ttl"
Found = dict[tuple[int, int, int], int]


@pytest.mark.parametrize(
    ("name", "seed"), [("fr76", 1), pytest.param("fr76", 2, marks=pytest.mark.slow), ("fr109", 3)]
)
def test_every_path_equals_sparql_where_every_path_matches(
    name: str, seed: int, ontology: Ontology, alphabet: Alphabet
) -> None:
    catalogue = catalogue_of(name)
    net = chained(catalogue, alphabet, seed)
    expected, matched = _expected(catalogue, net, alphabet)
    assert matched == {(r, p) for r, fr in enumerate(catalogue) for p in range(len(fr.paths))}
    assert (
        _found(walk(net.adjacency, ontology, catalogue, np.arange(len(net.masks), dtype=np.int32)))
        == expected
    )


@settings(max_examples=15, deadline=None)
@given(name=st.sampled_from(sorted(SETS)), seed=st.integers(0, 2**32), data=st.data())
def test_any_few_paths_equal_sparql_both_ways(
    name: str, seed: int, data: st.DataObject, ontology: Ontology, alphabet: Alphabet
) -> None:
    catalogue = catalogue_of(name)
    paths = [(r, p) for r in catalogue for p in r.paths]
    chosen = data.draw(st.lists(st.sampled_from(paths), min_size=1, max_size=4))
    net = chained(catalogue, alphabet, seed, chosen)
    nodes = np.arange(len(net.masks), dtype=np.int32)
    store = store_of(net, range(len(nodes)))
    for _, path in chosen:
        expected = net_pairs(net, path, alphabet, store)
        assert expected
        legs = legs_of(net.adjacency, ontology, path.steps)
        assert legs
        forth, back = (
            {
                (source, target)
                for index, reached in walk_legs(net.adjacency, way, nodes, np.arange(len(nodes)))
                for source, target in zip(index.tolist(), reached.tolist(), strict=True)
                if source != target
            }
            for way in (legs, turned(legs))
        )
        assert forth == set(expected)
        assert {(source, target) for target, source in back} == forth


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_asinou_equals_sparql(
    name: str, shared_data: File, tmp_path: File, ontology: Ontology, alphabet: Alphabet
) -> None:
    _compare_file(shared_data / "asinou.ttl", catalogue_of(name), tmp_path, ontology, alphabet)


@pytest.mark.parametrize("name", ["fr109", pytest.param("fr76", marks=pytest.mark.slow)])
@pytest.mark.skipif(not SAMPLE.is_file(), reason="the sample data set has not been made")
def test_sample_equals_sparql(name: str, tmp_path: File, ontology: Ontology, alphabet: Alphabet) -> None:
    _compare_file(SAMPLE, catalogue_of(name), tmp_path, ontology, alphabet)


def _compare_file(
    file: File, catalogue: Catalogue, tmp_path: File, ontology: Ontology, alphabet: Alphabet
) -> None:
    """Real data: the engine over the graph's arrays, SPARQL over the file's own triples."""
    graph = graph_from_turtle(file, tmp_path)
    adjacency = graph.adjacency
    store = ox.Store()
    store.extend(
        ox.Quad(_named(q.subject), q.predicate, _named(q.object))
        for q in read_quads(file)
        if not isinstance(q.object, ox.Literal)
    )
    mark(store, (graph.iri(node) for node in range(graph.nodes)))
    present: dict[str, list[str]] = {}
    for number, code in enumerate(adjacency.codes):
        present.setdefault(code, []).append(graph.property_iri(number))
    expected: Found = {}
    for r, relationship in enumerate(catalogue):
        for p, path in enumerate(relationship.paths):
            pairs = sparql_pairs(store, property_path(path, alphabet, present))
            _take(
                expected, r, p, relationship, _numbers(graph, pairs), adjacency.category, adjacency.categories
            )
    found = _found(walk(adjacency, ontology, catalogue, np.arange(graph.nodes, dtype=np.int32)))
    assert found == expected
    assert found


def _expected(catalogue: Catalogue, net: Net, alphabet: Alphabet) -> tuple[Found, set[tuple[int, int]]]:
    """(source, relationship, target) -> lowest path by SPARQL, and the (relationship, path) that have a match."""
    store = store_of(net, range(len(net.masks)))
    category, masks = net.adjacency.category, net.adjacency.categories
    expected: Found = {}
    matched = set()
    for r, relationship in enumerate(catalogue):
        for p, path in enumerate(relationship.paths):
            pairs = net_pairs(net, path, alphabet, store)
            if _take(expected, r, p, relationship, pairs, category, masks):
                matched.add((r, p))
    return expected, matched


def _take(
    expected: Found,
    number: int,
    path: int,
    relationship: Relationship,
    pairs: Iterable[tuple[int, int]],
    category: Bytes,
    masks: Bytes,
) -> int:
    """Add the pairs that the relationship's domain and range admit; returns how many do."""
    admitted = [
        (source, target)
        for source, target in pairs
        if category[source] == relationship.domain
        and (masks[target] == 0 or masks[target] & relationship.range)
    ]
    for source, target in admitted:
        expected.setdefault((source, number, target), path)
    return len(admitted)


def _found(matches: Matches) -> Found:
    keys = list(
        zip(matches.source.tolist(), matches.relationship.tolist(), matches.target.tolist(), strict=True)
    )
    assert keys == sorted(set(keys))
    return dict(zip(keys, matches.path.tolist(), strict=True))


def _named(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> ox.NamedNode:
    """The term, a blank node by the name that `quad_rows` gives it."""
    if isinstance(term, ox.BlankNode):
        return ox.NamedNode(f"urn:skolem:{term.value}")
    assert isinstance(term, ox.NamedNode)
    return term


def _numbers(graph: Graph, pairs: Iterable[tuple[str, str]]) -> list[tuple[int, int]]:
    return [(_number(graph, source), _number(graph, target)) for source, target in pairs]


def _number(graph: Graph, iri: str) -> int:
    number = graph.node(iri)
    assert number is not None
    return number
