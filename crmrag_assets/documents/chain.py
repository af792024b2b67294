"""Thin documents join their richest neighbour's, the smallest first (facts: method, Build)."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crmrag_assets.documents.satellites import Csr, Satellites, csr_from_pairs
from crmrag_query.config.build import Chaining
from crmrag_query.documents.documents import SEPARATOR
from crmrag_query.graph.arrays import Adjacency, Ints, ranges
from crmrag_query.ontology.categories import Category

Bools = npt.NDArray[np.bool_]
EXEMPT = Category.Event | Category.Actor  # their documents join no other's (published)
NUMBER_BITS = 32  # of a document's number beside its length
NUMBERS = (1 << NUMBER_BITS) - 1


@dataclass(frozen=True, slots=True)
class Chained:
    """What became of ``d`` documents, numbered in the order of their entities (that is, of IRIs).

    ``alive`` bool [d]: still a document; ``blocks``: for each document that others joined, all its blocks in order, its
    own first; ``home`` int32 [d]: the document that holds each block.
    """

    alive: Bools
    blocks: dict[int, list[int]]
    home: Ints

    def rows(self) -> Csr:
        """The blocks of every document, in order; of one that is no document any more, itself."""
        counts = np.ones(len(self.alive), np.int64)
        joined = np.fromiter(self.blocks, np.int64, len(self.blocks))
        counts[joined] = [len(blocks) for blocks in self.blocks.values()]
        ptr = np.concatenate([[0], np.cumsum(counts)])
        blocks = np.repeat(np.arange(len(self.alive), dtype=np.int32), counts)
        held = itertools.chain.from_iterable(self.blocks.values())
        place = ranges(ptr[joined], counts[joined])
        blocks[place] = np.fromiter(held, np.int32, len(place))
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
    one, other = anchor[adjacency.forward.sources], anchor[adjacency.forward.val]
    joined = (one >= 0) & (other >= 0) & (one != other)
    one, other = one[joined], other[joined]
    start, end = np.concatenate([one, other]), np.concatenate([other, one])
    kept = wanted[start]
    return csr_from_pairs(start[kept], end[kept], len(entities))


def chain(lengths: npt.NDArray[np.int64], thin: Bools, neighbours: Csr, rules: Chaining) -> Chained:
    """Join each thin document to its longest neighbour with room, the smallest document first, ties by IRI.

    ``lengths`` int64 [d] in characters; ``thin`` bool [d]: may be joined while below the limit; ``neighbours``: rows of at
    least those. A document without a neighbour that has room stays. Each triple of a thin document is looked at a bounded
    number of times: what has joined it is at most as long as it may be itself.
    """
    size: list[int] = lengths.tolist()  # plain lists: what is looked at is one document's at a time
    starts: list[int] = neighbours.ptr.tolist()
    may_join: list[bool] = thin.tolist()
    alive, home = bytearray(b"\1") * len(size), np.arange(len(size), dtype=np.int32)
    blocks: dict[int, list[int]] = {}
    open_ = np.flatnonzero(thin & (lengths < rules.thin_characters))
    first: list[int] = np.sort(lengths[open_] << NUMBER_BITS | open_)[
        ::-1
    ].tolist()  # sorted once, by length and number
    later: list[int] = []  # a heap of those that come on the way
    while first or later:
        turn = first.pop() if first and not (later and later[0] < first[-1]) else heapq.heappop(later)
        length, document = turn >> NUMBER_BITS, turn & NUMBERS
        if not alive[document] or size[document] != length:
            continue
        own = blocks.get(document) or [document]
        near = [neighbours.val[starts[block] : starts[block + 1]] for block in own]
        room = rules.limit_characters - length - len(SEPARATOR)
        best, longest = -1, -1
        for other in home[near[0] if len(near) == 1 else np.concatenate(near)].tolist():
            reached = size[other]
            if longest <= reached <= room and other != document and (reached > longest or other < best):
                best, longest = other, reached
        if best < 0:
            continue
        blocks.setdefault(best, [best]).extend(own)
        blocks.pop(document, None)
        size[best] += length + len(SEPARATOR)
        alive[document] = False
        home[own] = best
        if may_join[best] and size[best] < rules.thin_characters:
            heapq.heappush(later, size[best] << NUMBER_BITS | best)
    return Chained(np.frombuffer(alive, np.bool_), blocks, home)
