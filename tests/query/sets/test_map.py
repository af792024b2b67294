"""The map shows every member whose data states where it is, in whatever notation, and tells what of it is in doubt."""

from __future__ import annotations

import json

import pytest

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.plans.records import Plan, Target
from crmrag_query.sets.exports import export
from crmrag_query.sets.facets import marks
from crmrag_query.sets.records import Spot
from tests.support.builds import build_all, make_project

BASE = "http://e.org/"
VIENNA = (48 + 12.5 / 60, 16.375)
PREFIXES = f"""@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix : <{BASE}> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix geo: <http://www.w3.org/2003/01/geo/wgs84_pos#> . @prefix gsp: <http://www.opengis.net/ont/geosparql#> .
@prefix schema: <http://schema.org/> . @prefix aat: <http://vocab.getty.edu/aat/> .
"""
E47 = "a crm:E47_Spatial_Coordinates"
NOTATIONS = {
    "wkt": """:wkt crm:P168_place_is_defined_by "POINT(16.375 48.20833333)" .""",
    "geosparql": """:geosparql gsp:hasGeometry [ a gsp:Geometry ; gsp:asWKT
        "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(48.20833333 16.375)"^^gsp:wktLiteral ] .""",
    "wgs84": """:wgs84 geo:lat 48.20833333 ; geo:long 16.375 .""",
    "commas": """:commas geo:lat "48,20833333" ; geo:long "16,375" .""",
    "schema": """:schema schema:geo [ schema:latitude "48°12'30\\" N" ; schema:longitude "16°22'30\\" E" ] .""",
    "hemispheres": f""":hemispheres crm:P87_is_identified_by :h1, :h2 .
        :h1 {E47} ; rdf:value "\\"48°12'30''N\\"" . :h2 {E47} ; rdf:value "\\"16°22'30''E\\"" .""",
    "typed": f""":typed crm:P87_is_identified_by :t1, :t2 . :t1 {E47} ; crm:P2_has_type aat:300387567 ; rdf:value "16.375" .
        :t2 {E47} ; crm:P2_has_type aat:300387565 ; rdfs:label "48.20833333" .""",
    "named": f""":named crm:P1_is_identified_by <{BASE}named/latitude>, <{BASE}named/longitude> .
        <{BASE}named/latitude> {E47} ; crm:P3_has_note "48 12 30" .
        <{BASE}named/longitude> {E47} ; crm:P3_has_note "16,375" .""",
    "primitive": """:primitive crm:P168_place_is_defined_by [ a crm:E94_Space_Primitive ;
        crm:P190_has_symbolic_content "E 16°22'30\\", N 48°12'30\\"" ] .""",
    "approximated": """:declared a crm:E53_Place ; crm:P189_approximates :approximated ;
        crm:P168_place_is_defined_by "POLYGON((16.37 48.20, 16.38 48.20, 16.38 48.21666666, 16.37 48.20))" .""",
}
"""The middle of Vienna in Turtle, by what the notation is called."""
DOUBTFUL = {
    "order": """:order crm:P168_place_is_defined_by "48.20833333, 16.375" .""",
    "several": f""":several crm:P87_is_identified_by :s1, :s2 . :s1 {E47} ; rdf:value "48°12'30'' N", "50°05' N" .
        :s2 {E47} ; rdf:value "16°22'30'' E", "14°25' E" .""",
    "west": f""":west crm:P87_is_identified_by :w1, :w2 .
        :w1 {E47} ; rdf:value "40° 25' N" . :w2 {E47} ; rdf:value "3° 42' O" .""",
}
UNKNOWN = {
    "neither": f""":neither crm:P87_is_identified_by :n1, :n2 .
        :n1 {E47} ; rdf:value "48.2" . :n2 {E47} ; rdf:value "16.4" .""",
    "name": """:name crm:P87_is_identified_by [ a crm:E44_Place_Appellation ; rdfs:label "12, 14" ] .""",
}
"""Two numbers of which none is said to be the latitude, and a name that looks like a pair of numbers."""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    lines = [PREFIXES]
    for name, stated in {**NOTATIONS, **DOUBTFUL, **UNKNOWN}.items():
        lines += [
            f':{name} a crm:E53_Place ; rdfs:label "{name}" .', stated,
            f':{name}-coin a crm:E22_Human-Made_Object ; rdfs:label "coin of {name}" .',
            f":{name}-coin crm:P108i_was_produced_by :{name}-minting .",
            f":{name}-minting a crm:E12_Production ; crm:P7_took_place_at :{name} .",
        ]  # fmt: skip
    project = make_project(tmp_path_factory.mktemp("map") / "p", "\n".join(lines))
    build_all(project.context())
    return open_release(project.dataset, project.data)


COINS = Plan(target=Target(classes=("E22",)))


@pytest.fixture(scope="module")
def spots(release: Release) -> dict[str, Spot]:
    return {one.label: one for one in marks(release, COINS).places}


@pytest.mark.parametrize("notation", NOTATIONS)
def test_an_object_is_where_it_was_made_in_every_notation(spots: dict[str, Spot], notation: str) -> None:
    spot = spots[notation]
    assert (spot.lat, spot.lon) == pytest.approx(VIENNA, abs=1e-6) and spot.doubt == ""


@pytest.mark.parametrize("doubt", DOUBTFUL)
def test_what_is_ambiguous_is_shown_and_told(spots: dict[str, Spot], doubt: str) -> None:
    assert spots[doubt].doubt == doubt


def test_what_cannot_be_told_apart_is_not_on_the_map(release: Release, spots: dict[str, Spot]) -> None:
    assert spots.keys() == {*NOTATIONS, *DOUBTFUL}
    found = marks(release, COINS)
    assert found.size - found.placed == len(UNKNOWN)


def test_geojson_tells_the_doubt_of_a_feature(release: Release) -> None:
    found = json.loads("".join(export(release, COINS, "geojson")))
    doubts = {
        one["properties"]["place"]["label"]: one["properties"].get("coordinates_doubt")
        for one in found["features"]
    }
    assert doubts["order"] == "order" and doubts["wkt"] is None
