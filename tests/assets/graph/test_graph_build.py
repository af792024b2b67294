"""Building the graph artifact: deterministic, normalised, flagged, and honest about what it could not map."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from crmrag_query.artifacts.manifest import entries
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_EVENT, FLAG_LABELLED, FLAG_SKOLEM
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category
from tests.support.graphs import Row, graph_from_rows, graph_from_turtle, node_of, quad_rows, read_quads
from tests.support.random_graphs import random_rows


@settings(max_examples=12, deadline=None)
@given(rows=random_rows)
def test_the_number_of_chunks_leaves_no_trace(
    rows: list[Row], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("chunks")
    one, many = (graph_from_rows(rows, folder, chunks=chunks, name=f"in{chunks}") for chunks in (1, 16))
    assert entries(one.folder) == entries(many.folder)


def test_a_museum_gives_the_same_bytes_from_1_or_16_chunks(shared_data: Path, tmp_path: Path) -> None:
    rows = quad_rows(read_quads(shared_data / "linkedart_mixed.nt.zst"))
    one, many = (graph_from_rows(rows, tmp_path, chunks=chunks, name=f"in{chunks}") for chunks in (1, 16))
    assert entries(one.folder) == entries(many.folder)


def test_no_triples_give_an_empty_graph(tmp_path: Path) -> None:
    graph = graph_from_rows([], tmp_path)
    assert (graph.nodes, graph.triples, graph.node("http://example.org/a")) == (0, 0, None)
    assert graph.adjacency.nodes == 0


@pytest.mark.parametrize(
    ("stated", "code"),
    [
        ("http://www.cidoc-crm.org/cidoc-crm/P131_is_identified_by", "P1"),
        ("http://www.cidoc-crm.org/cidoc-crm/P88_consists_of", "P89i"),
        ("http://erlangen-crm.org/current/P108i_was_produced_by", "P108i"),
        ("http://www.cidoc-crm.org/cidoc-crm/P14B_performed", "P14i"),
        ("http://example.org/P14_carried_out_by", ""),
    ],
)
def test_properties_are_known_by_code_and_keep_their_direction(
    stated: str, code: str, tmp_path: Path
) -> None:
    graph = graph_from_turtle([("a", stated, "b")], tmp_path)
    assert graph.property_codes == (code,)
    forward = graph.adjacency.forward
    assert forward.neighbours(0, node_of(graph, "a")).tolist() == [node_of(graph, "b")]


def test_what_is_not_mapped_or_renamed_is_reported_with_its_uses(tmp_path: Path) -> None:
    graph = graph_from_turtle(
        """:a a crm:E38_Image, :Own ; crm:P88_consists_of :b, :c ; :p "1", :b . :b a :Own .""", tmp_path
    )
    report = json.loads((graph.folder / "unmapped.json").read_text())
    assert report["classes"] == [{"iri": "http://example.org/Own", "count": 2}]
    assert report["properties"] == [{"iri": "http://example.org/p", "count": 2}]
    assert {(item["code"], item["count"], item["turned"]) for item in report["renamed"]} == {
        ("E36", 1, False), ("P89i", 2, True),
    }  # fmt: skip


FLAGGED = """
:work a crm:E22_Human-Made_Object ; rdfs:label "Icon" ; crm:P2_has_type :icons .
:saint a vir:IC16_Character .
[] a crm:E12_Production ; crm:P108_has_produced :work .
"""


@pytest.fixture(scope="module")
def flagged(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return graph_from_turtle(FLAGGED, tmp_path_factory.mktemp("flags"))


def test_flags_say_what_a_node_is(flagged: Graph) -> None:
    blank = next(n for n in range(flagged.nodes) if flagged.iri(n).startswith("urn:skolem:"))
    expected = {
        node_of(flagged, "work"): FLAG_ENTITY | FLAG_LABELLED,
        node_of(flagged, "saint"): FLAG_ENTITY,
        node_of(flagged, "icons"): 0,
        blank: FLAG_ENTITY | FLAG_SKOLEM | FLAG_EVENT,
    }
    assert {node: int(flagged.flags[node]) for node in range(flagged.nodes)} == expected


def test_categories_come_from_the_classes(flagged: Graph) -> None:
    assert flagged.category(node_of(flagged, "work")) == Category.Thing
    assert flagged.category(node_of(flagged, "icons")) == 0
    saint = node_of(flagged, "saint")
    assert flagged.adjacency.categories[saint] == Category.Thing | Category.Actor
