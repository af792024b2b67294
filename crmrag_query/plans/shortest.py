"""Shortest ways of many nodes at once: each route is walked once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from crmrag_query.graph.arrays import Adjacency, Ints, Longs
from crmrag_query.plans.routes import Route, Routes
from crmrag_query.plans.ways import Pairs, admits, begins, led_on, link_pairs
from crmrag_query.plans.world import Mask, World, distinct
from crmrag_query.relationships import frontier as fr
from crmrag_query.relationships.explain import Hop, backwards
from crmrag_query.relationships.plan import Leg
from crmrag_query.relationships.walk import LIMIT, advance

_KEPT = LIMIT // 16  # pairs of a frontier that is kept for other routes
Known = dict[tuple[bool, bytes, tuple[Leg, ...]], Longs]
"""Frontiers by graph (that of paths or not), nodes that begin the route, and legs."""
Ask = tuple[int, int]
"""Place of a source among the nodes that were walked from, and a target that it leads to."""


@dataclass(frozen=True)
class Walk:
    """What the routes of one link reach from ``nodes`` (fewer than `frontier.BLOCK`), leg by leg.

    ``known``: what the same nodes reach by the beginnings of routes, for other walks too.
    """

    world: World
    routes: Routes
    nodes: Ints
    known: Known = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def stages(self) -> list[tuple[Route, list[Longs]]]:
        """For each route the frontier at its start and after each leg; sources are places in ``nodes``."""
        found = []
        for route in self.routes:
            chosen = begins(self.world, route, self.nodes)
            places = np.flatnonzero(chosen)
            stages = [fr.start(places, self.nodes[places])]
            for done, leg in enumerate(route.legs, 1):
                key = (route.relationship is None, chosen.tobytes(), route.legs[:done])
                after = self.known.get(key)
                if after is None:
                    after = _after(route.graph(self.world), leg, stages[-1])
                    if len(after) <= _KEPT:
                        self.known[key] = after
                stages.append(after)
            found.append((route, stages))
        return found

    @cached_property
    def pairs(self) -> Pairs:
        """What each of the nodes leads to: `ways.link_pairs` without literals."""
        found = []
        for route, stages in self.stages:
            place, node = fr.sources_of(stages[-1]), fr.nodes_of(stages[-1])
            fits = self._ends(route, place, node)
            found.append(Pairs(place[fits], node[fits]).keys)
        return Pairs.of(found)

    def shortest(self, ask: Ask) -> tuple[Hop, ...]:
        """The shortest of the routes' ways, the first of equally short ones; empty for a node that is its own target."""
        place, target = ask
        found: list[tuple[Hop, ...]] = []
        for route, stages in self.stages:
            last = _of_source(stages[-1], place)
            at = int(np.searchsorted(last, target << fr.NODE_SHIFT))
            if at == len(last) or int(last[at]) >> fr.NODE_SHIFT != target:
                continue
            if not self._ends(route, np.array([place]), np.array([target])).all():
                continue
            before = [_of_source(stage, place) for stage in stages[:-1]]
            way = backwards(route.graph(self.world), route.legs, [*before, last], target)
            if not way:
                return ()
            found.append(tuple(way))
        return min(found, key=len)

    def _ends(self, route: Route, place: Longs, node: Longs) -> Mask:
        fits = admits(self.world, route, node.astype(np.int32))
        return fits if route.relationship is None else fits & (node != self.nodes[place])


def _after(adjacency: Adjacency, leg: Leg, frontier: Longs) -> Longs:
    return np.concatenate([frontier[:0], *advance(adjacency, leg, frontier)])


def _of_source(stage: Longs, place: int) -> Longs:
    """The part of one source, as if it were number 0."""
    low = place << fr.SOURCE_SHIFT
    start, end = np.searchsorted(stage, (low, low + (1 << fr.SOURCE_SHIFT)))
    return stage[start:end] - low


def ways_over(walk: Walk, links: Sequence[Routes], asks: Sequence[Ask]) -> list[tuple[Hop, ...]]:
    """For each ask the links' shortest ways, one after the other, over the lowest nodes between them.

    ``walk`` is that of the first link.
    """
    if len(links) == 1 or not asks:
        return [walk.shortest(ask) for ask in asks]
    first, *others = links
    between = distinct(walk.pairs.cell)
    reached = led_on(walk.world, link_pairs(walk.world, others[0], between.astype(np.int32)), others[1:])
    middles = np.array([_lowest(walk.pairs, between, reached, ask) for ask in asks], np.int64)
    chosen = distinct(middles)
    following = Walk(walk.world, others[0], chosen.astype(np.int32))
    places = np.searchsorted(chosen, middles).tolist()
    before = ways_over(
        walk, [first], [(place, middle) for (place, _), middle in zip(asks, middles.tolist(), strict=True)]
    )
    after = ways_over(
        following, others, [(place, target) for place, (_, target) in zip(places, asks, strict=True)]
    )
    return [(*one, *two) for one, two in zip(before, after, strict=True)]


def _lowest(first: Pairs, between: Longs, reached: Pairs, ask: Ask) -> int:
    """The lowest of the nodes ``between`` that the source leads to and that leads to the target; ``reached``: from these."""
    place, target = ask
    _, own = first.rows_of(np.array([place]))
    middle = first.cell[own]
    wanted = Pairs(np.searchsorted(between, middle), np.full(len(middle), target)).keys
    found = np.minimum(np.searchsorted(reached.keys, wanted), len(reached) - 1)
    return int(middle[reached.keys[found] == wanted][0])
