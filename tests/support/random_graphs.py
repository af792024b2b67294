"""Random small graphs, as rows of schema TRIPLES, and the store that answers for them."""

from __future__ import annotations

from collections.abc import Iterable

import pyoxigraph as ox
from hypothesis import strategies as st

from crmrag_query.syntax import RDF_TYPE
from tests.support.graphs import Row

CRM = "http://www.cidoc-crm.org/cidoc-crm/"
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_NODES = [f"http://example.org/{name}" for name in ("a", "b", "c", "d/e", "é", "α", "z#1", "𐍈")] + [
    "urn:skolem:00ff"
]
_PROPERTIES = [
    CRM + name for name in ("P108_has_produced", "P4_has_time-span", "P2_has_type", "P88_consists_of")
] + ["http://example.org/own"]
_CLASSES = [CRM + name for name in ("E12_Production", "E22_Man-Made_Object", "E52_Time-Span")] + [
    "http://example.org/Own"
]
_GRAPHS = ["", "", "http://example.org/g1", "http://example.org/g2"]
_XSD = "http://www.w3.org/2001/XMLSchema#"

_graph = st.sampled_from(_GRAPHS)
_node = st.sampled_from(_NODES)
_text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
_links = st.tuples(_node, st.sampled_from(_PROPERTIES), _node, st.just(0), st.just(""), st.just(""), _graph)
_types = st.tuples(
    _node, st.just(RDF_TYPE), st.sampled_from(_CLASSES), st.just(0), st.just(""), st.just(""), _graph
)
_literals = st.tuples(
    _node,
    st.sampled_from([RDFS_LABEL, *_PROPERTIES, RDF_TYPE]),
    _text,
    st.just(1),
    st.sampled_from(["", _XSD + "date"]),
    st.just(""),
    _graph,
)
_names = st.tuples(
    _node, st.just(RDFS_LABEL), _text, st.just(1), st.just(""), st.sampled_from(["en", "el", "en-gb"]), _graph
)
random_rows = st.lists(st.one_of(_links, _types, _literals, _names), min_size=1, max_size=40).map(
    lambda rows: sorted(set(rows))
)


def store_of(rows: Iterable[Row]) -> ox.Store:
    """An Oxigraph store of the same triples."""
    store = ox.Store()
    store.extend(_quad(*row) for row in rows)
    return store


def _quad(s: str, p: str, o: str, kind: int, datatype: str, lang: str, g: str) -> ox.Quad:
    graph = ox.NamedNode(g) if g else ox.DefaultGraph()
    return ox.Quad(ox.NamedNode(s), ox.NamedNode(p), _value(o, kind, datatype, lang), graph)


def _value(o: str, kind: int, datatype: str, lang: str) -> ox.NamedNode | ox.Literal:
    if kind == 0:
        return ox.NamedNode(o)
    if lang:
        return ox.Literal(o, language=lang)
    return ox.Literal(o, datatype=ox.NamedNode(datatype)) if datatype else ox.Literal(o)
