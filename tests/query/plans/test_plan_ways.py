"""Ways walked from their ends, and from members, are what the relationship engine finds for every entity."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from pydantic import ValidationError

from crmrag_query.plans.records import Way
from crmrag_query.plans.world import Mask, World, leading_to, pairs, routes_of, weights
from crmrag_query.relationships.engine import walk, walk_set
from tests.support.planworlds import BASE, few, generated, sample_of


@pytest.mark.parametrize("seed", few(6, 12))
def test_every_relationship_equals_the_engine(seed: int, tmp_path: Path) -> None:
    world = generated(100 + seed, tmp_path, suspects=5 * (seed % 3)).world
    everyone = np.arange(world.size, dtype=np.int32)
    matches = walk(world.adjacency, world.ontology, world.catalogue, everyone)
    assert len(matches)
    anchors = everyone[seed % 3 :: 3]
    for number in np.unique(matches.relationship).tolist():
        way = Way(relationships=(world.catalogue[number].id,))
        found = matches.part(matches.relationship == number)
        told = pairs(world, way, everyone)
        assert set(zip(told.index.tolist(), told.cell.tolist(), strict=True)) == set(
            zip(found.source.tolist(), found.target.tolist(), strict=True)
        )
        assert np.flatnonzero(leading_to(world, way, None)).tolist() == np.unique(found.source).tolist()
        to_some = np.unique(found.source[np.isin(found.target, anchors)])
        assert np.flatnonzero(leading_to(world, way, anchors)).tolist() == to_some.tolist()


@pytest.mark.parametrize("seed", few(2, 4))
def test_many_that_may_lead_to_themselves_alone_are_told_apart(seed: int, tmp_path: Path) -> None:
    """Objects whose production, parts and features lead back to them are targets only of others."""
    random, many = Random(seed), 700
    lines = [
        f":o{n} a crm:E22_Man-Made_Object ; crm:P108i_was_produced_by :p{n // 2} ." for n in range(0, many, 2)
    ]
    for n in range(many):
        lines.append(f":o{n} a crm:E22_Man-Made_Object ; crm:P46_is_composed_of :o{random.randrange(many)} .")
        if random.random() < 0.3:
            lines.append(f":o{n} crm:P130_shows_features_of :o{n} .")
    world = sample_of(" ".join(lines), tmp_path).world
    everyone = np.arange(world.size, dtype=np.int32)
    matches = walk(world.adjacency, world.ontology, world.catalogue, everyone)
    for number in np.unique(matches.relationship).tolist():
        way, found = (
            Way(relationships=(world.catalogue[number].id,)),
            matches.part(matches.relationship == number),
        )
        assert np.flatnonzero(leading_to(world, way, None)).tolist() == np.unique(found.source).tolist()
        some = everyone[everyone % 3 > 0]
        to_some = np.unique(found.source[np.isin(found.target, some)])
        assert np.flatnonzero(leading_to(world, way, some)).tolist() == to_some.tolist()


@pytest.mark.parametrize("seed", few(1, 4))
def test_whole_sets_reach_what_their_nodes_reach(seed: int, tmp_path: Path) -> None:
    """However many nodes a walk has at hand, it is the same walk."""
    world = generated(400 + seed, tmp_path, suspects=5 * (seed % 2)).world
    everyone = np.arange(world.size, dtype=np.int32)
    for one in world.catalogue:
        for route in routes_of(world, Way(relationships=(one.id,))):
            for nodes in (everyone, everyone[:-1], everyone[::3], everyone[:2]):
                alone = [
                    walk_set(world.adjacency, route.legs, nodes[at : at + 1], {}).all
                    for at in range(len(nodes))
                ]
                expected = np.unique(np.concatenate(alone))
                assert walk_set(world.adjacency, route.legs, nodes, {}).all.tolist() == expected.tolist()


def test_an_entity_is_no_target_of_its_own_but_another_anchor_is_one(tmp_path: Path) -> None:
    world = generated(3, tmp_path).world
    everyone = np.arange(world.size, dtype=np.int32)
    matches = walk(world.adjacency, world.ontology, world.catalogue, everyone)
    for source, number, target in list(
        zip(matches.source, matches.relationship, matches.target, strict=True)
    )[:40]:
        way = Way(relationships=(world.catalogue[int(number)].id,))
        both = np.unique(np.array([source, target], np.int32))
        assert leading_to(world, way, both)[source]
        alone = np.array([source], np.int32)
        assert not leading_to(world, way, alone)[source]


def matrix(world: World, way: Way) -> Mask:
    """What every node leads to, bool [n, n]."""
    everyone = np.arange(world.size, dtype=np.int32)
    found = pairs(world, way, everyone, literals=False)
    leads = np.zeros((world.size, world.size), bool)
    leads[found.index, found.cell] = True
    return leads


def some_ways(world: World, seed: int) -> list[Way]:
    random = Random(seed)
    occurring = [one.id for one in world.catalogue if routes_of(world, Way(relationships=(one.id,)))]
    paths = [(iri,) for iri in world.property_numbers]
    return [
        *(Way(relationships=(random.choice(occurring),), paths=(random.choice(paths),)) for _ in range(3)),
        *(Way(relations=(id,)) for id in ("made_by", "kind", "made_by_person", "shown")),
        Way(paths=(("P46*",), ("P2", "P127*"))),
    ]


@pytest.mark.parametrize("seed", few(3, 6))
def test_unions_inverses_and_compositions_are_those_of_matrices(seed: int, tmp_path: Path) -> None:
    world = generated(200 + seed, tmp_path, suspects=5 * (seed % 3)).world
    ways = some_ways(world, seed)
    for one, other in pairwise(ways):
        leads = matrix(world, one)
        turned = one.model_copy(update={"inverse": True})
        assert np.array_equal(matrix(world, turned), leads.T)
        both = one.model_copy(update={"then": other})
        composed = (leads.astype(int) @ matrix(world, other).astype(int)) > 0
        assert np.array_equal(matrix(world, both), composed)
        ends = np.arange(seed % 2, world.size, 2, dtype=np.int32)
        assert np.array_equal(leading_to(world, both, ends), composed[:, ends].any(axis=1))
        joined = Way(relations=one.relations, relationships=one.relationships, paths=(*one.paths, ("P4",)))
        assert np.array_equal(matrix(world, joined), leads | matrix(world, Way(paths=(("P4",),))))


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_a_way_are_counted_link_by_link(seed: int, tmp_path: Path) -> None:
    world = generated(300 + seed, tmp_path).world
    everyone = np.arange(world.size, dtype=np.int32)
    links = [way for way in some_ways(world, seed) if not way.relations]
    way = links[0].model_copy(update={"then": links[1].model_copy(update={"then": links[2]})})
    product = np.ones(world.size, int)
    for link in way.links:
        product = product @ matrix(world, link.model_copy(update={"then": None})).astype(int)
    cell, count = weights(world, way, everyone)
    nodes = cell < world.size
    told = np.zeros(world.size, int)
    told[cell[nodes]] = count[nodes]
    assert told.tolist() == product.tolist()


STAGED = """
:tosca a crm:E7_Activity ; crm:P8_took_place_on_or_within :hall ; crm:P2_has_type :opera .
:gala a crm:E7_Activity ; crm:P8_took_place_on_or_within :hall ; crm:P2_has_type :concert .
:opera crm:P127_has_broader_term :play .
:a a crm:PC14_carried_out_by ; crm:P01_has_domain :tosca ; crm:P02_has_range :ada ; crm:P14.1_in_the_role_of :conductor .
:b a crm:PC14_carried_out_by ; crm:P01_has_domain :tosca ; crm:P02_has_range :bo ; crm:P14.1_in_the_role_of :singer .
:c a crm:PC14_carried_out_by ; crm:P01_has_domain :gala ; crm:P02_has_range :bo ; crm:P14.1_in_the_role_of :conductor .
"""


@pytest.mark.parametrize(
    ("first", "types", "then", "wanted"),
    [
        (("P8i",), ("opera",), ("P01i", "P02"), {"ada", "bo"}),
        (("P8i",), ("play",), ("P01i", "P02"), {"ada", "bo"}),  # by a narrower type
        (("P8i", "P01i"), ("conductor",), ("P02",), {"ada", "bo"}),  # by the role of a participation
        (("P8i", "P01i"), ("singer",), ("P02",), {"bo"}),
        (("P8i", "P01i"), ("dancer",), ("P02",), set()),
    ],
)
def test_paths_lead_to_what_is_of_a_type_or_role_alone(
    first: tuple[str, ...], types: tuple[str, ...], then: tuple[str, ...], wanted: set[str], tmp_path: Path
) -> None:
    world = sample_of(STAGED, tmp_path).world
    iris = tuple(f"{BASE}{name}" for name in types)
    way = Way(paths=(first,), types=iris, then=Way(paths=(then,)))
    hall = np.array([world.graph.node(f"{BASE}hall")], np.int32)
    told = pairs(world, way, hall)
    assert {world.graph.iri(int(cell)).removeprefix(BASE) for cell in told.cell} == wanted
    for node in world.nodes_of(f"{BASE}{name}" for name in ("ada", "bo")).tolist():
        leads = leading_to(world, way, np.array([node], np.int32))[hall].all()
        assert bool(leads) == (world.graph.iri(node).removeprefix(BASE) in wanted)


def test_types_go_with_paths_that_are_read_forwards() -> None:
    for wrong in ({"relations": ("created_by",)}, {"paths": (("P14",),), "inverse": True}):
        with pytest.raises(ValidationError, match="types go with paths alone"):
            Way.model_validate(wrong | {"types": (f"{BASE}opera",)})
