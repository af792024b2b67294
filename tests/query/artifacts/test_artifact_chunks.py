"""The chunk of an entity: the leading bits of SHA-256 of its IRI."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.artifacts import manifest as chunks
from crmrag_query.artifacts.manifest import bucket_of, chunk_of, digests_of


@given(st.text(max_size=30), st.integers(0, 8))
def test_the_chunk_is_the_leading_bits(iri: str, bits: int) -> None:
    leading = format(int(hashlib.sha256(iri.encode()).hexdigest(), 16), "0256b")
    assert bucket_of(iri) == int(leading[:8], 2)
    assert chunk_of(iri, 1 << bits) == f"{int(leading[:bits].ljust(8, '0'), 2):02x}"


@given(st.lists(st.text(max_size=5), max_size=9), st.integers(1, 4))
def test_digests_of_a_column_are_those_of_its_texts(texts: list[str], together: int) -> None:
    kept, chunks.TOGETHER = chunks.TOGETHER, together
    try:
        found = digests_of(pa.chunked_array([texts[:3], texts[3:]], pa.large_string()))
    finally:
        chunks.TOGETHER = kept
    wanted = b"".join(hashlib.sha256(text.encode()).digest() for text in texts)
    assert found.shape == (len(texts), 32) and found.dtype == np.uint8 and found.tobytes() == wanted
