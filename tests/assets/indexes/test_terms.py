"""Counts of terms; their oracle is the tokenizer, text by text."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.indexes import sparse as terms
from crmrag_assets.indexes.sparse import (
    Counts,
    Digests,
    KnownCounts,
    count_new_terms,
    count_terms,
    postings_of,
    write_sparse,
)
from crmrag_query.artifacts.manifest import entries
from crmrag_query.config.loading import Sparse
from crmrag_query.text import tokenize

CONSTANTS = Sparse(k1=1.5, b=0.75)
PARTS = [
    "icon", "Ναός", "1105/6", "a", "church-yard", "'", "-", "_", "´", "É", "i\u0307", "\u0301", ".", "ﬁ", "١",
]  # fmt: skip
SPACES = [" ", "\n", "\t", "\u00a0", "\u2003", "\u3000", "\x1c", "\x85", "\u200b"]
TEXTS = st.lists(st.sampled_from([*PARTS, *SPACES]), max_size=14).map("".join) | st.text(max_size=10)


def column(texts: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(texts, pa.large_utf8())])


def digests_of(texts: list[str]) -> Digests:
    return np.frombuffer(
        b"".join(hashlib.sha256(text.encode()).digest() for text in texts), np.uint64
    ).reshape(-1, 4)


def plain(counts: Counts) -> list[Counter[str]]:
    rows = [slice(a, b) for a, b in zip(counts.ptr[:-1], counts.ptr[1:], strict=True)]
    return [
        Counter(
            {counts.terms[t].decode(): int(n) for t, n in zip(counts.term[r], counts.count[r], strict=True)}
        )
        for r in rows
    ]


@given(st.lists(TEXTS, max_size=8))
def test_words_between_spaces_give_the_tokens_of_the_text(texts: list[str]) -> None:
    found = count_terms(column(texts))
    assert plain(found) == [Counter(tokenize(text)) for text in texts]
    assert list(found.terms) == sorted({token.encode() for text in texts for token in tokenize(text)})


@given(st.lists(TEXTS, max_size=8))
def test_blocks_of_texts_do_not_show(texts: list[str]) -> None:
    whole, block = count_terms(column(texts)), terms.BLOCK
    try:
        terms.BLOCK = 2
        found = count_terms(column(texts))
    finally:
        terms.BLOCK = block
    assert (found.terms, plain(found)) == (whole.terms, plain(whole))


@given(st.lists(st.lists(TEXTS, max_size=8), min_size=1, max_size=4), st.booleans())
def test_an_index_of_changing_texts_is_that_of_the_last_ones_byte_for_byte(
    states: list[list[str]], always: bool
) -> None:
    """Counts are kept after each state, or only after the first."""
    with TemporaryDirectory() as name:
        kept, folders = Path(name) / "kept", [Path(name) / "again", Path(name) / "anew"]
        for folder in (kept, *folders):
            folder.mkdir()
        known, seen = None, set[str]()
        for texts in states:
            counts, new = count_new_terms(column(texts), digests_of(texts), known)
            assert new == sum(text not in seen for text in texts)
            if known is None or always:
                KnownCounts(digests_of(texts), counts).save(kept)
                known, seen = KnownCounts.open(kept), set(texts)
        write_sparse(postings_of(counts), folders[0], CONSTANTS)
        write_sparse(postings_of(count_terms(column(states[-1]))), folders[1], CONSTANTS)
        assert entries(folders[0]) == entries(folders[1])
