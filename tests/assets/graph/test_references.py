"""Links to authorities and images."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.errors import BuildError
from crmrag_query.graph.graph import Link
from tests.support.graphs import graph_from_turtle, node_of

WIKIDATA = "http://www.wikidata.org/entity/Q1"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (f":x owl:sameAs <{WIKIDATA}> .", Link(WIKIDATA, "wikidata")),
        (f':x owl:sameAs "{WIKIDATA}"^^xsd:anyURI .', Link(WIKIDATA, "wikidata")),
        (f"<{WIKIDATA}> owl:sameAs :x .", Link(WIKIDATA, "wikidata")),
        (f":x crm:P1_is_identified_by <{WIKIDATA}> .", Link(WIKIDATA, "wikidata")),
        (f":x <http://www.ics.forth.gr/isl/CRMdig/L54_is_same-as> <{WIKIDATA}> .", Link(WIKIDATA, "wikidata")),
        (f":x <https://linked.art/ns/terms/equivalent> <{WIKIDATA}> .", Link(WIKIDATA, "wikidata")),
        (":x skos:exactMatch <http://vocab.getty.edu/ulan/500013823> .",
         Link("http://vocab.getty.edu/ulan/500013823", "getty")),
        (":x skos:closeMatch <http://viaf.org/viaf/12345> .", Link("http://viaf.org/viaf/12345", "viaf")),
        (":x owl:sameAs <https://sws.geonames.org/146669/> .", Link("https://sws.geonames.org/146669/", "geonames")),
        (":x owl:sameAs <http://dbpedia.org/resource/Asinou> .", Link("http://dbpedia.org/resource/Asinou", "other")),
    ],
)  # fmt: skip
def test_the_same_thing_elsewhere_is_linked(statement: str, expected: Link, tmp_path: Path) -> None:
    graph = graph_from_turtle(statement, tmp_path)
    assert graph.links(node_of(graph, "x")) == [expected]


def test_an_appellation_is_no_link_and_an_authority_links_to_itself(tmp_path: Path) -> None:
    graph = graph_from_turtle(
        f":x crm:P1_is_identified_by :name . <{WIKIDATA}> a crm:E1_CRM_Entity .", tmp_path
    )
    assert graph.links(node_of(graph, "x")) == []
    assert graph.links(node_of(graph, WIKIDATA)) == [Link(WIKIDATA, "wikidata")]


JPG, PLAIN = "http://example.org/a.jpg", "http://example.org/image?id=1"
IIIF = "https://example.org/iiif/1/full/!500,500/0/default.jpg"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (f":x crm:P138i_has_representation <{JPG}> .", [JPG]),
        (f"<{JPG}> crm:P138_represents :x .", [JPG]),
        (f":x crm:P65_shows_visual_item <{JPG}> .", [JPG]),
        (f":x schema:image <{PLAIN}> .", [PLAIN]),
        (f':x foaf:depiction "{PLAIN}" .', [PLAIN]),
        (f':x crm:P138i_has_representation :rep . :rep a crm:E38_Image ; rdf:value "{JPG}" .', [JPG]),
        (f":x crm:P138i_has_representation <{IIIF}> .", [IIIF]),
        (":x crm:P138i_has_representation <https://example.org/iiif/1/info.json> .",
         ["https://example.org/iiif/1/info.json"]),
        (f":x crm:P138i_has_representation [ <https://linked.art/ns/terms/digitally_shown_by> "
         f"[ <https://linked.art/ns/terms/access_point> <{PLAIN}> ] ] .", [PLAIN]),
        (f":x crm:P138i_has_representation <{PLAIN}> .", []),
        (":x crm:P138i_has_representation :y . :y crm:P138_represents :x .", []),
    ],
)  # fmt: skip
def test_images_are_found_by_their_address_or_the_way_to_it(
    statement: str, expected: list[str], tmp_path: Path
) -> None:
    graph = graph_from_turtle(statement, tmp_path)
    assert graph.images(node_of(graph, "x")) == expected


def test_a_data_set_may_say_what_its_images_look_like(tmp_path: Path) -> None:
    graph = graph_from_turtle(
        f":x crm:P138i_has_representation <{PLAIN}> .",
        tmp_path,
        image_pattern=r"^http://example\.org/image\?id=\d+$",
    )
    assert graph.images(node_of(graph, "x")) == [PLAIN]


def test_a_pattern_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="look ahead"):
        graph_from_turtle(f":x crm:P138i_has_representation <{PLAIN}> .", tmp_path, image_pattern=r"(?=x)y")
