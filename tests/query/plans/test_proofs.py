"""Why an entity is a member: ways of triples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from crmrag_query.plans.execute import execute, explain
from crmrag_query.plans.records import Anchor, Plan, Related, Way, read_plan
from crmrag_query.plans.world import LiteralValue, World, admits, begins, pairs, routes_of
from crmrag_query.relationships.engine import Hop, way_over
from tests.support.graphs import node_of
from tests.support.plan_museum import BORN_IN, MADE_BY, MADE_IN, OBJECTS, made, names_of, related
from tests.support.planworlds import BASE, Sample, few, generated


def test_an_explanation_is_a_way_of_triples(museum: Sample) -> None:
    graph = museum.world.graph
    plan = read_plan({"target": OBJECTS, "where": [related(MADE_BY, "anna"), made(1701, 1800)]})
    (proofs,) = explain(museum.world, plan, [node_of(graph, "lake")])
    told = [
        [(graph.label(h.subject), graph.property_code(h.property), graph.iri(h.object)) for h in proof.hops]
        for proof in proofs
    ]
    assert [[step[1:] for step in way] for way in told] == [
        [("P108i", BASE + "p1"), ("P14", BASE + "anna")],
        [("P108i", BASE + "p1"), ("P4", BASE + "t1")],
    ]


def hops(museum: Sample, where: dict[str, Any], member: str) -> list[tuple[tuple[int, ...], list[str]]]:
    """Of each proof the places of its constraint, and where its steps lead."""
    graph = museum.world.graph
    (proofs,) = explain(museum.world, read_plan({"where": [where]}), [node_of(graph, member)])
    return [
        (
            tuple(map(int, re.findall(r"\d+", proof.path))),
            [graph.iri(hop.object if hop.forward else hop.subject).removeprefix(BASE) for hop in proof.hops],
        )
        for proof in proofs
    ]


def test_explanations_of_composed_and_inverse_ways(museum: Sample) -> None:
    birthplace = {**MADE_BY, "then": BORN_IN}
    assert hops(museum, related(birthplace, "paris"), "hill") == [((0,), ["p2", "anna", "b1", "paris"])]
    made = {**MADE_BY, "inverse": True}
    assert hops(museum, related(made, "hill"), "ben") == [((0,), ["p2", "hill"])]
    both = {**BORN_IN, "then": {**BORN_IN, "inverse": True}}
    assert hops(museum, related(both, "ben"), "anna") == [((0,), ["b1", "paris", "b2", "ben"])]


def test_explanations_of_either_and_of_another_plan(museum: Sample) -> None:
    either = {"kind": "either", "of": [related(MADE_BY, "chloe"), related(MADE_IN, "geneva")]}
    assert hops(museum, either, "lake") == [((0, 1), ["p1", "geneva"])]
    assert hops(museum, either, "cup") == [((0, 0), ["p3", "chloe"])]
    member = {"kind": "member", "plan": {"target": OBJECTS, "where": [either, related(MADE_BY, "anna")]}}
    assert hops(museum, member, "lake") == [((0, 0, 1), ["p1", "geneva"]), ((0, 1), ["p1", "anna"])]
    assert hops(museum, {**member, "negated": True}, "lake") == []


def test_an_explanation_ends_in_a_literal_where_the_way_does(museum: Sample) -> None:
    note = related({"paths": [["P3"]]})
    ((proof,),) = explain(museum.world, read_plan({"where": [note]}), [node_of(museum.world.graph, "cup")])
    assert proof.hops == () and proof.literal == LiteralValue("Given by A. Fink")


def test_explanations_of_many_members_are_those_of_each(museum: Sample) -> None:
    plan = read_plan({"target": OBJECTS, "where": [related(MADE_BY, "anna"), made(1701, 1800)]})
    members = execute(plan, museum.world).members.tolist()
    alone = [explain(museum.world, plan, [one])[0] for one in members]
    assert explain(museum.world, plan, members) == alone


def ways_of(world: World, seed: int) -> list[Way]:
    random = Random(seed)
    occurring = [one.id for one in world.catalogue if routes_of(world, Way(relationships=(one.id,)))]
    paths = [(iri,) for iri in world.property_numbers]
    one, other = (
        Way(relationships=(random.choice(occurring),), paths=(random.choice(paths),)) for _ in range(2)
    )
    closing = Way(paths=(("P46*",), ("P2", "P127*")))
    return [one, closing, one.model_copy(update={"then": other}), closing.model_copy(update={"then": one})]


@pytest.mark.parametrize("seed", few(4, 8))
def test_proofs_are_chains_of_triples_to_the_lowest_target_as_short_as_any(seed: int, tmp_path: Path) -> None:
    world = generated(500 + seed, tmp_path, suspects=5 * (seed % 2)).world
    everyone = np.arange(world.size, dtype=np.int32)
    ends = everyone[seed % 2 :: 2]
    anchor = Anchor(iris=tuple(world.graph.iri(int(node)) for node in ends))
    for way in ways_of(world, seed):
        reached = pairs(world, way, everyone, literals=False).within(world, ends)
        proofs = explain(world, Plan(where=(Related(way=way, to=anchor),)), everyone.tolist())
        for member, found in enumerate(proofs):
            targets = reached.cell[reached.index == member].tolist()
            assert [proof.target for proof in found] == targets[:1]
            for proof in found:
                assert led(world, member, proof.hops) == proof.target
                if way.then is None:
                    assert len(proof.hops) == fewest(world, way, member, proof.target)


def led(world: World, member: int, hops: Sequence[Hop]) -> int:
    """Where the hops lead; each is a triple of the data."""
    at = member
    for hop in hops:
        assert hop.object in world.adjacency.forward.neighbours(hop.property, hop.subject)
        assert at == (hop.subject if hop.forward else hop.object)
        at = hop.object if hop.forward else hop.subject
    return at


def fewest(world: World, way: Way, member: int, target: int) -> int:
    """Hops of the shortest of the routes' ways, each walked from this member alone."""
    found = []
    for route in routes_of(world, way):
        source, end = np.array([member], np.int32), np.array([target], np.int32)
        if not (begins(world, route, source)[0] and admits(world, route, end)[0]):
            continue
        if member == target and route.relationship is not None:
            continue
        if member == target and all(leg.recursive for leg in route.legs):
            return 0
        found += [len(hops) for hops in [way_over(route.graph(world), route.legs, member, target)] if hops]
    return min(found)


def test_the_first_of_several_that_holds_is_told_for_each_member(museum: Sample) -> None:
    world = museum.world
    nobody = related(MADE_BY, negated=True)
    inner = {"where": [related(BORN_IN, "paris")]}
    either = {"kind": "either", "of": [nobody, related(MADE_BY, plan=inner), related(MADE_BY)]}
    plan = read_plan({"target": OBJECTS, "where": [either]})
    members = execute(plan, world).members.tolist()
    told = [
        [(proof.path, world.graph.label(proof.target)) for proof in found]
        for found in explain(world, plan, members)
    ]
    assert dict(zip(names_of(museum, members), told, strict=True)) == {
        "cup": [("where.0.of.2", "Chloe")],
        "hill": [("where.0.of.1", "Anna")],
        "lake": [("where.0.of.1", "Anna")],
        "shard": [],
    }
    assert explain(world, plan, members[::-1]) == explain(world, plan, members)[::-1]
