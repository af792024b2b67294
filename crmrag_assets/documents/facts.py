"""The direct triples of some entities, both ways, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Adjacency, Ints, Longs

Bools = npt.NDArray[np.bool_]


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


@dataclass(frozen=True)
class Facts:
    """Triples of some entities, arrays of equal length sorted by (entity, key, target).

    ``ptr`` int64 [entities+1]: which are whose. ``key`` is twice the property's number, and one more where the target is the
    triple's subject. A triple of an entity with itself is held once.
    """

    ptr: Longs
    key: Ints
    target: Ints

    @cached_property
    def doc(self) -> Ints:
        """int32 [facts]: place of the entity that each is of."""
        return np.repeat(np.arange(len(self.ptr) - 1, dtype=np.int32), np.diff(self.ptr))

    @property
    def outward(self) -> Bools:
        """Mask of the facts whose entity is the triple's subject."""
        even: Bools = (self.key & 1) == 0
        return even

    def where(self, keys: Keys) -> Bools:
        """Mask of the facts whose property and direction are among ``keys``."""
        found: Bools = keys.table[self.key]
        return found


def gather_facts(adjacency: Adjacency, entities: Ints, only: Sequence[int] | None = None) -> Facts:
    """The direct triples of ``entities`` (ascending), of these keys only where some are given."""
    origins, keys, targets = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for key in range(2 * len(adjacency.codes)) if only is None else only:
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
    return Facts(ptr, what[order], whom[order])
