"""Chunks of entities: the leading bits of SHA-256 of the IRI (facts: design, Partitions)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.artifacts.files import BUCKETS, digests_of
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import Bytes

Hashes = npt.NDArray[np.uint64]

MOST_BITS = 8


def ids_of(iris: pa.Array) -> Hashes:
    """The first eight bytes of the SHA-256 of each IRI of a column, uint64; the first of them is its bucket."""
    first = np.ascontiguousarray(digests_of(iris)[:, :8])
    return first.view(">u8").ravel().astype(np.uint64)


def buckets_of_ids(ids: Hashes) -> Bytes:
    """The bucket of each id, uint8."""
    return (ids >> np.uint64(56)).astype(np.uint8)


def buckets_of_all(iris: pa.Array) -> Bytes:
    """The bucket of each IRI of a column, uint8."""
    return buckets_of_ids(ids_of(iris))


def chunk_bits(entities: int, chunk_size: int) -> int:
    """Fewest leading bits, 0 to 8, that leave at most ``chunk_size`` entities in an average chunk."""
    if chunk_size < 1:
        raise BuildError(f"The chunk size is {chunk_size}.", "Set it to 1 or more.")
    return min(MOST_BITS, max(0, -(-entities // chunk_size) - 1).bit_length())


def chunk_keys(bits: int) -> list[str]:
    """Keys of all 2^bits chunks, ascending: two hexadecimal digits, the lower 8 - bits bits zero."""
    return [f"{first:02x}" for first in range(0, BUCKETS, BUCKETS >> _checked(bits))]


def buckets_of(chunk: str, bits: int) -> range:
    """The buckets that make up a chunk; raises BuildError for a key that does not exist at these bits."""
    if chunk not in chunk_keys(bits):
        raise BuildError(
            f"There is no chunk {chunk!r} among {1 << bits}.", "Keys are 00, … in steps of 256 / chunks."
        )
    first = int(chunk, 16)
    return range(first, first + (BUCKETS >> bits))


def all_buckets(rows: int, most: int) -> Iterator[range]:
    """All buckets in order, so many at a time as hold about ``most`` of the ``rows`` of all."""
    width = BUCKETS
    while width > 1 and rows * width > most * BUCKETS:
        width //= 2
    return (range(first, first + width) for first in range(0, BUCKETS, width))


def _checked(bits: int) -> int:
    if not 0 <= bits <= MOST_BITS:
        raise BuildError(f"Chunks cannot have {bits} bits.", f"Use 0 to {MOST_BITS}.")
    return bits
