"""Thin documents join their neighbours' (facts: method, Build): smallest first, into the richest or into all."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crmrag_assets.documents.csr import Csr, csr_from_pairs
from crmrag_assets.documents.satellites import Satellites
from crmrag_query.config.build import Chaining
from crmrag_query.graph.arrays import Adjacency, Ints

Bools = npt.NDArray[np.bool_]
SEPARATOR = "\n\n"  # between the blocks of a document
NUMBER_BITS = 32  # of a document's number beside its length
NUMBERS = (1 << NUMBER_BITS) - 1


@dataclass(frozen=True, slots=True)
class Chained:
    """What became of ``d`` documents, numbered in the order of their entities (that is, of IRIs).

    ``alive`` bool [d]: still a document; ``blocks``: for each document that others joined, all its blocks in order, its
    own first; ``home`` int32 [d]: the document that holds each block, the richest where there are several.
    """

    alive: Bools
    blocks: dict[int, tuple[int, ...]]
    home: Ints

    def blocks_of(self, document: int) -> tuple[int, ...]:
        return self.blocks.get(document, (document,))

    def rows(self) -> Csr:
        """The blocks of every document, in order; of one that is no document any more, itself."""
        counts = np.ones(len(self.alive), np.int64)
        joined = np.fromiter(self.blocks, np.int64, len(self.blocks))
        counts[joined] = [len(blocks) for blocks in self.blocks.values()]
        ptr = np.concatenate([[0], np.cumsum(counts)])
        blocks = np.repeat(np.arange(len(self.alive), dtype=np.int32), counts)
        place = np.repeat(ptr[joined] - np.cumsum(counts[joined]) + counts[joined], counts[joined])
        held = itertools.chain.from_iterable(self.blocks.values())
        blocks[place + np.arange(len(place))] = np.fromiter(held, np.int32, len(place))
        return Csr(ptr, blocks)


def neighbouring(adjacency: Adjacency, satellites: Satellites, entities: Ints, wanted: Bools) -> Csr:
    """Documents that a triple joins, either way, for the ``wanted`` ones of the documents of ``entities``.

    A satellite counts for the document that tells it, unless several do: a type that two paintings share makes them no
    neighbours.
    """
    anchor = np.full(len(satellites.kind), -1, np.int32)
    anchor[entities] = np.arange(len(entities), dtype=np.int32)
    single = np.flatnonzero(satellites.parents.counts == 1)
    anchor[single] = anchor[satellites.parents.val[satellites.parents.ptr[single]]]
    rows = adjacency.forward
    one = anchor[np.repeat(rows.row, np.diff(rows.ptr))]
    other = anchor[rows.val]
    joined = (one >= 0) & (other >= 0) & (one != other)
    one, other = one[joined], other[joined]
    start, end = np.concatenate([one, other]), np.concatenate([other, one])
    kept = wanted[start]
    return csr_from_pairs(start[kept], end[kept], len(entities))


def chain(lengths: npt.NDArray[np.int64], thin: Bools, neighbours: Csr, rules: Chaining) -> Chained:
    """Join each thin document to its neighbours, the smallest first, ties by IRI.

    ``lengths`` int64 [d] in characters; ``thin`` bool [d]: may be joined while below the limit; ``neighbours``: rows of at
    least those. A document without a neighbour that has room stays. Each triple of a thin document is looked at a bounded
    number of times: what has joined it is at most as long as it may be itself.
    """
    work = (_All if rules.strategy == "all" else _Richest)(lengths, neighbours, rules.limit_characters)
    open_ = np.flatnonzero(thin & (lengths < rules.thin_characters))
    turns = _Turns(lengths[open_], open_)
    may_join = thin.tolist()
    for length, document in turns:
        if not work.alive[document] or work.lengths[document] != length:
            continue
        for joined in work.join(document):
            if may_join[joined] and work.lengths[joined] < rules.thin_characters:
                turns.push(work.lengths[joined], joined)
    alive = np.frombuffer(work.alive, np.bool_)
    return Chained(alive, {d: tuple(b) for d, b in work.blocks.items() if work.alive[d]}, work.homes())


class _Turns:
    """Documents by length, then number: those known at first, which are sorted once, and those that come on the way."""

    def __init__(self, lengths: npt.NDArray[np.int64], documents: npt.NDArray[np.int64]) -> None:
        self._first: list[int] = np.sort(lengths << NUMBER_BITS | documents)[::-1].tolist()
        self._later: list[int] = []

    def push(self, length: int, document: int) -> None:
        heapq.heappush(self._later, length << NUMBER_BITS | document)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        first, later = self._first, self._later
        while first or later:
            turn = first.pop() if first and not (later and later[0] < first[-1]) else heapq.heappop(later)
            yield turn >> NUMBER_BITS, turn & NUMBERS


class _Work:
    """Documents while they are being joined: ``lengths``, ``alive`` and the ``blocks`` of those that others joined.

    Plain lists: what is looked at is one document's at a time.
    """

    def __init__(self, lengths: npt.NDArray[np.int64], neighbours: Csr, limit: int) -> None:
        self.lengths: list[int] = lengths.tolist()
        self.alive = bytearray(b"\1") * len(lengths)
        self.blocks: dict[int, list[int]] = {}
        self.home = np.arange(len(lengths), dtype=np.int32)
        self.limit = limit
        self._starts: list[int] = neighbours.ptr.tolist()
        self._near = neighbours.val

    def near(self, blocks: Sequence[int]) -> Ints:
        """Neighbours of the blocks, block by block."""
        starts = self._starts
        found = [self._near[starts[block] : starts[block + 1]] for block in blocks]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def homes(self) -> Ints:
        return self.home


class _Richest(_Work):
    """Each document joins the longest neighbour: every block is in one document only, its home."""

    def join(self, document: int) -> list[int]:
        """Append a document to the longest neighbour with room, the first of equals; returns that one, or none."""
        blocks = self.blocks.get(document) or [document]
        lengths, growth = self.lengths, self.lengths[document] + len(SEPARATOR)
        room = self.limit - growth
        best, longest = -1, -1
        for other in self.home[self.near(blocks)].tolist():
            length = lengths[other]
            if longest <= length <= room and other != document and (length > longest or other < best):
                best, longest = other, length
        if best < 0:
            return []
        self.blocks.setdefault(best, [best]).extend(blocks)
        self.blocks.pop(document, None)
        lengths[best] += growth
        self.alive[document] = False
        for block in blocks:
            self.home[block] = best
        return [best]


class _All(_Work):
    """Each document joins all neighbours with room: a block may be in several documents, its holders."""

    def __init__(self, lengths: npt.NDArray[np.int64], neighbours: Csr, limit: int) -> None:
        super().__init__(lengths, neighbours, limit)
        self.own: list[int] = lengths.tolist()
        self.holders: dict[int, set[int]] = {}

    def join(self, document: int) -> list[int]:
        """Append a document to its neighbours with room; returns those, ascending."""
        blocks = self.blocks.get(document, [document])
        sized = [
            (self.lengths[other] + self._growth(other, blocks), other)
            for other in self._others(document, blocks)
        ]
        roomy = [(size, other) for size, other in sized if size <= self.limit]
        if not roomy:
            return []
        for size, other in roomy:
            held = self.blocks.setdefault(other, [other])
            held.extend(block for block in blocks if block not in held)
            self.lengths[other] = size
        self._moved(document, blocks, [other for _, other in roomy])
        return [other for _, other in roomy]

    def _others(self, document: int, blocks: list[int]) -> list[int]:
        """Living documents that hold a neighbour of one of the blocks."""
        near = np.unique(self.near(blocks))
        found = set(self.home[near].tolist())
        for block in near.tolist():
            found.update(self.holders.get(block, ()))
        return sorted(other for other in found - {document} if self.alive[other])

    def _growth(self, other: int, blocks: list[int]) -> int:
        held = self.blocks.get(other, ())
        return sum(self.own[block] + len(SEPARATOR) for block in blocks if block not in held)

    def _moved(self, document: int, blocks: list[int], others: list[int]) -> None:
        self.alive[document] = False
        self.blocks.pop(document, None)
        for block in blocks:
            holders = self.holders.setdefault(block, set())
            holders.discard(document)
            holders.update(others)
            self.home[block] = self._richest(holders)

    def _richest(self, documents: set[int]) -> int:
        return min(documents, key=lambda document: (-self.lengths[document], document))

    def homes(self) -> Ints:
        for block, holders in self.holders.items():
            self.home[block] = self._richest(holders)
        return self.home
