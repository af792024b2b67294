"""Dates of nodes, from every way of stating them."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.dates import describe
from crmrag_query.graph.graph import Graph, Timespan
from tests.support.graphs import graph_from_turtle, node_of


def span(statements: str, tmp_path: Path) -> Timespan | None:
    graph = graph_from_turtle(f":x a crm:E52_Time-Span ; {statements} .", tmp_path)
    return graph.timespan(node_of(graph, "x"))


def written(found: Timespan | None) -> str:
    assert found is not None
    return describe(found.interval) if found.interval else ""


@pytest.mark.parametrize(
    ("statements", "extent"),
    [
        ('crm:P82a_begin_of_the_begin "1105"^^xsd:gYear ; crm:P82b_end_of_the_end "1106"^^xsd:gYear', "1105–1106"),
        ('crm:P82a_begin_of_the_begin "1859-01-01"^^xsd:date ; crm:P82b_end_of_the_end "1859-12-31"^^xsd:date', "1859"),
        ('crm:P82a_begin_of_the_begin "-0500-01-01T00:00:00"^^xsd:dateTime', "since 500 BC"),
        ('crm:P82a_begin_of_the_begin "ca. 1880-1885-01-01" ; crm:P82b_end_of_the_end "ca. 1880-1885-31-12"', "1880–1885"),
        ('crm:P82_at_some_time_within "12th century"', "1101–1200"),
        ('crm:P81_ongoing_throughout "1333"', "1333"),
        ('crm:P82a_begin_of_the_begin "1330" ; crm:P82b_end_of_the_end "1340" ; crm:P82_at_some_time_within "1300s"',
         "1330–1340"),
        ('rdfs:label "1105/06"', "1105–1106"),
        ('crm:P1_is_identified_by [ a crm:E41_Appellation ; rdf:value "1887" ]', "1887"),
        ('crm:P78_is_identified_by [ a crm:E50_Date ; rdfs:label "1887" ]', "1887"),
        ('<http://purl.org/dc/terms/date> "1887"^^xsd:gYear', "1887"),
        ('crm:P82a_begin_of_the_begin "1900" ; crm:P82b_end_of_the_end "1800"', ""),
        ('crm:P82_at_some_time_within "late Byzantine"', ""),
    ],
)  # fmt: skip
def test_dates_are_read_from_every_way_of_stating_them(statements: str, extent: str, tmp_path: Path) -> None:
    if extent:
        assert written(span(statements, tmp_path)) == extent
    else:
        found = span(statements, tmp_path)
        assert found is None or found.interval is None


def test_the_inner_bounds_are_what_is_certain(tmp_path: Path) -> None:
    found = span(
        'crm:P81a_end_of_the_begin "1920" ; crm:P81b_begin_of_the_end "1930" ;'
        ' crm:P82a_begin_of_the_begin "1918" ; crm:P82b_end_of_the_end "1931"', tmp_path
    )  # fmt: skip
    assert found is not None
    assert found.outer_begin is not None and found.inner_begin is not None and found.inner_end is not None
    assert (
        written(Timespan(found.inner_begin, None, None, found.inner_end, ""))
        == "31 December 1920 – 1 January 1930"
    )
    assert written(found) == "1918–1931"


def test_the_words_of_the_source_are_kept(tmp_path: Path) -> None:
    found = span(
        'crm:P82_at_some_time_within "late Byzantine" ; crm:P79_beginning_is_qualified_by "uncertain"',
        tmp_path,
    )
    assert found == Timespan(None, None, None, None, "late Byzantine; uncertain")


@pytest.mark.parametrize("label", ["Time-span of the building", "1105 or so they say", ""])
def test_a_label_is_a_date_only_as_a_whole(label: str, tmp_path: Path) -> None:
    assert span(f'rdfs:label "{label}"', tmp_path) is None


def test_dates_on_other_nodes_count_only_where_they_tell_of_them(tmp_path: Path) -> None:
    turtle = """
    :event a crm:E12_Production ; crm:P82a_begin_of_the_begin "1105" .
    :made a crm:E12_Production ; <http://purl.org/dc/terms/date> "1885"^^xsd:gYear .
    :record a crm:E73_Information_Object ; <http://purl.org/dc/terms/modified> "2020-01-01"^^xsd:date .
    """
    graph: Graph = graph_from_turtle(turtle, tmp_path)
    assert written(graph.timespan(node_of(graph, "event"))) == "since 1105"
    assert written(graph.timespan(node_of(graph, "made"))) == "1885"
    assert graph.timespan(node_of(graph, "record")) is None
