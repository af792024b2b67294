"""The types that a data set uses: their names, and how many entities of which categories have them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, cast

import numpy as np
import pyarrow as pa

from crmrag_query.artifacts.manifest import open_array
from crmrag_query.graph.arrays import Ints, Longs, open_table, ranges
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.kind_words import Lexicon, Phrasebook, named, parts_of
from crmrag_query.plans.world import World
from crmrag_query.text import tokenize

TYPED, BROADER = "P2", "P127"
_AAT = re.compile(r"\baat[:/](300\d{6})/?$")
KEPT = 10_000  # sets of types whose users are kept counted
Side = Literal["first", "last"]
Spread = tuple[tuple[int, int], ...]
"""(bit of a primary category, entities), most first."""


@dataclass(frozen=True)
class DataTypes:
    """What entities have as a type (P2 and the properties that imply it), and what stands above that by P127 and such.

    ``nodes`` int32 [t]: the types, ascending; the entities that have type i: ``users[starts[i]:starts[i + 1]]``.
    ``names``: whole names -> (node, language); ``tags``: node -> languages of its labels, "" for none; ``heads``: by whether
    the language's heads come first or last, head word -> nodes; ``aat``: identifier -> nodes; ``below``: type -> narrower
    types, directly; ``foreign``: those of them that are not stated by P127, which a plan's types do not take in.
    """

    world: World
    users: Ints
    starts: Longs
    nodes: Ints
    names: Phrasebook[tuple[int, str]]
    tags: dict[int, set[str]]
    heads: dict[Side, dict[str, list[int]]]
    aat: dict[str, list[int]]
    below: dict[int, list[int]]
    foreign: dict[int, list[int]]
    _counted: dict[tuple[int, ...], tuple[int, Spread]] = field(default_factory=dict)

    @classmethod
    def of(cls, world: World, lexicon: Lexicon, broader: Iterable[str]) -> DataTypes:
        """Those of a world; ``broader``: properties to broader types, by code or IRI."""
        used, starts, users = _used(world)
        below, foreign = _below(world, used, broader)
        nodes = np.unique(np.concatenate([used, np.fromiter(below, np.int32, len(below))]))
        own = np.searchsorted(used, nodes)
        has = np.zeros(len(nodes), bool)
        if len(used):
            own[own == len(used)] = 0
            has = used[own] == nodes
        count = np.zeros(len(nodes), np.int64)
        count[has] = np.diff(starts)[own[has]]
        names, tags, heads = _names(world, lexicon, nodes)
        ptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        return cls(world, users, ptr, nodes, names, tags, heads, _aat(world, nodes), below, foreign)

    def with_narrower(self, types: Iterable[int], below: dict[int, list[int]]) -> list[int]:
        """The types and all that are below them."""
        found = dict.fromkeys(types)
        waiting = list(found)
        while waiting:
            for narrower in below.get(waiting.pop(), ()):
                if narrower not in found:
                    found[narrower] = None
                    waiting.append(narrower)
        return list(found)

    def counted(self, types: tuple[int, ...]) -> tuple[int, Spread]:
        """How many entities have one of the types or a narrower one, in all and by primary category."""
        if types not in self._counted:
            if len(self._counted) >= KEPT:
                self._counted.clear()
            self._counted[types] = self._count(types)
        return self._counted[types]

    def _count(self, types: tuple[int, ...]) -> tuple[int, Spread]:
        every = np.array(self.with_narrower(types, self.below), np.int32)
        at = np.searchsorted(self.nodes, every)
        users = self.users[ranges(self.starts[at], self.starts[at + 1] - self.starts[at])]
        if len(every) > 1:
            has = np.zeros(self.world.size, bool)
            has[users] = True
            users = np.flatnonzero(has).astype(np.int32)
        counts = np.bincount(self.world.adjacency.category[users], minlength=int(max(Category)) + 1)
        spread = sorted(
            ((int(bit), int(counts[bit])) for bit in Category if counts[bit]),
            key=lambda one: (-one[1], one[0]),
        )
        return len(users), tuple(spread)

    def most_used(self, most: int) -> Ints:
        """The types that most entities have themselves, most first, ties by node."""
        order = np.lexsort((self.nodes, -np.diff(self.starts)))
        return self.nodes[order[:most]]

    @cached_property
    def _backwards(self) -> list[str]:
        return sorted(head[::-1] for head in self.heads["last"])

    def compounds(self, word: str) -> list[str]:
        """Head words that end in this one and are longer: ``olgemalde`` for ``gemalde``."""
        wanted = word[::-1]
        at, found = bisect_left(self._backwards, wanted), []
        while at < len(self._backwards) and self._backwards[at].startswith(wanted):
            if len(self._backwards[at]) > len(wanted):
                found.append(self._backwards[at][::-1])
            at += 1
        return found


def _used(world: World) -> tuple[Ints, Longs, Ints]:
    """Types that entities have, ascending; ranges of their users; the users, each once."""
    kinds, users = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    numbers = [
        (n, ahead)
        for code, ahead in world.ontology.directed(TYPED)
        for n in world.adjacency.by_code.get(code, ())
    ]
    for number, ahead in numbers:
        rows = world.adjacency.backward if ahead else world.adjacency.forward
        low, high = int(rows.prop[number]), int(rows.prop[number + 1])
        ptr = rows.ptr[low : high + 1]
        kinds.append(np.repeat(rows.row[low:high], np.diff(ptr)))
        users.append(rows.val[ptr[0] : ptr[-1]] if high > low else rows.val[:0])
    kind, user = np.concatenate(kinds), np.concatenate(users)
    kept = world.entities[user]
    kind, user = kind[kept], user[kept]
    if (
        sum(len(part) > 0 for part in kinds) > 1
    ):  # stated by one property only, they are sorted and each stands once
        pairs = np.sort(kind.astype(np.int64) * world.size + user)
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        kind, user = (part.astype(np.int32) for part in np.divmod(pairs, world.size))
    first = np.flatnonzero(np.r_[True, kind[1:] != kind[:-1]]) if len(kind) else np.empty(0, np.int64)
    return kind[first], np.append(first, len(kind)).astype(np.int64), user


def _below(
    world: World, used: Ints, broader: Iterable[str]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Broader type -> narrower ones, of those that are used or above one that is; by all properties, and without P127."""
    up: dict[int, list[tuple[int, bool]]] = {}
    for name in broader:
        codes = world.ontology.directed(name) if name in world.ontology.properties else ()
        numbers = [(n, ahead) for code, ahead in codes for n in world.adjacency.by_code.get(code, ())]
        if name in world.property_numbers:
            numbers.append((world.property_numbers[name], True))
        for number, ahead in dict.fromkeys(numbers):
            rows = world.adjacency.forward if ahead else world.adjacency.backward
            low, high = int(rows.prop[number]), int(rows.prop[number + 1])
            ptr = rows.ptr[low : high + 1]
            narrow = np.repeat(rows.row[low:high], np.diff(ptr)).tolist()
            wide = rows.val[ptr[0] : ptr[-1]].tolist() if high > low else []
            for one, above in zip(narrow, wide, strict=True):
                up.setdefault(one, []).append((above, name == BROADER))
    below: dict[int, list[int]] = {}
    foreign: dict[int, list[int]] = {}
    seen = set(used.tolist()) if up else set()
    waiting = sorted(seen)
    while waiting:
        one = waiting.pop()
        for above, own in up.get(one, ()):
            below.setdefault(above, []).append(one)
            if not own:
                foreign.setdefault(above, []).append(one)
            if above not in seen:
                seen.add(above)
                waiting.append(above)
    return below, foreign


def _names(
    world: World, lexicon: Lexicon, nodes: Ints
) -> tuple[Phrasebook[tuple[int, str]], dict[int, set[str]], dict[Side, dict[str, list[int]]]]:
    table = open_table(world.graph.folder, "labels")
    texts, languages = table.column("text"), table.column("lang")
    ptr = cast(Longs, open_array(world.graph.folder, "label_ptr"))
    begin, count = ptr[nodes], ptr[nodes + 1] - ptr[nodes]
    rows = ranges(begin, count)
    names: Phrasebook[tuple[int, str]] = Phrasebook(lexicon.part.longest_name)
    tags: dict[int, set[str]] = {}
    heads: dict[Side, dict[str, list[int]]] = {"first": {}, "last": {}}
    labelled = zip(
        np.repeat(nodes, count).tolist(), _taken(texts, rows), _taken(languages, rows), strict=True
    )
    for node, text, tag in labelled:
        if text.isdigit():  # an identifier that stands for a label that is missing
            continue
        language = tag.lower().partition("-")[0]
        name = named(text)
        words = tokenize(name)
        names.add(words, (node, language))
        tags.setdefault(node, set()).add(language)
        for side, ends in _ends(name, words, language, lexicon):
            for word in ends:
                at = heads[side].setdefault(word, [])
                if not at or at[-1] != node:
                    at.append(node)
    return names, tags, heads


def _ends(name: str, words: list[str], language: str, lexicon: Lexicon) -> Iterator[tuple[Side, set[str]]]:
    """The words that may be the head of a name, for languages that have it first and last; one without a language may be of
    either."""
    if len(words) == 1:
        yield from (("first", {words[0]}), ("last", {words[0]}))
        return
    parts = list(parts_of(name, lexicon.joints, lexicon.cuts.get(language, lexicon.any_cut)))
    where = lexicon.part.heads.get(language, "last") if language else ""
    first, last = {part[0] for part in parts}, {part[-1] for part in parts}
    if where == "either":
        first = last = first | last
    if where != "last":
        yield "first", first
    if where != "first":
        yield "last", last


def _aat(world: World, nodes: Ints) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for node, iri in zip(nodes.tolist(), _taken(world.graph.iris, nodes.astype(np.int64)), strict=True):
        match = _AAT.search(iri)
        if match:
            found.setdefault(match[1], []).append(node)
    return found


def _taken(column: pa.Array, rows: Longs) -> list[str]:
    """Those rows of a column; made of a buffer, since `pa.array` loads pandas where that is installed."""
    at = pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))])
    return cast(list[str], column.take(at).to_pylist())
