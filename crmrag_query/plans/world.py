"""What plans are executed on: a graph with its ontology, relationships and categories, and what all plans share of them:
classes and types by name, the subjects of named graphs, and which entities are the same; and ways over the arrays: which
nodes lead to given ends, what each of given nodes leads to, and by which hops.

Entities are the same by owl:sameAs and its like, or by a link to the same entry of an authority. Suspected merges of
identities say nothing: what leads to or from one is left out.

A way is compiled for one graph into routes: legs to walk, and what may begin and end them. A path of properties may end in
literals, which are told by their rows.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import PlansConfig, Relation
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import (
    FLAG_ENTITY,
    FLAG_SUSPECT,
    Adjacency,
    Ints,
    Longs,
    consecutive,
    distinct,
    found_in,
    ranges,
    shared,
    spread,
)
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph, extents
from crmrag_query.ontology.load import Category, CategoryMap, Ontology, did_you_mean, normalise_class
from crmrag_query.plans.records import Anchor, Target, Way
from crmrag_query.relationships import engine as fr
from crmrag_query.relationships.engine import (
    LIMIT,
    Catalogue,
    Hop,
    Leg,
    NodeSet,
    Relationship,
    Step,
    advance,
    any_of,
    backwards,
    is_iri,
    legs_of,
    read_step,
    turned,
    walk_legs,
    walk_set,
)
from crmrag_query.syntax import RDF_TYPE
from crmrag_query.text import fold
from crmrag_query.timing import check

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

    @property
    def ascending(self) -> Ints:
        return np.flatnonzero(self.mask).astype(np.int32) if self.nodes is None else self.nodes

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
        known = self.recent(key)
        return self.keep(key, make()) if known is None else known

    def recent(self, key: Hashable) -> Held | None:
        """The nodes that were kept for a key; None where they were not, or not lately."""
        with self._making:
            known = self._recent.get(key)
            if known is not None:
                self._recent.move_to_end(key)
            return known

    def keep(self, key: Hashable, nodes: Ints) -> Held:
        """Keep nodes, ascending, for `recent`."""
        found = Held.of(self.size, nodes)
        with self._making:
            before = self._recent.pop(key, None)  # another thread may have made it meanwhile
            self._recent[key] = found
            self._recent_bytes[0] += found.bytes - (before.bytes if before is not None else 0)
            while self._recent_bytes[0] > RECENT_BYTES:
                self._recent_bytes[0] -= self._recent.popitem(last=False)[1].bytes
        return found

    @classmethod
    def from_release(cls, release: Release) -> World:
        method, ontology = release.method, release.ontology
        categories = CategoryMap(method.categories, ontology)
        return cls(
            release[Graph], ontology, Catalogue.load(method), categories, method.relations, method.plans
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


def classes_named(world: World, names: Iterable[str]) -> tuple[int, ...]:
    """Class numbers that any of the names give, ascending; a name that is no class's gives none."""
    return tuple(sorted({number for name in names for number in class_numbers(world, name) or ()}))


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


@dataclass(frozen=True, slots=True)
class Far:
    """A far end is of one of the kinds, ``(class numbers, type nodes)``, None for any, and of no class of ``but``."""

    kinds: tuple[tuple[int, ...], tuple[int, ...]] | None
    but: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """One path that occurs in the graph, by its legs in the direction in which it is walked.

    Of a relationship: its near end has the domain as primary category, its far end may be in the range and is another node;
    no path runs through a suspected merge, and one at the near end takes a path of one step (not ``cautious``) only. Of a
    path of properties: nothing of that. ``inverse``: it is walked from the far end to the near one. ``far``: what else holds
    of a node at the far end. ``literals``: how many legs are walked, and the properties whose literals then end it.
    """

    legs: tuple[Leg, ...]
    relationship: Relationship | None = None
    cautious: bool = False
    inverse: bool = False
    far: Far | None = None
    literals: tuple[tuple[int, tuple[int, ...]], ...] = ()

    @property
    def back(self) -> tuple[Leg, ...]:
        return turned(self.legs)

    def graph(self, world: World) -> Adjacency:
        """What the route is walked on."""
        return world.plain if self.relationship is None else world.adjacency


Routes = tuple[Route, ...]


def links_of(world: World, way: Way) -> tuple[Routes, ...]:
    """The routes of a way's links, one after the other. Raises QuestionError as `routes_of`."""
    return tuple(routes_of(world, link) for link in way.links)


def routes_of(world: World, way: Way) -> Routes:
    """The routes of a way's first link; none when it occurs nowhere in the data.

    Raises QuestionError for a relation, relationship or property code that nothing knows.
    """
    link = way.model_copy(update={"then": None}) if way.then else way
    return world.kept(_latest_routes)(link)


KEPT_WAYS = 1000  # whose routes are kept: a question has a few, a page of facets some dozens


def _latest_routes(world: World) -> Callable[[Way], Routes]:
    """Gives the routes of a link; those that were asked for lately are kept."""
    return lru_cache(KEPT_WAYS)(partial(_made, world))


def _made(world: World, way: Way) -> Routes:
    routes = [route for id in dict.fromkeys(way.relations) for route in _by_relation(world, id, way.direct)]
    routes += _by_relationships(world, way.relationships)
    far = None
    if way.types:
        far = Far((classes_named(world, way.types), tuple(world.nodes_of(way.types).tolist())), ())
    routes += [replace(route, far=far) for route in _by_paths(world, way.paths)]
    if way.inverse:
        routes = [replace(route, legs=route.back, inverse=True) for route in routes]
    return tuple(replace(route, literals=_literal_ends(world, route)) for route in dict.fromkeys(routes))


def _by_relation(world: World, id: str, direct: bool) -> Iterator[Route]:
    relation = world.relations.get(id)
    if relation is None:
        remedy = did_you_mean(id, world.relations, "They stand in relations.yaml.")
        raise QuestionError(f"No relation has the id {id[:100]!r}.", remedy)
    paths = relation.direct if direct else relation.paths
    routes = _by_paths(world, paths)
    if not (direct and paths):
        routes += _by_relationships(
            world, [id for id in relation.relationships if id in world.catalogue.by_id]
        )
    far = None
    if relation.classes or relation.not_classes or relation.types:
        classes, but = (classes_named(world, names) for names in (relation.classes, relation.not_classes))
        types = tuple(sorted({node for name in relation.types for node in named_types(world, name)}))
        far = Far((classes, types) if relation.classes or relation.types else None, but)
    return (replace(route, far=far) for route in routes)


def _by_relationships(world: World, ids: Iterable[str]) -> list[Route]:
    routes = []
    for id in dict.fromkeys(ids):
        relationship = world.catalogue.by_id.get(id)
        if relationship is None:
            remedy = did_you_mean(id, world.catalogue.by_id, "See `crmrag ontology`.")
            what = f"No relationship of {world.catalogue.name} has the id {id[:100]!r}."
            raise QuestionError(what, remedy)
        for path in relationship.paths:
            if legs := legs_of(world.adjacency, world.ontology, path.steps):
                routes.append(Route(legs, relationship, len(path.steps) > 1))
    return routes


def _by_paths(world: World, paths: Iterable[Sequence[str]]) -> list[Route]:
    found = (
        legs_of(
            world.adjacency, world.ontology, [_known(world, step) for step in steps], world.property_numbers
        )
        for steps in paths
    )
    return [Route(legs) for legs in found if legs is not None]


def _known(world: World, text: str) -> Step:
    """The step; raises QuestionError for rdf:type, and for a code that neither the ontology nor the data knows."""
    step = read_step(text)
    if step.code == RDF_TYPE:
        raise QuestionError(
            "A path cannot follow rdf:type.", "Name classes in the target or an anchor's types."
        )
    known = world.ontology.properties
    if step.code not in known and step.code not in world.adjacency.by_code and not is_iri(step.code):
        remedy = did_you_mean(step.code, known, "Give a code such as P108i, or an IRI.")
        raise QuestionError(f"No property has the code {step.code[:100]!r}.", remedy)
    return step


def _literal_ends(world: World, route: Route) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Where a path may end in literals: at its last leg, and before legs that may be walked zero times."""
    ends: list[tuple[int, tuple[int, ...]]] = []
    if route.relationship is not None:
        return ()
    for at in reversed(range(len(route.legs))):
        leg = route.legs[at]
        found = tuple(prop for prop, forward in leg.moves if forward and prop in world.with_literals)
        if found:
            ends.append((at + leg.recursive, found))
        if not leg.recursive:
            break
    return tuple(ends)


XSD = "http://www.w3.org/2001/XMLSchema#"
NUMBER = "^[+-]?[0-9]{1,300}([.][0-9]+)?([eE][+-]?[0-9]{1,2})?$"
"""Texts that are numbers, whatever their datatype; in the dialects of Python, RE2 and SPARQL."""
YEAR = XSD + "gYear"
DAYS = (*(XSD + name for name in ("date", "dateTime", "gYearMonth")), YEAR)
"""Datatypes of what is a date, however much it looks like a number."""


@dataclass(frozen=True, slots=True)
class LiteralValue:
    """A literal in a table or group: its text, datatype IRI ("" for strings) and language."""

    text: str
    datatype: str = ""
    lang: str = ""


def literal(world: World, row: int) -> LiteralValue:
    """The literal in a row of the graph's literals."""
    table = world.graph.literal_table
    text, datatype, lang = (table.column(name)[row].as_py() for name in ("value", "datatype", "lang"))
    return LiteralValue(text, datatype, lang)


def same_terms(world: World, rows: Longs) -> Longs:
    """For each row of the literals the lowest of these rows with the same term."""
    if not len(rows):
        return rows
    distinct, back = np.unique(rows, return_inverse=True)
    table, at = world.graph.literal_table, pa.array(distinct)
    term = np.zeros(len(distinct), np.int64)
    for name in ("value", "datatype", "lang"):
        column = table.column(name).take(at)
        words = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
        code = words.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        _, term = np.unique(term * (int(code.max()) + 1) + code, return_inverse=True)
    _, first, same = np.unique(term, return_index=True, return_inverse=True)
    lowest: Longs = distinct[first[same]][back]
    return lowest


def numbers(world: World, rows: Longs, years: bool = False) -> tuple[Mask, npt.NDArray[np.float64]]:
    """Which rows of the literals state a number, or ``years``, and the numbers of those."""
    import pyarrow.compute as pc

    table, at = world.graph.literal_table, pa.array(rows)
    text = table.column("value").take(at)
    datatype = table.column("datatype").take(at).cast(pa.utf8())
    kind = pc.equal(datatype, YEAR) if years else pc.invert(pc.is_in(datatype, pa.array(DAYS)))
    plain = pc.and_(pc.match_substring_regex(text, NUMBER), pc.fill_null(kind, not years))
    stated: Mask = np.array(plain.to_numpy(zero_copy_only=False), bool)
    value = pc.replace_substring_regex(text.filter(plain), r"^\+", "").cast(pa.float64())
    return stated, value.to_numpy(zero_copy_only=False)


OF_TYPE = Way(paths=(("P2", "P127*"),))
"""How a node leads to its types and to all that are broader."""
_ROLE = re.compile(r"P\d+\.1")


def of_type_or_role(world: World) -> Way:
    """`OF_TYPE`, and how a participation (PC14) leads to its role, where the data has some: P14.1; see `World.kept`."""
    return Way(paths=(*OF_TYPE.paths, *((code, "P127*") for code in role_steps(world.adjacency))))


OWNED, OWNED_BEFORE = "owned_by", "formerly_owned_by"
"""The relations to who owns things, and to all who ever did."""
LOCATED, WHERE_NOW = "located_in", (("P55", "P89*"),)
"""The relation to where things are, or may have been once (P53), and the paths to where they are now."""


def role_steps(adjacency: Adjacency) -> list[str]:
    """The properties by which participations lead to their roles that occur in the data: P14.1."""
    return sorted(code for code in adjacency.by_code if _ROLE.fullmatch(code))


def by_roles(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """A path between an event and who carried it out by way of participations (PC14), as data states those who had a role."""
    if len(path) > 1 and path[-1] == "P14":
        yield (*path[:-1], "P01i", "P02")
    if len(path) > 1 and path[0] == "P14i":
        yield ("P02i", "P01", *path[1:])


_WALKED = 256  # so many nodes are walked one by one sooner than all ends twice
_CELL = 40  # bits of a cell in a key that sorts pairs
_CELLS = (1 << _CELL) - 1
MOST_PAIRS = 20_000_000
"""That one way may give of given nodes, half a gigabyte at work: over a hub, each of a type leads to each of that type."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """What nodes lead to, distinct, sorted by node, then cell; arrays of equal length.

    ``index`` int64 into the nodes that were asked; ``cell`` int64: a node, or n + the row of a literal.
    """

    index: Longs
    cell: Longs

    def __len__(self) -> int:
        return len(self.index)

    @classmethod
    def of(cls, keys: Sequence[Longs]) -> Pairs:
        joined = distinct(np.concatenate([np.empty(0, np.int64), *keys]))
        return cls(joined >> _CELL, joined & _CELLS)

    @property
    def keys(self) -> Longs:
        return self.index << _CELL | self.cell

    def part(self, chosen: Mask) -> Pairs:
        return Pairs(self.index[chosen], self.cell[chosen])

    def within(self, world: World, nodes: Ints | None) -> Pairs:
        """Those whose cell is one of the nodes; all where these are None."""
        if nodes is None:
            return self
        wanted = world.mask(nodes)
        node = self.cell < world.size
        return self.part(node & wanted[np.where(node, self.cell, 0)])

    def rows_of(self, places: Longs) -> tuple[Longs, Longs]:
        """(repeated indices into ``places``, places in these pairs) of all pairs of each of the asked ``places``."""
        low, high = np.searchsorted(self.index, places), np.searchsorted(self.index, places, side="right")
        return np.repeat(np.arange(len(places)), high - low), ranges(low, high - low)


# Which nodes lead to given ends
def admits(world: World, route: Route, nodes: Ints) -> Mask:
    """Which nodes may end the route."""
    return _fits_end(world, route, nodes, far=not route.inverse)


def begins(world: World, route: Route, nodes: Ints) -> Mask:
    """Which nodes may begin the route."""
    return _fits_end(world, route, nodes, far=route.inverse)


def _fits_end(world: World, route: Route, nodes: Ints, far: bool) -> Mask:
    fits = np.ones(len(nodes), bool)
    relationship = route.relationship
    if far:
        if relationship is not None:
            categories = world.adjacency.categories[nodes]
            fits &= (categories == 0) | ((categories & int(relationship.range)) != 0)
        if route.far is not None:
            fits &= world.kept(_far_nodes, route.far)[nodes]
    elif relationship is not None:
        fits &= world.adjacency.category[nodes] == int(relationship.domain)
        if route.cautious:
            fits &= (world.adjacency.flags[nodes] & FLAG_SUSPECT) == 0
    return fits


def _far_nodes(world: World, far: Far) -> Mask:
    """Nodes that may stand at such an end."""
    fits = np.ones(world.size, bool)
    if far.kinds is not None:
        classes, types = far.kinds
        fits = world.of_classes(classes) | leading_to(
            world, world.kept(of_type_or_role), np.array(types, np.int32)
        )
    return fits & ~world.of_classes(far.but)


def leading_to(world: World, way: Way, ends: Ints | None, among: Mask | None = None) -> Mask:
    """Nodes that lead by the way to one of ``ends`` (ascending; None: to anything), as a mask over all nodes.

    Only those of ``among`` are looked at. A relationship never leads to where it begins.
    """
    first, ends, literals = _before_last(world, way, ends)
    return leading_by(world, first, ends, among, literals)


def nodes_leading_to(world: World, way: Way, ends: Ints | None) -> Ints:
    """`leading_to` as nodes, ascending: cheaper than a mask where they are few."""
    return _nodes_leading_by(world, *_before_last(world, way, ends))


def _before_last(world: World, way: Way, ends: Ints | None) -> tuple[Routes, Ints | None, bool]:
    """The routes of a way's first link, the nodes from which its others lead to the ends, and whether it may end in
    literals itself."""
    first, *others = links_of(world, way)
    literals = True
    for routes in reversed(others):
        ends, literals = _nodes_leading_by(world, routes, ends, literals), False
    return first, ends, literals


def _nodes_leading_by(world: World, routes: Routes, ends: Ints | None, literals: bool) -> Ints:
    if ends is None or any(route.relationship is not None for route in routes):
        return np.flatnonzero(leading_by(world, routes, ends, literals=literals)).astype(np.int32)
    parts = [found for _, found in _reaching(world, routes, ends)]
    return parts[0] if len(parts) == 1 else any_of(parts, world.size)


def leading_by(
    world: World, routes: Sequence[Route], ends: Ints | None, among: Mask | None = None, literals: bool = True
) -> Mask:
    """`leading_to` by the routes of one link; ``literals``: they count as anything too."""
    sure, doubtful = np.zeros(world.size, bool), np.zeros(world.size, bool)
    starts = np.arange(world.size, dtype=np.int32) if ends is None else ends
    related = any(route.relationship is not None for route in routes)
    at_end = world.mask(starts) if related else np.empty(0, bool)
    for route, found in _reaching(world, routes, starts):
        if route.relationship is None:
            sure[found] = True
        else:
            itself = at_end[found] & admits(world, route, found)
            sure[found[~itself]] = True
            doubtful[found[itself]] = True
        if ends is None and literals and route.literals:
            sure[_before_literals(world, route)] = True
    if among is not None:
        sure &= among
    if not related:
        return sure
    doubtful &= ~sure
    if among is not None:
        doubtful &= among
    return sure | _leading_elsewhere(world, [one for one in routes if one.relationship], starts, doubtful)


def _reaching(world: World, routes: Sequence[Route], ends: Ints) -> Iterator[tuple[Route, Ints]]:
    """For each route the nodes that lead by it to one of the ends, themselves included."""
    memos: dict[tuple[object, ...], tuple[Ints, dict[tuple[Leg, ...], NodeSet]]] = {}
    for route in routes:
        check()
        kind = route.relationship
        alike = (
            route.inverse, route.far, kind and (kind.domain if route.inverse else kind.range),
            route.inverse and route.cautious,
        )  # fmt: skip
        if alike not in memos:
            memos[alike] = (ends[admits(world, route, ends)], {})
        admitted, memo = memos[alike]
        found = walk_set(route.graph(world), route.back, admitted, memo).all
        yield route, found[begins(world, route, found)]


def _leading_elsewhere(world: World, routes: Sequence[Route], ends: Ints, doubtful: Mask) -> Mask:
    """Those of the doubtful nodes, ends themselves, that lead to another end.

    Many are told by halves of the ends: whoever leads into the half in which it is not leads to another. Those that are left
    lead to little but themselves, and are walked.
    """
    sure = np.zeros(world.size, bool)
    if np.count_nonzero(doubtful) > _WALKED:
        for half in (0, 1):
            for _, found in _reaching(world, routes, ends[(ends & 1) == half]):
                sure[found[(found & 1) != half]] = True
        sure &= doubtful
    nodes = np.flatnonzero(doubtful & ~sure).astype(np.int32)
    if len(nodes):
        reached, at_end = link_pairs(world, routes, nodes), world.mask(ends)
        sure[nodes[reached.index[at_end[reached.cell]]]] = True
    return sure


def leading_to_literals(world: World, way: Way, rows: Longs) -> Mask:
    """Nodes that lead by the way to one of these rows of the literals, as a mask over all nodes."""
    *before, last = links_of(world, way)
    found = world.mask(
        np.concatenate([np.empty(0, np.int32), *(_before_literals(world, one, rows) for one in last)])
    )
    for routes in reversed(before):
        found = leading_by(world, routes, np.flatnonzero(found).astype(np.int32), literals=False)
    return found


def _before_literals(world: World, route: Route, rows: Longs | None = None) -> Ints:
    """The nodes at which the route begins that ends in one of these rows of the literals; None: in any."""
    found = [np.empty(0, np.int32)]
    property = world.literal_property if rows is None else world.literal_property[rows]
    subjects = np.asarray(world.graph.literal_table.column("subject").to_numpy())
    subjects = subjects if rows is None else subjects[rows]
    for walked, properties in route.literals:
        subject = distinct(subjects[np.isin(property, properties)])
        starts = walk_set(world.plain, turned(route.legs[:walked]), subject.astype(np.int32), {}).all
        found.append(starts[begins(world, route, starts)])
    return np.concatenate(found)


# What each of given nodes leads to
def way_shown(way: Way, to: Anchor) -> Way:
    """A way as groups, columns and rankings walk it: only to what relations state, the birthplace and not the country around
    it. Not where ends of a type are asked for ("per country"), nor backwards: what is in a district is in its villages."""
    return way if way.inverse or to.types else way.stated()


def pairs(world: World, way: Way, nodes: Ints, literals: bool = True) -> Pairs:
    """What each of ``nodes`` leads to by the way; ``literals``: those that end a path of properties too."""
    links = links_of(world, way)
    found = link_pairs(world, links[0], nodes, literals and len(links) == 1)
    return led_on(world, found, links[1:], literals)


def led_on(world: World, found: Pairs, links: Sequence[Routes], literals: bool = False) -> Pairs:
    """The pairs with their cells led on by the links; ``literals``: as in `pairs`."""
    for number, routes in enumerate(links, 1):
        check()
        found = _joined(world, found, routes, literals and number == len(links))
    return found


def _joined(world: World, found: Pairs, routes: Routes, literals: bool) -> Pairs:
    """The pairs with their cells led on by one more link; never many more of them at work than ``LIMIT``."""
    middle = distinct(found.cell)
    after = link_pairs(world, routes, middle.astype(np.int32), literals)
    place = np.searchsorted(middle, found.cell)
    width = np.searchsorted(after.index, np.arange(len(middle)), side="right")
    total = np.cumsum(np.diff(width, prepend=0)[place])
    keys: list[Longs] = []
    for part in consecutive(total, LIMIT):
        check()
        origin, at = after.rows_of(place[part])
        keys = [distinct(np.concatenate([*keys, found.index[part][origin] << _CELL | after.cell[at]]))]
        check_pairs(len(keys[0]))
    return Pairs.of(keys)


def weights(world: World, way: Way, nodes: Ints, ends: Ints | None = None) -> tuple[Longs, Longs]:
    """Cells among ``ends`` that the nodes lead to, ascending, and for each the rows of a node and what each link leads to."""
    cells, weight = nodes.astype(np.int64), np.ones(len(nodes), np.int64)
    links = links_of(world, way)
    for number, routes in enumerate(links, 1):
        whole = number == len(links)
        found = link_pairs(world, routes, cells.astype(np.int32), whole)
        found = found.within(world, ends) if whole else found
        reached, back = np.unique(found.cell, return_inverse=True)
        total = np.zeros(len(reached), np.int64)
        np.add.at(total, back, weight[found.index])
        cells, weight = reached, total
    return cells, weight


def link_pairs(world: World, routes: Sequence[Route], nodes: Ints, literals: bool = False) -> Pairs:
    """What each of ``nodes`` leads to by any of the routes. Raises QuestionError for more than `MOST_PAIRS`."""
    keys: list[Longs] = []
    size = 0
    for route in routes:
        places = np.flatnonzero(begins(world, route, nodes))
        for index, target in walk_legs(route.graph(world), route.legs, nodes, places):
            fits = admits(world, route, target)
            if route.relationship is not None:
                fits &= target != nodes[index]
            keys.append(index[fits] << _CELL | target[fits])
            size += len(keys[-1])
            check_pairs(size)
    if literals:
        rows = [literal_rows(world, route, nodes) for route in routes if route.literals]
        if rows:
            at, row = (np.concatenate(part) for part in zip(*rows, strict=True))
            keys.append(at << _CELL | (world.size + same_terms(world, row)))
    return Pairs.of(keys)


def check_pairs(size: int) -> None:
    """QuestionError for more pairs than may be."""
    if size > MOST_PAIRS:
        raise QuestionError(
            f"A way of the plan leads to more than {MOST_PAIRS:,} pairs.",
            "Ask for fewer members, or lead on by a way that is not shared by so many.",
        )


def literal_rows(world: World, route: Route, nodes: Ints) -> tuple[Longs, Longs]:
    """(index into ``nodes``, row of the literals) that the route ends in."""
    index, rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    places, size = np.flatnonzero(begins(world, route, nodes)), 0
    for walked, properties in route.literals:
        for at, node in walk_legs(world.plain, route.legs[:walked], nodes, places):
            place, row = spread(world.graph.literal_ptr, node)
            fits = np.isin(world.literal_property[row], properties)
            index.append(at[place[fits]])
            rows.append(row[fits])
            size += len(rows[-1])
            check_pairs(size)
    return np.concatenate(index), np.concatenate(rows)


def way_literals(world: World, way: Way, nodes: Ints) -> tuple[Longs, Longs]:
    """(index into ``nodes``, row of the literals) that the way ends in, with repetitions."""
    *before, last = links_of(world, way)
    at = Pairs(np.arange(len(nodes)), nodes.astype(np.int64))
    for number, routes in enumerate(before):
        at = _joined(world, at, routes, False) if number else link_pairs(world, routes, nodes)
    index, rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    middle = distinct(at.cell)
    order = np.argsort(at.cell, kind="stable")
    owners = Pairs(np.searchsorted(middle, at.cell[order]), at.index[order])
    for route in last:
        place, row = literal_rows(world, route, middle.astype(np.int32))
        origin, where = owners.rows_of(place)
        index.append(owners.cell[where])
        rows.append(row[origin])
    return np.concatenate(index), np.concatenate(rows)


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
    pieces = [frontier[:0]]
    for piece in advance(adjacency, leg, frontier):
        check()
        pieces.append(piece)
        check_pairs(sum(map(len, pieces)))
    return np.concatenate(pieces)


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
    return int(middle[found_in(reached.keys, wanted)[1]][0])


def of_types(world: World, types: Iterable[str]) -> Mask:
    """Nodes with one of these types, or with a narrower one."""
    return leading_to(world, OF_TYPE, world.nodes_of(types))


def targeted(world: World, target: Target) -> Mask:
    """Entities of the target. Raises QuestionError for a class code that nothing knows."""
    found = world.entities.copy()
    if target.categories:
        wanted = sum(int(Category[name]) for name in set(target.categories))
        found &= (world.adjacency.categories & wanted) != 0
    if target.classes:
        found &= world.of_classes(target_classes(world, target))
    if target.types:
        found &= of_types(world, target.types)
    return found
