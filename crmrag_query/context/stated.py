"""Which triples a line of a document states, so that nothing is said twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Line
from crmrag_query.relationships.catalogue import Path, Step
from crmrag_query.relationships.frontier import Move
from crmrag_query.relationships.plan import moves_of

Fact = int | tuple[int | str, ...]
"""The number of a triple; or, of what no single triple says, a line's key with whom it is about and what it leads to."""

Row = tuple[int, int, int, int]
"""A triple: number, subject, property, object."""

Array = npt.NDArray[Any]
RELATIONAL = (Line.FR, Line.OUTGOING, Line.INCOMING)


@dataclass
class Facts:
    """What lines state, over one release; keeps what it has looked up, so make one for each question.

    ``looked_at``: triples of an entity, each way, that are considered; of those between two hubs none may be.
    """

    release: Release
    looked_at: int
    _near: dict[int, dict[int, list[tuple[Move, int]]]] = field(default_factory=dict)
    _moves: dict[str, frozenset[Move]] = field(default_factory=dict)

    def of(self, line: Line, shown: Iterable[int]) -> frozenset[Fact]:
        """The facts that a line states which names these of its targets; never empty."""
        found: set[Fact] = set()
        for target in shown:
            numbers = [
                number for move, number in self._between(line.entity, target) if self._says(line, move)
            ]
            found.update(numbers or [(line.key, line.entity, target)])
        if not found or line.kind not in RELATIONAL:
            found.add((line.kind, line.key, line.label, line.entity))
        return frozenset(found)

    def _says(self, line: Line, move: Move) -> bool:
        """Whether a line states a triple between its entity and one of its targets."""
        if line.kind == Line.FR:
            return move in self._single(line.key)
        if line.kind in (Line.OUTGOING, Line.INCOMING):
            graph, (prop, forward) = self.release.graph, move
            return line.label == graph.property_label(prop, not forward) or (
                line.key in (graph.property_code(prop), graph.property_iri(prop))
            )
        return True

    def _single(self, key: str) -> frozenset[Move]:
        """The moves by which a relationship is stated in one step: others of the path are walked zero times."""
        if key not in self._moves:
            release = self.release
            paths = release.catalogue[release.catalogue.number(key)].paths
            self._moves[key] = frozenset(
                move
                for path in paths
                for step in _sufficient(path)
                for move in moves_of(release.graph.adjacency, release.ontology, step)
            )
        return self._moves[key]

    def _between(self, entity: int, other: int) -> Sequence[tuple[Move, int]]:
        """Triples between two nodes, as moves from ``entity``; looked for at the end that has fewer."""
        if entity in self._near or self._degree(entity) <= max(self.looked_at, self._degree(other)):
            return self._of(entity).get(other, ())
        turned = self._of(other).get(entity, ())
        return [((prop, not forward), number) for (prop, forward), number in turned]

    def _degree(self, node: int) -> int:
        out, _, into, _ = self._index
        return int(out[node + 1] - out[node] + into[node + 1] - into[node])

    def _of(self, node: int) -> dict[int, list[tuple[Move, int]]]:
        """Triples of a node by the node at their other end."""
        if node not in self._near:
            found: dict[int, list[tuple[Move, int]]] = {}
            for number, s, p, o in self.triples_of(node):
                found.setdefault(o if s == node else s, []).append(((p, s == node), number))
            self._near[node] = found
        return self._near[node]

    def triples_of(self, node: int) -> list[Row]:
        """A node's triples as (number, subject, property, object), ascending, at most ``looked_at`` each way."""
        out_ptr, out_tri, in_ptr, in_tri = self._index
        numbers: list[int] = []
        for ptr, tri in ((out_ptr, out_tri), (in_ptr, in_tri)):
            start = int(ptr[node])
            numbers += tri[start : min(start + self.looked_at, int(ptr[node + 1]))].tolist()
        numbers = sorted(set(numbers))
        s, p, o = (column[numbers].tolist() for column in self._columns)
        return list(zip(numbers, s, p, o, strict=True))

    @cached_property
    def _index(self) -> tuple[Array, Array, Array, Array]:
        """The triples index as plain arrays: indexing a mapped one costs several times as much."""
        index = self.release.triples
        out_ptr, out_tri = index.out_ptr.view(np.ndarray), index.out_tri.view(np.ndarray)
        return out_ptr, out_tri, index.in_ptr.view(np.ndarray), index.in_tri.view(np.ndarray)

    @cached_property
    def _columns(self) -> tuple[Array, Array, Array]:
        index, objects = self.release.triples, self.release.graph.adjacency.forward.val
        return index.tri_s.view(np.ndarray), index.tri_p.view(np.ndarray), objects.view(np.ndarray)


def _sufficient(path: Path) -> tuple[Step, ...]:
    """Steps of a path any of which may be the only one that is walked."""
    needed = tuple(step for step in path.steps if not step.recursive)
    return path.steps if not needed else needed if len(needed) == 1 else ()
