"""Caches of the embedding step: records appended as they are made, so that a stopped build repeats none."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Records = npt.NDArray[np.void]

KEY = 32  # bytes of the SHA-256 of a text


def record_type(dimension: int) -> np.dtype[np.void]:
    """A vector: ``key`` of the window's text, the vector, CRC-32 of both; little-endian."""
    return np.dtype([("key", "V32"), ("vector", "<f4", (dimension,)), ("crc", "<u4")])


CUT = np.dtype([("text", "V32"), ("window", "V32"), ("number", "<u4"), ("of", "<u4"), ("crc", "<u4")])
"""A window of a text: keys of both, which of how many windows it is, CRC-32 of all that."""


@dataclass
class VectorCache:
    """Vectors of one encoder by the SHA-256 of their text, in one append-only file."""

    path: Path
    dimension: int
    vectors: dict[bytes, Floats] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, dimension: int) -> VectorCache:
        """Read what is whole; a torn end is cut off, a record with a wrong checksum passed over."""
        found = _read(path, record_type(dimension))
        return cls(path, dimension, dict(zip(_keys(found["key"]), found["vector"], strict=True)))

    def append(self, found: Mapping[bytes, Floats]) -> None:
        """Add vectors and hand them to the operating system before returning."""
        records = np.zeros(len(found), record_type(self.dimension))
        records["key"] = np.frombuffer(b"".join(found), "V32")
        for row, vector in enumerate(found.values()):
            records["vector"][row] = vector
        _append(self.path, records)
        self.vectors |= found


@dataclass
class CutCache:
    """How texts were cut into windows, as keys of these by the text's key; of one encoder and one size of window."""

    path: Path
    cuts: dict[bytes, tuple[bytes, ...]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> CutCache:
        """As `VectorCache.open`; a text that lacks a record is not known."""
        found, parts = _read(path, CUT), dict[bytes, list[bytes]]()
        columns = _keys(found["text"]), _keys(found["window"]), found["number"].tolist()
        for text, window, number in zip(*columns, strict=True):
            known = parts.setdefault(text, [])
            if number == len(known):
                known.append(window)
        of = dict(zip(columns[0], found["of"].tolist(), strict=True))
        return cls(path, {text: tuple(known) for text, known in parts.items() if len(known) == of[text]})

    def append(self, found: Mapping[bytes, Sequence[bytes]]) -> None:
        """Add what texts were cut into."""
        size = [len(windows) for windows in found.values()]
        records = np.zeros(sum(size), CUT)
        records["text"] = np.repeat(np.frombuffer(b"".join(found), "V32"), size)
        records["window"] = np.frombuffer(b"".join(chain.from_iterable(found.values())), "V32")
        records["number"] = np.fromiter(chain.from_iterable(map(range, size)), np.uint32, len(records))
        records["of"] = np.repeat(size, size)
        _append(self.path, records)
        self.cuts |= {text: tuple(windows) for text, windows in found.items()}


def _read(path: Path, kind: np.dtype[np.void]) -> Records:
    """The records of a file, which is made where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    size = kind.itemsize
    whole = path.stat().st_size // size * size
    with path.open("r+b") as stream:
        stream.truncate(whole)
        raw = stream.read()
    records = np.frombuffer(raw, kind)
    sound: Records = records[records["crc"] == _checksums(raw, size)]
    return sound


def _append(path: Path, records: Records) -> None:
    records["crc"] = _checksums(records.tobytes(), records.dtype.itemsize)
    with path.open("ab") as stream:
        stream.write(records.tobytes())


def _checksums(raw: bytes, size: int) -> npt.NDArray[np.uint32]:
    """CRC-32 of each record of ``size`` bytes but its own last four."""
    view = memoryview(raw)
    found = (zlib.crc32(view[start : start + size - 4]) for start in range(0, len(raw), size))
    return np.fromiter(found, np.uint32, len(raw) // size)


def _keys(column: npt.NDArray[np.void]) -> list[bytes]:
    raw = column.tobytes()
    return [raw[start : start + KEY] for start in range(0, len(raw), KEY)]
