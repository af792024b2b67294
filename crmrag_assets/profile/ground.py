"""What all parts of a profile count with: nodes by sets of classes, and which entities to show first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from crmrag_assets.documents.setting import numbers_of
from crmrag_query.config.loading import Method
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_LABELLED, Ints, Longs
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import Category
from crmrag_query.ontology.tables import Ontology
from crmrag_query.plans.profile import Counted, Example

Bools = npt.NDArray[np.bool_]
Number = TypeVar("Number", bound=np.generic)
# How much of each entry is shown, so that a profile stays below a megabyte whatever the data set holds.
EXAMPLES = 3  # entities, pairs or literals
TOP = 5  # classes, categories, datatypes, languages
CHARACTERS = 80  # of a label or literal


@dataclass(frozen=True)
class ClassSets:
    """Nodes by the set of their classes, of which there are few: ``of`` int32 [n]; ``ptr``, ``val``: the classes of a set."""

    of: Ints
    ptr: Longs
    val: Ints

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def spread(self, sets: Ints | Longs) -> tuple[Longs, Ints]:
        """(place in ``sets``, class) for every class of each set."""
        low = self.ptr[sets]
        count = self.ptr[sets.astype(np.int64) + 1] - low
        place = np.repeat(np.arange(len(sets)), count)
        at = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count) + low[place]
        return place, self.val[at]


def class_sets(ptr: Longs, val: Ints) -> ClassSets:
    """The distinct rows of ``type_rows``: told apart class by class, so equal rows and no others share a number."""
    size = np.diff(ptr)
    state, following = np.zeros(len(size), np.int64), 1
    for column in range(int(size.max(initial=0))):
        chosen = np.flatnonzero(size > column)
        key = state[chosen] * (int(val.max()) + 1) + val[ptr[chosen] + column]
        _, row = np.unique(key, return_inverse=True)
        state[chosen] = following + row
        following += int(row.max()) + 1
    _, first, of = np.unique(state, return_index=True, return_inverse=True)
    count = size[first]
    at = np.repeat(ptr[first], count) + np.arange(int(count.sum()))
    at -= np.repeat(np.cumsum(count) - count, count)
    return ClassSets(of.astype(np.int32), np.append(0, np.cumsum(count)).astype(np.int64), val[at])


@dataclass(frozen=True)
class Ground:
    """A graph with what is counted again and again."""

    graph: Graph
    ontology: Ontology
    method: Method

    @cached_property
    def entity(self) -> Bools:
        return np.asarray((self.graph.flags & FLAG_ENTITY) != 0)

    @cached_property
    def sets(self) -> ClassSets:
        ptr, val = self.graph.type_rows
        return class_sets(np.asarray(ptr), np.asarray(val))

    @cached_property
    def class_names(self) -> list[str]:
        """Code of each class, its IRI outside the CRM family."""
        codes = self.graph.class_codes
        return [code or self.graph.class_iri(number) for number, code in enumerate(codes)]

    def of_classes(self, codes: Collection[str]) -> Ints:
        """The nodes of which one of these classes is stated; its sub-classes do not count."""
        ptr, val = self.graph.type_rows
        wanted = [number for number, code in enumerate(self.graph.class_codes) if code in codes]
        return np.repeat(np.arange(self.graph.nodes, dtype=np.int32), np.diff(ptr))[np.isin(val, wanted)]

    @cached_property
    def degree(self) -> Longs:
        """Triples of each node with another node, both ways, int64 [n]."""
        adjacency, found = self.graph.adjacency, np.zeros(self.graph.nodes, np.int64)
        for rows in (adjacency.forward, adjacency.backward):
            np.add.at(found, rows.row, np.diff(rows.ptr))
        return found

    @cached_property
    def rank(self) -> Ints:
        """Place of each node as an example, int32 [n]: with a stated label first, then by degree, then by IRI."""
        unnamed = (self.graph.flags & FLAG_LABELLED) == 0
        order = np.lexsort((np.arange(self.graph.nodes), -self.degree, unnamed))
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return rank

    def first(self, nodes: Ints | Longs) -> list[int]:
        """Places in ``nodes`` of those to show, the best first."""
        rank = self.rank[nodes]
        chosen = (
            np.argpartition(rank, EXAMPLES - 1)[:EXAMPLES] if len(rank) > EXAMPLES else np.arange(len(rank))
        )
        return [int(at) for at in chosen[np.argsort(rank[chosen])]]

    def example(self, node: int) -> Example:
        return Example(self.graph.iri(node), shortened(self.graph.label(node)))

    def classes_of(self, sets: Ints | Longs, counts: Longs) -> Longs:
        """How often each class occurs, int64 [classes], where each of ``sets`` occurs ``counts`` times."""
        place, number = self.sets.spread(sets)
        found = np.zeros(len(self.class_names), np.int64)
        np.add.at(found, number, counts[place])
        return found

    def triples(self, numbers: Iterable[int]) -> tuple[Ints, Ints]:
        """(subject, object) of all triples of these properties."""
        rows = self.graph.adjacency.forward
        parts = [(np.empty(0, np.int32), np.empty(0, np.int32))]
        for number in numbers:
            low, high = int(rows.prop[number]), int(rows.prop[number + 1])
            count = np.diff(rows.ptr[low : high + 1])
            parts.append((np.repeat(rows.row[low:high], count), rows.val[rows.ptr[low] : rows.ptr[high]]))
        return np.concatenate([s for s, _ in parts]), np.concatenate([o for _, o in parts])

    def edges(self, properties: Iterable[str]) -> tuple[Ints, Ints]:
        """(from, to) of all triples of these properties (codes or IRIs), and of their inverses turned round."""
        own = list(properties)
        inverses = [inverse for word in own if (inverse := self.ontology.inverse(word)) and inverse != word]
        source, target = self.triples(numbers_of(self.graph, own))
        to, back = self.triples(numbers_of(self.graph, inverses))
        return np.concatenate([source, back]), np.concatenate([target, to])

    def mask(self, nodes: Ints | Longs) -> Bools:
        """Which nodes are among ``nodes``, bool [n]."""
        found = np.zeros(self.graph.nodes, bool)
        found[nodes] = True
        return found


def grouped(values: npt.NDArray[Number], keys: Ints | Longs, count: int) -> list[npt.NDArray[Number]]:
    """The values of each key below ``count``, in their order."""
    order = np.argsort(keys, kind="stable")
    return np.split(values[order], np.searchsorted(keys[order], np.arange(1, count)))[:count]


def most(counts: Longs, names: Sequence[str], limit: int) -> tuple[Counted, ...]:
    """The ``limit`` most frequent by number, ties by name; none that do not occur."""
    found = np.flatnonzero(counts).tolist()
    found.sort(key=lambda number: (-int(counts[number]), names[number]))
    return tuple((names[number], int(counts[number])) for number in found[:limit])


def by_category(counts: Longs, limit: int) -> tuple[Counted, ...]:
    """How many of each primary category, most first, by counts of each bit; those without a known one are left out."""
    return most(counts[[int(one) for one in Category]], [str(one.name) for one in Category], limit)


def distinct(keys: Longs) -> tuple[Longs, Longs]:
    """Distinct keys, ascending, and how often each occurs."""
    found, counts = np.unique(keys, return_counts=True)
    return found, counts.astype(np.int64)


def once(values: Longs) -> Longs:
    """Distinct values, ascending; by sorting, which for millions is faster than the hashing of ``numpy.unique``."""
    found = np.sort(values)
    first = np.ones(len(found), bool)
    np.not_equal(found[1:], found[:-1], out=first[1:])
    return found[first]


def shortened(text: str) -> str:
    """The text on one line, cut with an ellipsis."""
    line = " ".join(text[: 4 * CHARACTERS].split())
    return line if len(line) <= CHARACTERS else line[: CHARACTERS - 1] + "…"
