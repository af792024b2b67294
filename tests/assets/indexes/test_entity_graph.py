"""The entity graph: which documents are joined, and how strongly."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.indexes import entity_graph
from crmrag_assets.indexes.entity_graph import Edges, general, joined, stated, strength
from crmrag_query.artifacts.release import Release
from crmrag_query.config import load_method
from crmrag_query.config.loading import WeightsPart
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.graph.graph import Graph
from crmrag_query.relationships.engine import Catalogue
from tests.support.builds import build_all, make_project
from tests.support.shared import shared_release

WORKS = 30  # with one type: more than `max_parents`, so that it keeps a document of its own
TURTLE = """
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:icon a crm:E55_Type ; rdfs:label "icon" . ex:ada a crm:E21_Person ; rdfs:label "Ada" .
ex:bea a crm:E21_Person ; rdfs:label "Bea" . ex:alone a crm:E21_Person ; rdfs:label "Cleo" .
""" + "\n".join(
    f'ex:w{n} a crm:E22_Human-Made_Object ; rdfs:label "Work {n}" ; crm:P2_has_type ex:icon .\n'
    f"ex:p{n} a crm:E12_Production ; crm:P108_has_produced ex:w{n} ; crm:P14_carried_out_by ex:{maker} ;\n"
    '  crm:P4_has_time-span [ a crm:E52_Time-Span ; rdfs:label "1700" ] .'
    for n in range(WORKS)
    for maker in ["ada" if n < WORKS // 2 else "bea"]
)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return shared_release(tmp_path_factory, "entity-graph", build)


def build(root: Path) -> None:
    build_all(make_project(root, TURTLE).context())


def document(release: Release, name: str) -> int:
    node = release[Graph].node(f"http://example.org/{name}")
    assert node is not None
    return int(release[Documents].entity_document[node])


def neighbours(release: Release, name: str) -> set[str]:
    documents = release[Documents]
    return {documents.label(int(other)) for other in release[EntityGraph].of(document(release, name))[0]}


def test_what_one_maker_made_is_joined_to_the_maker_and_not_to_others(release: Release) -> None:
    assert "Ada" in neighbours(release, "p1") and "Bea" not in neighbours(release, "p1")
    assert {f"Production of Work {n}" for n in range(WORKS // 2)} <= neighbours(release, "ada")
    assert neighbours(release, "alone") == set()


def test_a_type_joins_nothing_though_it_has_a_document_and_all_works_have_it(release: Release) -> None:
    assert neighbours(release, "icon") == set()
    assert document(release, "w0") == document(release, "p0")  # the net's nodes below stand for works as well
    net = nx.Graph(list(zip(*(column.tolist() for column in release[EntityGraph].pairs()[:2]), strict=True)))
    assert not nx.has_path(net, document(release, "p0"), document(release, f"p{WORKS - 1}"))


def test_every_edge_is_held_from_both_ends_alike(release: Release) -> None:
    graph = release[EntityGraph]
    ends = {
        (here, int(other)): float(weight)
        for here in range(graph.documents)
        for other, weight in zip(*graph.of(here), strict=True)
    }
    assert ends and all(ends[other, here] == weight for (here, other), weight in ends.items())
    assert {pair for pair in ends if pair[0] < pair[1]} == {
        (int(a), int(b)) for a, b, _ in zip(*graph.pairs(), strict=True)
    }


def test_relationships_that_others_specialise_join_nothing() -> None:
    catalogue = Catalogue.load(load_method())
    vague = {one.label for one, says_little in zip(catalogue, general(catalogue), strict=True) if says_little}
    assert "has met" in vague and not any("created" in label for label in vague)


def test_a_path_binds_as_its_steps_do_one_after_the_other() -> None:
    method = load_method()
    paths = [path for one in Catalogue.load(method) for path in one.paths]
    # is depicted by, was produced by, carried out by; between them parts of parts
    codes = ["P62i", "P108i", "P14"]
    shown = next(path for path in paths if [step.code for step in path.steps if not step.recursive] == codes)
    assert strength(shown, method.weights) == pytest.approx(0.5 * 0.85 * 0.85)
    assert all(0 < strength(path, method.weights) <= 1 for path in paths)


def test_a_property_of_weight_nought_joins_nothing(release: Release) -> None:
    weights = load_method().weights
    without = weights.model_copy(update={"properties": {**weights.properties, "P14": 0.0, "P14i": 0.0}})
    adjacency, home = release[Graph].adjacency, release[Documents].entity_document

    def ends(chosen: WeightsPart) -> set[tuple[int, int]]:
        return {
            pair
            for a, b, _ in stated(adjacency, home, chosen)
            for pair in zip(a.tolist(), b.tolist(), strict=True)
        }

    made = (document(release, "p0"), document(release, "ada"))
    assert made in ends(weights) and made not in ends(without)
    paths = [path for one in Catalogue.load(load_method()) for path in one.paths]
    by_makers = [
        path
        for path in paths
        if any(step.code in ("P14", "P14i") and not step.recursive for step in path.steps)
    ]
    assert by_makers and all(strength(path, without) == 0 for path in by_makers)


Statement = tuple[int, int, int]
statements = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 2000)).filter(
        lambda one: one[0] != one[1]
    ),
    max_size=60,
)


def edges(some: list[Statement]) -> Edges:
    low, high, weight = np.array(some, np.int32).reshape(-1, 3).T
    return low, high, weight


@settings(max_examples=200)
@given(some=statements, cut=st.integers(0, 60), at_once=st.integers(0, 70))
def test_the_weight_is_the_sum_of_all_statements_damped_by_both_ends_neighbours(
    some: list[Statement], cut: int, at_once: int
) -> None:
    """However the statements are cut into parts, and however many are added up at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entity_graph, "TOGETHER", at_once)
        found = joined([edges(some[:cut]), edges(some[cut:])], 10)
    oracle = nx.Graph()
    for a, b, weight in some:
        held = oracle.get_edge_data(a, b, {"weight": 0})["weight"]
        oracle.add_edge(a, b, weight=held + weight)
    wanted = {
        (min(a, b), max(a, b)): weight / 1000 / sqrt(oracle.degree[a] * oracle.degree[b])
        for a, b, weight in oracle.edges(data="weight")
    }
    got = {(int(a), int(b)): float(weight) for a, b, weight in zip(*found.pairs(), strict=True)}
    assert got == pytest.approx(wanted, rel=1e-6)
