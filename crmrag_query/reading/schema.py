"""Which properties lead from which kinds of nodes to which others in one data set, and walks from given nodes over them.

Nodes of the same classes are of one kind. A walk goes on through nodes that stand for something else than themselves
(events, names, measurements, nameless nodes) and ends at what a question may name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.graph.arrays import Ints, distinct
from crmrag_query.ontology.categories import Category
from crmrag_query.ontology.codes import normalise_property
from crmrag_query.plans.kinds import Kinds, made
from crmrag_query.plans.world import Mask, World
from crmrag_query.timing import check

LONGEST = 4
"""Steps of a walk: Thing, event, nameless participation, Actor, and one more; longer ones are curated relations'."""
SAMPLE = 400
"""Nodes of a large set that are walked from: a way that fewer than one in a hundred of them has is not looked for."""
MOST_WALKS = 40  # led on at each step, the cheapest ones
HARD = 9.0
"""A cost above which no walk leads through a node."""
CONCEPTUAL = int(Category.Concept) | int(Category.Time) | int(Category.Place)


def sample_of(nodes: Ints) -> Ints:
    """The nodes, or ``SAMPLE`` of them, the same at every call; ascending."""
    if len(nodes) <= SAMPLE:
        return nodes
    return np.sort(np.random.default_rng(0).choice(nodes, SAMPLE, replace=False))


@dataclass(frozen=True)
class Walk:
    """Steps from where it began, each as a path of a plan writes it; the nodes where it ends; what it costs; and the kinds of
    nodes that it led through."""

    steps: tuple[str, ...]
    ends: Ints
    cost: float
    through: tuple[frozenset[int], ...] = ()


class Schema:
    """The kinds of nodes of a data set and the steps between them: what `Kinds` counts, by the steps of paths.

    ``kind`` int32 [n]: the kind of each node; of each kind ``codes``: its classes, ``category``: its primary one,
    ``labelled``: which share of its nodes has a name; ``steps[kind][step]``: the kinds that a step leads to.
    """

    def __init__(self, world: World, table: Kinds | None = None) -> None:
        self.world = world
        self.table = table = made(world, ()) if table is None else table
        graph = world.graph
        self.kind, count = table.node, len(table)
        self.labelled = table.labelled / np.maximum(table.size, 1)
        self.category = table.category.astype(np.int64)
        self.codes = [
            tuple(
                dict.fromkeys(
                    name
                    for one in table.classes(number).tolist()
                    for name in (graph.class_name(one), graph.class_code(one))
                )
            )
            for number in range(count)
        ]
        self.moves: dict[str, list[tuple[int, bool]]] = {}
        self.inverse: dict[str, str] = {}
        self.steps: list[dict[str, set[int]]] = [{} for _ in range(count)]
        for prop in np.unique(table.step_property).tolist():
            here = slice(*np.searchsorted(table.step_property, (prop, prop + 1)).tolist())
            kinds = list(zip(table.step_start[here].tolist(), table.step_end[here].tolist(), strict=True))
            for ahead, back in self._steps_of(prop):
                self.inverse |= {ahead: back, back: ahead}
                for step, way in ((ahead, True), (back, False)):
                    self.moves.setdefault(step, []).append((prop, way))
                for low, high in kinds:
                    self.steps[low].setdefault(ahead, set()).add(high)
                    self.steps[high].setdefault(back, set()).add(low)
        self.passing = np.array([self._passing(number) for number in range(count)])

    @classmethod
    def from_release(cls, release: Release) -> Schema:
        return cls(release[World], release[Kinds])

    def _steps_of(self, prop: int) -> list[tuple[str, str]]:
        """A property's step and its inverse, in the notation of paths; one of the data's own under its own name as well."""
        graph, ontology = self.world.graph, self.world.ontology
        code, iri = graph.property_code(prop), graph.property_iri(prop)
        known = [(code, ontology.inverse(code) or f"^{code}")] if code in ontology.properties else []
        return known if known and normalise_property(iri) else [*known, (iri, f"^{iri}")]

    def _passing(self, kind: int) -> float:
        """What it costs to lead through nodes of a kind."""
        category = int(self.category[kind])
        if category and category & CONCEPTUAL == category:
            return 10.0
        if category == int(Category.Event):
            return 0.0
        if category == int(Category.Actor):
            return 1.2
        known = [code for code in self.codes[kind] if code in self.world.ontology.classes]
        if any(self.world.ontology.is_a(code, base) for code in known for base in ("E41", "E54")):
            return 0.3
        return 0.15 + 0.55 * float(self.labelled[kind])

    def kinds(self, nodes: Ints | Mask) -> frozenset[int]:
        """The kinds of some nodes."""
        return frozenset(self.table.of(nodes).tolist())

    def reach(self, nodes: Ints, step: str) -> Ints:
        """What a step leads to from some nodes, ascending."""
        found = [np.empty(0, np.int32)]
        adjacency = self.world.adjacency
        for prop, ahead in self.moves[step]:
            rows = adjacency.forward if ahead else adjacency.backward
            found.append(rows.expand(prop, nodes)[1])
        return distinct(np.concatenate(found))

    def distances(self, goal: frozenset[int]) -> dict[int, int]:
        """How many steps at least lead from nodes of each kind to one of ``goal``, through kinds that may be passed."""
        found = dict.fromkeys(goal, 0)
        frontier = set(goal)
        for distance in range(1, LONGEST + 1):
            near: set[int] = set()
            for kind in frontier:
                if kind not in goal and self.passing[kind] > HARD:
                    continue
                for ends in self.steps[kind].values():  # each step has its inverse at the other end
                    near |= ends
            frontier = near - found.keys()
            found |= dict.fromkeys(frontier, distance)
        return found

    def walks(
        self, start: Ints, goal: Mask, goal_kinds: frozenset[int], longest: int = LONGEST
    ) -> list[Walk]:
        """Walks from ``start`` that end among ``goal``, with those of the goal that they reach; the cheapest first."""
        far = self.distances(goal_kinds)
        found: list[Walk] = []
        frontier = [Walk((), start, 0.0)]
        for depth in range(1, longest + 1):
            grown: list[Walk] = []
            for walk in frontier:
                check()
                nodes, kinds = walk.ends, self.kinds(walk.ends)
                price = 0.0
                if depth > 1:
                    open_kinds = [kind for kind in kinds if self.passing[kind] <= HARD]
                    if len(open_kinds) < len(kinds):
                        nodes = nodes[np.isin(self.kind[nodes], open_kinds)]
                        kinds = frozenset(open_kinds)
                    if not len(nodes):
                        continue
                    price = min(float(self.passing[kind]) for kind in kinds)
                for step in self._onward(walk, kinds, far, longest - depth):
                    ends = self.reach(nodes, step)
                    if depth == 1 and len(start) == 1:
                        ends = ends[ends != start[0]]
                    if len(ends):
                        cost = walk.cost + price + (0.12 if depth > 1 else 0.0)
                        cost += 0.3 * (step in walk.steps) + 0.8 * (self.inverse.get(step, "") in walk.steps)
                        through = (*walk.through, kinds) if depth > 1 else ()
                        grown.append(Walk((*walk.steps, step), ends, cost, through))
            for walk in grown:
                inside = walk.ends[goal[walk.ends]]
                if len(inside):
                    found.append(Walk(walk.steps, inside, walk.cost, walk.through))
            frontier = sorted(grown, key=lambda walk: (walk.cost, walk.steps))[:MOST_WALKS]
        return sorted(found, key=lambda walk: (walk.cost, len(walk.steps), walk.steps))

    def _onward(self, walk: Walk, kinds: Iterable[int], far: dict[int, int], left: int) -> list[str]:
        """Steps from nodes of some kinds by which the goal can still be reached."""
        last = walk.steps[-1] if walk.steps else ""
        back = self.inverse.get(last, "")
        found: set[str] = set()
        for kind in kinds:
            for step, ends in self.steps[kind].items():
                if step not in found and step != back and any(far.get(end, 99) <= left for end in ends):
                    found.add(step)
        return sorted(found)
