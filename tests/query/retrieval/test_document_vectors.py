"""The vector of a document: the mean of its windows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from crmrag_assets.indexes.dense import write_dense
from crmrag_assets.indexes.encoder import WINDOW_SCHEMA, Embedded
from crmrag_query.config.loading import Dense
from crmrag_query.retrieval.dense import DenseIndex

VECTORS = np.array([[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0], [0, 0, 1], [0, 0, -1]], np.float32)
DOCUMENT = [0, 0, 1, 2, 2]


@pytest.fixture
def index(tmp_path: Path) -> DenseIndex:
    columns = [DOCUMENT, [0, 1, 0, 0, 1], [b"\0" * 32] * 5]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, WINDOW_SCHEMA, strict=True)]
    windows = pa.table(arrays, WINDOW_SCHEMA)
    write_dense([Embedded(VECTORS, windows, 0)], tmp_path, 3, 6, np.arange(3, dtype=np.int32), 3)
    return DenseIndex.open(tmp_path, Dense(codes_from=6, scanned=8, compared=8))


def test_the_mean_of_the_windows_is_scaled_to_length_one(index: DenseIndex) -> None:
    found = index.vectors(np.array([0, 1], np.int32))
    assert found.dtype == np.float32
    assert found == pytest.approx(np.array([[0.5**0.5, 0.5**0.5, 0], [0.6, 0.8, 0]]))


def test_rows_stand_in_the_order_asked_for(index: DenseIndex) -> None:
    found = index.vectors(np.array([1, 0, 1], np.int32))
    assert found.tolist() == index.vectors(np.array([1, 0, 1], np.int32)).tolist()
    assert found[0].tolist() == found[2].tolist() == pytest.approx([0.6, 0.8, 0])


def test_windows_that_cancel_out_and_a_document_without_windows_give_zeros(index: DenseIndex) -> None:
    assert index.vectors(np.array([2, 9], np.int32)).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert index.vectors(np.array([], np.int32)).shape == (0, 3)
