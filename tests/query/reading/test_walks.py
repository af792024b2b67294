"""Walks over kinds of nodes: all at once against node by node."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.graph.build import write_triples_index
from crmrag_query.graph.graph import TriplesIndex
from crmrag_query.plans import kinds as module
from crmrag_query.plans.kinds import HARD, Schema
from tests.support.graphs import Row, graph_from_rows
from tests.support.planworlds import world_of
from tests.support.random_graphs import random_rows

Told = tuple[float, tuple[str, ...], list[int], tuple[frozenset[int], ...]]


def led(schema: Schema, nodes: set[int], step: str) -> set[int]:
    rows = schema.world.adjacency
    return {
        int(end)
        for prop, ahead in schema.moves[step]
        for node in nodes
        for end in (rows.forward if ahead else rows.backward).neighbours(prop, node)
    }


def node_by_node(
    schema: Schema, start: list[int], goal: set[int], kinds: frozenset[int], longest: int
) -> list[Told]:
    """What `Schema.walks` promises, of every step that any node has, one node after the other."""
    far = schema.distances(kinds)
    found: list[Told] = []
    frontier: list[tuple[float, tuple[str, ...], set[int], tuple[frozenset[int], ...]]] = [
        (0.0, (), set(start), ())
    ]
    for depth in range(1, longest + 1):
        grown = []
        for cost, steps, nodes, through in frontier:
            passed = {node for node in nodes if depth == 1 or schema.passing[schema.kind[node]] <= HARD}
            led_through = frozenset(int(schema.kind[node]) for node in passed)
            price = min((float(schema.passing[kind]) for kind in led_through), default=0.0)
            for step in sorted(schema.moves):
                ends = {end for kind in led_through for end in schema.steps[kind].get(step, ())}
                if steps and step == schema.inverse.get(steps[-1]):
                    continue
                if not any(far.get(end, 99) <= longest - depth for end in ends):
                    continue
                reached = led(schema, passed, step) - (
                    set(start) if depth == 1 and len(start) == 1 else set()
                )
                if reached:
                    total = cost + (price if depth > 1 else 0.0) + (0.12 if depth > 1 else 0.0)
                    total += 0.3 * (step in steps) + 0.8 * (schema.inverse.get(step, "") in steps)
                    leading = frozenset(kind for kind in led_through if step in schema.steps[kind])
                    passing = (*through, leading) if depth > 1 else ()
                    grown.append((total, (*steps, step), reached, passing))
        found += [
            (cost, steps, sorted(nodes & goal), through)
            for cost, steps, nodes, through in grown
            if nodes & goal
        ]
        frontier = sorted(grown, key=lambda one: one[:2])[: module.LED_ON]
    return sorted(found, key=lambda one: (one[0], len(one[1]), one[1]))


@given(rows=random_rows, data=st.data())
def test_walks_are_those_of_a_walk_node_by_node(rows: list[Row], data: st.DataObject) -> None:
    """However many are walked at once, however large a set of nodes counts as, and whatever was walked to before."""
    with tempfile.TemporaryDirectory() as folder:
        graph = graph_from_rows(rows, Path(folder))
        write_triples_index(graph.folder, Path(folder) / "triples")
        world, triples = world_of(graph), TriplesIndex.open(Path(folder) / "triples", graph)
        nodes = list(range(world.size))
        start = sorted(data.draw(st.sets(st.sampled_from(nodes), min_size=1, max_size=4)))
        goal, before = (data.draw(st.sets(st.sampled_from(nodes), min_size=1)) for _ in range(2))
        longest, most = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
        mask = world.mask(np.array(sorted(goal), np.int32))
        schema = Schema(world, triples)
        kinds = schema.kinds(mask)
        wanted = node_by_node(schema, start, goal, kinds, longest)
        for at_once, large in ((module.AT_ONCE, 0), (1, 2), (module.AT_ONCE, module.LARGE)):
            with patch.object(module, "AT_ONCE", at_once), patch.object(module, "LARGE", large):
                schema = Schema(world_of(graph), triples)  # a world keeps what walks have come to
                other = world.mask(np.array(sorted(before), np.int32))
                schema.walks(np.array(start, np.int32), other, schema.kinds(other), longest)
                found = schema.walks(np.array(start, np.int32), mask, kinds, longest)
                assert [(walk.cost, walk.steps, walk.ends.tolist(), walk.through) for walk in found] == wanted
                cheapest = schema.walks(np.array(start, np.int32), mask, kinds, longest, most)
                assert [(walk.cost, walk.steps, walk.ends.tolist()) for walk in cheapest] == [
                    one[:3] for one in wanted[:most]
                ]
