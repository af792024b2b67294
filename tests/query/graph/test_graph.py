"""Reading a graph artifact."""

from __future__ import annotations

import datetime
import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query.errors import ReleaseError
from crmrag_query.graph.graph import Graph, Label, Literal, Timespan, language_matches
from tests.support.graphs import graph_from_turtle, node_of

CHURCH = """
:church a crm:E22_Man-Made_Object, vir:IC1_Iconographical_Atom ;
    rdfs:label "Asinou"@en, "Ασίνου"@el ; crm:P3_has_note "A church." ; crm:P57_has_number_of_parts 3 ;
    crm:P108i_was_produced_by :building ; :own :thing .
:building a crm:E12_Production ; crm:P4_has_time-span :span .
:span a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1105-01-01"^^xsd:date ; crm:P82b_end_of_the_end "1106"^^xsd:gYear .
"""


@pytest.fixture(scope="module")
def church(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return graph_from_turtle(CHURCH, tmp_path_factory.mktemp("church"), languages=("en", "el"))


def test_nodes_are_found_by_their_iris(church: Graph) -> None:
    iris = [church.iri(node) for node in range(church.nodes)]
    assert iris == sorted(iris, key=str.encode)
    assert [church.node(iri) for iri in iris] == list(range(church.nodes))
    assert church.node("http://example.org/") is None
    assert church.node("http://example.org/churches") is None
    assert church.node("~") is None


@settings(max_examples=10, deadline=None)
@given(
    names=st.sets(
        st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=4), min_size=1, max_size=20
    )
)
def test_any_iri_is_found(names: set[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    triples = [(f"http://example.org/{name}", "rdfs:label", '"x"') for name in sorted(names)]
    graph = graph_from_turtle(triples, tmp_path_factory.mktemp("iris"))
    assert {graph.iri(node_of(graph, name)) for name in names} == {
        f"http://example.org/{name}" for name in names
    }


def test_a_label_comes_in_the_wanted_language_or_as_shown(church: Graph) -> None:
    node = node_of(church, "church")
    assert church.label(node) == church.label(node, ["fr"]) == church.label(node, ["en"]) == "Asinou"
    assert church.label(node, ["fr", "el"]) == "Ασίνου"
    assert church.label_lang(node) == "en"
    assert church.labels(node)[:2] == [Label("Asinou", "en", "label"), Label("Ασίνου", "el", "label")]


def test_regional_tags_match_their_language() -> None:
    assert language_matches("en-GB", "en")
    assert language_matches("EN", "en")
    assert not language_matches("eng", "en")
    assert not language_matches("en", "en-GB")


def test_classes_and_properties_have_codes_and_names(church: Graph) -> None:
    node = node_of(church, "church")
    assert sorted(church.class_code(number) for number in church.types(node)) == ["E22", "IC1"]
    produced = church.property_codes.index("P108i")
    assert church.property_iri(produced).endswith("P108i_was_produced_by")
    assert church.property_label(produced) == "was produced by"
    assert church.property_label(produced, inverse=True) == "has produced"
    assert church.property_label(produced, lang="de") == "wurde hergestellt durch"
    iris = [church.property_iri(number) for number in range(len(church.property_codes))]
    own = iris.index("http://example.org/own")
    assert church.property_code(own) == "" and church.property_label(own, lang="de") == "own"
    assert church.class_label(church.class_codes.index("E12"), "fr") == "Production"


def test_literals_keep_datatype_and_language(church: Graph) -> None:
    found = church.literals(node_of(church, "church"))
    parts = church.property_codes.index("P57")
    assert Literal(parts, "3", "http://www.w3.org/2001/XMLSchema#integer", "", ()) in found
    assert {(literal.value, literal.lang) for literal in found if literal.lang} == {
        ("Asinou", "en"),
        ("Ασίνου", "el"),
    }
    assert church.literals(node_of(church, "building")) == []


def test_dates_stand_on_the_node_that_states_them(church: Graph) -> None:
    span = church.timespan(node_of(church, "span"))
    assert span is not None and span.interval is not None
    assert span.outer_begin == datetime.date(1105, 1, 1).toordinal()
    assert span.outer_end == datetime.date(1106, 12, 31).toordinal()
    assert church.timespan(node_of(church, "church")) is None


def test_what_is_known_of_a_time_span_is_its_widest_extent() -> None:
    assert Timespan(None, 5, 9, None, "").interval == Timespan(5, None, None, 9, "").interval
    assert Timespan(None, None, None, None, "unknown").interval is None
    assert Timespan(9, None, 5, None, "").interval is None


def test_a_graph_opens_within_20_ms_and_answers(church: Graph) -> None:
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        graph = Graph.open(church.folder)
        assert graph.label(0)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.02


def test_a_missing_or_foreign_graph_is_refused(church: Graph, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="No graph in"):
        Graph.open(tmp_path)
    (tmp_path / "meta.json").write_text(json.dumps(church.meta | {"schema": 99}))
    with pytest.raises(ReleaseError, match="version 99"):
        Graph.open(tmp_path)
    (tmp_path / "meta.json").write_text(json.dumps(church.meta))
    with pytest.raises(ReleaseError, match=r"nodes\.arrow"):
        Graph.open(tmp_path).iri(0)
    with pytest.raises(ReleaseError, match=r"flags\.npy"):
        _ = Graph.open(tmp_path).flags
    (tmp_path / "nodes.arrow").write_bytes((church.folder / "labels.arrow").read_bytes())
    with pytest.raises(ReleaseError, match="another version"):
        Graph.open(tmp_path).iri(0)
