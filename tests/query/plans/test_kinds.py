"""Kinds of nodes, steps and ends of relations: against a count node by node, and built against opened."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from crmrag_assets.graph.build import write_triples_index
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.arrays import FLAG_LABELLED
from crmrag_query.graph.graph import TriplesIndex
from crmrag_query.plans.kinds import ARRAYS, META, SCHEMA_VERSION, Kinds, Schema, made
from crmrag_query.plans.records import Way
from crmrag_query.plans.world import World, leading_to, nodes_leading_to
from tests.support.graphs import Row, graph_from_rows, graph_from_turtle
from tests.support.planworlds import world_of
from tests.support.random_graphs import random_rows

SAMPLE = """
:icon a crm:E22_Human-Made_Object ; rdfs:label "Icon" ; crm:P2_has_type :type .
:bell a crm:E22_Human-Made_Object ; crm:P2_has_type :type .
:type a crm:E55_Type ; rdfs:label "painting" .
:making a crm:E12_Production ; crm:P108_has_produced :icon ; crm:P14_carried_out_by :painter .
:painter a crm:E21_Person , crm:E39_Actor ; rdfs:label "Painter" .
"""


def of_rows(rows: list[Row], folder: Path) -> World:
    return world_of(graph_from_rows(rows, folder))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return world_of(graph_from_turtle(SAMPLE, tmp_path))


@pytest.fixture
def saved(world: World, tmp_path: Path) -> Path:
    folder = tmp_path / "lexicon"
    folder.mkdir()
    made(world).save(folder)
    return folder


def differing(one: Kinds, other: Kinds) -> list[str]:
    """The fields in which two differ."""
    return [
        field.name
        for field in fields(Kinds)
        if not np.array_equal(getattr(one, field.name), getattr(other, field.name))
        or (field.name in ARRAYS and getattr(one, field.name).dtype != getattr(other, field.name).dtype)
    ]


@given(random_rows)
def test_kinds_and_steps_are_those_of_a_count_node_by_node(rows: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = of_rows(rows, Path(folder))
        graph, found = world.graph, made(world, ())
        keys = [(graph.category(node), *graph.types(node).tolist()) for node in range(graph.nodes)]
        kinds = sorted(set(keys))
        assert found.node.tolist() == [kinds.index(key) for key in keys]
        told = [(int(found.category[kind]), *found.classes(kind).tolist()) for kind in range(len(found))]
        assert told == kinds
        assert found.size.tolist() == [keys.count(kind) for kind in kinds]
        labelled = [key for key, flag in zip(keys, graph.flags, strict=True) if flag & FLAG_LABELLED]
        assert found.labelled.tolist() == [labelled.count(kind) for kind in kinds]
        rows_of = graph.adjacency.forward
        steps = Counter(
            (prop, kinds.index(keys[one]), kinds.index(keys[other]))
            for prop in range(len(graph.property_codes))
            for one, other in zip(*(side.tolist() for side in rows_of.pairs(prop)), strict=True)
        )
        columns = (found.step_property, found.step_start, found.step_end, found.step_triples)
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == [
            (*step, count) for step, count in sorted(steps.items())
        ]


@given(random_rows)
def test_what_is_built_and_opened_is_what_is_worked_out(rows: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as place:
        world = of_rows(rows, Path(place))
        built, out = made(world), Path(place) / "lexicon"
        out.mkdir()
        built.save(out)
        opened, worked_out = Kinds.open(out, world.graph), made(world, ())
        assert differing(opened, built) == []
        assert opened.relations == tuple(world.relations)
        for id in world.relations:
            assert opened.ends(world, id) == worked_out.ends(world, id)
        write_triples_index(world.graph.folder, Path(place) / "triples")
        triples = TriplesIndex.open(Path(place) / "triples", world.graph)
        one, other = Schema(world, triples), Schema(world, triples, opened)
        for name in ("codes", "moves", "inverse", "steps"):
            assert getattr(one, name) == getattr(other, name), name
        for name in ("kind", "labelled", "category", "passing"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name


@given(random_rows)
def test_a_relation_leads_from_the_kinds_of_the_nodes_that_it_leads_from(rows: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = of_rows(rows, Path(folder))
        found = made(world)
        for id in world.relations:
            starts, ends = found.ends(world, id)
            for inverse, kinds in ((False, starts), (True, ends if starts else None)):
                nodes = np.flatnonzero(leading_to(world, Way(relations=(id,), inverse=inverse), None))
                if kinds is not None:
                    assert kinds == set(found.node[nodes].tolist()), id


def test_equal_kinds_give_equal_bytes(world: World, saved: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    Kinds.open(saved, world.graph).save(again)
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == {
        path.name: path.read_bytes() for path in again.iterdir()
    }
    assert {path.name for path in saved.iterdir()} == {META, *(f"{name}.npy" for name in ARRAYS)}


def test_arrays_are_mapped(world: World, saved: Path) -> None:
    opened = Kinds.open(saved, world.graph)
    assert all(isinstance(getattr(opened, name).base, np.memmap) for name in ARRAYS)


def test_what_no_relation_is_has_no_ends(world: World) -> None:
    assert made(world).ends(world, "no_such_relation") == (frozenset(), frozenset())


def test_a_graph_without_relations_or_triples_has_kinds_too(tmp_path: Path) -> None:
    world = world_of(graph_from_turtle(":icon a crm:E22_Human-Made_Object .", tmp_path))
    found = made(world)
    assert len(found.step_property) == 0
    assert found.ends(world, "made_by") == (frozenset(), frozenset())
    assert {
        key for kind in range(len(found)) for key in map(world.graph.class_code, found.classes(kind))
    } == {"E22"}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_damaged_array_is_named(world: World, saved: Path, name: str) -> None:
    file = saved / f"{name}.npy"
    sound = np.load(file)
    assert len(sound), "the sample has some of everything"
    file.unlink()
    with pytest.raises(ReleaseError, match=name):
        Kinds.open(saved, world.graph)
    file.write_bytes(b"no array")
    with pytest.raises(ReleaseError, match=name):
        Kinds.open(saved, world.graph)
    np.save(file, np.array([{"x": 1}], object), allow_pickle=True)
    with pytest.raises(ReleaseError, match=name):
        Kinds.open(saved, world.graph)
    for damaged in (sound.astype(np.float64), sound.reshape(1, -1), sound[:-1]):
        np.save(file, damaged)
        with pytest.raises(ReleaseError, match=r"\.npy"):
            Kinds.open(saved, world.graph)


@pytest.mark.parametrize(
    "name", ["node", "class_number", "step_property", "step_start", "step_end", "start_kind", "end_kind"]
)
@pytest.mark.parametrize("value", [-1, 10**6])
def test_a_number_out_of_range_is_named(world: World, saved: Path, name: str, value: int) -> None:
    numbers = np.load(saved / f"{name}.npy")
    numbers[0] = value
    np.save(saved / f"{name}.npy", numbers)
    with pytest.raises(ReleaseError, match=rf"{name}\.npy has numbers that are not within"):
        Kinds.open(saved, world.graph)


def test_a_lexicon_of_another_graph_or_version_is_named(world: World, saved: Path, tmp_path: Path) -> None:
    other = graph_from_turtle(SAMPLE + ":more a crm:E22_Human-Made_Object .", tmp_path, name="other")
    with pytest.raises(ReleaseError, match=r"node\.npy has"):
        Kinds.open(saved, other)
    for content in ("", "[]", "{}", json.dumps({"schema": SCHEMA_VERSION, "relations": [1]})):
        (saved / META).write_text(content)
        with pytest.raises(ReleaseError, match=META.removesuffix(".json")):
            Kinds.open(saved, world.graph)
    (saved / META).write_text(json.dumps({"schema": 99, "relations": []}))
    with pytest.raises(ReleaseError, match="version 99"):
        Kinds.open(saved, world.graph)


@settings(max_examples=50)
@given(random_rows)
def test_to_all_of_the_kinds_that_a_relation_leads_to_is_to_any_node(rows: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = of_rows(rows, Path(folder))
        found, everything = made(world), np.arange(world.size, dtype=np.int32)
        for id in world.relations:
            for inverse, kinds in zip((True, False), found.ends(world, id), strict=True):
                way = Way(relations=(id,), inverse=inverse)
                ends = np.flatnonzero(np.isin(found.node, list(kinds))).astype(np.int32)
                assert np.array_equal(
                    nodes_leading_to(world, way, ends), nodes_leading_to(world, way, everything)
                )
