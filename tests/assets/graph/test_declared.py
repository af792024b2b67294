"""What a data set declares of its own classes and properties, and what nodes without a label are called by."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_assets.graph.roles import words_of_iri
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.graph.graph import Graph
from tests.support.graphs import graph_from_turtle, node_of

OWN = """
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:Piece a owl:Class ; rdfs:subClassOf crm:E22_Human-Made_Object ; rdfs:label "coin"@en , "Münze"@de .
:Aureus a owl:Class ; rdfs:subClassOf :Piece .
:Loop a owl:Class ; rdfs:subClassOf :Pool . :Pool rdfs:subClassOf :Loop .
:front a owl:ObjectProperty ; rdfs:subPropertyOf crm:P56_bears_feature ; rdfs:label "front"@en .
:aura a :Aureus ; :front :side . :side a crm:E25_Human-Made_Feature . :thing a :Loop ; :unknown :side .
:red skos:broader :colour . :colour a crm:E55_Type .
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return graph_from_turtle(OWN, tmp_path_factory.mktemp("own"))


def test_a_class_below_one_of_the_crm_is_such_a_one_under_its_own_name(own: Graph) -> None:
    numbers = {own.class_iri(n).rsplit("/", 1)[-1]: n for n in range(len(own.class_codes))}
    assert own.class_code(numbers["Aureus"]) == "E22"
    assert own.class_name(numbers["Aureus"]) == "http://example.org/Aureus"
    assert own.class_code(numbers["Loop"]) == "", "what is only below itself is below nothing"
    feature = next(
        n for n in range(len(own.class_codes)) if own.class_iri(n).endswith("E25_Human-Made_Feature")
    )
    assert own.class_name(feature) == "E25"


def test_a_property_below_one_of_the_crm_is_walked_as_such_a_one(own: Graph) -> None:
    codes = {
        own.property_iri(n).rsplit("/", 1)[-1]: own.property_code(n) for n in range(len(own.property_codes))
    }
    assert codes["front"] == "P56" and codes["unknown"] == "" and codes["core#broader"] == "P127"
    number = own.adjacency.by_code["P56"][0]
    assert own.property_label(number) == "front"
    assert own.adjacency.forward.neighbours(number, node_of(own, "aura")).tolist() == [node_of(own, "side")]


def test_the_terms_of_a_vocabulary_are_no_entities(own: Graph) -> None:
    assert not own.flags[node_of(own, "Aureus")] & FLAG_ENTITY
    assert not own.flags[node_of(own, "front")] & FLAG_ENTITY
    assert own.flags[node_of(own, "aura")] & FLAG_ENTITY


@pytest.mark.parametrize(
    ("iri", "words"),
    [
        ("http://dbpedia.org/resource/The_National_Archives_(United_Kingdom)", "The National Archives (United Kingdom)"),
        ("http://example.org/person/mary_smith/1", "mary smith"),
        ("http://example.org/hollowBack", "hollow back"),
        ("http://example.org/%CE%91%CF%83%CE%AF%CE%BD%CE%BF%CF%85", "Ασίνου"),
        ("http://example.org/museum/Type/68", ""),
        ("http://example.org/YPM-VP-001830", ""),
        ("http://example.org/32f297f1-585f-4f92-b5f6-f7f8b71bae83", ""),
        ("http://example.org/show?name=Some_name", ""),
        ("urn:skolem:sample:b1", ""),
        ("http://example.org", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_an_address_says_words_or_nothing(iri: str, words: str) -> None:
    assert words_of_iri(iri) == words


NAMELESS = """
:1 a crm:E21_Person . :2 a crm:E21_Person ; rdfs:label "17" . <http://example.org/person/mary_smith/1> a crm:E21_Person .
:4 a crm:E22_Human-Made_Object ; crm:P1_is_identified_by :id .
:id a crm:E42_Identifier ; crm:P190_has_symbolic_content "37.1" .
<http://vocab.getty.edu/aat/300028051> a crm:E55_Type .
<http://vocab.getty.edu/ulan/500000374> rdfs:label "500000374" ; a crm:E1_CRM_Entity .
:6 a crm:E22_Human-Made_Object ; rdfs:label "1984" .
"""


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("1", "Person 1"),
        ("2", "Person 17"),
        ("person/mary_smith/1", "Mary Smith"),
        ("4", "Human-Made Object 37.1"),
        ("id", "37.1"),
        ("6", "1984"),  # a title may be a number
    ],
)
def test_nobody_is_called_by_a_number_alone(name: str, shown: str, tmp_path: Path) -> None:
    graph = graph_from_turtle(NAMELESS, tmp_path)
    assert graph.label(node_of(graph, name)) == shown
    for at, called in (("aat/300028051", "AAT 300028051"), ("ulan/500000374", "ULAN 500000374")):
        node = graph.node(f"http://vocab.getty.edu/{at}")
        assert node is not None and graph.label(node) == called
