"""Strings seen in a block are the bytes that stand there."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.harvest.views import Block

words = st.lists(st.text(max_size=20), max_size=30)


@given(words)
def test_strings_are_what_stands_between_their_places(stated: list[str]) -> None:
    encoded = [word.encode() for word in stated]
    end = np.cumsum([len(word) for word in encoded], dtype=np.int64)
    start = end - np.array([len(word) for word in encoded], np.int64)
    found = Block(b"".join(encoded)).strings(start, end)
    assert found.to_list() == stated
    assert found.n_unique() == len(set(stated))  # hashed and compared, short ones by the view alone
    assert found.to_arrow().to_pylist() == stated
