"""A query that names what the data does not state, or whose parts are joined by nothing, is found out before it runs."""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.sparql.written import Vocabulary
from tests.query.sparql.conftest import BOUNDS

PREFIXES = (
    "PREFIX crm: <http://www.cidoc-crm.org/cidoc-crm/> PREFIX : <http://example.org/> "
    "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
)
CRM = "http://www.cidoc-crm.org/cidoc-crm/"
KNOWN = (
    "SELECT ?p { ?p crm:P2_has_type :painting }",
    "SELECT ?p ?n { ?p a crm:E22_Human-Made_Object ; rdfs:label ?n FILTER(CONTAINS(LCASE(STR(?n)), 'storm')) }",
    "SELECT ?p (COUNT(?m) AS ?n) { ?p crm:P45_consists_of ?m } GROUP BY ?p HAVING (COUNT(?m) > 1) ORDER BY ?n",
    "SELECT ?p { ?p crm:P108i_was_produced_by/crm:P14_carried_out_by :ada }",
    "SELECT ?a { ?a ^crm:P14_carried_out_by/^crm:P108i_was_produced_by ?p VALUES ?p { :p1 :p2 } }",
    "SELECT ?p { ?p crm:P45_consists_of ?m FILTER NOT EXISTS { ?p crm:P55_has_current_location ?where } }",
    "SELECT ?p { { ?p crm:P45_consists_of :oil } UNION { ?p crm:P45_consists_of :ivory } }",
    "SELECT ?p { ?p crm:P45_consists_of ?m OPTIONAL { ?p crm:P55_has_current_location ?w } FILTER(?m != :oil) }",
    "SELECT ?p { GRAPH :north { ?p crm:P45_consists_of :oil } }",
    "SELECT ?p { ?p crm:P45_consists_of :oil MINUS { ?p crm:P55_has_current_location :lund } }",
    "SELECT ?p { ?p crm:P45_consists_of ?m { SELECT ?m { ?q crm:P45_consists_of ?m } } }",
    "SELECT ?n ?m { { SELECT (COUNT(*) AS ?n) { ?p crm:P45_consists_of :oil } }"
    " { SELECT (COUNT(*) AS ?m) { ?p crm:P45_consists_of :ivory } } }",
    "SELECT ?a ?b { ?a crm:P45_consists_of :oil . ?b crm:P45_consists_of :ivory FILTER(STR(?a) < STR(?b)) }",
    "ASK { :p1 crm:P45_consists_of :oil . :p3 crm:P45_consists_of :ivory }",
    "SELECT ?p { ?p ?any ?value FILTER(ISLITERAL(?value)) }",
)
UNKNOWN = {
    "SELECT ?p { ?p crm:P45_made_of ?m }": f"property <{CRM}P45_made_of>; near it: <{CRM}P45_consists_of>",
    "SELECT ?p { ?x crm:P108_has_produced ?p }": f"near it: <{CRM}P108i_was_produced_by> (it leads the other way)",
    "SELECT ?p { ?p <urn:nonsense> ?m }": "property <urn:nonsense>",
    "SELECT ?p { ?p crm:P108i_was_produced_by/crm:P14_by ?a }": f"property <{CRM}P14_by>",
    "SELECT ?p { ?p crm:P45_consists_of* ?m ; (crm:P55_has_current_location|crm:P53_here) ?w }": "P53_here",
    "SELECT ?p { ?p !(crm:P45_consists_of|crm:P1_name) ?m }": "P1_name",
    "SELECT ?p { ?p a crm:E22_Man-Made_Thing_x }": "class",
    "SELECT ?p { ?p a crm:E71_Human-Made_Thing }": "E22_Human-Made_Object",
    "SELECT ?p { ?p crm:P14_carried_out_by :bob }": "nothing in the data has the IRI <http://example.org/bob>",
    "SELECT ?p { ?p crm:P45_consists_of ?m FILTER(?m = :bronze) }": "bronze",
    "SELECT ?p { ?p crm:P45_consists_of ?m FILTER(?m IN (:oil, :bronze)) }": "bronze",
    "SELECT ?p { VALUES ?p { :p1 :p99 } ?p crm:P45_consists_of ?m }": "p99",
    "SELECT ?p { GRAPH :east { ?p crm:P45_consists_of :oil } }": "graph <http://example.org/east>",
    "SELECT ?p { ?p crm:P45_consists_of ?m FILTER NOT EXISTS { ?p crm:P77_no ?w } }": "P77_no",
    "SELECT ?p { ?p crm:P45_consists_of ?m OPTIONAL { ?p crm:P77_no ?w } }": "P77_no",
    "SELECT ?p { { SELECT ?p { ?p crm:P77_no ?w } } }": "P77_no",
}
APART = (
    "SELECT ?a ?b { ?a crm:P45_consists_of :oil . ?b crm:P45_consists_of :ivory }",
    "SELECT ?a { ?a crm:P45_consists_of :oil . ?b ?p ?o }",
    "SELECT ?a { ?a crm:P45_consists_of :oil OPTIONAL { ?b crm:P45_consists_of :ivory } }",
    "SELECT ?a { ?a crm:P45_consists_of :oil { SELECT ?b { ?b crm:P45_consists_of :ivory } } }",
    "SELECT ?a { ?a crm:P45_consists_of ?m { SELECT ?m { ?x crm:P45_consists_of ?m . ?y ?z ?v } } }",
    "SELECT ?a { ?a crm:P45_consists_of :oil GRAPH ?g { ?b crm:P45_consists_of :ivory } }",
    "SELECT ?a { ?a crm:P45_consists_of :oil VALUES ?b { :p1 :p2 } }",
    "SELECT ?a { { ?a crm:P45_consists_of :oil . ?b crm:P45_consists_of ?m } UNION { ?a crm:P45_consists_of ?m } }",
    "SELECT ?a { ?a crm:P45_consists_of :oil . [] crm:P45_consists_of :ivory }",
)


@pytest.fixture(scope="module")
def vocabulary(museum: Release) -> Vocabulary:
    return Vocabulary(museum[Graph], museum.ontology)


def faults(vocabulary: Vocabulary, query: str) -> list[str]:
    return vocabulary.faults(PREFIXES + query, BOUNDS)


@pytest.mark.parametrize("query", KNOWN)
def test_what_the_data_states_is_let_through(vocabulary: Vocabulary, query: str) -> None:
    assert faults(vocabulary, query) == []


@pytest.mark.parametrize("query", UNKNOWN)
def test_what_it_does_not_state_is_told_with_what_is_near(vocabulary: Vocabulary, query: str) -> None:
    (fault,) = faults(vocabulary, query)
    assert UNKNOWN[query] in fault


@pytest.mark.parametrize("query", APART)
def test_patterns_that_are_joined_by_nothing_are_found(vocabulary: Vocabulary, query: str) -> None:
    assert any("joined by nothing" in fault for fault in faults(vocabulary, query))


@pytest.mark.parametrize("query", ["CONSTRUCT WHERE { ?s ?p ?o }", "DESCRIBE :p1"])
def test_forms_without_rows_are_refused(vocabulary: Vocabulary, query: str) -> None:
    with pytest.raises(QuestionError, match="Write SELECT or ASK"):
        faults(vocabulary, query)
