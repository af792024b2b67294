"""What plans are executed on: a graph with its ontology, relationships and categories, and what all plans share of them:
classes and types by name, the subjects of named graphs, and which entities are the same.

Entities are the same by owl:sameAs and its like, or by a link to the same entry of an authority. Suspected merges of
identities say nothing: what leads to or from one is left out.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import PlansConfig
from crmrag_query.config.parts import Relation
from crmrag_query.documents.pages import READ
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_SUSPECT, Adjacency, Ints, Longs, distinct, shared
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph, extents
from crmrag_query.ontology.categories import CategoryMap
from crmrag_query.ontology.load import Ontology, did_you_mean, normalise_class
from crmrag_query.plans.records import Target
from crmrag_query.relationships.engine import Catalogue, is_iri
from crmrag_query.text import fold

T = TypeVar("T")
Mask = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint8]  # a mask, eight nodes to a byte
RECENT_BYTES = 128 << 20  # of sets of nodes: 400 and more at 2.3 million nodes; a question asks for about 200
ENTRY_BYTES = 1 << 10  # of a set beside its nodes: its key, and what Python takes for both


@dataclass(frozen=True, slots=True)
class Held:
    """A set of nodes in the least room: ``nodes``, ascending, where they are few; else ``bits``, a mask over all ``size``."""

    size: int
    nodes: Ints | None
    bits: Bits | None

    @classmethod
    def of(cls, size: int, nodes: Ints) -> Held:
        if 32 * len(nodes) < size:  # bits of each
            return cls(size, nodes.copy(), None)
        mask = np.zeros(size, bool)
        mask[nodes] = True
        return cls(size, None, np.packbits(mask))

    @property
    def bytes(self) -> int:
        return ENTRY_BYTES + sum(part.nbytes for part in (self.nodes, self.bits) if part is not None)

    @property
    def mask(self) -> Mask:
        if self.bits is not None:
            return np.unpackbits(self.bits, count=self.size).view(bool)
        found = np.zeros(self.size, bool)
        found[self.nodes] = True
        return found

    def shared(self, other: Held) -> int:
        """How many nodes stand in both."""
        if self.nodes is None and other.nodes is None:
            return int(np.bitwise_count(cast(Bits, self.bits) & cast(Bits, other.bits)).sum())
        if self.nodes is None:
            return other.shared(self)
        if other.bits is None:
            return len(shared(self.nodes, cast(Ints, other.nodes)))
        return int(((other.bits[self.nodes >> 3] >> (7 - (self.nodes & 7))) & 1).sum())


@dataclass(frozen=True)
class World:
    """One data set as plans see it; arrays over nodes have n elements."""

    graph: Graph
    ontology: Ontology
    catalogue: Catalogue
    categories: CategoryMap
    relations: Mapping[str, Relation] = field(default_factory=dict, repr=False, compare=False)
    config: PlansConfig = field(default_factory=PlansConfig, repr=False)
    _kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _making: threading.RLock = field(default_factory=threading.RLock, init=False, repr=False, compare=False)
    _recent: OrderedDict[Hashable, Held] = field(
        default_factory=OrderedDict, init=False, repr=False, compare=False
    )
    _recent_bytes: list[int] = field(default_factory=lambda: [0], init=False, repr=False, compare=False)

    def kept(self, make: Callable[..., T], *key: Hashable) -> T:
        """What ``make`` gives of this world and key, made once whichever threads ask for it."""
        if (make, key) not in self._kept:
            with self._making:  # names take seconds to fold: whoever comes meanwhile waits
                if (make, key) not in self._kept:
                    self._kept[make, key] = make(self, *key)
        return cast(T, self._kept[make, key])

    def recalled(self, key: Hashable, make: Callable[[], Ints]) -> Held:
        """The nodes, ascending, that ``make`` gives, which depend on nothing but the key; recent ones are kept, in
        ``RECENT_BYTES``.

        The readings of one question ask for the same conditions again and again.
        """
        with self._making:
            known = self._recent.get(key)
            if known is not None:
                self._recent.move_to_end(key)
                return known
        found = Held.of(self.size, make())
        with self._making:
            before = self._recent.pop(key, None)  # another thread may have made it meanwhile
            self._recent[key] = found
            self._recent_bytes[0] += found.bytes - (before.bytes if before is not None else 0)
            while self._recent_bytes[0] > RECENT_BYTES:
                self._recent_bytes[0] -= self._recent.popitem(last=False)[1].bytes
        return found

    @classmethod
    def from_release(cls, release: Release) -> World:
        categories = CategoryMap(release.method.categories, release.ontology)
        method = release.method
        return cls(
            release[Graph], release.ontology, release[Catalogue], categories, method.relations, method.plans
        )

    @property
    def size(self) -> int:
        return self.graph.nodes

    @property
    def adjacency(self) -> Adjacency:
        return self.graph.adjacency

    def mask(self, nodes: Ints | Longs) -> Mask:
        """The nodes as a mask over all."""
        found = np.zeros(self.size, bool)
        found[nodes] = True
        return found

    @cached_property
    def plain(self) -> Adjacency:
        """The graph without suspected merges: what a path of properties is walked on, as SPARQL walks it."""
        return replace(self.graph.adjacency, flags=np.zeros(self.size, np.uint8))

    @cached_property
    def entities(self) -> Mask:
        return np.asarray((self.graph.flags & FLAG_ENTITY) != 0)

    @cached_property
    def suspects(self) -> Ints:
        """Suspected merges of identities, ascending."""
        return np.flatnonzero((self.graph.flags & FLAG_SUSPECT) != 0).astype(np.int32)

    @cached_property
    def extents(self) -> tuple[Ints, Ints]:
        """Begin and end of every node's own dates; see ``graph.graph.extents``."""
        return extents(self.graph)

    @cached_property
    def dated(self) -> Mask:
        begin, end = self.extents
        return np.asarray((begin != OPEN_BEGIN) | (end != OPEN_END))

    # classes

    @cached_property
    def class_numbers(self) -> dict[str, int]:
        """Class IRI -> its number."""
        return {self.graph.class_iri(number): number for number in range(len(self.graph.class_codes))}

    @cached_property
    def below_classes(self) -> Mapping[str, frozenset[int]]:
        """By IRI of a class that the data declares others to be below or the same as: the numbers of those that occur."""
        children: dict[str, set[str]] = {}
        for iri, ways in DECLARED_ABOVE.items():
            if (prop := self.property_numbers.get(iri)) is not None:
                low, high = self.adjacency.forward.pairs(prop)
                for pair in zip(low.tolist(), high.tolist(), strict=True):
                    child, parent = map(self.graph.iri, pair)
                    for below, above in ((child, parent), (parent, child))[:ways]:
                        children.setdefault(above, set()).add(below)
        found = {}
        for top in children:
            seen, ahead = {top}, [top]
            while ahead:
                new = children.get(ahead.pop(), set()) - seen
                seen |= new
                ahead += new
            found[top] = frozenset(self.class_numbers[iri] for iri in seen & self.class_numbers.keys())
        return found

    @cached_property
    def above_all(self) -> tuple[str, ...]:
        """IRIs of the data's own classes that nothing is of directly, with others that occur below them; sorted."""
        return tuple(
            iri
            for iri, below in sorted(self.below_classes.items())
            if below and iri not in self.class_numbers and normalise_class(iri) is None
        )

    @cached_property
    def _nodes_by_class(self) -> tuple[Longs, Ints]:
        """Class -> range of nodes, and the nodes, ascending within a class."""
        ptr, classes = self.graph.type_rows
        node = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(ptr))
        order = np.argsort(classes, kind="stable")
        starts = np.searchsorted(classes[order], np.arange(len(self.class_numbers) + 1))
        return starts.astype(np.int64), node[order]

    def of_classes(self, numbers: Iterable[int]) -> Mask:
        """Nodes that have any of these classes."""
        start, node = self._nodes_by_class
        found = np.zeros(self.size, bool)
        for number in numbers:
            found[node[start[number] : start[number + 1]]] = True
        return found

    # properties and literals

    @cached_property
    def property_numbers(self) -> dict[str, int]:
        """Property IRI -> its number."""
        return {self.graph.property_iri(number): number for number in range(len(self.graph.property_codes))}

    @cached_property
    def literal_property(self) -> Ints:
        """Property number of each row of the literals, sorted by subject."""
        return cast(Ints, self.graph.literal_table.column("property").to_numpy())

    @cached_property
    def with_literals(self) -> frozenset[int]:
        """Numbers of the properties that have a literal somewhere."""
        return frozenset(distinct(self.literal_property).tolist())

    @cached_property
    def names(self) -> tuple[Longs, pa.LargeStringArray]:
        """Node -> range of its names, and the names."""
        table, ptr = self.graph.label_rows
        return ptr, table.column("text")

    def nodes_of(self, iris: Iterable[str]) -> Ints:
        """Nodes of those IRIs that the data has, ascending."""
        found = (self.graph.node(iri) for iri in dict.fromkeys(iris))
        return distinct(np.array([node for node in found if node is not None], np.int32))


RDFS, OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"
DECLARED_ABOVE = {f"{RDFS}subClassOf": 1, f"{OWL}equivalentClass": 2}
"""By which properties a class is declared to be below another, and in how many directions."""


def target_classes(world: World, target: Target) -> list[int]:
    """Class numbers of the target's classes and those below. Raises QuestionError for an unknown code."""
    numbers: set[int] = set()
    for name in target.classes:
        found = class_numbers(world, name)
        if found is None and not is_iri(name):
            remedy = did_you_mean(name, world.ontology.classes, "Give a code such as E22, or an IRI.")
            raise QuestionError(f"No class has the code {name[:100]!r}.", remedy)
        numbers |= found or set()
    return sorted(numbers)


def class_numbers(world: World, name: str) -> set[int] | None:
    """Numbers of a class, by code or IRI, and of those below it that occur; None for what is no class.

    What is below a class of the data's own is what the data declares.
    """
    own, below = world.class_numbers.get(name), world.below_classes.get(name, frozenset())
    code = name if own is None else world.graph.class_name(own)
    if own is None and code not in world.ontology.classes:
        known = normalise_class(name)
        code = known.code if known else ""
    if code not in world.ontology.classes:
        return {*below, *([] if own is None else [own])} or None
    codes = {code, *world.ontology.subclasses(code)}
    return {n for n, one in enumerate(world.graph.class_codes) if one in codes}


def named_types(world: World, name: str) -> list[int]:
    """Nodes of the types (what P2 leads to) with this IRI, or of which this is a name or the last part of the IRI, folded."""
    known = world.kept(type_names)
    return known.get(name, []) or known.get(fold(name), [])


def type_names(world: World) -> dict[str, list[int]]:
    """Every type's nodes, ascending, by IRI, by folded name and by the folded last part of the IRI."""
    rows = world.adjacency.forward
    numbers = [n for code, found in world.adjacency.by_code.items() if code == "P2" for n in found]
    parts = [rows.val[rows.ptr[rows.prop[n]] : rows.ptr[rows.prop[n + 1]]] for n in numbers]
    names: dict[str, list[int]] = {}
    for node in distinct(np.concatenate([np.empty(0, np.int32), *parts])).tolist():
        iri = world.graph.iri(node)
        last = re.split("[/#]", iri)[-1]
        texts = [label.text for label in world.graph.labels(node)]
        for key in dict.fromkeys([iri, *map(fold, (*texts, last))]):
            names.setdefault(key, []).append(node)
    return names


def subjects_in(world: World, graphs: Iterable[str]) -> Mask:
    """Subjects of triples, other than those of classes, that stand in one of the named graphs, as a mask over all nodes."""
    wanted = {iri for iri in graphs if iri}
    chosen = np.array([bool(wanted & set(names)) for names in world.graph.graph_sets], bool)
    found = np.zeros(world.size, bool)
    if not chosen.any():
        return found
    rows, before = world.adjacency.forward, np.zeros(len(world.graph.triple_graph) + 1, np.int64)
    np.cumsum(chosen[world.graph.triple_graph], out=before[1:])
    found[rows.row[before[rows.ptr[1:]] > before[rows.ptr[:-1]]]] = True
    table = world.graph.literal_table
    held = chosen[table.column("graph").to_numpy()]
    found[table.column("subject").to_numpy()[held]] = True
    return found


def read_nodes(world: World) -> Mask:
    """What a machine read from pages, as a mask over all nodes: IRIs are numbered in their order."""
    found = np.zeros(world.size, bool)
    found[slice(*world.graph.beginning(READ))] = True
    return found


def representatives(world: World) -> Ints:
    """For each node the lowest of the entities that are the same (of nodes, where none is an entity), int32 [n]."""
    none, flags = np.empty(0, np.int32), world.graph.flags
    a, b = (np.concatenate(ends) for ends in zip((none, none), *_same(world), strict=True))
    sound = ((flags[a] | flags[b]) & FLAG_SUSPECT) == 0
    joined = _components(world.size, a[sound], b[sound])
    first = np.full(world.size, world.size, np.int32)
    entities = np.flatnonzero(world.entities).astype(np.int32)
    np.minimum.at(first, joined[entities], entities)
    found: Ints = np.where(first[joined] < world.size, first[joined], joined).astype(np.int32)
    return found


def once(world: World, nodes: Ints) -> tuple[Ints, Longs]:
    """Of ``nodes`` (ascending) the lowest of those that are the same, and for each node its place among them."""
    _, first, place = np.unique(world.kept(representatives)[nodes], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return nodes[first[order]], rank[place]


def how_many(world: World, nodes: Ints) -> int:
    """How many different entities the nodes are."""
    return len(distinct(world.kept(representatives)[nodes].astype(np.int64)))


def same_cells(world: World, cells: Longs) -> Longs:
    """The cells, nodes replaced by what stands for all that are the same."""
    node = cells < world.size
    return np.where(node, world.kept(representatives)[np.where(node, cells, 0)], cells).astype(np.int64)


def _same(world: World) -> Iterator[tuple[Ints, Ints]]:
    """Nodes that a property states to be the same; nodes that link to one entry of an authority, each with the lowest."""
    import pyarrow.compute as pc

    rows = world.adjacency.forward
    for name in world.config.same_properties:
        number = world.property_numbers.get(name)
        for prop in world.adjacency.by_code.get(name, ()) if number is None else (number,):
            subjects = rows.row[int(rows.prop[prop]) : int(rows.prop[prop + 1])]
            index, objects = rows.expand(prop, subjects)
            yield subjects[index], objects
    table = world.graph.link_table
    for pattern in world.config.same_iris:
        whole, id = f"^(?:{pattern})$", re.compile(pattern).groupindex["id"]
        has = pc.match_substring_regex(table.column("iri"), whole)
        names = pc.replace_substring_regex(table.column("iri").filter(has), whole, rf"\{id}")
        words = names.dictionary_encode().indices.to_numpy(zero_copy_only=False)
        node = table.column("node").filter(has).to_numpy(zero_copy_only=False)
        lowest = np.full(int(words.max()) + 1 if len(words) else 0, world.size, np.int32)
        np.minimum.at(lowest, words, node)
        yield node, lowest[words]


def _components(size: int, a: Ints, b: Ints) -> Ints:
    """For each node the lowest that it is connected with: union-find over all edges at once."""
    root = np.arange(size, dtype=np.int32)
    while True:
        low, high = np.minimum(root[a], root[b]), np.maximum(root[a], root[b])
        if np.array_equal(low, high):
            return root
        np.minimum.at(root, high, low)
        while not np.array_equal(root, root[root]):
            root = root[root]


def sameness(world: World, cells: Iterable[int]) -> list[tuple[int, int]]:
    """Nodes among the cells that another stands for, and which."""
    nodes = distinct(np.array([cell for cell in cells if cell < world.size], np.int64))
    kept = world.kept(representatives)[nodes]
    return [(a, b) for a, b in zip(nodes.tolist(), kept.tolist(), strict=True) if a != b]
