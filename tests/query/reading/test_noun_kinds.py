"""Which kinds of things have entities is told without looking for them, and these are found when a noun is met."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from crmrag_query.language import language
from crmrag_query.ontology.load import Category
from crmrag_query.plans.records import Target
from crmrag_query.plans.world import World, targeted
from crmrag_query.reading import lexicon
from crmrag_query.reading.lexicon import ANY, KindWords, categories_of, entities_of, occurs, types_of
from tests.support.graphs import Row, graph_from_rows, graph_from_turtle
from tests.support.planworlds import world_of
from tests.support.random_graphs import random_rows

SAMPLE = """
:icon a crm:E22_Human-Made_Object ; crm:P2_has_type :painting .
:fresco a crm:E22_Human-Made_Object ; crm:P2_has_type :mural .
:mural a crm:E55_Type ; rdfs:label "mural painting (wall)"@en ; crm:P127_has_broader_term :painting .
:painting a crm:E55_Type ; rdfs:label "painting"@en , "Gemälde"@de .
:concept crm:P2_has_type :unseen .
"""


def targets(world: World) -> Iterator[Target]:
    for category in Category:
        yield Target(categories=(str(category.name),))  # type: ignore[arg-type]
    for number in range(len(world.graph.class_codes)):
        yield Target(classes=(world.graph.class_code(number) or world.graph.class_iri(number),))
    for node in range(world.size):
        yield Target(types=(world.graph.iri(node),))
    yield Target()


@settings(max_examples=60)
@given(random_rows)
def test_a_target_occurs_where_it_has_entities_and_a_noun_has_those_of_its_target(rows: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = world_of(graph_from_rows(rows, Path(folder)))
        for target in targets(world):
            nodes = np.flatnonzero(targeted(world, target))
            assert occurs(world, target) == (len(nodes) > 0), target
            assert entities_of(world, target).tolist() == nodes.tolist()
            told = np.bitwise_or.reduce(world.adjacency.categories[nodes], initial=0)
            assert categories_of(world, target) == (int(told) | ANY if len(nodes) else 0), target
        for kinds in KindWords(world, language("en"))._phrases.values():
            for _, kind in kinds:
                wanted = targeted(world, kind.target)
                if kind.less:
                    wanted &= ~targeted(world, Target(classes=kind.less))
                assert kind.nodes.tolist() == np.flatnonzero(wanted).tolist()
                assert len(kind.nodes) or kind.only is not None or kind.target.classes


def test_types_are_found_by_their_names_and_what_has_none_by_its_address(tmp_path: Path) -> None:
    world = world_of(graph_from_turtle(SAMPLE, tmp_path))
    found, node = types_of(world), world.graph.node
    base = "http://example.org/"
    assert found.by_text["mural painting"] == found.by_text["mural painting (wall)"] == {node(f"{base}mural")}
    assert found.by_text["gemalde"] == {node(f"{base}painting")}
    assert found.by_text["unseen"] == {node(f"{base}unseen")}
    assert found.by_id["mural"] == node(f"{base}mural")
    assert found.languages["gemalde"] == "de" and found.languages["mural painting"] == "en"
    assert found.categories[node(f"{base}painting")] == Category.Thing | ANY


def test_no_entities_are_looked_for_before_a_noun_is_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = world_of(graph_from_turtle(SAMPLE, tmp_path))
    asked: list[Target] = []

    def counted(world: World, target: Target) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
        asked.append(target)
        return entities_of(world, target)

    monkeypatch.setattr(lexicon, "entities_of", counted)
    words = KindWords(world, language("en"))
    assert asked == []
    stem = language("en").stem
    ((length, kinds), *_) = words.at([stem("paintings")], ["paintings"], 0)
    nodes = {world.graph.iri(node) for kind in kinds for node in kind.nodes.tolist()}
    assert length == 1 and {"http://example.org/icon", "http://example.org/fresco"} <= nodes
    before = len(asked)
    assert [len(kind.nodes) for kind in kinds] and len(asked) == before, "found once"
