"""Satellites: entities that are told in the documents of those they belong to (facts: method, Build)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from crmrag_assets.documents.csr import Csr, csr_from_pairs, distinct_pairs
from crmrag_query.config.models import Method
from crmrag_query.graph.arrays import FLAG_ENTITY, Adjacency, Bytes, Ints
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.tables import Ontology

Bools = npt.NDArray[np.bool_]
REIFIED = ("P01", "P02")  # from a PC-class node to the two ends of the property it reifies


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
    of_class = np.zeros(len(graph.class_codes) + 1, np.uint8)
    blocks = np.zeros(len(graph.class_codes) + 1, bool)
    for number, code in enumerate(graph.class_codes):
        found = [
            i for i, codes in enumerate(kinds, 1) if any(ontology.is_a(code, wanted) for wanted in codes)
        ]
        of_class[number] = found[0] if found else 0
        blocks[number] = bool(code) and not found and code not in above
    ptr, val = graph.type_rows
    node = np.repeat(np.arange(graph.nodes), np.diff(ptr))
    kind = np.full(graph.nodes, 255, np.uint8)
    np.minimum.at(kind, node, np.where(of_class[val] == 0, 255, of_class[val]).astype(np.uint8))
    kind[kind == 255] = 0
    kind[node[blocks[val]]] = 0
    kind[(graph.flags & FLAG_ENTITY) == 0] = 0
    return kind


def direct_parents(adjacency: Adjacency, satellite: Bools) -> tuple[Ints, Ints]:
    """Distinct pairs (satellite, parent): who points at it, whom it points at by an inverse property, and the ends of the
    property that it reifies."""
    rows = adjacency.forward
    subject = np.repeat(rows.row, np.diff(rows.ptr))
    property_of_row = np.repeat(np.arange(len(adjacency.codes), dtype=np.int32), np.diff(rows.prop))
    prop = np.repeat(property_of_row, np.diff(rows.ptr))
    inverse = np.array([code.endswith("i") or code in REIFIED for code in adjacency.codes] + [False])
    entity = (adjacency.flags & FLAG_ENTITY) != 0
    at = satellite[rows.val] & (subject != rows.val)
    by = satellite[subject] & inverse[prop] & entity[rows.val] & (subject != rows.val)
    child = np.concatenate([rows.val[at], subject[by]])
    parent = np.concatenate([subject[at], rows.val[by]])
    child, parent = distinct_pairs(child, parent)
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
    group = _cycles(absorbable, child, parent)
    keep = absorbable[child]
    return _by_rounds(absorbable, group, child[keep], parent[keep], max_parents, satellite)


def _cycles(absorbable: Bools, child: Ints, parent: Ints) -> Ints:
    """int32 [n]: equal for satellites that reach each other."""
    inner = absorbable[child] & absorbable[parent]
    shape = (len(absorbable), len(absorbable))
    graph = csr_array((np.ones(int(inner.sum()), bool), (child[inner], parent[inner])), shape=shape)
    return np.asarray(connected_components(graph, connection="strong")[1], np.int32)


def _by_rounds(
    absorbable: Bools, group: Ints, child: Ints, parent: Ints, max_parents: int, satellite: Bools
) -> tuple[Csr, Bools]:
    """Parents before children: each round settles the groups whose parents are settled."""
    nodes = len(absorbable)
    inner = absorbable[parent] & (group[child] != group[parent])
    above = csr_from_pairs(group[child[inner]], parent[inner], nodes)
    below = csr_from_pairs(group[parent[inner]], group[child[inner]], nodes)
    outer = ~absorbable[parent]
    direct = csr_from_pairs(group[child[outer]], parent[outer], nodes)
    waiting = np.bincount(below.val, minlength=nodes)
    settled = _Settled(nodes)
    kept = np.zeros(nodes, bool)  # by group
    crowded = satellite & ~absorbable
    ready = np.unique(group[absorbable & (waiting[group] == 0)])
    while len(ready):
        pairs = _roots_of(ready, direct, above, settled, kept, group)
        count = np.bincount(pairs[0], minlength=len(ready))
        kept[ready] = (count == 0) | (count > max_parents)
        crowded |= np.isin(group, ready[count > max_parents]) & absorbable
        few = ~kept[ready][pairs[0]]
        settled.add(ready[pairs[0][few]], pairs[1][few])
        _, reached = below.gather(ready)
        np.subtract.at(waiting, reached, 1)
        ready = np.unique(reached[waiting[reached] == 0])
    roots = settled.rows(nodes)
    members = np.flatnonzero(absorbable).astype(np.int32)
    origin, root = roots.gather(group[members])
    return csr_from_pairs(members[origin], root, nodes), crowded


class _Settled:
    """Parents of settled groups: pairs that grow round by round, looked up by group."""

    def __init__(self, groups: int) -> None:
        self.start = np.zeros(groups, np.int64)
        self.count = np.zeros(groups, np.int64)
        self.used = 0
        self.values = np.empty(1024, np.int32)

    def add(self, group: Ints, value: Ints) -> None:
        """Pairs sorted by group, all of new groups."""
        while self.used + len(value) > len(self.values):
            self.values = np.concatenate([self.values, np.empty_like(self.values)])
        self.values[self.used : self.used + len(value)] = value
        found, first, count = np.unique(group, return_index=True, return_counts=True)
        self.start[found], self.count[found] = self.used + first, count
        self.used += len(value)

    def gather(self, groups: Ints) -> tuple[npt.NDArray[np.int64], Ints]:
        count = self.count[groups]
        origin = np.repeat(np.arange(len(groups)), count)
        offset = np.arange(len(origin)) - np.repeat(np.cumsum(count) - count, count)
        return origin, self.values[np.repeat(self.start[groups], count) + offset]

    def rows(self, groups: int) -> Csr:
        origin, value = self.gather(np.arange(groups, dtype=np.int32))
        return csr_from_pairs(origin, value, groups)


def _roots_of(
    ready: Ints, direct: Csr, above: Csr, settled: _Settled, kept: Bools, group: Ints
) -> tuple[npt.NDArray[np.int64], Ints]:
    """Distinct pairs (index into ``ready``, document that tells it), sorted."""
    own, documents = direct.gather(ready)
    at, satellites = above.gather(ready)
    stays = kept[group[satellites]]
    through, further = settled.gather(group[satellites[~stays]])
    first = np.concatenate([own, at[stays], at[~stays][through]])
    second = np.concatenate([documents, satellites[stays], further])
    origin, value = distinct_pairs(first, second)
    return origin.astype(np.int64), value.astype(np.int32)
