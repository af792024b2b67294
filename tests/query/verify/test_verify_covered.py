"""That exactly the documents that are to have vectors have some."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query.config.loading import Dense
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.verify.check import collected
from crmrag_query.verify.indexes import covered

SIZES = Dense(codes_from=6, scanned=8, compared=8)


def index_of(rows: list[int], texts: int) -> DenseIndex:
    vectors = np.zeros((len(rows), 2), np.float32)
    return DenseIndex(None, np.array(rows, np.int32), texts, vectors, SIZES)


@settings(max_examples=60)
@given(st.lists(st.booleans(), min_size=1, max_size=20), st.data())
def test_it_holds_where_those_that_are_wanted_have_rows_and_no_others(
    wanted: list[bool], data: st.DataObject
) -> None:
    having = data.draw(st.sets(st.integers(0, len(wanted) - 1)))
    found = collected(covered(index_of(sorted(having), len(wanted)), np.array(wanted)))
    assert found.holds == (having == {number for number, one in enumerate(wanted) if one})


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([0], "documents without a vector: 1 of 3"),
        ([0, 1, 2], "passages with a vector, of documents without one: 1 of 3"),
        ([1, 0], "out of order"),
    ],
)
def test_what_is_wrong_is_told(rows: list[int], told: str) -> None:
    faults = collected(covered(index_of(rows, 3), np.array([True, True, False]))).faults
    assert any(told in fault for fault in faults), faults
