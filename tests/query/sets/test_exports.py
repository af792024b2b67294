"""Whole sets as files, read back by other readers: csv, json, rdflib."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Column, Measure, Plan, read_plan
from crmrag_query.plans.world import World
from crmrag_query.sets.exports import FORMATS, csv_line, export, safe
from tests.support.set_world import ALL, BEFORE_1855, BY_ADA, MADE, MATERIAL, PAINTINGS, SPAN, computed, iri

CRM = rdflib.Namespace("http://www.cidoc-crm.org/cidoc-crm/")
LA = rdflib.Namespace("https://linked.art/ns/terms/")
TABLE = computed(ALL, kind="table", columns=(Column(way=MADE), Column(way=SPAN)))
GROUPS = computed(ALL, kind="group", way=MATERIAL)
RANK = computed(ALL, kind="rank", measure=Measure(kind="earliest", way=SPAN))


def text(release: Release, plan: Plan, format: str, **more: Any) -> str:
    return "".join(export(release, plan, format, **more))


def rows(release: Release, plan: Plan, **more: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text(release, plan, "csv", **more), newline="")))


# CSV


def test_csv_has_every_member_with_rights_and_release(museum: Release) -> None:
    found = rows(museum, ALL, question="Which paintings?")
    assert [row["iri"] for row in found] == [iri(key) for key in PAINTINGS]
    assert found[3]["label"] == "Portrait of 12 men" and found[4]["label"] == "Élan, “quiet”"
    assert found[0]["date"] == "1840" and found[0]["types"] == "painting"
    assert {(row["licence"], row["attribution"], row["release"]) for row in found} == {
        ("CC0 1.0", "The Museum", museum.id)
    }
    assert found[0]["question"] == "Which paintings?"
    assert text(museum, ALL, "csv").count("\r\n") == len(found) + 1


def test_csv_tells_what_was_left_out(museum: Release) -> None:
    found = rows(museum, BEFORE_1855)
    assert [(row["iri"], row["left_out"]) for row in found] == [
        (iri("p1"), ""), (iri("p7"), ""), (iri("p3"), "undated"), (iri("p6"), "undated"),
    ]  # fmt: skip
    alone = rows(museum, BEFORE_1855, reason="undated")
    assert [row["iri"] for row in alone] == [iri("p3"), iri("p6")]


def test_csv_of_tables_groups_and_rankings(museum: Release) -> None:
    table = rows(museum, TABLE)
    assert (
        table[0]["painting IRI"] == iri("p1") and table[0]["was produced by › carried out by"] == "Ada Berg"
    )
    assert [row["left_out"] for row in table].count("incomplete") == 2
    assert [(row["consists of"], row["number of: painting"]) for row in rows(museum, GROUPS)] == [
        ("oil", "5"),
        ("ivory", "2"),
    ]
    assert [row["value"] for row in rows(museum, RANK)][:2] == ["1902", "1901"]


def test_no_cell_is_a_formula(museum: Release) -> None:
    assert rows(museum, ALL)[2]["label"] == "'=SUM(A1:A9)"


@given(st.text(max_size=50))
def test_any_text_is_safe_in_a_spreadsheet_and_comes_back(value: str) -> None:
    escaped = safe(value)
    assert escaped in (value, f"'{value}")
    begins = escaped.lstrip(" \n")[:1]
    try:
        float(escaped)
    except ValueError:
        assert begins not in tuple("=+-@\t\r＝＋－＠") or begins == ""


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=30), min_size=1, max_size=6))
def test_a_record_is_read_back_as_it_was(values: list[str]) -> None:
    line = csv_line(values)
    (read,) = list(csv.reader(io.StringIO(line, newline=""))) or [[""]]
    assert line.endswith("\r\n") and read == [safe(value) for value in values]


@pytest.mark.parametrize("number", ["-5", "+3", "-1.5e3", "1840", "-0.5"])
def test_numbers_stay_numbers(number: str) -> None:
    assert safe(number) == number


# JSON


@pytest.mark.parametrize("plan", [ALL, BEFORE_1855, TABLE, GROUPS, RANK])
def test_json_has_the_whole_set_with_plan_and_query(museum: Release, plan: Plan) -> None:
    found = json.loads(text(museum, plan, "json", question="Which?"))
    outcome = execute(plan, museum[World])
    assert found["size"] == len(outcome.members) == len(found["members"])
    assert read_plan(found["plan"]) == plan and "SELECT" in found["sparql"]
    assert (found["question"], found["licence"], found["release"]) == ("Which?", "CC0 1.0", museum.id)
    left = [node for nodes in outcome.excluded.values() for node in nodes.tolist()]
    assert [one["iri"] for one in found["excluded"]] == [museum[Graph].iri(node) for node in left]
    expected = {"table": len(outcome.rows), "group": len(outcome.groups), "rank": len(outcome.members)}
    assert len(found["rows"]) == expected.get(plan.compute.kind, 0)


def test_json_of_a_count_has_its_value(museum: Release) -> None:
    count = computed(BY_ADA, kind="count")
    assert json.loads(text(museum, count, "json"))["value"] == 3


def test_exports_are_written_in_pieces_and_the_same_each_time(museum: Release) -> None:
    pieces = list(export(museum, ALL, "json"))
    assert len(pieces) > 7 and "".join(pieces) == text(museum, ALL, "json")


# JSON-LD


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # rdflib's own
def test_json_ld_is_a_set_of_linked_art_with_its_members(museum: Release) -> None:
    graph = rdflib.Graph().parse(data=text(museum, BY_ADA, "jsonld", inline=True), format="json-ld")
    (whole,) = graph.subjects(rdflib.RDF.type, LA.Set)
    members = set(graph.subjects(LA.member_of, whole))
    assert members == {rdflib.URIRef(iri(key)) for key in ("p1", "p2", "p3")}
    first = rdflib.URIRef(iri("p1"))
    assert (first, rdflib.RDF.type, CRM["E22_Human-Made_Object"]) in graph
    assert graph.value(first, rdflib.RDFS.label) == rdflib.Literal("Harbour 2")
    assert (first, CRM.P2_has_type, rdflib.URIRef(iri("painting"))) in graph
    (image,) = graph.objects(first, CRM.P138i_has_representation)
    shown = graph.value(image, LA.digitally_shown_by)
    assert (shown, LA.access_point, rdflib.URIRef("http://img.example.org/p1.jpg")) in graph
    said = {
        str(graph.value(text, CRM.P190_has_symbolic_content))
        for text in graph.objects(whole, CRM.P67i_is_referred_to_by)
    }
    assert "The Museum" in said and any("SELECT" in one for one in said)
    assert any(json.loads(one) for one in said if one.startswith("{"))
    (right,) = graph.objects(whole, CRM.P104_is_subject_to)
    assert graph.value(right, rdflib.RDFS.label) == rdflib.Literal("CC0 1.0")


def test_json_ld_names_the_context_of_the_profile_by_its_address(museum: Release) -> None:
    found = json.loads(text(museum, ALL, "jsonld"))
    assert found["@context"] == "https://linked.art/ns/v1/linked-art.json"
    assert found["@graph"][1]["type"] == "HumanMadeObject"


# GeoJSON


def test_geojson_has_what_has_a_place_and_names_the_rest(museum: Release) -> None:
    found = json.loads(text(museum, ALL, "geojson"))
    assert found["type"] == "FeatureCollection"
    assert [feature["id"] for feature in found["features"]] == [
        iri(key) for key in ("p1", "p2", "p4", "p5", "p7")
    ]
    first = found["features"][0]
    assert first["geometry"] == {"type": "Point", "coordinates": [13.19, 55.7]}
    assert first["properties"]["place"] == {"iri": iri("lund"), "label": "Lund"}
    assert found["without_coordinates"] == [iri("p3"), iri("p6")]
    assert found["about"]["attribution"] == "The Museum"


# all


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_every_format_is_sorted_as_asked_and_told_in_the_language(museum: Release, format: str) -> None:
    told = text(museum, ALL, format, language="fr", sort="date", descending=True)
    assert told.index("p5.jpg") < told.index("p4.jpg") < told.index("p2.jpg") < told.index("p1.jpg")
    assert "tableau" in told


def test_what_cannot_be_had_is_refused_before_the_first_piece(museum: Release) -> None:
    with pytest.raises(QuestionError, match="csv, json, jsonld, geojson"):
        export(museum, ALL, "xlsx")
    with pytest.raises(QuestionError, match="undated"):
        export(museum, BEFORE_1855, "csv", reason="lost")
