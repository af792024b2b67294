"""What occurs in a data set: kinds of nodes, the steps between them, the kinds that each relation leads from and to; walks
from given nodes over the properties that lead between kinds.

Nodes of the same classes and primary category are of one kind. Built as the artifact `lexicon`; the ends of a relation
that it does not know are worked out when they are first asked for. A walk goes on through nodes that stand for something else
than themselves (events, names, measurements, nameless nodes) and ends at what a question may name.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.artifacts.manifest import open_arrays, open_meta, rebuild, save_arrays
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError, ReleaseError
from crmrag_query.graph.arrays import (
    FLAG_LABELLED,
    Bytes,
    Ints,
    Longs,
    consecutive,
    distinct,
    places_in,
    run_starts,
    spread,
)
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.ontology.load import Category, normalise_property
from crmrag_query.plans.records import Way
from crmrag_query.plans.world import Mask, World, leading_to
from crmrag_query.relationships.engine import NONE, hop_set
from crmrag_query.timing import check

SCHEMA_VERSION = 1
FOLDER = "lexicon"
META = "lexicon.json"
ARRAYS: Mapping[str, str] = {
    "node": "int32",
    "category": "uint8", "class_ptr": "int64", "class_number": "int32", "size": "int64", "labelled": "int64",
    "step_property": "int32", "step_start": "int32", "step_end": "int32", "step_triples": "int64",
    "start_ptr": "int64", "start_kind": "int32", "end_ptr": "int64", "end_kind": "int32",
}  # fmt: skip
"""The arrays of the artifact, each a row of numbers of this type; what they mean stands in `Kinds`."""
DIVIDES = {"class_ptr": "class_number", "start_ptr": "start_kind", "end_ptr": "end_kind"}
ALIKE = (
    ("category", "class_ptr", "size", "labelled"), ("start_ptr", "end_ptr"),
    ("step_property", "step_start", "step_end", "step_triples"),
)  # fmt: skip


@dataclass(frozen=True)
class Kinds:
    """The kinds of nodes of a data set, numbered in the order of category and classes.

    ``node`` int32 [n]: the kind of each node. Of each kind ``category`` uint8 [k]; ``class_ptr`` int64 [k+1] divides
    ``class_number`` int32, its classes, ascending; ``size``, ``labelled`` int64 [k]: its nodes, and those of them whose label
    is stated. A step is a property that leads from nodes of one kind to nodes of another: ``step_property``, ``step_start``,
    ``step_end`` int32 [s], in this order, by ``step_triples`` int64 [s] triples. Of each of ``relations`` (ids)
    ``start_ptr``, ``end_ptr`` int64 [r+1] divide ``start_kind``, ``end_kind`` int32: the kinds that it leads from, and to,
    ascending.
    """

    node: Ints
    category: Bytes
    class_ptr: Longs
    class_number: Ints
    size: Longs
    labelled: Longs
    step_property: Ints
    step_start: Ints
    step_end: Ints
    step_triples: Longs
    start_ptr: Longs
    start_kind: Ints
    end_ptr: Longs
    end_kind: Ints
    relations: tuple[str, ...] = ()

    @classmethod
    def from_release(cls, release: Release) -> Kinds:
        return cls.open(release.folder / FOLDER, release[Graph])

    @classmethod
    def open(cls, folder: Path, graph: Graph) -> Kinds:
        """Memory-map the artifact in ``folder``, which is of ``graph``; raises ReleaseError when it is missing, damaged, of
        another version or of another graph."""
        meta = open_meta(folder / META, "lexicon")
        relations = meta.get("relations")
        if not isinstance(relations, list) or not all(isinstance(id, str) for id in relations):
            raise ReleaseError(f"{folder / META} names no relations.", rebuild(folder))
        arrays = open_arrays(folder, ARRAYS, DIVIDES, alike=ALIKE)
        kinds = len(arrays["category"])
        below = dict.fromkeys(("node", "step_start", "step_end", "start_kind", "end_kind"), kinds) | {
            "class_number": len(graph.class_codes),
            "step_property": len(graph.property_codes),
        }
        for name, length in (("node", graph.nodes), ("start_ptr", len(relations) + 1)):
            if len(arrays[name]) != length:
                raise ReleaseError(
                    f"{folder / name}.npy has {len(arrays[name]):,} numbers where {length:,} belong.",
                    rebuild(folder),
                )
        for name, end in below.items():
            if len(arrays[name]) and not 0 <= arrays[name].min() <= arrays[name].max() < end:
                raise ReleaseError(
                    f"{folder / name}.npy has numbers that are not within 0 … {end - 1:,}.", rebuild(folder)
                )
        return cls(**arrays, relations=tuple(relations))

    def save(self, folder: Path) -> None:
        """Write the artifact into ``folder``; equal kinds give equal bytes."""
        save_arrays(folder, self, ARRAYS, META, schema=SCHEMA_VERSION, relations=list(self.relations))

    def __len__(self) -> int:
        return len(self.category)

    def classes(self, kind: int) -> Ints:
        """The class numbers of a kind, ascending."""
        return self.class_number[self.class_ptr[kind] : self.class_ptr[kind + 1]]

    def of(self, nodes: Ints | Mask) -> Ints:
        """The kinds of some nodes, ascending."""
        found = np.zeros(len(self), bool)
        found[self.node[nodes]] = True
        return np.flatnonzero(found).astype(np.int32)

    def ends(self, world: World, relation: str) -> tuple[frozenset[int], frozenset[int]]:
        """The kinds of nodes that a relation leads from, and to; none for what no relation of the world is."""
        if relation not in self.relations:
            low, high = _ends(world, self, relation)
            return frozenset(low.tolist()), frozenset(high.tolist())
        at = self.relations.index(relation)
        starts = self.start_kind[self.start_ptr[at] : self.start_ptr[at + 1]]
        ends = self.end_kind[self.end_ptr[at] : self.end_ptr[at + 1]]
        return frozenset(starts.tolist()), frozenset(ends.tolist())


def made(world: World, relations: Iterable[str] | None = None) -> Kinds:
    """The kinds of a world, with the ends of these of its relations; None: of all."""
    graph = world.graph
    node, category, class_ptr, class_number = _classed(graph)
    count = len(category)
    labelled = np.bincount(node[(graph.flags & FLAG_LABELLED) != 0], minlength=count)
    nothing = np.empty(0, np.int32)
    kinds = Kinds(
        node, category, class_ptr, class_number, np.bincount(node, minlength=count), labelled,
        *_steps(graph, node, count), np.zeros(1, np.int64), nothing, np.zeros(1, np.int64), nothing,
    )  # fmt: skip
    ids = tuple(world.relations if relations is None else relations)
    if not ids:
        return kinds
    starts, ends = zip(*(_ends(world, kinds, id) for id in ids), strict=True)
    return replace(
        kinds,
        relations=ids,
        start_ptr=_ptr(starts),
        start_kind=np.concatenate(starts),
        end_ptr=_ptr(ends),
        end_kind=np.concatenate(ends),
    )


def _ptr(parts: Iterable[Ints]) -> Longs:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _classed(graph: Graph) -> tuple[Ints, Bytes, Longs, Ints]:
    """``node``, ``category``, ``class_ptr`` and ``class_number``; see `Kinds`.

    A state stands for a category and the first classes of a node; nodes that have one more come to another by it.
    """
    ptr, classes = graph.type_rows
    count, most = np.diff(ptr), max(1, len(graph.class_codes))
    state = graph.category_of_node.astype(np.int64)
    states, place = 1 << 8, 0
    left = np.flatnonzero(count > 0)
    while len(left):
        found = pa.array(state[left] * most + classes[ptr[left] + place]).dictionary_encode()
        state[left] = states + found.indices.to_numpy()
        states, place = states + len(found.dictionary), place + 1
        left = left[count[left] > place]
    last = pa.array(state).dictionary_encode().indices.to_numpy()
    first = np.full(int(last.max(initial=-1)) + 1, len(last), np.int64)
    np.minimum.at(first, last, np.arange(len(last)))
    keys = [
        (int(graph.category_of_node[one]), *classes[ptr[one] : ptr[one + 1]].tolist())
        for one in first.tolist()
    ]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    held = [np.array(keys[number][1:], np.int32) for number in order]
    return (
        places_in(order)[last],
        np.array([keys[number][0] for number in order], np.uint8),
        _ptr(held),
        np.concatenate([np.empty(0, np.int32), *held]),
    )


def _steps(graph: Graph, node: Ints, count: int) -> tuple[Ints, Ints, Ints, Longs]:
    """``step_property``, ``step_start``, ``step_end`` and ``step_triples``; see `Kinds`."""
    parts = [np.empty((4, 0), np.int64)]
    for prop in range(len(graph.property_codes)):
        subjects, objects = graph.adjacency.forward.pairs(prop)
        keys = np.sort(node[subjects].astype(np.int64) * count + node[objects])
        first = np.flatnonzero(run_starts(keys))
        start, end = np.divmod(keys[first], max(count, 1))
        parts.append(np.stack([np.full(len(first), prop), start, end, np.diff(first, append=len(keys))]))
    number, start, end, triples = np.concatenate(parts, axis=1)
    return number.astype(np.int32), start.astype(np.int32), end.astype(np.int32), triples


def _ends(world: World, kinds: Kinds, relation: str) -> tuple[Ints, Ints]:
    """The kinds that a relation leads from, and to, ascending."""
    way, nothing = Way(relations=(relation,)), np.empty(0, np.int32)
    try:
        starts = kinds.of(leading_to(world, way, None))
        if not len(starts):
            return nothing, nothing
        return starts, kinds.of(leading_to(world, way.model_copy(update={"inverse": True}), None))
    except QuestionError:
        return nothing, nothing


LONGEST = 4
"""Steps of a walk: Thing, event, nameless participation, Actor, and one more; longer ones are curated relations'."""
SAMPLE = 400
"""Nodes of a large set that are walked from: a way that fewer than one in a hundred of them has is not looked for."""
LED_ON = 40  # walks that are led on at each step, the cheapest ones
GOALS, COMBINED = 16, 256  # goals, and sets of kinds, of which it is kept by which steps they lead on
LARGE = 1 << 11  # nodes whose steps are walked one after the other
HARD = 9.0
"""A cost above which no walk leads through a node."""
_SLOT = 31  # bits of a node in a key that sorts by set and step, then node
FEW = 256  # nodes whose kinds are sooner listed one by one than marked among all
AT_ONCE = 1 << 20  # triples that are looked at, some fifty bytes each
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


Onward = Callable[[Walk, frozenset[int], int], list[str]]


class Schema:
    """The kinds of nodes of a data set and the steps between them: what `Kinds` counts, by the steps of paths.

    ``kind`` int32 [n]: the kind of each node; of each kind ``codes``: its classes, ``category``: its primary one,
    ``labelled``: which share of its nodes has a name; ``steps[kind][step]``: the kinds that a step leads to.
    """

    def __init__(self, world: World, triples: TriplesIndex, table: Kinds | None = None) -> None:
        self.world, self.triples = world, triples
        self.table = table = made(world, ()) if table is None else table
        graph = world.graph
        self.kind, count = table.node, len(table)
        self.labelled = table.labelled / np.maximum(table.size, 1)
        self.category = table.category.astype(np.int64)
        names = [(graph.class_name(one), graph.class_code(one)) for one in range(len(graph.class_codes))]
        of_kinds = (table.classes(number).tolist() for number in range(count))
        self.codes = [tuple(dict.fromkeys(name for one in of for name in names[one])) for of in of_kinds]
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
        self.passing = [self._passing(number) for number in range(count)]  # looked up one by one
        self._may_pass = np.array(self.passing) <= HARD
        self._numbers = {step: number for number, step in enumerate(self.moves)}
        self._steps_of_moves = [self._by_property(ahead) for ahead in (False, True)]
        self._leaving = [self._by_kind(ahead) for ahead in (False, True)]

    @classmethod
    def from_release(cls, release: Release) -> Schema:
        return cls(release[World], release[TriplesIndex], release[Kinds])

    def _steps_of(self, prop: int) -> list[tuple[str, str]]:
        """A property's step and its inverse, in the notation of paths; one of the data's own under its own name as well."""
        graph, ontology = self.world.graph, self.world.ontology
        code, iri = graph.property_code(prop), graph.property_iri(prop)
        known = [(code, ontology.inverse(code) or f"^{code}")] if code in ontology.properties else []
        return known if known and normalise_property(iri) else [*known, (iri, f"^{iri}")]

    def _by_property(self, ahead: bool) -> list[Ints]:
        """By each property, followed ahead or back, the number of its step, and of its second one where some have two: int32
        [properties] each, the number of no step where it has none."""
        known: list[list[int]] = [[] for _ in self.world.graph.property_codes]
        for step, moves in self.moves.items():
            for prop, way in moves:
                if way is ahead:
                    known[prop].append(self._numbers[step])
        most, none = max(map(len, known), default=0), len(self._numbers)
        return [
            np.array([steps[at] if at < len(steps) else none for steps in known], np.int32)
            for at in range(most)
        ]

    def _by_kind(self, ahead: bool) -> npt.NDArray[np.float32]:
        """1 where a triple leads from a node of a kind by a step that follows its property ahead, or back: [steps, kinds]."""
        found = np.zeros((len(self._numbers), len(self.labelled)), np.float32)
        kinds = self.table.step_start if ahead else self.table.step_end
        for steps in self._steps_of_moves[int(ahead)]:
            step = steps[self.table.step_property]
            known = step < len(found)
            found[step[known], kinds[known]] = 1
        return found

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
        few = len(nodes) <= FEW and nodes.dtype != bool
        return frozenset((self.kind[nodes] if few else self.table.of(nodes)).tolist())

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
        self,
        start: Ints,
        goal: Mask,
        goal_kinds: frozenset[int],
        longest: int = LONGEST,
        most: int = sys.maxsize,
    ) -> list[Walk]:
        """The ``most`` cheapest walks from ``start`` that end among ``goal``, with those of the goal that they reach; the
        cheapest first. What costs more than so many that are known is not walked: each further step costs something."""
        onward = self._onward(goal_kinds)
        found: list[Walk] = []
        frontier, origin = [Walk((), start, 0.0)], start.tobytes()
        for depth in range(1, longest + 1):
            check()
            highest = found[most - 1].cost if len(found) >= most else math.inf
            leads = list(self._leads(frontier, depth > 1))
            costs: list[dict[str, float]] = []
            for walk, _, kinds in leads:
                price = min(self.passing[kind] for kind in kinds) if depth > 1 else 0.0
                so_far = walk.cost + price + (0.12 if depth > 1 else 0.0)
                every = (
                    (step, so_far + self._again(step, walk)) for step in onward(walk, kinds, longest - depth)
                )
                costs.append({step: cost for step, cost in every if cost <= highest})
            last, grown = depth == longest, list[Walk]()
            nodes = [nodes for _, nodes, _ in leads]
            walked = [(origin, *walk.steps) for walk, _, _ in leads]
            onwards = self._led_on(nodes, costs, goal) if last else self._led_before(walked, nodes, costs)
            for number, step, ends in onwards:
                if depth == 1 and len(start) == 1:
                    ends = ends[ends != start[0]]
                if not len(ends):
                    continue
                walk, _, kinds = leads[number]
                # of the kinds that a walk comes to, it leads on through those that have the next step
                led = frozenset(kind for kind in kinds if step in self.steps[kind])
                through = (*walk.through, led) if depth > 1 else ()
                grown.append(Walk((*walk.steps, step), ends, costs[number][step], through))
                inside = ends if last else ends[goal[ends]]
                if len(inside):
                    found.append(Walk(grown[-1].steps, inside, grown[-1].cost, through))
            found.sort(key=lambda walk: (walk.cost, len(walk.steps), walk.steps))
            frontier = sorted(grown, key=lambda walk: (walk.cost, walk.steps))[:LED_ON]
        return found[:most]

    def _again(self, step: str, walk: Walk) -> float:
        """What it costs that a walk takes a step again, or back."""
        return 0.3 * (step in walk.steps) + 0.8 * (self.inverse.get(step, "") in walk.steps)

    def _leads(self, frontier: Sequence[Walk], passing: bool) -> Iterator[tuple[Walk, Ints, frozenset[int]]]:
        """The walks that lead on, from which nodes and from which kinds: where they go on, those that may be passed."""
        for walk in frontier:
            nodes, kinds = walk.ends, self.kinds(walk.ends)
            if passing:
                open_kinds = frozenset(kind for kind in kinds if self.passing[kind] <= HARD)
                if len(open_kinds) < len(kinds):
                    nodes, kinds = nodes[self._may_pass[self.kind[nodes]]], open_kinds
            if len(nodes):
                yield walk, nodes, kinds

    @cached_property
    def _onward(self) -> Callable[[frozenset[int]], Onward]:
        """By the kinds of a goal: which steps lead on towards it. Questions ask for the same goals from many starts."""
        return lru_cache(GOALS)(self._towards)

    def _towards(self, goal: frozenset[int]) -> Onward:
        """Gives the steps by which a walk can lead on from some kinds so that the goal can be reached in so many more."""
        far = self.distances(goal)

        @cache
        def steps_of(kind: int, left: int) -> frozenset[str]:
            near = {end for end, distance in far.items() if distance <= left}
            return frozenset(step for step, ends in self.steps[kind].items() if not near.isdisjoint(ends))

        @lru_cache(COMBINED)
        def steps_from(kinds: frozenset[int], left: int) -> tuple[str, ...]:
            return tuple(sorted(frozenset().union(*(steps_of(kind, left) for kind in kinds))))

        def onward(walk: Walk, kinds: frozenset[int], left: int) -> list[str]:
            back = self.inverse.get(walk.steps[-1], "") if walk.steps else ""
            return [step for step in steps_from(kinds, left) if step != back]

        return onward

    def _led_on(
        self, starts: Sequence[Ints], steps: Sequence[Collection[str]], within: Mask | None
    ) -> Iterator[tuple[int, str, Ints]]:
        """Where each of several sets of nodes is led by each of its steps: (set, step, nodes ascending), those alone that are
        ``within`` (None: all), for each step that leads anywhere."""
        few = [number for number, one in enumerate(starts) if len(one) < LARGE and steps[number]]
        for number, step, ends in self._led_at_once(
            [starts[at] for at in few], [steps[at] for at in few], within
        ):
            yield few[number], step, ends
        for number, nodes in enumerate(starts):
            for step in steps[number] if len(nodes) >= LARGE else ():
                check()
                ends = hop_set(self.world.adjacency, self.moves[step], nodes)
                yield number, step, ends if within is None else ends[within[ends]]

    def _led_before(
        self, walked: Sequence[tuple[Hashable, ...]], starts: Sequence[Ints], steps: Sequence[Collection[str]]
    ) -> Iterator[tuple[int, str, Ints]]:
        """`_led_on` of walks that go on whatever their goal is: a question asks for those from one start to many goals. What
        each leads to is kept by where it began and its steps (``walked``)."""
        unknown: list[list[str]] = [[] for _ in starts]
        for number, some in enumerate(steps):
            for step in some:
                known = self.world.recent((*walked[number], step))
                if known is None:
                    unknown[number].append(step)
                else:
                    yield number, step, known.ascending
        led = {(number, step): ends for number, step, ends in self._led_on(starts, unknown, None)}
        for number, some in enumerate(unknown):
            for step in some:
                ends = led.get((number, step), NONE)
                self.world.keep((*walked[number], step), ends)
                yield number, step, ends

    def _led_at_once(
        self, starts: Sequence[Ints], steps: Sequence[Collection[str]], within: Mask | None
    ) -> Iterator[tuple[int, str, Ints]]:
        """`_led_on` of small sets: over all triples of all nodes together, which one by one cost ten times as much."""
        slots = [(number, step) for number, some in enumerate(steps) for step in some]
        if not slots:
            return
        slot_of = np.full((len(starts), len(self._numbers) + 1), -1, np.int64)
        for place, (start, name) in enumerate(slots):
            slot_of[start, self._numbers[name]] = place
        every = np.concatenate(starts)
        owners = np.repeat(np.arange(len(starts)), [len(one) for one in starts])
        taken = (slot_of[:, :-1] >= 0).astype(np.float32)
        triples, found, size = self.triples, [np.empty(0, np.int64)], 0
        sides: tuple[tuple[Longs, Ints, Ints, bool], ...] = (
            (triples.out_ptr, triples.out_tri, triples.graph.adjacency.forward.val, True),
            (triples.in_ptr, triples.in_tri, triples.tri_s, False),
        )
        for ptr, numbers, far, ahead in sides:
            leaves = (taken @ self._leaving[int(ahead)] > 0)[owners, self.kind[every]]
            nodes, owner = every[leaves], owners[leaves]
            for part in consecutive(np.cumsum(ptr[nodes + 1] - ptr[nodes]), AT_ONCE):
                check()
                index, row = spread(ptr, nodes[part])
                number = numbers[row]
                if within is not None:
                    inside = np.flatnonzero(within[far[number]])
                    index, number = index[inside], number[inside]
                for step in self._steps_of_moves[int(ahead)]:
                    slot = slot_of[owner[part][index], step[triples.tri_p[number]]]
                    kept = np.flatnonzero(slot >= 0)
                    found.append(slot[kept] << _SLOT | far[number[kept]])
                    size += len(kept)
                if size > AT_ONCE:
                    found, size = [distinct(np.concatenate(found))], 0
        keys = distinct(np.concatenate(found))
        places, ends = keys >> _SLOT, (keys & ((1 << _SLOT) - 1)).astype(np.int32)
        first = np.flatnonzero(run_starts(places))
        for low, high in pairwise([*first.tolist(), len(ends)]):
            start, name = slots[int(places[low])]
            yield start, name, ends[low:high]
