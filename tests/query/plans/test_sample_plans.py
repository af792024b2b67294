"""Plans on the sample data set give what hand-written SPARQL over its file gives."""

from __future__ import annotations

from typing import Any

import pytest

from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import read_plan
from tests.conftest import ROOT
from tests.support.planworlds import Sample, check, rows_of, sample_of

HEAD = """PREFIX crm: <http://www.cidoc-crm.org/cidoc-crm/> PREFIX place: <https://example.org/troodos/place/>
PREFIX person: <https://example.org/troodos/person/> """
AT = "https://example.org/troodos/"
LOCATED = {"paths": [["http://www.cidoc-crm.org/cidoc-crm/P55_has_current_location"]]}
BUILDINGS = {"where": [{"kind": "related", "way": LOCATED, "to": {}}]}
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "in a village": (
        {"where": [{"kind": "related", "way": LOCATED, "to": {"iris": [AT + "place/lagoudera"]}}]},
        "SELECT DISTINCT ?x { ?x crm:P55_has_current_location place:lagoudera }",
    ),
    "how many stand somewhere": (
        BUILDINGS | {"compute": {"kind": "count"}},
        "SELECT (COUNT(DISTINCT ?x) AS ?n) { ?x crm:P55_has_current_location ?p }",
    ),
    "by place": (
        {"compute": {"kind": "group", "way": LOCATED}},
        "SELECT ?p (COUNT(DISTINCT ?x) AS ?n) { ?x crm:P55_has_current_location ?p } GROUP BY ?p",
    ),
    "painted by Minas": (
        {"where": [{"kind": "related", "way": {"paths": [["P31i", "P14"]]}, "to": {"iris": [AT + "person/minas"]}}]},
        "SELECT DISTINCT ?x { ?x (crm:P31i_was_modified_by|^crm:P31_has_modified|"
        "crm:P108i_was_produced_by|^crm:P108_has_produced)"
        "/(crm:P14_carried_out_by|^crm:P14i_performed) person:minas }",
    ),
    "works and painters": (
        {"compute": {"kind": "table", "columns": [{"way": {"paths": [["^http://www.cidoc-crm.org/cidoc-crm/P31_has_modified", "http://www.cidoc-crm.org/cidoc-crm/P14_carried_out_by"]]}}]}},
        "SELECT DISTINCT ?x ?a { ?e crm:P31_has_modified ?x ; crm:P14_carried_out_by ?a }",
    ),
    "without a place": (
        {"target": {"classes": ["E22"]}, "where": [{"kind": "related", "way": LOCATED, "negated": True}]},
        "SELECT DISTINCT ?x { ?x a crm:E22_Human-Made_Object FILTER NOT EXISTS { ?x crm:P55_has_current_location ?p } }",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def troodos(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return sample_of(ROOT / "data" / "sample" / "troodos.ttl", tmp_path_factory.mktemp("troodos"))


@pytest.mark.parametrize("case", CASES)
def test_a_plan_gives_what_sparql_by_hand_gives(case: str, troodos: Sample) -> None:
    given, query = CASES[case]
    plan = read_plan(given)
    rows = rows_of(troodos.world, plan, execute(plan, troodos.world))
    assert rows
    assert rows == troodos.by_oxigraph(HEAD + query)


@pytest.mark.parametrize("number", range(0, 109, 6))
def test_every_few_relationships_as_sparql(number: int, troodos: Sample) -> None:
    way = {"relationships": [troodos.world.catalogue[number].id]}
    check(troodos, read_plan({"compute": {"kind": "table", "columns": [{"way": way}]}}), by_rdflib=False)
