"""The triples of a release as N-Quads are those of its source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings

from crmrag_query.sparql import store as module
from crmrag_query.sparql.store import statements
from crmrag_query.syntax import RDF_TYPE
from tests.support.graphs import Row, graph_from_rows, quad_rows, read_quads
from tests.support.random_graphs import random_rows, store_of


def expected(rows: Sequence[Row]) -> set[str]:
    """The quads of the rows; types stand in the default graph alone, for a release does not keep which graphs state them."""
    quads = set()
    for quad in store_of(rows):
        typed = quad.predicate.value == RDF_TYPE and isinstance(quad.object, ox.NamedNode)
        quads.add(str(ox.Quad(*quad.triple) if typed else quad))
    return quads


def found(rows: Sequence[Row], folder: Path) -> list[str]:
    store = ox.Store()
    text = b"".join(statements(graph_from_rows(rows, folder)))
    store.bulk_load(input=text, format=ox.RdfFormat.N_QUADS, lenient=True)
    assert len(store) == text.count(b"\n")
    return [str(quad) for quad in store]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=random_rows)
def test_random_graphs(rows: list[Row], tmp_path_factory: pytest.TempPathFactory) -> None:
    assert set(found(rows, tmp_path_factory.mktemp("random"))) == expected(rows)


def test_batches_join_to_the_whole(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = quad_rows(read_quads(shared_data / "asinou.ttl"))
    monkeypatch.setattr(module, "BATCH", 97)
    assert set(found(rows, tmp_path)) == expected(rows)


def test_awkward_texts_and_iris_stay_as_they_are(tmp_path: Path) -> None:
    label, own = "http://www.w3.org/2000/01/rdf-schema#label", "http://example.org/own"
    texts = [
        'a"b', "back\\slash", "two\nlines\r\n", "\\n", "tab\t", "\u2028", "𐍈", '"', "", "\\u0041", "\x01",
    ]  # fmt: skip
    rows: list[Row] = [("http://example.org/a", label, text, 1, "", "", "") for text in texts]
    rows += [("http://example.org/a b>c\\", own, 'http://example.org/"{}|^`', 0, "", "", "")]
    rows += [("http://example.org/a", own, "x", 1, "http://example.org/kind>", "", "http://example.org/g")]
    store = ox.Store()
    text = b"".join(statements(graph_from_rows(rows, tmp_path)))
    store.bulk_load(input=text, format=ox.RdfFormat.N_QUADS, lenient=True)
    quads = list(store)
    assert {quad.object.value for quad in quads if quad.predicate.value == label} == set(texts)
    pairs = {
        (quad.subject.value, quad.object.value, quad.graph_name)
        for quad in quads
        if quad.predicate.value == own
    }
    assert pairs == {
        ("http://example.org/a b>c\\", 'http://example.org/"{}|^`', ox.DefaultGraph()),
        ("http://example.org/a", "x", ox.NamedNode("http://example.org/g")),
    }
