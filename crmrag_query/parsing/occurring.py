"""Which relations a data set states, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from crmrag_query.ontology.categories import Category
from crmrag_query.plans.records import Way
from crmrag_query.plans.ways import leading_to
from crmrag_query.plans.world import World


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
    found = leading_to(world, Way(relations=(id,)), None)
    return int((found & ((world.adjacency.categories & domain) != 0)).sum())
