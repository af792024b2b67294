"""All Fundamental Relationships of many entities at once, over the graph's arrays.

A path is a product of sparse Boolean matrices, walked as gathers: each leg moves a frontier of (source, node) pairs on;
paths of one domain share their prefixes; at a path's end the pairs whose node can be in the relationship's range are
its matches. Complete for paths of any length, and the same whatever the blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import FLAG_SUSPECT, Adjacency, Bytes, Ints, Longs
from crmrag_query.ontology import Category, Ontology
from crmrag_query.relationships import frontier as fr
from crmrag_query.relationships.catalogue import Catalogue
from crmrag_query.relationships.plan import Branch, Plan, make_plan
from crmrag_query.relationships.walk import LIMIT, advance

Bools = npt.NDArray[np.bool_]
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
        parts = parts or [_no_matches()]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))


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
        block = _Block(adjacency, catalogue, ordered[first : first + size], limit).walk(ready)
        yield block
        first += size
        size = max(1, min(GROWTH * size, size * limit // max(1, len(block)), fr.BLOCK))


class _Block:
    """One block of sources on its way through the tries."""

    def __init__(self, adjacency: Adjacency, catalogue: Catalogue, sources: Ints, limit: int) -> None:
        self.adjacency = adjacency
        self.sources = sources
        self.limit = limit
        self.ranges = [int(relationship.range) for relationship in catalogue]
        self.hits = [_Hits(limit) for _ in catalogue]

    def walk(self, plan: Plan) -> Matches:
        category = self.adjacency.category[self.sources]
        suspect = (self.adjacency.flags[self.sources] & FLAG_SUSPECT) != 0
        for tries, doubtful in ((plan.full, False), (plan.cautious, True)):
            for domain in Category:
                places = np.flatnonzero((category == int(domain)) & (suspect == doubtful))
                if len(places) and domain in tries:
                    self._descend(tries[domain], fr.start(places, self.sources[places]))
        return self._matches()

    def _descend(self, branch: Branch, frontier: Longs) -> None:
        for leg, following in branch.legs.items():
            for piece in advance(self.adjacency, leg, frontier, self.limit, following.ranks):
                if following.ends or following.ways:
                    self._end(following, piece)
                self._descend(following, piece)

    def _end(self, branch: Branch, frontier: Longs) -> None:
        """Take the frontier's pairs as hits of the paths that end here, where the target may be in the range."""
        nodes = fr.nodes_of(frontier)
        other = nodes != self.sources[fr.sources_of(frontier)]
        categories = self.adjacency.categories[nodes]
        for relationship, path in branch.ends:
            self.hits[relationship].add(
                fr.finished(frontier[self._fits(relationship, other, categories)], path)
            )
        for relationship, paths in branch.ways:
            self.hits[relationship].add(
                fr.named(frontier[self._fits(relationship, other, categories)], paths)
            )

    def _fits(self, relationship: int, other: Bools, categories: Bytes) -> Bools:
        fits: Bools = other & ((categories == 0) | ((categories & self.ranges[relationship]) != 0))
        return fits

    def _matches(self) -> Matches:
        keys = [hits.settled() for hits in self.hits]
        found = np.concatenate(keys) if keys else np.empty(0, np.int64)
        relationship = np.repeat(np.arange(len(keys), dtype=np.int16), [len(part) for part in keys])
        place = fr.sources_of(found)
        order = np.argsort(place.astype(np.uint16), kind="stable")
        found = found[order]
        return Matches(
            source=self.sources[place[order]],
            relationship=relationship[order],
            target=fr.nodes_of(found).astype(np.int32),
            path=fr.path_of(found).astype(np.int16),
            depth=fr.finished_hops(found).astype(np.uint8),
        )


class _Hits:
    """Finished keys of one relationship; what several paths reach is settled as it piles up."""

    def __init__(self, limit: int) -> None:
        self.parts: list[Longs] = []
        self.pending = 0
        self.limit = limit

    def add(self, keys: Longs) -> None:
        if len(keys):
            self.parts.append(keys)
            self.pending += len(keys)
            if len(self.parts) > 1 and self.pending > max(self.limit, len(self.parts[0])):
                self.settled()

    def settled(self) -> Longs:
        """Each (source, target) once, by its lowest path."""
        self.parts = [fr.distinct(self.parts)]
        self.pending = 0
        return self.parts[0]


def _no_matches() -> Matches:
    types = (np.int32, np.int16, np.int32, np.int16, np.uint8)
    return Matches(*(np.empty(0, kind) for kind in types))  # type: ignore[arg-type]
