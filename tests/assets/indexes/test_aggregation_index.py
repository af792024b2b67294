from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.documents.portable import Numbering, save_tables
from crmrag_assets.indexes.aggregation import (
    MatchArrays,
    MatchFiles,
    gather,
    write_aggregation,
)
from crmrag_query.config.loading import Aggregation as Works
from crmrag_query.config.loading import PageRank
from crmrag_query.documents.documents import SCHEMAS
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category
from crmrag_query.retrieval.aggregation import Aggregation
from tests.support.graphs import graph_from_turtle

TURTLE = """
:icon a crm:E22_Human-Made_Object ; crm:P108i_was_produced_by :painting ; rdfs:label "Icon" .
:mural a crm:E22_Human-Made_Object ; rdfs:label "Mural" .
:panel a crm:E22_Human-Made_Object ; crm:P108i_was_produced_by :painting, :repair .
:painting a crm:E12_Production ; crm:P108_has_produced :mural ; crm:P14_carried_out_by :theodore, :helper .
:repair a crm:E12_Production ; crm:P14_carried_out_by :theodore .
:theodore a crm:E21_Person ; rdfs:label "Theodore" .
:helper a crm:E21_Person ; crm:P14i_performed :repair .
:idle a crm:E21_Person .
"""
RELATIONSHIPS = (
    ("thing_by_actor", "was made by"),
    ("thing_from_event", "comes from"),
    ("unused", "is never used"),
)
TOP = 2
WORKS = Works(work_properties=("P108i",), actor_properties=("P14",))


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return graph_from_turtle(TURTLE, tmp_path_factory.mktemp("graph"))


def node(graph: Graph, name: str) -> int:
    found = graph.node(f"http://example.org/{name}")
    assert found is not None
    return found


def matches_of(graph: Graph) -> list[MatchArrays]:
    """Two chunks of matches, no source in both."""
    found = [
        [("icon", 0, "theodore"), ("icon", 1, "painting"), ("icon", 0, "helper"), ("icon", 1, "theodore")],
        [("mural", 0, "theodore")],
    ]
    return [chunk_of({(node(graph, s), r, node(graph, t)) for s, r, t in chunk}) for chunk in found]


def chunk_of(matches: set[tuple[int, int, int]]) -> MatchArrays:
    source, relationship, target = np.array(sorted(matches), np.int32).reshape(-1, 3).T
    path = np.zeros(len(source), np.int16)
    return MatchArrays(source, relationship.astype(np.int16), target, path)


@pytest.fixture(scope="module")
def folder(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("aggregation")
    write_aggregation(graph, matches_of(graph), RELATIONSHIPS, WORKS, PageRank(damping=0.85), out, TOP)
    return out


def test_entities_are_counted_by_class_and_category(folder: Path) -> None:
    index = Aggregation.open(folder)
    assert index.entities == 8
    assert [(row.code, row.entities) for row in index.classes] == [("E21", 3), ("E22", 3), ("E12", 2)]
    assert {row.category: row.primary for row in index.categories} == {
        category.name: {"Thing": 3, "Actor": 3, "Event": 2}.get(str(category.name), 0)
        for category in Category
    }


def test_relationships_count_pairs_sources_and_targets_over_chunks(folder: Path) -> None:
    rows = Aggregation.open(folder).relationships
    assert [(row.key, row.pairs, row.sources, row.targets) for row in rows] == [
        ("thing_by_actor", 3, 2, 2),
        ("thing_from_event", 2, 1, 2),
        ("unused", 0, 0, 0),
    ]


def test_pagerank_equals_networkx_on_the_graph_of_relationships(graph: Graph, folder: Path) -> None:
    expected = nx.DiGraph()
    expected.add_nodes_from(np.flatnonzero(graph.flags & FLAG_ENTITY).tolist())
    for chunk in matches_of(graph):
        for source, target in zip(chunk.source.tolist(), chunk.target.tolist(), strict=True):
            weight = expected.get_edge_data(source, target, {"weight": 0})["weight"]
            expected.add_edge(source, target, weight=weight + 1)
    assert expected.edges[node(graph, "icon"), node(graph, "theodore")]["weight"] == 2
    found = Aggregation.open(folder).pagerank
    for number, rank in nx.pagerank(expected, alpha=0.85, tol=1e-12, max_iter=1000).items():
        assert abs(found[number] - rank) < 1e-6


def test_the_most_central_of_each_category_are_kept_with_their_labels(graph: Graph, folder: Path) -> None:
    index = Aggregation.open(folder)
    top = index.top("Actor", 10)
    assert len(top) == TOP
    assert (top[0].iri, top[0].label) == ("http://example.org/theodore", "Theodore")
    assert top[0].score == pytest.approx(float(index.pagerank[node(graph, "theodore")]), rel=1e-6)
    assert index.top("Nonsense", 10) == []


def test_works_are_counted_once_an_actor_through_events_both_ways(folder: Path) -> None:
    index = Aggregation.open(folder)
    # theodore and helper each painted icon, mural and panel; both repaired the panel, which counts once.
    assert [(row.iri.rsplit("/", 1)[1], row.score) for row in index.actors(5)] == [
        ("helper", 3),
        ("theodore", 3),
    ]
    assert index.content["actors"]["total"] == 2


def test_a_graph_without_matches_is_counted_all_the_same(graph: Graph, tmp_path: Path) -> None:
    write_aggregation(graph, [], RELATIONSHIPS, WORKS, PageRank(damping=0.85), tmp_path, TOP)
    assert [row.pairs for row in Aggregation.open(tmp_path).relationships] == [0, 0, 0]


def test_matches_are_read_from_their_files(tmp_path: Path) -> None:
    """Files number nodes by themselves, and list what the numbers stand for."""
    numbering = Numbering.of(pa.array([f"http://example.org/{n}" for n in range(7)]))
    table = pa.table([[1, 1], [0, 2], [5, 6], [0, 1]], schema=SCHEMAS["matches"])
    save_tables(tmp_path, numbering, {"matches": (table, ["entity", "target"])})
    files = MatchFiles([tmp_path], numbering)
    for _ in range(2):
        (chunk,) = files
        assert [column.tolist() for column in chunk] == [[1, 1], [0, 2], [5, 6], [0, 1]]


NODES, KINDS = 9, 3
MATCH = st.tuples(st.integers(0, NODES - 1), st.integers(0, KINDS - 1), st.integers(0, NODES - 1))


@settings(deadline=None, max_examples=150)
@given(st.sets(MATCH, max_size=40), st.sets(st.integers(0, NODES - 1)), st.integers(1, 4))
def test_lists_of_targets_are_the_edges_whatever_the_chunks(
    some: set[tuple[int, int, int]], hub: set[int], chunks: int
) -> None:
    """Members of a hub reach each other; a node may also reach itself, as no walk gives."""
    matches = some | {(one, 0, other) for one in hub for other in hub if one != other}
    found, whole = (
        gather([chunk_of({m for m in matches if m[0] % n == c}) for c in range(n)], NODES, KINDS)
        for n in (chunks, 1)
    )
    sent = np.random.default_rng(len(matches)).random(NODES)
    received = np.bincount([t for _, _, t in matches], [sent[s] for s, _, _ in matches], NODES)
    np.testing.assert_allclose(found.receive(sent), received, rtol=1e-12, atol=1e-12)
    assert found.receive(sent).tolist() == whole.receive(sent).tolist()
    assert found.out.tolist() == [sum(s == n for s, _, _ in matches) for n in range(NODES)]
    assert found.nodes.tolist() == [any(n in (s, t) for s, _, t in matches) for n in range(NODES)]
    for kind in range(KINDS):
        own = [(s, t) for s, k, t in matches if k == kind]
        counted = (found.pairs[kind], found.sources[kind], found.targets[kind])
        assert counted == (len(own), len({s for s, _ in own}), len({t for _, t in own}))


def test_a_hub_costs_its_members_not_their_pairs() -> None:
    members = range(40)
    found = gather([chunk_of({(a, 0, b) for a in members for b in members if a != b})], 40, 1)
    assert found.pairs.tolist() == [40 * 39]
    assert len(found.lists.column) == len(found.senders.column) == 40


def test_a_missing_or_older_index_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="No aggregation index"):
        Aggregation.open(tmp_path)
    (tmp_path / "aggregation_index.json").write_text('{"schema": 0}')
    with pytest.raises(ReleaseError, match=r"has version 0.*crmrag build"):
        Aggregation.open(tmp_path)
