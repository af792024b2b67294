"""The name index: which names of which entities it holds, and that it holds the same bytes for the same data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from crmrag_assets.indexes.names import names_of, variants, write_names
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import SPELLING, STOP_WEIGHT, NameIndex, bag_hash, link, sound, words_of
from crmrag_query.ontology.load import load_ontology
from tests.support.graphs import graph_from_turtle
from tests.support.names import METHOD, PLAIN, STOP, index_of

TURTLE = """
:church a crm:E22_Human-Made_Object ; rdfs:label "Church of Asinou"@en, "Εκκλησία της Ασίνου"@el ;
  crm:P1_is_identified_by :name, :number ; crm:P2_has_type :type ; crm:P43_has_dimension :height .
:name a crm:E41_Appellation ; crm:P190_has_symbolic_content "Panagia Phorbiotissa" .
:number a crm:E42_Identifier ; crm:P190_has_symbolic_content "CY.12-7" .
:type a crm:E55_Type ; rdfs:label "Chapel" .
:height a crm:E54_Dimension ; rdfs:label "twelve metres" .
:building a crm:E12_Production ; crm:P108_has_produced :church ; crm:P4_has_time-span :span .
:span a crm:E52_Time-Span ; rdfs:label "about 1105" .
:painter a crm:E21_Person ; rdfs:label "Theodore Apsevdis" .
:repainting a crm:E12_Production ; rdfs:label "Repainting of Asinou" ; crm:P14_carried_out_by :painter .
"""


def write(graph: Graph, out: Path) -> NameIndex:
    out.mkdir()
    write_names(names_of(graph, load_ontology(), METHOD), STOP, out)
    return NameIndex.open(out)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return graph_from_turtle(TURTLE, tmp_path_factory.mktemp("graph"))


def named(graph: Graph, index: NameIndex) -> set[tuple[str, str, str]]:
    """(entity, name, how) of the whole index."""
    rows = (row for bag in range(index.bags) for row in index.entries(bag, 1000))
    return {(graph.iri(node).rsplit("/", 1)[1], index.text(text), how) for node, text, how, _ in rows}


def test_entities_have_their_labels_alternative_names_and_identifiers(graph: Graph, tmp_path: Path) -> None:
    assert named(graph, write(graph, tmp_path / "names")) == {
        ("church", "Church of Asinou", "label"),
        ("church", "Εκκλησία της Ασίνου", "label"),
        ("church", "Panagia Phorbiotissa", "alternative"),
        ("church", "CY.12-7", "identifier"),
        ("type", "Chapel", "label"),
        ("painter", "Theodore Apsevdis", "label"),
        ("repainting", "Repainting of Asinou", "label"),
    }


def test_questions_reach_the_graph(graph: Graph, tmp_path: Path) -> None:
    index = write(graph, tmp_path / "names")
    (mention,) = link(index, "Who painted the Panagia Forviotissa?", STOP, PLAIN)
    assert mention.entities[0].entity == graph.node("http://example.org/church")


def test_postings_weights_and_hashes_are_those_of_the_names(tmp_path: Path) -> None:
    """Against a count by plain Python."""
    names = ("Lake Lucerne", "Lucerne Lake", "The Lake", "Lake of Lucerne at Night", "New York, New York")
    index = index_of(tmp_path, *names)
    bags = list(dict.fromkeys(frozenset(words_of(name)) for name in names))
    assert index.bags == len(bags)
    holding = Counter(word for bag in bags for word in bag)
    for word, count in holding.items():
        number = index.number(word)
        assert number is not None
        assert index.bags_of(number).tolist() == [i for i, bag in enumerate(bags) if word in bag]
        idf = np.log(1 + len(bags) / count) * (STOP_WEIGHT if word in index.stop else 1)
        assert index.weight[number] == pytest.approx(1024 * idf, abs=0.51)
    for number, bag in enumerate(bags):
        content = [word for word in bag if word not in index.stop]
        assert index.bag_size[number] == len(content)
        hashed = bag_hash([sound(word, SPELLING.shortest) for word in content])
        assert number in index.bags_with(np.array([hashed], np.uint64))
        assert index.bag_weight[number] == sum(index.weight[index.number(word)] for word in bag)


def test_equal_names_of_one_entity_count_once_by_the_best_kind(tmp_path: Path) -> None:
    index = index_of(tmp_path, (0, "Catlin, George", 1), (0, "George Catlin", 0), (1, "George Catlin", 1))
    assert index.bags == 1
    assert [(node, how) for node, _, how, _ in index.entries(0, 10)] == [(0, "label"), (1, "alternative")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Irises", ["Irises"]),
        ("drawings (visual works)", ["drawings (visual works)", "drawings"]),
        ("Les Iris / Irises", ["Les Iris / Irises", "Les Iris", "Irises"]),
        ("(untitled)", ["(untitled)"]),
        (
            "Panagia (Asinou) / Παναγία",
            ["Panagia (Asinou) / Παναγία", "Panagia (Asinou)", "Παναγία", "Panagia"],
        ),
        ("BM-123/4", ["BM-123/4"]),
    ],
)
def test_a_text_may_hold_several_names(text: str, expected: list[str]) -> None:
    assert variants(text) == expected
