"""Chunks: leading bits of SHA-256 of the IRI."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.build.step import buckets_of, chunk_bits, chunk_keys
from crmrag_query.artifacts.manifest import bucket_of, chunk_of
from crmrag_query.errors import BuildError


def test_keys_are_first_bytes_with_lower_bits_zero() -> None:
    assert chunk_keys(0) == ["00"]
    assert chunk_keys(2) == ["00", "40", "80", "c0"]
    assert chunk_keys(8) == [f"{byte:02x}" for byte in range(256)]


@given(st.text(min_size=1).filter(lambda text: text.isprintable()), st.integers(0, 8))
def test_an_iri_is_in_a_bucket_of_its_chunk(iri: str, bits: int) -> None:
    key = chunk_of(iri, 1 << bits)
    assert key in chunk_keys(bits) and bucket_of(iri) in buckets_of(key, bits)


@given(st.integers(0, 8))
def test_chunks_divide_the_buckets(bits: int) -> None:
    assert [bucket for key in chunk_keys(bits) for bucket in buckets_of(key, bits)] == list(range(256))


@given(st.integers(0, 10**7), st.integers(1, 5000))
def test_bits_are_the_fewest_that_keep_chunks_small(entities: int, size: int) -> None:
    bits = chunk_bits(entities, size)
    assert entities <= size << bits or bits == 8
    assert bits == 0 or entities > size << (bits - 1)


def test_impossible_chunks_are_errors() -> None:
    with pytest.raises(BuildError, match="no chunk '41'"):
        buckets_of("41", 2)
    with pytest.raises(BuildError, match="9 bits"):
        chunk_keys(9)
    with pytest.raises(BuildError, match="chunk size"):
        chunk_bits(10, 0)
