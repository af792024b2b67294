"""The triples index: the triples of an entity, both as subject and as object, without a search."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from crmrag_query.artifacts.mapped import open_array
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.graph import Graph


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple between nodes; ``number`` is its place in forward order."""

    number: int
    s: int
    p: int
    o: int


@dataclass(frozen=True)
class TriplesIndex:
    """``tri_s``, ``tri_p`` int32 [T] and, mapped, the object ``forward.val``; for each node the numbers of its triples.

    ``out_ptr``, ``in_ptr`` int64 [n+1]; ``out_tri``, ``in_tri`` int32 [T], ascending for each node.
    """

    graph: Graph
    tri_s: Ints
    tri_p: Ints
    out_ptr: Longs
    out_tri: Ints
    in_ptr: Longs
    in_tri: Ints

    @classmethod
    def open(cls, folder: Path, graph: Graph) -> TriplesIndex:
        """Memory-map the index of ``graph``; raises ReleaseError when it is missing."""
        names = ("tri_s", "tri_p", "out_ptr", "out_tri", "in_ptr", "in_tri")
        arrays = [open_array(folder, name) for name in names]
        tri_s, tri_p, out_ptr, out_tri, in_ptr, in_tri = arrays
        return cls(
            graph, cast(Ints, tri_s), cast(Ints, tri_p), cast(Longs, out_ptr), cast(Ints, out_tri),
            cast(Longs, in_ptr), cast(Ints, in_tri),
        )  # fmt: skip

    def numbers_of(self, node: int) -> Ints:
        """Numbers of the triples with ``node`` as subject or object, ascending, each once."""
        out = self.out_tri[self.out_ptr[node] : self.out_ptr[node + 1]]
        into = self.in_tri[self.in_ptr[node] : self.in_ptr[node + 1]]
        return np.union1d(out, into)

    def triple(self, number: int) -> Triple:
        objects = self.graph.adjacency.forward.val
        return Triple(number, int(self.tri_s[number]), int(self.tri_p[number]), int(objects[number]))

    def of(self, node: int, limit: int | None = None) -> list[Triple]:
        """The triples of a node in order of their numbers, at most ``limit``; its literals are ``graph.literals``."""
        numbers = self.numbers_of(node)[:limit]
        return [self.triple(number) for number in numbers.tolist()]

    def degree(self, node: int) -> int:
        """How many triples have the node as subject, plus how many have it as object."""
        return int(self.out_ptr[node + 1] - self.out_ptr[node] + self.in_ptr[node + 1] - self.in_ptr[node])

    def graphs(self, number: int) -> tuple[str, ...]:
        """The named graphs that state a triple; none for the default graph."""
        return self.graph.graph_sets[int(self.graph.triple_graph[number])]
