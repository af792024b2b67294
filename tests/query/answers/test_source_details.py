"""What is told of a source: where it is, when it was, its images, links and rights, as the data has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crmrag_query.answers.ask import ask
from crmrag_query.answers.records import Source, SourceLink
from crmrag_query.answers.sources import SNIPPET_CHARACTERS, SourceList
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.documents.documents import Documents
from crmrag_query.entities.details import Details
from crmrag_query.graph.graph import Graph
from crmrag_query.shown import Coordinates, Dates, Named
from tests.support.builds import build_all, make_project

PREFIXES = """@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix e: <http://e.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix geo: <http://www.w3.org/2003/01/geo/wgs84_pos#> . @prefix schema: <http://schema.org/> .
@prefix dct: <http://purl.org/dc/terms/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
"""
DATA = f"""{PREFIXES}
e:church a crm:E22_Human-Made_Object ; rdfs:label "Church"@en, "Εκκλησία"@el ; crm:P55_has_current_location e:village ;
  crm:P108i_was_produced_by e:building ; schema:image <http://e.org/church.jpg> ; dct:license "CC BY 4.0" ;
  owl:sameAs <http://www.wikidata.org/entity/Q1> .
e:village a crm:E53_Place ; rdfs:label "Village"@en, "Χωριό"@el ; crm:P168_place_is_defined_by "POINT(32.97 35.05)" .
e:building a crm:E12_Production ; rdfs:label "Building" ; crm:P4_has_time-span e:span .
e:span a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1099-01-01"^^xsd:date ;
  crm:P82b_end_of_the_end "1104-12-31"^^xsd:date .
e:town a crm:E53_Place ; rdfs:label "Town" ; geo:lat "35.1" ; geo:long "33.3" .
e:hill a crm:E53_Place ; rdfs:label "Hill" ; schema:geo e:shape .
e:shape a schema:GeoCoordinates ; schema:latitude "34.9" ; schema:longitude "32.8" .
e:painter a crm:E21_Person ; rdfs:label "Painter" ; crm:P98i_was_born e:birth ; crm:P100i_died_in e:death .
e:birth a crm:E67_Birth ; rdfs:label "Birth" ; crm:P4_has_time-span e:born .
e:born a crm:E52_Time-Span ; crm:P82_at_some_time_within "1840" .
e:death a crm:E69_Death ; rdfs:label "Death" ; crm:P4_has_time-span e:died .
e:died a crm:E52_Time-Span ; crm:P82_at_some_time_within "1910" .
e:stone a crm:E22_Human-Made_Object ; rdfs:label "Stone" .
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    project = make_project(
        tmp_path_factory.mktemp("details") / "p", DATA, licence="CC0 1.0", attribution="Museum of E"
    )
    build_all(project.context())
    return open_release(project.dataset, project.data)


def source(release: Release, name: str, language: str = "en") -> Source:
    cited = SourceList(release, language)
    node = release[Graph].node(f"http://e.org/{name}")
    assert node is not None
    cited.cite(node)
    return cited.sources()[0]


def test_a_place_states_its_own_coordinates_in_any_of_the_usual_ways(release: Release) -> None:
    assert source(release, "village").coordinates == Coordinates(35.05, 32.97)
    assert source(release, "town").coordinates == Coordinates(35.1, 33.3)
    assert source(release, "hill").coordinates == Coordinates(34.9, 32.8)


def test_a_thing_has_the_coordinates_of_its_place_which_is_named(release: Release) -> None:
    assert source(release, "church", "el").coordinates == Coordinates(
        35.05, 32.97, Named("http://e.org/village", "Χωριό")
    )


def test_a_thing_has_the_dates_of_its_making_a_person_those_of_a_life(release: Release) -> None:
    assert source(release, "church").dates == Dates("1099–1104", "1099", "1104")
    assert source(release, "building").dates == Dates("1099–1104", "1099", "1104")
    assert source(release, "painter").dates == Dates("1840–1910", "1840", "1910")


def test_rights_are_the_sources_own_else_the_data_sets(release: Release) -> None:
    assert (source(release, "church").licence, source(release, "church").attribution) == (
        "CC BY 4.0",
        "Museum of E",
    )
    assert source(release, "stone").licence == "CC0 1.0"


def test_images_links_and_classes_are_told(release: Release) -> None:
    church = source(release, "church")
    assert church.images == ("http://e.org/church.jpg",)
    assert church.links == (SourceLink("http://www.wikidata.org/entity/Q1", "wikidata"),)
    assert church.classes == ("Human-Made Object",)
    assert church.label == "Church" and source(release, "church", "el").label == "Εκκλησία"


def test_what_the_data_does_not_have_is_empty(release: Release) -> None:
    stone = source(release, "stone")
    assert (stone.coordinates, stone.dates, stone.images, stone.links, stone.entities) == (
        None,
        None,
        (),
        (),
        (),
    )


def test_details_are_read_from_the_release_they_are_asked_of(release: Release) -> None:
    details = Details(release, "en")
    node = release[Graph].node("http://e.org/church")
    assert node is not None and details.named(node) == Named("http://e.org/church", "Church")


def test_the_snippet_is_the_line_that_was_cited_and_the_answer_is_json(release: Release) -> None:
    answer = ask(release, "When was the church built?")
    told = json.loads(json.dumps(answer.to_dict()))
    assert told["sources"][0]["snippet"] in release[Documents].text(0) + "".join(
        release[Documents].text(i) for i in range(release[Documents].count)
    )
    assert told["sources"][0]["dates"]["begin"] == "1099"


def test_an_entity_whose_line_was_cited_in_anothers_document_is_among_its_entities(release: Release) -> None:
    cited = SourceList(release, "en")
    church, village = (release[Graph].node(f"http://e.org/{name}") for name in ("church", "village"))
    assert church is not None and village is not None
    cited.cite(church, entities=[church, village], snippet="word " * 200)
    (told,) = cited.sources()
    assert told.entities == (Named("http://e.org/village", "Village"),)
    assert len(told.snippet) <= SNIPPET_CHARACTERS and told.snippet.endswith("…")


def test_a_year_before_christ_is_written_as_iso_8601_has_it(tmp_path: Path) -> None:
    data = f"""{PREFIXES} e:vase a crm:E22_Human-Made_Object ; rdfs:label "Vase" ; crm:P108i_was_produced_by e:making .
    e:making a crm:E12_Production ; rdfs:label "Making" ; crm:P4_has_time-span e:span .
    e:span a crm:E52_Time-Span ; crm:P82_at_some_time_within "500 BC" ."""
    project = make_project(tmp_path / "p", data)
    build_all(project.context())
    assert source(open_release(project.dataset, project.data), "vase").dates == Dates(
        "500 BC", "-0499", "-0499"
    )
