"""Arrays that a step needs for a while and that may be larger than memory: in files without a name, mapped.

What is mapped the system takes back from a process when others need the room, and reads again; of arrays that a process holds
itself it cannot. The file goes with the array, however the process ends.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.ipc as ipc

TRIM = "malloc_trim"  # of glibc, which keeps what was freed until it is told; other systems need no telling
ROWS = 1 << 22  # that are worked on at once


def give_back() -> None:
    """Let the system have the memory that this process has freed, as what is made next may be made beside others."""
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), TRIM, None)) is not None:
        trim(0)


def blocks(rows: int, most: int = ROWS) -> Iterator[slice]:
    """Consecutive parts of so many rows."""
    return (slice(first, min(first + most, rows)) for first in range(0, rows, most))


@dataclass(frozen=True)
class Scratch:
    """Where arrays are put: the file system of ``folder``, or that of the system's temporary files."""

    folder: Path | None = None

    def empty(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array of zeros in a file of its own. Raises OSError where the disk has no room for it."""
        kind = np.dtype(dtype)
        size = math.prod(shape) if isinstance(shape, tuple) else int(shape)
        if not size:
            return np.empty(shape, kind)  # no empty file can be mapped
        with self._file() as file:
            if hasattr(os, "posix_fallocate"):  # a write to a mapped page that has no room ends the process
                os.posix_fallocate(file.fileno(), 0, size * kind.itemsize)
            return np.asarray(np.memmap(file, kind, "w+", shape=shape))

    def growing(self, dtype: npt.DTypeLike) -> Growing:
        """An array that is still to be written."""
        return Growing(self._file(), np.dtype(dtype))

    def kept(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A copy of an array."""
        found = self.empty(array.shape, array.dtype)
        found[...] = array
        return found

    def kept_words(self, words: pa.Array) -> pa.Array:
        """A copy of an array of Arrow's."""
        with self._file() as file:
            batch = pa.record_batch([words], ["words"])
            with ipc.new_file(pa.PythonFile(file, "w"), batch.schema) as writer:
                writer.write_batch(batch)
            file.flush()
            mapped = pa.py_buffer(np.memmap(file, np.uint8, "r"))
        return ipc.open_file(pa.BufferReader(mapped)).get_batch(0).column(0)

    def gathered(self, values: npt.NDArray[Any], order: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
        """``values[..., order]``, some at a time."""
        found = self.empty((*values.shape[:-1], len(order)), values.dtype)
        for part in blocks(len(order)):
            found[..., part] = values[..., order[part]]
        return found

    def sorted_pairs(
        self, parts: Iterator[tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]], bits: int
    ) -> Pairs:
        """Pairs of numbers, none negative, the second below 2^``bits``, in order of the first, then of the second."""
        keys = self.growing(np.int64)
        for first, second in parts:
            keys.add(first.astype(np.int64) << bits | second)
        packed = keys.array
        packed.sort()
        return Pairs(packed, bits)

    def _file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(dir=self.folder)


@dataclass(frozen=True)
class Growing:
    """An array that is written part by part, and then mapped whole."""

    file: IO[bytes]
    dtype: np.dtype[Any]
    sizes: list[int] = field(default_factory=list)

    def add(self, values: npt.NDArray[Any]) -> None:
        """Append values, which are cast; none once the array was asked for."""
        self.file.write(np.ascontiguousarray(values, self.dtype).data)
        self.sizes.append(len(values))

    @cached_property
    def array(self) -> npt.NDArray[Any]:
        """All that was added, [n]; may be written into."""
        self.file.flush()
        rows = sum(self.sizes)
        with self.file:
            return (
                np.asarray(np.memmap(self.file, self.dtype, "r+", shape=rows))
                if rows
                else np.empty(0, self.dtype)
            )


@dataclass(frozen=True)
class Pairs:
    """Pairs of numbers as one number each, [n], the second in its last ``bits``."""

    packed: npt.NDArray[np.int64]
    bits: int

    def __len__(self) -> int:
        return len(self.packed)

    def parts(self) -> Iterator[tuple[slice, npt.NDArray[np.int32], npt.NDArray[np.int32]]]:
        """Place, first and second numbers, some at a time."""
        for part in blocks(len(self)):
            packed = self.packed[part]
            yield (
                part,
                (packed >> self.bits).astype(np.int32),
                (packed & ((1 << self.bits) - 1)).astype(np.int32),
            )


def total(counts: Sequence[int] | npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Where the values of each begin, given how many each has, and where the last end; int64 [n+1]."""
    found = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=found[1:])
    return found
