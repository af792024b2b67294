"""An explanation is a shortest chain of triples of the data, always the same one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from crmrag_query.ontology.load import Category, Ontology
from crmrag_query.relationships.engine import Hop, explain, walk
from tests.query.relationships.test_walk import THING, catalogue_with, everyone
from tests.support.frgraphs import Net, catalogue_of, chained
from tests.support.froracle import Alphabet, plain_walk


@pytest.mark.parametrize("name", ["fr76", "fr109"])
def test_every_match_has_a_shortest_way_of_triples_in_the_data(
    name: str, ontology: Ontology, alphabet: Alphabet
) -> None:
    catalogue = catalogue_of(name)
    net = chained(catalogue, alphabet, seed=3)
    triples = {(s, net.codes.index(code), o) for s, code, o in net.edges}
    matches = walk(net.adjacency, ontology, catalogue, everyone(net))
    for n in np.linspace(0, len(matches) - 1, 30, dtype=int):
        source, target = int(matches.source[n]), int(matches.target[n])
        relationship = catalogue[int(matches.relationship[n])]
        way = explain(net.adjacency, ontology, relationship, source, target)
        assert _ends(way) == (source, target)
        assert all((hop.subject, hop.property, hop.object) in triples for hop in way)
        lengths = [plain_walk(net, path, alphabet, source).get(target) for path in relationship.paths]
        assert len(way) == min(length for length in lengths if length is not None)


def test_ties_go_to_the_lowest_path_property_and_node(ontology: Ontology) -> None:
    edges = ((0, "P46", 2), (0, "P46", 1), (1, "P138", 3), (2, "P138", 3), (1, "P67", 3), (1, "P53", 3))
    net = Net(edges, (THING,) * 4)
    p46, p138, p67, p53 = (net.codes.index(code) for code in ("P46", "P138", "P67", "P53"))
    assert p138 < p53 < p67
    for paths, last in {
        ("P46 P67",): p138,
        ("P46 P67", "P46 P53"): p138,
        ("P46 P53", "P46 P67"): p53,
    }.items():
        relationship = catalogue_with(Category.Thing, Category.Thing, *paths)[0]
        expected = [Hop(0, p46, 1, True), Hop(1, last, 3, True)]
        assert explain(net.adjacency, ontology, relationship, 0, 3) == expected


def test_inverse_hops_show_the_triple_as_stated(ontology: Ontology) -> None:
    net = Net(((1, "P108", 0),), (THING, int(Category.Event)))
    relationship = catalogue_with(Category.Thing, Category.Event, "P108i")[0]
    assert explain(net.adjacency, ontology, relationship, 0, 1) == [Hop(1, 0, 0, False)]


def test_no_way_no_explanation(ontology: Ontology) -> None:
    net = Net(((0, "P46", 1), (1, "P46", 2)), (THING,) * 3, frozenset({1}))
    relationship = catalogue_with(Category.Thing, Category.Thing, "P46*", "P46 P46")[0]
    assert explain(net.adjacency, ontology, relationship, 0, 1) == [Hop(0, 0, 1, True)]
    assert explain(net.adjacency, ontology, relationship, 0, 2) == []
    assert explain(net.adjacency, ontology, relationship, 2, 0) == []
    assert explain(net.adjacency, ontology, relationship, 0, 0) == []


def test_a_way_goes_round_a_suspect(ontology: Ontology) -> None:
    net = Net(((0, "P46", 1), (0, "P46", 2), (1, "P46", 3), (2, "P46", 3)), (THING,) * 4, frozenset({1}))
    relationship = catalogue_with(Category.Thing, Category.Thing, "P46*")[0]
    assert explain(net.adjacency, ontology, relationship, 0, 3) == [Hop(0, 0, 2, True), Hop(2, 0, 3, True)]


def _ends(way: list[Hop]) -> tuple[int, int]:
    """First and last node of a chain whose hops meet."""
    ends = [(hop.subject, hop.object) if hop.forward else (hop.object, hop.subject) for hop in way]
    assert all(before[1] == after[0] for before, after in pairwise(ends))
    return ends[0][0], ends[-1][1]
