"""SHA-256 of many texts, and by it the chunk of an entity: the leading bits of that of its IRI."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Digests = npt.NDArray[np.uint8]

BUCKETS = 256  # that chunks divide among them: the values of the first byte
TOGETHER = 1 << 16  # texts taken from a column at once, which keeps few of them as objects


def digests_of(texts: pa.Array | pa.ChunkedArray) -> Digests:
    """SHA-256 of each text of a column in UTF-8, uint8 [n, 32]."""
    sha256 = hashlib.sha256
    found = bytearray()
    for start in range(0, len(texts), TOGETHER):
        some = texts.slice(start, TOGETHER).cast(pa.large_binary()).to_pylist()
        found += b"".join([sha256(text).digest() for text in some])
    return np.frombuffer(bytes(found), np.uint8).reshape(-1, 32)


def bucket_of(iri: str) -> int:
    """First byte of SHA-256 of the IRI in UTF-8: 0..255."""
    return hashlib.sha256(iri.encode()).digest()[0]


def chunk_of(iri: str, chunks: int) -> str:
    """Key of the chunk of ``chunks`` (a power of two, at most 256) that an entity belongs to: two hexadecimal digits."""
    width = BUCKETS // max(1, chunks)
    return f"{bucket_of(iri) // width * width:02x}"
