"""Generated graphs for the relationship engine: chains that match given paths, under random noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

import numpy as np

from crmrag_query.config import load_relationships
from crmrag_query.graph.arrays import (
    FLAG_ENTITY,
    FLAG_SUSPECT,
    Adjacency,
    Ints,
    Rows,
    rows_in_order,
    sorted_rows,
)
from crmrag_query.ontology.load import Category
from crmrag_query.relationships.engine import Catalogue, Path, Relationship, from_set
from tests.support.froracle import Alphabet

PRIORITY = (Category.Actor, Category.Event, Category.Place, Category.Concept, Category.Time, Category.Thing)
Edge = tuple[int, str, int]


def rows_from_triples(prop: Ints, source: Ints, target: Ints, properties: int) -> Rows:
    """Rows over triples given in any order, each once."""
    prop, source, target = sorted_rows((prop, source, target))
    return rows_in_order(prop, source, target, properties)


def catalogue_of(name: str) -> Catalogue:
    """A shipped set of relationships, without the rest of the method."""
    return from_set(name, load_relationships()[name])


def primary(mask: int) -> int:
    """The primary category of a mask, 0 for none."""
    return next((int(category) for category in PRIORITY if mask & category), 0)


@dataclass(frozen=True)
class Net:
    """Nodes 0…n-1 with category masks, and edges labelled with property codes."""

    edges: tuple[Edge, ...]
    masks: tuple[int, ...]
    suspects: frozenset[int] = frozenset()

    @cached_property
    def codes(self) -> tuple[str, ...]:
        return tuple(sorted({code for _, code, _ in self.edges}))

    @cached_property
    def adjacency(self) -> Adjacency:
        number = {code: n for n, code in enumerate(self.codes)}
        triples = sorted({(number[code], s, o) for s, code, o in self.edges})
        prop, s, o = np.array(triples, np.int32).reshape(-1, 3).T
        flags = [
            FLAG_ENTITY | (FLAG_SUSPECT if node in self.suspects else 0) for node in range(len(self.masks))
        ]
        return Adjacency(
            forward=rows_from_triples(prop, s, o, len(self.codes)),
            backward=rows_from_triples(prop, o, s, len(self.codes)),
            codes=self.codes,
            category=np.array([primary(mask) for mask in self.masks], np.uint8),
            categories=np.array(self.masks, np.uint8),
            flags=np.array(flags, np.uint8),
        )


def chained(
    catalogue: Catalogue, alphabet: Alphabet, seed: int, paths: Sequence[tuple[Relationship, Path]] = ()
) -> Net:
    """A graph in which each path of the catalogue (or each of ``paths``) has at least one match.

    Every path gets a chain of its own with random sub-properties, inverses and repetitions of recursive steps; then inner
    nodes are shared between chains, and random edges join all of it, cycles included.
    """
    random = Random(seed)
    maker = _Maker(random, alphabet)
    for relationship, path in paths or [(r, p) for r in catalogue for p in r.paths]:
        maker.chain(relationship, path)
    return maker.net(noise=len(maker.masks) // 3)


class _Maker:
    def __init__(self, random: Random, alphabet: Alphabet) -> None:
        self.random = random
        self.alphabet = alphabet
        self.masks: list[int] = []
        self.inner: list[int] = []
        self.edges: list[Edge] = []

    def chain(self, relationship: Relationship, path: Path) -> None:
        steps = [step for step in path.steps for _ in range(self._times(step.recursive))]
        steps = steps or [path.steps[0]]
        nodes = [self._node(int(relationship.domain))]
        nodes += [self._inner() for _ in steps[1:]]
        nodes.append(self._node(self.random.choice([0, int(relationship.range)])))
        for step, here, there in zip(steps, nodes, nodes[1:], strict=False):
            code, forward = self.random.choice(self.alphabet.of(step))
            self.edges.append((here, code, there) if forward else (there, code, here))

    def _times(self, recursive: bool) -> int:
        return self.random.choice([0, 1, 1, 2, 3]) if recursive else 1

    def _node(self, mask: int) -> int:
        self.masks.append(mask)
        return len(self.masks) - 1

    def _inner(self) -> int:
        """An inner node of a chain: mostly new, at times one that another chain has."""
        if self.inner and self.random.random() < 0.15:
            return self.random.choice(self.inner)
        self.inner.append(self._node(self.random.choice([0, *(int(c) for c in Category), 3, 12])))
        return self.inner[-1]

    def net(self, noise: int) -> Net:
        """The graph with ``noise`` further edges, some of them loops and backward links."""
        codes = sorted({code for _, code, _ in self.edges})
        nodes = range(len(self.masks))
        extra = [
            (self.random.choice(nodes), self.random.choice(codes), self.random.choice(nodes))
            for _ in range(noise)
        ]
        loops = [(o, code, s) for s, code, o in self.random.sample(self.edges, k=len(self.edges) // 10)]
        return Net((*self.edges, *extra, *loops), tuple(self.masks))
