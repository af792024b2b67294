"""The direct triples of some entities, both ways, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Adjacency, Ints, Longs

Bools = npt.NDArray[np.bool_]
AnyInts = npt.NDArray[np.int32] | npt.NDArray[np.int16]
SMALL = 4096  # comparisons that are made at once rather than by sorting


@dataclass(frozen=True, slots=True)
class Facts:
    """Triples of one entity, arrays of equal length sorted by (key, target).

    ``key`` is twice the property's number, and one more where the target is the triple's subject ("inverse"). A triple of
    an entity with itself is held once.
    """

    key: Ints
    target: Ints

    def where(self, keys: Keys) -> Bools:
        """Mask of the facts whose property and direction are among ``keys``."""
        found: Bools = keys.table[self.key]
        return found

    @property
    def inverse(self) -> Bools:
        odd: Bools = (self.key & 1) != 0
        return odd


@dataclass(frozen=True)
class Keys:
    """A set of properties with direction, over all ``2 * properties`` keys of a graph."""

    members: tuple[int, ...]
    properties: int

    @cached_property
    def table(self) -> Bools:
        """bool [2 * properties]: whether each key is a member."""
        found = np.zeros(2 * self.properties, bool)
        found[list(self.members)] = True
        return found


def within(values: AnyInts, chosen: Ints | tuple[int, ...]) -> Bools:
    """np.isin, faster for the few targets that most lines have."""
    chosen = np.asarray(chosen, np.int32)
    if len(values) * len(chosen) > SMALL:
        return np.isin(values, chosen)
    found: Bools = np.any(values[:, None] == chosen, axis=1)
    return found


@dataclass(frozen=True, slots=True)
class FactTable:
    """Facts of many entities; ``ptr`` int64 [entities+1]."""

    ptr: Longs
    key: Ints
    target: Ints

    def of(self, index: int) -> Facts:
        part = slice(int(self.ptr[index]), int(self.ptr[index + 1]))
        return Facts(self.key[part], self.target[part])


def gather_facts(adjacency: Adjacency, entities: Ints) -> FactTable:
    """The direct triples of ``entities`` (ascending)."""
    origins, keys, targets = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for key in range(2 * len(adjacency.codes)):
        rows = adjacency.backward if key & 1 else adjacency.forward
        origin, target = rows.expand(key >> 1, entities)
        if key & 1:
            other = target != entities[origin]
            origin, target = origin[other], target[other]
        origins.append(origin)
        keys.append(np.full(len(origin), key, np.int32))
        targets.append(target)
    whose, what, whom = np.concatenate(origins), np.concatenate(keys), np.concatenate(targets)
    order = np.lexsort((whom, what, whose))
    ptr = np.searchsorted(whose[order], np.arange(len(entities) + 1)).astype(np.int64)
    return FactTable(ptr, what[order], whom[order])
