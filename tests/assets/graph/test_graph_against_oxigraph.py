"""The graph's arrays against SPARQL over the same triples, on random graphs and on real data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings

from crmrag_query.graph.graph import Graph
from crmrag_query.syntax import RDF_TYPE
from tests.support.graphs import Row, graph_from_rows, quad_rows, read_quads
from tests.support.random_graphs import random_rows, store_of

Found = set[tuple[str, ...]]
WHERE = "{ { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } "


def select(store: ox.Store, variables: str, condition: str) -> list[tuple[str, ...]]:
    found = store.query(f"SELECT DISTINCT {variables} WHERE {WHERE} {condition} }}")
    assert isinstance(found, ox.QuerySolutions)
    return [tuple("" if term is None else term.value for term in row) for row in found]


def links(graph: Graph, direction: str) -> Found:
    rows = getattr(graph.adjacency, direction)
    pairs: Found = {
        (graph.iri(node), graph.property_iri(prop), graph.iri(int(other)))
        for prop in range(len(graph.property_codes))
        for node in range(graph.nodes)
        for other in rows.neighbours(prop, node)
    }
    return pairs if direction == "forward" else {triple[::-1] for triple in pairs}


def check(graph: Graph, store: ox.Store) -> None:
    """Links both ways, types, literals and who states them are those of the store."""
    is_link = f"FILTER(isIRI(?o) && ?p != <{RDF_TYPE}>)"
    expected = set(select(store, "?s ?p ?o", is_link))
    assert links(graph, "forward") == links(graph, "backward") == expected
    assert graph.triples == len(expected)
    types = {(graph.iri(n), graph.class_iri(int(c))) for n in range(graph.nodes) for c in graph.types(n)}
    assert types == set(select(store, "?s ?o", f"FILTER(isIRI(?o) && ?p = <{RDF_TYPE}>)"))
    literals = {
        (graph.iri(n), graph.property_iri(item.property), item.value, item.lang.lower())
        for n in range(graph.nodes)
        for item in graph.literals(n)
    }
    assert literals == set(select(store, "?s ?p ?o (LCASE(LANG(?o)) AS ?l)", "FILTER(isLiteral(?o))"))
    subjects = {s for (s,) in select(store, "?s", "")}
    assert {graph.iri(n) for n in range(graph.nodes)} == subjects | {
        o for (o,) in select(store, "?o", is_link)
    }
    assert {graph.iri(n) for n in range(graph.nodes) if graph.flags[n] & 1} == subjects


def check_graphs(graph: Graph, rows: Sequence[Row]) -> None:
    """Each triple knows all the graphs that state it; the default graph is nameless by itself, "" beside others."""
    stated: dict[tuple[object, ...], set[str]] = {}
    for *triple, g in rows:
        stated.setdefault(tuple(triple), set()).add(g)
    forward, number = graph.adjacency.forward, 0
    for prop in range(len(graph.property_codes)):
        for node in forward.row[forward.prop[prop] : forward.prop[prop + 1]].tolist():
            for other in forward.neighbours(prop, node).tolist():
                key = (graph.iri(node), graph.property_iri(prop), graph.iri(other), 0, "", "")
                assert set(graph.graph_sets[int(graph.triple_graph[number])] or [""]) == stated[key]
                number += 1
    for node in range(graph.nodes):
        for item in graph.literals(node):
            key = (
                graph.iri(node),
                graph.property_iri(item.property),
                item.value,
                1,
                item.datatype,
                item.lang,
            )
            assert set(item.graphs or [""]) == stated[key]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=random_rows)
def test_random_graphs_equal_sparql(rows: list[Row], tmp_path_factory: pytest.TempPathFactory) -> None:
    graph = graph_from_rows(rows, tmp_path_factory.mktemp("random"), chunks=2)
    check(graph, store_of(rows))
    check_graphs(graph, rows)


def test_asinou_equals_sparql(shared_data: Path, tmp_path: Path) -> None:
    rows = quad_rows(read_quads(shared_data / "asinou.ttl"))
    graph = graph_from_rows(rows, tmp_path, chunks=4)
    check(graph, store_of(rows))
    assert graph.meta["entities"] == 621
    assert graph.meta["triples"] + graph.meta["literals"] + graph.meta["types"] == 2339
