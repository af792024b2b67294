"""Which relations a data set states, and how often."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from crmrag_query.graph.arrays import Adjacency
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.records import Way
from crmrag_query.plans.routes import Route, routes_of
from crmrag_query.plans.ways import far_nodes, leading_to
from crmrag_query.plans.world import Mask, World
from crmrag_query.relationships.plan import Leg


@dataclass(frozen=True, slots=True)
class _Same:
    """A world as a key: equal to itself only."""

    world: World

    def __hash__(self) -> int:
        return id(self.world)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.world is self.world


def occurring(world: World) -> dict[str, int]:
    """The relations that the data states, by id in their order: how many nodes of their domain lead on by each.

    A node of several categories counts in all of them. Each relation is counted once for as long as the world is in use.
    """
    counts = {id: occurrences(world, id) for id in world.relations}
    return {id: count for id, count in counts.items() if count}


def occurrences(world: World, id: str) -> int:
    """How many nodes of the relation's domain lead on by it, 0 for a relation that the data does not state."""
    return _counted(_Same(world), id)


@lru_cache(maxsize=1024)
def _counted(key: _Same, id: str) -> int:
    world = key.world
    relation = world.relations[id]
    if not (relation.paths or relation.relationships):
        return 0
    domain = sum(int(Category[name]) for name in relation.domain)
    way = Way(relations=(id,))
    routes = routes_of(world, way)
    if any(route.relationship for route in routes):
        found = leading_to(world, way, None)
    else:
        found = np.zeros(world.size, bool)
        for route in routes:
            found |= _leading_on(world, route)
    return int((found & ((world.adjacency.categories & domain) != 0)).sum())


def _leading_on(world: World, route: Route) -> Mask:
    """What `plans.ways.leading_to` gives for anything at the end, from whole masks: no node is walked by itself."""
    end = np.ones(world.size, bool) if route.far is None else far_nodes(world, route.far)
    found = _before(world.plain, route.legs, end)
    for walked, properties in route.literals:
        rows = np.isin(world.literal_property, properties)
        subjects = np.asarray(world.graph.literal_table.column("subject").to_numpy())[rows]
        found = found | _before(world.plain, route.legs[:walked], world.mask(subjects))
    return found


def _before(adjacency: Adjacency, legs: Iterable[Leg], mask: Mask) -> Mask:
    """Nodes that lead into the mask by the legs."""
    for leg in reversed(tuple(legs)):
        reached = _one_before(adjacency, leg, mask)
        while leg.recursive:
            reached |= mask
            if np.array_equal(reached, mask):
                break
            mask, reached = reached, _one_before(adjacency, leg, reached)
        mask = reached
    return mask


def _one_before(adjacency: Adjacency, leg: Leg, mask: Mask) -> Mask:
    """Nodes that lead into the mask by the leg walked once."""
    found = np.zeros(len(mask), bool)
    for prop, ahead in leg.moves:
        rows = adjacency.forward if ahead else adjacency.backward
        low, high = int(rows.prop[prop]), int(rows.prop[prop + 1])
        if low < high:
            first = int(rows.ptr[low])
            hits = mask[rows.val[first : int(rows.ptr[high])]]
            some = np.logical_or.reduceat(hits, rows.ptr[low:high] - first)
            found[rows.row[low:high][some]] = True
    return found
