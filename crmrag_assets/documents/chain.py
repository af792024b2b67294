"""Thin documents join their neighbours' (facts: method, Build): smallest first, into the richest or into all."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crmrag_assets.documents.csr import Csr, csr_from_pairs
from crmrag_assets.documents.satellites import Satellites
from crmrag_query.config.build import Chaining
from crmrag_query.graph.arrays import Adjacency, Ints

Bools = npt.NDArray[np.bool_]
SEPARATOR = "\n\n"  # between the blocks of a document


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
    work = _Work(lengths.copy(), neighbours, rules)
    heap = [(int(lengths[i]), int(i)) for i in np.flatnonzero(thin & (lengths < rules.thin_characters))]
    heapq.heapify(heap)
    while heap:
        length, document = heapq.heappop(heap)
        if not work.alive[document] or work.lengths[document] != length:
            continue
        for joined in work.join(document):
            if thin[joined] and work.lengths[joined] < rules.thin_characters:
                heapq.heappush(heap, (int(work.lengths[joined]), joined))
    return Chained(work.alive, {d: tuple(b) for d, b in work.blocks.items() if work.alive[d]}, work.homes())


class _Work:
    """Documents while they are being joined: lengths, blocks of those that changed, holders of blocks that moved."""

    def __init__(self, lengths: npt.NDArray[np.int64], neighbours: Csr, rules: Chaining) -> None:
        self.own = lengths.copy()
        self.lengths = lengths
        self.alive = np.ones(len(lengths), bool)
        self.blocks: dict[int, list[int]] = {}
        self.holders: dict[int, set[int]] = {}
        self.home = np.arange(len(lengths), dtype=np.int32)
        self.neighbours = neighbours
        self.rules = rules

    def join(self, document: int) -> list[int]:
        """Append a document to its neighbours with room, by the strategy; returns those, ascending."""
        blocks = self.blocks.get(document, [document])
        others = self._others(document, blocks)
        roomy = [(int(self.lengths[other]) + self._growth(other, blocks), other) for other in others]
        roomy = [(size, other) for size, other in roomy if size <= self.rules.limit_characters]
        if self.rules.strategy == "richest" and roomy:
            roomy = [min(roomy, key=lambda pair: (-int(self.lengths[pair[1]]), pair[1]))]
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
        near = np.unique(np.concatenate([self.neighbours.of(block) for block in blocks]))
        found = set(self.home[near].tolist())
        for block in near.tolist() if self.rules.strategy == "all" else ():
            found.update(self.holders.get(block, ()))
        return sorted(other for other in found - {document} if self.alive[other])

    def _growth(self, other: int, blocks: list[int]) -> int:
        held = self.blocks.get(other, ())
        return sum(int(self.own[block]) + len(SEPARATOR) for block in blocks if block not in held)

    def _moved(self, document: int, blocks: list[int], others: list[int]) -> None:
        self.alive[document] = False
        self.blocks.pop(document, None)
        for block in blocks:
            holders = self.holders.setdefault(block, set())
            holders.discard(document)
            holders.update(others)
            self.home[block] = self._richest(holders)

    def _richest(self, documents: set[int]) -> int:
        return min(documents, key=lambda document: (-int(self.lengths[document]), document))

    def homes(self) -> Ints:
        for block, holders in self.holders.items():
            self.home[block] = self._richest(holders)
        return self.home
