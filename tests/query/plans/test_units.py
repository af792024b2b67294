"""Sizes in several units are compared in the one that most have; what cannot be compared stays as it is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crmrag_query.plans.execute import comparable, execute, factor_of, units_of
from crmrag_query.plans.records import Compute, Measure, Plan, Target, Way
from crmrag_query.plans.world import World
from tests.support.graphs import graph_from_turtle, node_of
from tests.support.planworlds import world_of

UNITS = """
:g a crm:E58_Measurement_Unit ; rdfs:label "grams"@en . :kg a crm:E58_Measurement_Unit ; rdfs:label "kg" .
<http://vocab.getty.edu/aat/300379100> a crm:E58_Measurement_Unit . :ell a crm:E58_Measurement_Unit ; rdfs:label "ell" .
"""
SIZES = {"coin": (9.5, "g"), "ring": (12, "g"), "bell": (1.2, "kg"), "anchor": (80, "kg"), "pin": (0.5, "g")}


def _world(folder: Path, sizes: dict[str, tuple[float, str]]) -> World:
    rows = [UNITS, ':weight a crm:E55_Type ; rdfs:label "weight"@en .']
    rows += [
        f":{name} a crm:E22_Human-Made_Object ; crm:P43_has_dimension :{name}-d . :{name}-d a crm:E54_Dimension ; "
        f"crm:P2_has_type :weight ; crm:P90_has_value {value} ; crm:P91_has_unit :{unit} ."
        for name, (value, unit) in sizes.items()
    ]
    return world_of(graph_from_turtle("\n".join(rows), folder))


def _ranked(world: World) -> list[tuple[str, float]]:
    way = Way(paths=(("P43",),), then=Way(paths=(("P90",),)))
    rank = Compute(kind="rank", measure=Measure(kind="value", way=way))
    outcome = execute(Plan(target=Target(classes=("E22",)), compute=rank), world)
    names = (world.graph.iri(int(node)).rsplit("/", 1)[-1] for node in outcome.members)
    return [(name, round(float(value), 6)) for name, value in zip(names, outcome.values, strict=True)]


def test_grams_and_kilograms_are_compared_in_grams_where_most_are_in_grams(tmp_path: Path) -> None:
    grams = {name: value * (1000 if unit == "kg" else 1) for name, (value, unit) in SIZES.items()}
    assert _ranked(_world(tmp_path, SIZES)) == sorted(grams.items(), key=lambda one: -one[1])


@pytest.mark.parametrize("other", ["ell", "nowhere"])
def test_numbers_in_a_unit_that_is_not_known_stay_as_they_are(tmp_path: Path, other: str) -> None:
    sizes = {**SIZES, "cloth": (3.0, other)}
    world = _world(tmp_path, sizes)
    assert dict(_ranked(world)) == {name: value for name, (value, _) in sizes.items()}
    ends = np.array(sorted(node_of(world.graph, f"{name}-d") for name in sizes), np.int32)
    assert not comparable(world, units_of(world, ends)[1])


def test_units_are_known_by_names_in_any_number_and_by_their_entry_in_the_aat(tmp_path: Path) -> None:
    world = _world(tmp_path, {})
    assert factor_of(world, node_of(world.graph, "g")) == ("weight", 0.001)
    inch = world.graph.node("http://vocab.getty.edu/aat/300379100")
    assert inch is not None and factor_of(world, inch) == ("length", 0.0254)
    assert factor_of(world, node_of(world.graph, "ell")) is None


def test_lengths_and_weights_are_not_compared(tmp_path: Path) -> None:
    world = _world(tmp_path, {})
    inch = world.graph.node("http://vocab.getty.edu/aat/300379100")
    assert inch is not None
    assert not comparable(world, np.array(sorted((inch, node_of(world.graph, "g"))), np.int32))
