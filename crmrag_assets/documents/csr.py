"""Compressed sparse rows from pairs: the one array shape that satellites and chaining need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Ints, Longs

AnyInts = npt.NDArray[np.int32] | npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Csr:
    """``ptr`` int64 [rows+1] and ``val`` int32: the values of row i are ``val[ptr[i]:ptr[i+1]]``, ascending, distinct."""

    ptr: Longs
    val: Ints

    def of(self, row: int) -> Ints:
        return self.val[self.ptr[row] : self.ptr[row + 1]]

    @property
    def counts(self) -> Longs:
        return np.diff(self.ptr)

    def gather(self, rows: AnyInts) -> tuple[Longs, Ints]:
        """All values of ``rows``: (index into ``rows``, value), in order of ``rows``."""
        count = self.ptr[rows + 1] - self.ptr[rows]
        origin = np.repeat(np.arange(len(rows)), count)
        offset = np.arange(len(origin)) - np.repeat(np.cumsum(count) - count, count)
        return origin, self.val[np.repeat(self.ptr[rows], count) + offset]


def csr_from_pairs(row: AnyInts, value: AnyInts, rows: int) -> Csr:
    """Rows of distinct values over pairs given in any order."""
    row, value = distinct_pairs(row, value)
    ptr = np.searchsorted(row, np.arange(rows + 1)).astype(np.int64)
    return Csr(ptr, value.astype(np.int32))


def distinct_pairs(first: AnyInts, second: AnyInts) -> tuple[AnyInts, AnyInts]:
    """Distinct pairs, sorted by first then second."""
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    new = np.ones(len(first), bool)
    new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    return first[new], second[new]
