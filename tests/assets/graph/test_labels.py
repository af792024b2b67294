"""Names: stated ones in the order of languages and kinds, made ones for the nameless."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.graph.arrays import FLAG_LABELLED
from crmrag_query.graph.graph import Graph
from tests.support.graphs import graph_from_turtle, node_of


def label(turtle: str, tmp_path: Path, name: str = "x", languages: tuple[str, ...] = ("en",)) -> str:
    graph = graph_from_turtle(turtle, tmp_path, languages=languages)
    return graph.label(node_of(graph, name))


@pytest.mark.parametrize(
    ("languages", "shown"),
    [
        (("en", "el"), "Asinou"),
        (("el", "en"), "Ασίνου"),
        (("fr",), "Asinou church"),
        (("de", "el"), "Asinou church"),
    ],
)
def test_the_first_language_that_has_a_name_decides(
    languages: tuple[str, ...], shown: str, tmp_path: Path
) -> None:
    turtle = """:x rdfs:label "Asinou"@en, "Ασίνου"@el, "Asinou church" ."""
    assert label(turtle, tmp_path, languages=languages) == shown


@pytest.mark.parametrize(
    "statement",
    [
        ':x rdfs:label "Icon" .',
        ':x skos:prefLabel "Icon" .',
        ':x crm:P1_is_identified_by :n . :n crm:P190_has_symbolic_content "Icon" .',
        ':x crm:P1_is_identified_by [ a crm:E33_E41_Linguistic_Appellation ; crm:P190_has_symbolic_content "Icon" ] .',
        ':x crm:P102_has_title :n . :n a crm:E35_Title ; rdf:value "Icon" .',
        ':x crm:P131_is_identified_by :n . :n a crm:E82_Actor_Appellation ; rdfs:label "Icon" .',
        ':n crm:P1i_identifies :x ; crm:P3_has_note "Icon" .',
        ':x crm:P1_is_identified_by "Icon" .',
        ':x crm:P102_has_title "  Icon\\n" .',
        ':x a crm:E41_Appellation ; rdf:value "Icon" ; rdfs:label "Primary name" .',
    ],
)
def test_a_name_is_found_wherever_it_is_stated(statement: str, tmp_path: Path) -> None:
    graph = graph_from_turtle(statement, tmp_path)
    node = node_of(graph, "x")
    assert graph.label(node) == "Icon"
    assert graph.flags[node] & FLAG_LABELLED


def test_an_identifier_names_only_what_has_no_name(tmp_path: Path) -> None:
    turtle = """
    :x crm:P1_is_identified_by :id, :n . :id a crm:E42_Identifier ; rdf:value "37.1" . :n a crm:E41_Appellation ;
        rdf:value "Icon" .
    :y crm:P1_is_identified_by :id .
    """
    graph = graph_from_turtle(turtle, tmp_path)
    assert graph.label(node_of(graph, "x")) == "Icon"
    assert [(name.text, name.kind) for name in graph.labels(node_of(graph, "x"))] == [
        ("Icon", "appellation"),
        ("37.1", "identifier"),
    ]
    assert graph.label(node_of(graph, "y")) == "37.1"


def test_all_names_are_kept_once_best_first(tmp_path: Path) -> None:
    turtle = """
    :x rdfs:label "Doxaras"@en ; skos:prefLabel "Doxaras"@en, "Δοξαράς"@el ; skos:altLabel "D."@en ;
       crm:P1_is_identified_by :n, :m . :n rdf:value "P. Doxaras"@en .
    :m rdf:value "Primary" ; crm:P2_has_type aat:300404670 .
    """
    graph = graph_from_turtle(turtle, tmp_path)
    assert [(name.text, name.lang, name.kind) for name in graph.labels(node_of(graph, "x"))] == [
        ("Doxaras", "en", "label"),
        ("P. Doxaras", "en", "appellation"),
        ("Primary", "", "preferred"),
        ("Δοξαράς", "el", "preferred"),
        ("D.", "en", "alternative"),
    ]


@pytest.mark.parametrize("text", ["http://www.wikidata.org/entity/Q1", "http:/www./x", "urn:uuid:1", " ", ""])
def test_an_iri_or_nothing_is_no_label(text: str, tmp_path: Path) -> None:
    graph = graph_from_turtle(f':x rdfs:label "{text}" .', tmp_path)
    node = node_of(graph, "x")
    assert (graph.label(node), graph.labels(node)[0].kind) == ("x", "iri")
    assert not graph.flags[node] & FLAG_LABELLED


ROLES = """
:icon a crm:E22_Human-Made_Object ; rdfs:label "Icon" ; crm:P108i_was_produced_by :made ; crm:P138i_has_representation :pic ;
    crm:P43_has_dimension :width .
:made a crm:E12_Production ; crm:P4_has_time-span :when ; crm:P14_carried_out_by :painter .
:when a crm:E52_Time-Span .
:then a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1105" ; crm:P82b_end_of_the_end "1106" .
:said a crm:E52_Time-Span ; crm:P82_at_some_time_within "early 12th century" .
:painter a crm:E21_Person ; rdfs:label "Theodoros" ; crm:P98i_was_born :birth .
:birth a crm:E67_Birth .
:trip a crm:E7_Activity ; crm:P14_carried_out_by :painter .
:pic a crm:E38_Image .
:width a crm:E54_Dimension ; crm:P90_has_value 24.10 ; crm:P91_has_unit <http://example.org/unit/cm> .
:lost a crm:E12_Production ; crm:P108_has_produced <http://example.org/object/37.1> .
<http://example.org/object/37.1> a crm:E22_Human-Made_Object .
<http://example.org/%CE%86%20b/> a crm:E53_Place .
[] a crm:E53_Place ; crm:P89_falls_within :icon .
"""


@pytest.fixture(scope="module")
def roles(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return graph_from_turtle(ROLES, tmp_path_factory.mktemp("roles"))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("made", "Production of Icon"),
        ("when", "Time-Span of Production of Icon"),
        ("then", "1105–1106"),
        ("said", "early 12th century"),
        ("birth", "Birth of Theodoros"),
        ("trip", "Activity by Theodoros"),
        ("pic", "Visual Item of Icon"),
        ("width", "24.1 cm"),
        ("lost", "Production of Human-Made Object 37.1"),
        ("object/37.1", "Human-Made Object 37.1"),
        ("%CE%86%20b/", "Ά b"),
    ],
)
def test_the_nameless_are_named_by_measure_date_or_role(name: str, shown: str, roles: Graph) -> None:
    node = node_of(roles, name)
    assert roles.label(node) == shown
    assert not roles.flags[node] & FLAG_LABELLED


def test_a_blank_node_without_a_role_is_called_by_its_class(roles: Graph) -> None:
    (blank,) = (n for n in range(roles.nodes) if roles.iri(n).startswith("urn:skolem:"))
    assert roles.label(blank) == "Place"


def test_roles_are_told_in_the_first_language(tmp_path: Path) -> None:
    turtle = """:x a crm:E12_Production ; crm:P108_has_produced :y . :y rdfs:label "Icône"@fr ."""
    assert label(turtle, tmp_path, languages=("fr", "en")) == "Production : Icône"


def test_circles_of_the_nameless_end(tmp_path: Path) -> None:
    turtle = (
        """:x a crm:E7_Activity ; crm:P9_consists_of :y . :y a crm:E7_Activity ; crm:P9_consists_of :x ."""
    )
    assert label(turtle, tmp_path) in ("Activity x", "Activity of y", "Activity of Activity y")


def test_long_texts_are_cut_where_they_are_shown_only(tmp_path: Path) -> None:
    text = "word " * 100
    graph = graph_from_turtle(
        f':x a crm:E33_Linguistic_Object ; rdf:value "{text}" . :y rdfs:label "{text}" .', tmp_path
    )
    assert len(graph.label(node_of(graph, "x"))) <= 121
    assert graph.label(node_of(graph, "x")).endswith("word…")
    assert len(graph.label(node_of(graph, "y"))) == 201
    assert graph.labels(node_of(graph, "y"))[0].text == text.strip()
