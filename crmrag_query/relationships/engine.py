"""The catalogue of Fundamental Relationships, and their paths compiled for one graph and walked over its arrays, from either
end: all relationships of many entities at once, what any node of a set reaches, and shortest ways.

A path is written as its steps, with blanks between them. A step is a property by its code, with or without its name
(`P108i_was_produced_by`), or, outside the CRM family, by its IRI. `^` before it: followed from object to subject; `!` after
a code: without the properties below it; `*` at the end: followed zero or more times.

It is a product of sparse Boolean matrices, walked as gathers: each leg moves a frontier of (source, node) pairs on;
paths of one domain share their prefixes in a trie; at a path's end the pairs whose node can be in the relationship's range
are its matches. Complete for paths of any length, and the same whatever the blocks.

A frontier is sorted int64 keys. A key holds, from the highest bits down, the source's place in its block (16), the node
(31), and the hops taken so far (16): sorting groups by source, then node, and puts the fewest hops first. Once a path ends,
the lower half of the hops makes room for the path's index (8 bits each), so that one sort also finds the lowest path. Where
a walk tells apart by which properties it went (see `Branch`), the rank of the way so far stands there from the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from crmrag_query.config.loading import Method, RelationshipSet
from crmrag_query.errors import ConfigError, CrmRagError
from crmrag_query.graph.arrays import (
    FLAG_SUSPECT,
    Adjacency,
    Bytes,
    Ints,
    Longs,
    Rows,
    consecutive,
    run_starts,
    spread,
)
from crmrag_query.graph.arrays import distinct as ascending
from crmrag_query.ontology.load import (
    Category,
    CategoryMap,
    Directed,
    Ontology,
    as_words,
    load_categories,
    take_apart,
)
from crmrag_query.timing import check


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path, as its text says it: see the module.

    ``code``: of the property (`P108i` is P108 walked backwards), or its IRI; an IRI is always ``alone``.
    """

    code: str
    recursive: bool = False
    forward: bool = True
    alone: bool = False
    label: str = ""

    def __str__(self) -> str:
        return f"{self.code} {self.label}{'*' if self.recursive else ''}"


@lru_cache(8192)
def read_step(text: str) -> Step:
    """A step from its text; one that names no property at all occurs in no data."""
    name = text.removesuffix("*")
    forward, recursive = not name.startswith("^"), name != text
    name = name.removeprefix("^")
    if is_iri(name):
        return Step(name, recursive, forward, alone=True)
    code = name.removesuffix("!")
    spelling = take_apart(code)
    return Step(spelling.code if spelling else code, recursive, forward, code != name, as_words(code))


def is_iri(name: str) -> bool:
    return "://" in name or name.startswith("urn:")


@dataclass(frozen=True, slots=True)
class Path:
    """A way from an entity to what it is related to."""

    id: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return " | ".join(str(step) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Wording:
    """How a text states a relationship that holds by one of these paths, each of which implies one of the relationship's."""

    words: str
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Relationship:
    """A Fundamental Relationship: from entities of one category to entities of another, by any of its paths.

    `specialises` is the id of the more general relationship, "" for none. `told`: how texts state it, the first wording that
    holds; none at all: no text does; None: by its label, whatever the path.
    """

    id: str
    label: str
    domain: Category
    range: Category
    specialises: str
    paths: tuple[Path, ...]
    told: tuple[Wording, ...] | None = None

    def as_told(self, words: str) -> Relationship:
        """The relationship by the paths that these words tell alone; itself where none of its wordings has them."""
        paths = [path for wording in self.told or () if wording.words == words for path in wording.paths]
        return replace(self, paths=tuple(paths)) if paths else self


@dataclass(frozen=True)
class Catalogue:
    """A set of Fundamental Relationships; their numbers are their positions."""

    name: str
    relationships: tuple[Relationship, ...]

    @classmethod
    def load(cls, method: Method, name: str = "") -> Catalogue:
        """The set `name` of the method, else its default; ConfigError where the method has no such set."""
        name = name or method.relationships
        if name not in method.relationship_sets:
            raise ConfigError.single(
                "datasets.yaml", "relationships", "no such set of relationships", value=repr(name),
                remedy=f"There are: {', '.join(method.relationship_sets)}.",
            )  # fmt: skip
        return from_set(name, method.relationship_sets[name])

    def __iter__(self) -> Iterator[Relationship]:
        return iter(self.relationships)

    def __len__(self) -> int:
        return len(self.relationships)

    def __getitem__(self, number: int) -> Relationship:
        return self.relationships[number]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {relationship.id: number for number, relationship in enumerate(self.relationships)}

    @cached_property
    def by_id(self) -> dict[str, Relationship]:
        return {relationship.id: relationship for relationship in self.relationships}

    def number(self, id: str) -> int:
        """The number of the relationship with this id; raises KeyError."""
        return self._numbers[id]


def from_set(name: str, relationships: RelationshipSet) -> Catalogue:
    """The records of a parsed set; ConfigError for a step that carries no code."""
    found = []
    for id, entry in relationships.relationships.items():
        wordings = entry.told or {}
        written = [(f"paths.{path}", steps) for path, steps in entry.paths.items()]
        written += [(f"told.{words}", steps) for words, ways in wordings.items() for steps in ways]
        for key, steps in written:
            for step in steps:
                if take_apart(read_step(step).code) is None:
                    raise ConfigError.single(
                        f"relationships/{name}.yaml",
                        f"relationships.{id}.{key}",
                        "a step names a property by its code",
                        value=repr(step),
                        remedy="As in P108i_was_produced_by.",
                    )
        paths = tuple(Path(path, tuple(map(read_step, steps))) for path, steps in entry.paths.items())
        told = tuple(
            Wording(words, tuple(Path(words, tuple(map(read_step, steps))) for steps in ways))
            for words, ways in wordings.items()
        )
        ends = Category[entry.domain], Category[entry.range]
        told_or_none = None if entry.told is None else told
        found.append(Relationship(id, entry.label, *ends, entry.specialises, paths, told_or_none))
    return Catalogue(name, tuple(found))


def resolve(step: Step, ontology: Ontology) -> tuple[Directed, ...]:
    """Every property and direction in which data may state the step, sorted.

    Data states either direction: `x P108i y` counts for a step P108 from y, as `y P108 x` does for a step
    P108i from x. Symmetric properties count both ways. An unknown code is followed as it stands.
    """
    found = ontology.directed(step.code, below=not step.alone)
    return found if step.forward else tuple(sorted((code, not forward) for code, forward in found))


Way = tuple[tuple[frozenset[Directed], bool], ...]
"""For each step of a path what it follows in data, and whether any number of times."""


def way_of(path: Path, ontology: Ontology) -> Way:
    return tuple((frozenset(resolve(step, ontology)), step.recursive) for step in path.steps)


def implies(way: Way, wider: Way) -> bool:
    """Whether every walk of one way is a walk of the other: step by step the same or less is followed, and what may be
    walked any number of times takes up any number of steps."""
    if not way:
        return all(recursive for _, recursive in wider)
    if not wider:
        return False
    (own, own_recursive), (other, recursive) = way[0], wider[0]
    if recursive:
        return implies(way, wider[1:]) or (own <= other and implies(way[1:], wider))
    return not own_recursive and own <= other and implies(way[1:], wider[1:])


Classes = frozenset[str]


@dataclass(frozen=True, slots=True)
class DeadPath:
    """A path that nothing can match, and why."""

    relationship: str
    path_id: str
    reason: str


def dead_paths(catalogue: Catalogue, ontology: Ontology) -> list[DeadPath]:
    """Paths of the catalogue that no data can match in which every entity has one class, and every triple
    keeps to its property's domain and range; in the catalogue's order.

    The walk starts from every class of the relationship's domain category. An entity may end a path when its
    categories hold the range, or when its class has none. Data that breaks domains and ranges, or gives an
    entity several classes, may still match such a path: the list warns, it forbids nothing.
    """
    classes = _ClassWalk(ontology, load_categories())
    return [
        DeadPath(relationship.id, path.id, reason)
        for relationship in catalogue
        for path in relationship.paths
        if (reason := classes.why_dead(relationship, path))
    ]


@dataclass(frozen=True)
class _ClassWalk:
    """Walks paths over classes in place of entities."""

    ontology: Ontology
    categories: CategoryMap
    _followed: dict[tuple[Classes, Step], Classes] = field(default_factory=dict)  # many paths begin alike

    def why_dead(self, relationship: Relationship, path: Path) -> str:
        """The first step that cannot be made, or the end that cannot be reached; "" for a live path."""
        at = self._of_category[relationship.domain]
        for number, step in enumerate(path.steps, start=1):
            if (at, step) not in self._followed:
                self._followed[at, step] = self._follow(at, step)
            reached = self._followed[at, step]
            if not reached:
                first = f"no {relationship.domain.name} is one"
                why = first if number == 1 else "the step before leads to none"
                return f"step {number}, {step}, starts from {self._end(step, 'domain')}; {why}"
            at = reached
        if any(not (mask := self._categories[code]) or mask & relationship.range for code in at):
            return ""
        return f"it ends in {self._end(path.steps[-1], 'range')}, of another category than {relationship.range.name}"

    def _follow(self, at: Classes, step: Step) -> Classes:
        moves = []
        for code, forward in resolve(step, self.ontology):
            if code in self.ontology.properties:
                term = self.ontology.property_(code)
                ends = self._below.get(term.domain, frozenset()), self._below.get(term.range, frozenset())
                moves.append(ends if forward else ends[::-1])

        def reached(starts: Classes) -> Iterable[Classes]:
            return (ends for begins, ends in moves if not begins.isdisjoint(starts))

        if not step.recursive:
            return frozenset().union(*reached(at))
        while (grown := at.union(*reached(at))) != at:
            at = grown
        return at

    @cached_property
    def _below(self) -> dict[str, Classes]:
        """Each class with all below it; every class where none is stated ("")."""
        found = {code: frozenset((code, *self.ontology.subclasses(code))) for code in self.ontology.classes}
        return found | {"": frozenset(found)}

    @cached_property
    def _categories(self) -> dict[str, Category]:
        return {code: self.categories.all_of((code,)) for code in self.ontology.classes}

    def _end(self, step: Step, side: str) -> str:
        """The class at the domain or range of the step's property, in words."""
        if step.code not in self.ontology.properties:
            return "a property that no ontology table declares"
        code: str = getattr(self.ontology.property_(step.code), side)
        if code in self.ontology.classes:
            return f"{code} {self.ontology.label(code, kind='class')}"
        return code or "anything"

    @cached_property
    def _of_category(self) -> dict[Category, Classes]:
        of = {code: self.categories.of((code,)) for code in self.ontology.classes}
        return {category: frozenset(code for code in of if of[code] == category) for category in Category}


Move = tuple[int, bool]
"""Property number, and whether its triples are followed from subject to object."""
Ranks = Sequence[Longs]
"""For each move of a leg the rank of the way by its rank before: int64 [256]."""
SOURCE_SHIFT = 47
NODE_SHIFT = 16
PATH_SHIFT = 8
BLOCK = 1 << (63 - SOURCE_SHIFT)
MAX_PATHS = 1 << (NODE_SHIFT - PATH_SHIFT)
TABLE_SHARE = 8  # a table over all nodes beats a binary search for frontiers above this share of them
FEW = 256  # nodes that are walked one by one, whatever share of a property's they are
_NODE_MASK = (1 << (SOURCE_SHIFT - NODE_SHIFT)) - 1
_HOPS_MASK = (1 << NODE_SHIFT) - 1
_LOW_MASK = (1 << PATH_SHIFT) - 1


def start(places: Longs, nodes: Ints) -> Longs:
    """The frontier in which each source stands on its own node; ``places`` ascending, below BLOCK."""
    return (places << SOURCE_SHIFT) | (nodes.astype(np.int64) << NODE_SHIFT)


def sources_of(keys: Longs) -> Longs:
    return keys >> SOURCE_SHIFT


def nodes_of(keys: Longs) -> Longs:
    return (keys >> NODE_SHIFT) & _NODE_MASK


def hops_of(keys: Longs) -> Longs:
    return keys & _HOPS_MASK


def finished(keys: Longs, path: int) -> Longs:
    """Keys of a frontier at the end of ``path``: path above hops, which count to 255 at most."""
    hops: Longs = np.minimum(keys & _HOPS_MASK, _LOW_MASK)
    return (keys & ~_HOPS_MASK) | (path << PATH_SHIFT) | hops


def path_of(keys: Longs) -> Longs:
    """Path index of finished keys; rank of the way of those that carry one."""
    return (keys >> PATH_SHIFT) & _LOW_MASK


def named(keys: Longs, paths: Longs) -> Longs:
    """Keys that carry a rank at the end of a path: the path of each rank, int64 [256], in its place."""
    return (keys & ~(_LOW_MASK << PATH_SHIFT)) | (paths[path_of(keys)] << PATH_SHIFT)


def finished_hops(keys: Longs) -> Longs:
    """Hops of finished keys, 255 for 255 or more."""
    return keys & _LOW_MASK


def distinct(parts: Sequence[Longs]) -> Longs:
    """Sorted keys of all parts, of each (source, node) pair only the lowest."""
    if not parts:
        return np.empty(0, np.int64)
    joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
    keys = np.sort(joined, kind="stable")  # mostly runs in order
    return keys[run_starts(keys >> NODE_SHIFT)]


def halves(keys: Longs) -> tuple[Longs, Longs] | None:
    """The frontier in two, each source whole; None for a frontier of one source."""
    places = sources_of(keys)
    if len(keys) == 0 or places[0] == places[-1]:
        return None
    middle = places[len(keys) // 2]
    cut = int(np.searchsorted(places, middle))
    if cut == 0:
        cut = int(np.searchsorted(places, middle, side="right"))
    return keys[:cut], keys[cut:]


def hop(
    adjacency: Adjacency, moves: Sequence[Move], frontier: Longs, limit: int, ranks: Ranks | None = None
) -> Longs | None:
    """One hop by any of the moves: the frontier reached, distinct; None when it exceeds ``limit`` pairs and can be halved.

    Nothing leaves a suspected merge of identities except at its own start. Never more than about ``limit`` pairs plus
    one node's neighbours are gathered before duplicates go, whatever the hubs; a frontier of one source is always
    finished, since it cannot exceed the number of nodes.
    """
    mask = _HOPS_MASK if ranks is None else _LOW_MASK
    stays = (adjacency.flags[nodes_of(frontier)] & FLAG_SUSPECT) != 0
    leaving = frontier[~stays | ((frontier & mask) == 0)] if stays.any() else frontier
    nodes = nodes_of(leaving).astype(np.int32)
    bare = (leaving & ~(_NODE_MASK << NODE_SHIFT)) + ((leaving & mask) < mask)
    parts: list[Longs] = []
    pending, settled = 0, 0
    for number, (prop, forward) in enumerate(moves):
        following = bare if ranks is None else named(bare, ranks[number])
        rows = adjacency.forward if forward else adjacency.backward
        for origin, reached in _gather(rows, prop, nodes, adjacency.nodes, limit):
            parts.append(following[origin] | (reached.astype(np.int64) << NODE_SHIFT))
            pending += len(reached)
            if pending > max(limit, settled):
                parts = [distinct(parts)]
                pending, settled = 0, len(parts[0])
                if settled > limit and halves(frontier) is not None:
                    return None
    return distinct(parts)


def closure(
    adjacency: Adjacency, moves: Sequence[Move], frontier: Longs, limit: int, ranks: Ranks | None = None
) -> Longs | None:
    """Zero or more hops, each pair with its fewest hops; None as in `hop`. Cycles end, since only better pairs go on.

    What has been reached is kept in layers of falling size, so that a chain of n hops costs about n log n.
    """
    layers, fresh = [frontier], frontier
    while True:
        found = hop(adjacency, moves, fresh, limit, ranks)
        if found is None:
            return None
        fresh = _improved(found, layers)
        if not len(fresh):
            return distinct(layers) if len(layers) > 1 else layers[0]
        layers.append(fresh)
        while len(layers) > 1 and len(layers[-2]) < 2 * len(layers[-1]):
            layers[-2:] = [distinct(layers[-2:])]
        if sum(map(len, layers)) > limit and halves(frontier) is not None:
            return None


def _improved(found: Longs, layers: Sequence[Longs]) -> Longs:
    """Those of the keys found whose pair no layer has with as few hops."""
    better = np.ones(len(found), bool)
    for layer in layers:
        at = np.searchsorted(layer, found)
        better &= layer[np.minimum(at, len(layer) - 1)] != found
        before = np.maximum(at - 1, 0)
        better &= (at == 0) | ((layer[before] >> NODE_SHIFT) != (found >> NODE_SHIFT))
    kept: Longs = found[better]
    return kept


def _gather(rows: Rows, prop: int, nodes: Ints, size: int, limit: int) -> Iterator[tuple[Longs, Ints]]:
    """(index into ``nodes``, node reached) for all triples of ``prop``; at most ``limit``, or one node's, at a time.

    ``size``: nodes of the graph.
    """
    low, high = int(rows.prop[prop]), int(rows.prop[prop + 1])
    if low < high and len(nodes) > size // TABLE_SHARE:
        table = np.full(size, -1, np.int64)
        table[rows.row[low:high]] = np.arange(low, high)
        at = table[nodes]
        found = np.flatnonzero(at >= 0)
        at = at[found]
    else:
        found, at = rows.locate(prop, nodes)
    ptr, val = np.asarray(rows.ptr), np.asarray(rows.val)
    for part in consecutive(np.cumsum(ptr[at + 1] - ptr[at]), limit):
        index, row = spread(ptr, at[part])
        yield found[part][index], val[row]


End = tuple[int, int]
"""Number of a relationship in its catalogue, and of a path in that relationship."""


@dataclass(frozen=True, slots=True)
class Leg:
    """A step in one graph: any of the moves, once or (``recursive``) zero or more times; ``moves`` ascending.

    ``choices``: by which of the step's narrower steps each move is told, where these are told apart, and ``costs``: what
    each of them adds to the cost of a way.
    """

    moves: tuple[Move, ...]
    recursive: bool
    choices: tuple[int, ...] = ()
    costs: tuple[int, ...] = ()

    def reversed(self) -> Leg:
        """The leg that undoes this one."""
        return Leg(tuple((prop, not forward) for prop, forward in self.moves), self.recursive)


def turned(legs: Sequence[Leg]) -> tuple[Leg, ...]:
    """The legs from their other end."""
    return tuple(leg.reversed() for leg in reversed(legs))


@dataclass(slots=True)
class Branch:
    """A node of the trie: the paths that end here, and the legs that go on.

    Where a walk tells apart by which properties it went, keys carry the rank of their way so far, the narrowest lowest:
    ``ranks``, for each move of the leg that leads here, is the rank here by the rank before, and ``ways`` holds
    the relationships that end here with the path of each rank (int64 [256] both).
    """

    ends: list[End] = field(default_factory=list)
    legs: dict[Leg, Branch] = field(default_factory=dict)
    ranks: tuple[Longs, ...] | None = None
    ways: list[tuple[int, Longs]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plan:
    """Tries of all paths by domain; a suspect source takes those of a single step only (``cautious``)."""

    full: dict[Category, Branch]
    cautious: dict[Category, Branch]


NO_NUMBERS: Mapping[str, int] = {}


def legs_of(
    adjacency: Adjacency,
    ontology: Ontology,
    steps: Sequence[Step],
    numbers: Mapping[str, int] = NO_NUMBERS,
) -> tuple[Leg, ...] | None:
    """The legs of a path in this graph; None when one of its steps occurs nowhere in it. ``numbers``: as `moves_of`.

    A recursive step that occurs nowhere is left out, as zero times is all it can be walked.
    """
    legs = []
    for step in steps:
        moves = moves_of(adjacency, ontology, step, numbers)
        if moves:
            legs.append(Leg(moves, step.recursive))
        elif not step.recursive:
            return None
    return tuple(legs)


def moves_of(
    adjacency: Adjacency, ontology: Ontology, step: Step, numbers: Mapping[str, int] = NO_NUMBERS
) -> tuple[Move, ...]:
    """The properties of this graph that state the step, ascending: sub-properties and inverses included.

    ``numbers``: of the graph's properties by IRI, for steps that name one so.
    """
    if step.code in numbers:
        return ((numbers[step.code], step.forward),)
    return tuple(
        sorted(
            (number, forward)
            for code, forward in resolve(step, ontology)
            for number in adjacency.by_code.get(code, ())
        )
    )


def make_plan(adjacency: Adjacency, ontology: Ontology, catalogue: Catalogue) -> Plan:
    """The catalogue's paths for this graph; raises CrmRagError for a relationship with more than 256 paths."""
    plan = Plan({}, {})
    for number, relationship in enumerate(catalogue):
        if len(relationship.paths) > MAX_PATHS:
            raise CrmRagError(
                f"Relationship {relationship.id} of {catalogue.name} has {len(relationship.paths)} paths.",
                f"At most {MAX_PATHS} fit one relationship: split it.",
            )
        for index, path in enumerate(relationship.paths):
            legs = legs_of(adjacency, ontology, path.steps)
            if legs:
                add_way(plan.full.setdefault(relationship.domain, Branch()), legs, (number, index))
                if len(path.steps) == 1:
                    add_way(plan.cautious.setdefault(relationship.domain, Branch()), legs, (number, index))
    return plan


def add_way(root: Branch, legs: Sequence[Leg], end: End) -> None:
    """Join a path to a trie: its legs from the root, and what ends there."""
    branch = root
    for leg in legs:
        branch = branch.legs.setdefault(leg, Branch())
    branch.ends.append(end)


LIMIT = 1 << 22
"""Pairs a frontier may hold before its sources are split: 32 MiB of keys, about five times that at work."""


def advance(
    adjacency: Adjacency, leg: Leg, frontier: Longs, limit: int = LIMIT, ranks: Ranks | None = None
) -> Iterator[Longs]:
    """The frontier after the leg, in pieces that hold their sources whole and (one source apart) keep to ``limit``.

    ``ranks``: given where the keys carry the rank of their way (see `Branch`).
    """
    if len(frontier) == 0:
        return
    walked = (closure if leg.recursive else hop)(adjacency, leg.moves, frontier, limit, ranks)
    if walked is not None:
        yield walked
        return
    parts = halves(frontier)
    assert parts is not None, "a frontier of one source is always walked"
    for part in parts:
        yield from advance(adjacency, leg, part, limit, ranks)


def walk_legs(
    adjacency: Adjacency, legs: Sequence[Leg], nodes: Ints, chosen: Longs
) -> Iterator[tuple[Longs, Ints]]:
    """What the nodes at the ``chosen`` places reach over the legs, in parts: (index into ``nodes``, node)."""
    for first in range(0, len(chosen), BLOCK):
        block = chosen[first : first + BLOCK]
        for keys in _over(adjacency, legs, start(np.arange(len(block)), nodes[block])):
            yield block[sources_of(keys)], nodes_of(keys).astype(np.int32)


def _over(adjacency: Adjacency, legs: Sequence[Leg], frontier: Longs) -> Iterator[Longs]:
    check()
    if not legs:
        yield frontier
        return
    for piece in advance(adjacency, legs[0], frontier):
        yield from _over(adjacency, legs[1:], piece)


NONE = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class NodeSet:
    """Nodes that a walk has come to, ascending: those where it began and has not moved, and those that it moved to.

    The two are told apart since a suspected merge of identities may be left at a walk's beginning only.
    """

    still: Ints
    moved: Ints

    @property
    def all(self) -> Ints:
        if not (len(self.still) and len(self.moved)):
            return self.still if len(self.still) else self.moved
        return ascending(np.concatenate([self.still, self.moved]))


def walk_set(
    adjacency: Adjacency, legs: Sequence[Leg], start: Ints, memo: dict[tuple[Leg, ...], NodeSet]
) -> NodeSet:
    """What any of the nodes reaches over all legs, without telling which; ``memo`` keeps what the same start reaches by the
    beginnings of other walks."""
    at = NodeSet(start, NONE)
    for done in range(1, len(legs) + 1):
        key = tuple(legs[:done])
        if key not in memo:
            memo[key] = _follow(adjacency, legs[done - 1], at)
        at = memo[key]
    return at


def _follow(adjacency: Adjacency, leg: Leg, nodes: NodeSet) -> NodeSet:
    free = nodes.moved[(adjacency.flags[nodes.moved] & FLAG_SUSPECT) == 0]
    fresh = NodeSet(nodes.still, free).all
    if not leg.recursive:
        return NodeSet(NONE, hop_set(adjacency, leg.moves, fresh))
    reached = np.zeros(adjacency.nodes, bool)
    reached[nodes.moved] = True
    left = np.zeros(adjacency.nodes, bool)
    while len(fresh):
        left[fresh] = True
        found = hop_set(adjacency, leg.moves, fresh)
        reached[found] = True
        found = found[(adjacency.flags[found] & FLAG_SUSPECT) == 0]
        fresh = found[~left[found]]
    return NodeSet(nodes.still, np.flatnonzero(reached).astype(np.int32))


def hop_set(adjacency: Adjacency, moves: Sequence[Move], nodes: Ints) -> Ints:
    """What the nodes (ascending) reach by any of the moves, ascending.

    Nodes are walked one by one while they are few; of a large share of what has a property all its triples are looked at,
    which costs a twentieth for each.
    """
    leaving: npt.NDArray[np.bool_] | None = None
    parts = []
    for prop, forward in moves:
        ahead, back = adjacency.forward, adjacency.backward
        ahead, back = (ahead, back) if forward else (back, ahead)
        low, high = (int(ahead.ptr[int(ahead.prop[end])]) for end in (prop, prop + 1))
        if len(nodes) < FEW or len(nodes) * TABLE_SHARE < high - low:
            parts.append(ahead.expand(prop, nodes)[1])
            continue
        if leaving is None and len(nodes) < adjacency.nodes:
            leaving = np.zeros(adjacency.nodes, bool)
            leaving[nodes] = True
        parts.append(_arriving(back, prop, leaving))
        if len(moves) == 1:
            return parts[0]
    return any_of(parts, adjacency.nodes)


def any_of(parts: Sequence[Ints], nodes: int) -> Ints:
    """What stands in any of the parts, ascending; ``nodes``: of the graph."""
    if sum(map(len, parts)) * TABLE_SHARE < nodes:
        return ascending(np.concatenate([NONE, *parts]))
    found = np.zeros(nodes, bool)
    for part in parts:
        found[part] = True
    return np.flatnonzero(found).astype(np.int32)


def _arriving(back: Rows, prop: int, nodes: npt.NDArray[np.bool_] | None) -> Ints:
    """Nodes that have a row of ``prop`` with one of the nodes (None: anything) in it; no node is walked by itself."""
    low, high = int(back.prop[prop]), int(back.prop[prop + 1])
    if nodes is None or low == high:
        return back.row[low:high]
    first = int(back.ptr[low])
    hits = nodes[back.val[first : int(back.ptr[high])]]
    return back.row[low:high][np.logical_or.reduceat(hits, back.ptr[low:high] - first)]


Shorts = npt.NDArray[np.int16]
FIRST, GROWTH = 1 << 11, 4
"""Sources of the first block, and by how much the next may be larger: a block is to give about ``limit`` matches."""


@dataclass(frozen=True, slots=True)
class Matches:
    """FR matches sorted by (source, relationship, target), each once; arrays of equal length.

    ``source``, ``target`` int32 nodes; ``relationship`` int16 number in the catalogue; ``path`` int16 the lowest path of
    that relationship that gets there; ``depth`` uint8 fewest hops by that path, 255 for 255 or more.
    """

    source: Ints
    relationship: Shorts
    target: Ints
    path: Shorts
    depth: Bytes

    def __len__(self) -> int:
        return len(self.source)

    def of(self, source: int) -> Matches:
        """The matches of one source."""
        low, high = np.searchsorted(self.source, [source, source + 1])
        return self.part(slice(int(low), int(high)))

    def part(self, chosen: slice | npt.NDArray[np.bool_] | Longs) -> Matches:
        """The chosen rows."""
        return Matches(*(getattr(self, name)[chosen] for name in Matches.__slots__))

    @classmethod
    def joined(cls, parts: list[Matches]) -> Matches:
        """The rows of all parts, one after the other."""
        # what there is where there are no parts, in the type of each column
        empty = (np.empty(0, kind) for kind in (np.int32, np.int16, np.int32, np.int16, np.uint8))
        columns = zip(cls.__slots__, empty, strict=True)
        return cls(
            *(np.concatenate([none, *(getattr(part, name) for part in parts)]) for name, none in columns)
        )


def walk(
    adjacency: Adjacency,
    ontology: Ontology,
    catalogue: Catalogue,
    sources: Ints,
    limit: int = LIMIT,
    plan: Plan | None = None,
) -> Matches:
    """The matches of every source by the relationships of its primary category.

    Recursive steps are walked zero or more times. A source is never its own target; a target whose categories are known
    and lack the range is dropped; no path runs through a suspected merge of identities, and such a source takes paths
    of a single step only. ``plan`` spares making it again for the next sources of the same graph.
    """
    return Matches.joined(list(walk_blocks(adjacency, ontology, catalogue, sources, limit, plan)))


def walk_blocks(
    adjacency: Adjacency,
    ontology: Ontology,
    catalogue: Catalogue,
    sources: Ints,
    limit: int = LIMIT,
    plan: Plan | None = None,
) -> Iterator[Matches]:
    """`walk` in blocks of sources, each of about ``limit`` matches, for more of them than memory holds."""
    ready = plan or make_plan(adjacency, ontology, catalogue)
    ordered = np.asarray(sources, np.int32)
    if not (np.diff(ordered) > 0).all():
        ordered = np.unique(ordered)
    first, size = 0, max(1, min(FIRST, limit))
    while first < len(ordered):
        block = _walk_block(adjacency, catalogue, ready, ordered[first : first + size], limit)
        yield block
        first += size
        size = max(1, min(GROWTH * size, size * limit // max(1, len(block)), BLOCK))


def _walk_block(adjacency: Adjacency, catalogue: Catalogue, plan: Plan, sources: Ints, limit: int) -> Matches:
    hits = [_Hits(limit) for _ in catalogue]
    category = adjacency.category[sources]
    suspect = (adjacency.flags[sources] & FLAG_SUSPECT) != 0
    for tries, doubtful in ((plan.full, False), (plan.cautious, True)):
        for domain, branch in tries.items():
            places = np.flatnonzero((category == int(domain)) & (suspect == doubtful))
            if not len(places):
                continue
            for ended, frontier in ends_of(adjacency, branch, start(places, sources[places]), limit):
                nodes = nodes_of(frontier)
                other, categories = nodes != sources[sources_of(frontier)], adjacency.categories[nodes]
                ends: list[tuple[int, int | Longs]] = [*ended.ends, *ended.ways]
                for number, path in ends:
                    range_ = int(catalogue[number].range)
                    keys = frontier[other & ((categories == 0) | ((categories & range_) != 0))]
                    hits[number].add(finished(keys, path) if isinstance(path, int) else named(keys, path))
    settled = [hit.settled() for hit in hits]
    found = np.concatenate([np.empty(0, np.int64), *settled])
    relationship = np.repeat(np.arange(len(settled), dtype=np.int16), [len(part) for part in settled])
    place = sources_of(found)
    order = np.argsort(place.astype(np.uint16), kind="stable")
    found = found[order]
    return Matches(
        source=sources[place[order]],
        relationship=relationship[order],
        target=nodes_of(found).astype(np.int32),
        path=path_of(found).astype(np.int16),
        depth=finished_hops(found).astype(np.uint8),
    )


def ends_of(
    adjacency: Adjacency, branch: Branch, frontier: Longs, limit: int = LIMIT
) -> Iterator[tuple[Branch, Longs]]:
    """Each branch at which paths end, with the frontiers that come there."""
    for leg, following in branch.legs.items():
        for piece in advance(adjacency, leg, frontier, limit, following.ranks):
            if following.ends or following.ways:
                yield following, piece
            yield from ends_of(adjacency, following, piece, limit)


@dataclass
class _Hits:
    """Finished keys of one relationship; what several paths reach is settled as it piles up."""

    limit: int
    parts: list[Longs] = field(default_factory=list)
    pending: int = 0

    def add(self, keys: Longs) -> None:
        if len(keys):
            self.parts.append(keys)
            self.pending += len(keys)
            if len(self.parts) > 1 and self.pending > max(self.limit, len(self.parts[0])):
                self.settled()

    def settled(self) -> Longs:
        """Each (source, target) once, by its lowest path."""
        self.parts = [distinct(self.parts)]
        self.pending = 0
        return self.parts[0]


@dataclass(frozen=True, slots=True)
class Hop:
    """A triple on the way, as the data states it; ``forward`` when the way leads from its subject to its object."""

    subject: int
    property: int
    object: int
    forward: bool


def explain(
    adjacency: Adjacency, ontology: Ontology, relationship: Relationship, source: int, target: int
) -> list[Hop]:
    """A shortest way from source to target over the relationship's paths; empty when none leads there.

    Between ways of equal length the lowest path decides, then, from the target backwards, the lowest property number,
    then the lowest node.
    """
    ways = (way_by(adjacency, ontology, path, source, target) for path in relationship.paths)
    return min((way for way in ways if way), key=len, default=[])


def way_by(adjacency: Adjacency, ontology: Ontology, path: Path, source: int, target: int) -> list[Hop]:
    """A shortest way from source to target by one path; empty when it does not lead there."""
    legs = legs_of(adjacency, ontology, path.steps)
    suspect = bool(adjacency.flags[source] & FLAG_SUSPECT)
    if not legs or source == target or (suspect and len(path.steps) > 1):
        return []
    return way_over(adjacency, legs, source, target)


def way_over(adjacency: Adjacency, legs: Sequence[Leg], source: int, target: int) -> list[Hop]:
    """A shortest way over the legs; empty when it does not lead there, or takes no hop."""
    stages = [start(np.zeros(1, np.int64), np.array([source], np.int32))]
    for leg in legs:
        stages.append(next(advance(adjacency, leg, stages[-1]), stages[-1][:0]))
    return backwards(adjacency, legs, stages, target)


def backwards(adjacency: Adjacency, legs: Sequence[Leg], stages: Sequence[Longs], target: int) -> list[Hop]:
    """From the target in the last stage to the source in the first, always to a node one hop nearer; see `way_over`.

    ``stages``: the frontier of one source, as number 0, at its start and after each leg.
    """
    way: list[Hop] = []
    node, hops, at = target, _hops(stages[-1], target), len(legs)
    while hops > 0:
        leg = legs[at - 1]
        if leg.recursive and _hops(stages[at - 1], node) == hops:
            at -= 1
            continue
        at = at if leg.recursive else at - 1
        hops -= 1
        hop = _hop_into(adjacency, leg, stages[at], node, hops)
        way.append(hop)
        node = hop.subject if hop.forward else hop.object
    return way[::-1]


def _hops(stage: Longs, node: int) -> int:
    """Hops to the node in a stage of one source, -1 when it is not there."""
    at = int(np.searchsorted(stage, node << NODE_SHIFT))
    if at == len(stage) or int(nodes_of(stage[at : at + 1])[0]) != node:
        return -1
    return int(hops_of(stage[at : at + 1])[0])


def _hop_into(adjacency: Adjacency, leg: Leg, stage: Longs, node: int, hops: int) -> Hop:
    """The lowest triple that leads to the node from one that the stage holds at ``hops``."""
    level = stage[hops_of(stage) == hops]
    nodes = nodes_of(level).astype(np.int32)
    if hops:
        nodes = nodes[(adjacency.flags[nodes] & FLAG_SUSPECT) == 0]
    for prop, forward in leg.moves:
        rows = adjacency.backward if forward else adjacency.forward
        before: Ints = np.intersect1d(rows.neighbours(prop, node), nodes, assume_unique=True)
        if len(before):
            first = int(before[0])
            return Hop(first, prop, node, True) if forward else Hop(node, prop, first, False)
    raise AssertionError("a stage holds no node that was not reached from the one before")
