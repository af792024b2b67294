"""Sets of nodes that are kept, in either form, and what a set of nodes is led to: against sets."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.plans import world as module
from crmrag_query.plans.records import Way
from crmrag_query.plans.world import Held, World, leading_to, nodes_leading_to
from crmrag_query.relationships import engine
from tests.support.graphs import Row, graph_from_rows
from tests.support.planworlds import world_of
from tests.support.random_graphs import random_rows

SIZE = 400
some = st.sets(st.integers(0, SIZE - 1), max_size=SIZE)


def held(nodes: set[int]) -> Held:
    return Held.of(SIZE, np.array(sorted(nodes), np.int32))


@given(one=some, other=some)
def test_sets_share_what_stands_in_both_in_whatever_form_they_are(one: set[int], other: set[int]) -> None:
    assert held(one).shared(held(other)) == held(other).shared(held(one)) == len(one & other)
    assert np.flatnonzero(held(one).mask).tolist() == held(one).ascending.tolist() == sorted(one)


def test_a_set_takes_the_least_room() -> None:
    few, many = held({1, 399}), held(set(range(0, SIZE, 2)))
    assert few.bits is None and many.nodes is None
    assert many.bytes - module.ENTRY_BYTES == SIZE // 8


@given(rows=random_rows)
def test_what_is_kept_keeps_to_its_bound_and_is_what_was_made(rows: list[Row]) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(module, "RECENT_BYTES", 3 * module.ENTRY_BYTES),
    ):
        world = world_of(graph_from_rows(rows, Path(folder)))
        for key in (1, 2, 1, 3, 4, 5, 2):
            nodes = np.array([key % world.size], np.int32)
            assert (
                np.flatnonzero(world.recalled(key, lambda nodes=nodes: nodes).mask).tolist() == nodes.tolist()
            )
            kept = sum(one.bytes for one in world._recent.values())
            assert kept == world._recent_bytes[0] <= module.RECENT_BYTES


@pytest.mark.parametrize("few", [0, engine.FEW])
@given(rows=random_rows, data=st.data())
def test_a_set_is_led_to_what_its_nodes_are_led_to(rows: list[Row], data: st.DataObject, few: int) -> None:
    with tempfile.TemporaryDirectory() as folder, patch.object(engine, "FEW", few):
        world = world_of(graph_from_rows(rows, Path(folder)))
        every = list(range(world.size))
        nodes = sorted(data.draw(st.sets(st.sampled_from(every))))
        moves = [(prop, ahead) for prop in range(len(world.graph.property_codes)) for ahead in (True, False)]
        chosen = data.draw(st.lists(st.sampled_from(moves), unique=True)) if moves else []
        found = engine.hop_set(world.adjacency, chosen, np.array(nodes, np.int32))
        assert found.tolist() == sorted(_led(world, nodes, chosen))
        for way in (
            Way(paths=(("P2", "P4*"), ("P108",))),
            Way(paths=(("P2",),), then=Way(paths=(("P4",),))),
        ):
            for ends in (None, np.array(nodes, np.int32)):
                mask = leading_to(world, way, ends)
                assert nodes_leading_to(world, way, ends).tolist() == np.flatnonzero(mask).tolist()


def _led(world: World, nodes: list[int], moves: list[tuple[int, bool]]) -> set[int]:
    rows = world.adjacency
    return {
        int(end)
        for prop, ahead in moves
        for node in nodes
        for end in (rows.forward if ahead else rows.backward).neighbours(prop, node)
    }
