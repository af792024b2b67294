"""Satellites: entities that are told in the documents of those they belong to (facts: method, Build)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from crmrag_query.config.loading import Method
from crmrag_query.graph.arrays import FLAG_ENTITY, Adjacency, Bytes, Ints, Longs, ranges, run_starts, spread
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Ontology

AnyInts = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
NO_KIND = 255  # of a class or node; greater than the number of any kind
REIFIED = ("P01", "P02")  # from a PC-class node to the two ends of the property it reifies


@dataclass(frozen=True, slots=True)
class Csr:
    """``ptr`` int64 [rows+1] and ``val`` int32: the values of row i are ``val[ptr[i]:ptr[i+1]]``, ascending, distinct."""

    ptr: Longs
    val: Ints

    def of(self, row: int) -> Ints:
        return self.val[self.ptr[row] : self.ptr[row + 1]]

    @property
    def counts(self) -> Longs:
        return np.diff(self.ptr)

    def gather(self, rows: AnyInts) -> tuple[Longs, Ints]:
        """All values of ``rows``: (index into ``rows``, value), in order of ``rows``."""
        index, at = spread(self.ptr, rows)
        return index, self.val[at]


def csr_from_pairs(row: AnyInts, value: AnyInts, rows: int) -> Csr:
    """Rows of distinct values over pairs given in any order."""
    row, value = distinct_pairs(row, value)
    ptr = np.searchsorted(row, np.arange(rows + 1)).astype(np.int64)
    return Csr(ptr, value.astype(np.int32))


def distinct_pairs(first: AnyInts, second: AnyInts) -> tuple[AnyInts, AnyInts]:
    """Distinct pairs, sorted by first then second."""
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    new = run_starts(first, second)
    return first[new], second[new]


@dataclass(frozen=True, slots=True)
class Satellites:
    """Which nodes are satellites, and whose documents tell them.

    ``kind`` uint8 [n]: 0, or 1 + position of the kind in satellites.yaml; ``absorbed`` bool [n]: has no document of its
    own; ``parents``: of each absorbed satellite, the entities in whose documents it is told; ``children``: the reverse.
    """

    kind: Bytes
    absorbed: Bools
    parents: Csr
    children: Csr
    crowded: Bools  # bool [n]: satellites that keep a document because they have too many parents


def find_satellites(graph: Graph, ontology: Ontology, method: Method) -> Satellites:
    """Satellites of a graph; satellites of satellites belong to the ancestors that are none."""
    kind = satellite_kinds(graph, ontology, method)
    child, parent = direct_parents(graph.adjacency, kind > 0)
    roots, crowded = resolve(kind > 0, child, parent, method.satellites.max_parents)
    node = np.repeat(np.arange(graph.nodes, dtype=np.int32), roots.counts)
    children = csr_from_pairs(roots.val, node, graph.nodes)
    return Satellites(kind, roots.counts > 0, roots, children, crowded)


def satellite_kinds(graph: Graph, ontology: Ontology, method: Method) -> Bytes:
    """uint8 [n]: the kind of each satellite, 0 for all else.

    A node is a satellite when one of its classes is a satellite class (or below one) and every other CRM class of it is
    one too or stands above one: an E33 that is also an E41 is a name, an E12 that is also an E52 is an event.
    """
    kinds = list(method.satellites.kinds.values())
    stated = {code for codes in kinds for code in codes}
    above = {upper for code in stated for upper in ontology.superclasses(code)}
    of_class = np.full(len(graph.class_codes), NO_KIND, np.uint8)
    blocks = np.zeros(len(graph.class_codes), bool)
    for number, code in enumerate(graph.class_codes):
        found = (
            i for i, codes in enumerate(kinds, 1) if any(ontology.is_a(code, wanted) for wanted in codes)
        )
        of_class[number] = next(found, NO_KIND)
        blocks[number] = bool(code) and of_class[number] == NO_KIND and code not in above
    ptr, val = graph.type_rows
    node = np.repeat(np.arange(graph.nodes), np.diff(ptr))
    kind = np.full(graph.nodes, NO_KIND, np.uint8)
    np.minimum.at(kind, node, of_class[val])
    kind[kind == NO_KIND] = 0
    kind[node[blocks[val]]] = 0
    kind[(graph.flags & FLAG_ENTITY) == 0] = 0
    return kind


def direct_parents(adjacency: Adjacency, satellite: Bools) -> tuple[Ints, Ints]:
    """Distinct pairs (satellite, parent): who points at it, whom it points at by an inverse property, and the ends of the
    property that it reifies."""
    subject, object_ = adjacency.forward.sources, adjacency.forward.val
    inverse = np.array([code.endswith("i") or code in REIFIED for code in adjacency.codes], bool)
    entity = (adjacency.flags & FLAG_ENTITY) != 0
    other = subject != object_
    at = other & satellite[object_]
    by = other & satellite[subject] & inverse[adjacency.forward.properties] & entity[object_]
    child, parent = distinct_pairs(
        np.concatenate([object_[at], subject[by]]), np.concatenate([subject[at], object_[by]])
    )
    return child.astype(np.int32), parent.astype(np.int32)


def resolve(satellite: Bools, child: Ints, parent: Ints, max_parents: int) -> tuple[Csr, Bools]:
    """The documents that tell each satellite, and which satellites have too many parents to be told in all.

    A satellite without a parent, or with more than ``max_parents`` after resolution, has a document itself (an empty row),
    and its own satellites are told there. Satellites that point at each other in a cycle share their parents.
    """
    nodes = len(satellite)
    absorbable = satellite.copy()
    while True:  # a document of its own makes a satellite a parent that counts
        pairs = ~absorbable[parent] & absorbable[child]
        crowded = np.bincount(child[pairs], minlength=nodes) > max_parents
        if not crowded.any():
            break
        absorbable &= ~crowded
    kept = absorbable[child]
    child, parent = child[kept], parent[kept]
    inner = absorbable[parent]
    reach = csr_array((np.ones(int(inner.sum()), bool), (child[inner], parent[inner])), shape=(nodes, nodes))
    group = np.asarray(connected_components(reach, connection="strong")[1], np.int32)  # equal in a cycle
    roots, full = _settled(group, child, parent, absorbable, max_parents)
    members = np.flatnonzero(absorbable).astype(np.int32)
    origin, root = roots.gather(group[members])
    return csr_from_pairs(members[origin], root, nodes), satellite & ~absorbable | absorbable & full[group]


def _settled(
    group: Ints, child: Ints, parent: Ints, absorbable: Bools, max_parents: int
) -> tuple[Csr, Bools]:
    """The documents that tell each group of satellites, and which groups have too many parents.

    Parents before children: each round settles the groups whose parents are settled.
    """
    nodes = len(group)
    inner = absorbable[parent] & (group[child] != group[parent])
    outer = ~absorbable[parent]
    direct = csr_from_pairs(group[child[outer]], parent[outer], nodes)
    above = csr_from_pairs(group[child[inner]], parent[inner], nodes)
    below = csr_from_pairs(group[parent[inner]], group[child[inner]], nodes)
    waiting = np.bincount(below.val, minlength=nodes)
    kept, full = np.zeros(nodes, bool), np.zeros(nodes, bool)  # by group: has a document; of too many
    begin, count = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)  # of each settled group, in ``roots``
    roots = np.empty(0, np.int32)
    ready = np.unique(group[absorbable & (waiting[group] == 0)])
    while len(ready):
        own, documents = direct.gather(ready)
        at, satellites = above.gather(ready)
        stays = kept[group[satellites]]
        through = group[satellites[~stays]]
        further = roots[ranges(begin[through], count[through])]
        first = np.concatenate([own, at[stays], np.repeat(at[~stays], count[through])])
        of, value = distinct_pairs(first, np.concatenate([documents, satellites[stays], further]))
        found = np.bincount(of, minlength=len(ready))
        full[ready] = found > max_parents
        kept[ready] = (found == 0) | (found > max_parents)
        few = ~kept[ready][of]
        count[ready] = np.where(kept[ready], 0, found)
        begin[ready] = len(roots) + np.cumsum(count[ready]) - count[ready]
        roots = np.concatenate([roots, value[few].astype(np.int32)])
        _, reached = below.gather(ready)
        np.subtract.at(waiting, reached, 1)
        ready = np.unique(reached[waiting[reached] == 0])
    origin = np.repeat(np.arange(nodes, dtype=np.int32), count)
    return csr_from_pairs(origin, roots[ranges(begin, count)], nodes), full
