"""The cache of embeddings: records appended as they are made, so that a stopped build repeats none."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

KEY = 32  # bytes of the SHA-256 of a window's text


def record_type(dimension: int) -> np.dtype[np.void]:
    """One record: ``key`` of the text, the vector, CRC-32 of both; little-endian."""
    return np.dtype([("key", "V32"), ("vector", "<f4", (dimension,)), ("crc", "<u4")])


@dataclass
class VectorCache:
    """Vectors of one encoder by the SHA-256 of their text, in one append-only file."""

    path: Path
    dimension: int
    vectors: dict[bytes, Floats] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, dimension: int) -> VectorCache:
        """Read what is whole; a torn end is cut off, a record with a wrong checksum passed over."""
        cache = cls(path, dimension)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        size = record_type(dimension).itemsize
        whole = path.stat().st_size // size
        with path.open("r+b") as stream:
            stream.truncate(whole * size)
        for record in np.fromfile(path, record_type(dimension), whole):
            raw = record.tobytes()
            if zlib.crc32(raw[:-4]) == record["crc"]:
                cache.vectors[raw[:KEY]] = record["vector"]
        return cache

    def append(self, found: Mapping[bytes, Floats]) -> None:
        """Add vectors and hand them to the operating system before returning."""
        records = np.zeros(len(found), record_type(self.dimension))
        for row, (key, vector) in enumerate(found.items()):
            records[row] = (np.void(key), vector, 0)
            records[row]["crc"] = zlib.crc32(records[row].tobytes()[:-4])
        with self.path.open("ab") as stream:
            stream.write(records.tobytes())
        self.vectors |= found
