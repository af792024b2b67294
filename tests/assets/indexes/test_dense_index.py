"""The dense index; its oracle is NumPy over all rows."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.indexes.dense import write_dense
from crmrag_assets.indexes.embed import WINDOW_SCHEMA, Embedded
from crmrag_query.artifacts.files import entries
from crmrag_query.errors import BuildError, ReleaseError
from crmrag_query.retrieval.dense import DenseIndex, Similarity
from crmrag_query.retrieval.hashing import unit

Floats = npt.NDArray[np.float32]
DIMENSION = 8


def embedded(rows: list[tuple[int, int]], vectors: Floats) -> Embedded:
    columns = [[e for e, _ in rows], [w for _, w in rows], [b"\0" * 32] * len(rows)]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, WINDOW_SCHEMA, strict=True)]
    return Embedded(vectors, pa.table(arrays, WINDOW_SCHEMA), 0)


def corpus(windows: list[int], seed: int) -> tuple[list[tuple[int, int]], Floats]:
    """(document, window) of each row, and unit vectors of which some are equal."""
    rows = [(document, window) for document, count in enumerate(windows) for window in range(count)]
    random = np.random.default_rng(seed)
    return rows, unit(random.integers(-2, 3, (len(rows), DIMENSION)).astype(np.float64) + 0.25)


def index_of(
    windows: list[int], seed: int, folder: Path, chunks: int = 1, similarity: Similarity = "squared"
) -> DenseIndex:
    rows, vectors = corpus(windows, seed)
    parts = [[n for n, (document, _) in enumerate(rows) if document % chunks == c] for c in range(chunks)]
    chunked = [embedded([rows[n] for n in part], vectors[part]) for part in parts]
    write_dense(chunked, np.arange(len(windows), dtype=np.int32), folder, DIMENSION, similarity)
    return DenseIndex.open(folder)


def brute_force(
    windows: list[int], seed: int, vector: Floats, mask: npt.NDArray[np.bool_]
) -> dict[int, float]:
    rows, vectors = corpus(windows, seed)
    squared = ((vectors.astype(np.float64) - vector) ** 2).sum(axis=1)
    nearest: dict[int, float] = {}
    for (document, _), distance in zip(rows, squared, strict=True):
        if mask[document]:
            nearest[document] = max(nearest.get(document, 0.0), 1 / (1 + distance))
    return nearest


WINDOWS = st.lists(st.integers(1, 6), min_size=1, max_size=40)


@settings(max_examples=80, deadline=None)
@given(WINDOWS, st.integers(0, 99), st.integers(1, 50), st.sampled_from([1.0, 0.5, 0.1, 0.0]), st.booleans())
def test_search_equals_brute_force_with_and_without_a_mask(
    windows: list[int], seed: int, k: int, share: float, masked: bool
) -> None:
    random = np.random.default_rng(seed + 1000)
    vector = unit(random.normal(size=(1, DIMENSION)))[0]
    mask = random.random(len(windows)) < share if masked else np.ones(len(windows), bool)
    expected = brute_force(windows, seed, vector, mask)
    with TemporaryDirectory() as folder:
        found = index_of(windows, seed, Path(folder)).search(vector, k, mask if masked else None)
    assert len(found) == min(k, len(expected))
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx(sorted(expected.values(), reverse=True)[:k], abs=1e-5)
    assert all(score == pytest.approx(expected[document], abs=1e-5) for document, score in found)


def test_equal_documents_come_in_order_of_number(tmp_path: Path) -> None:
    vectors = np.tile(unit(np.ones((1, DIMENSION))), (100, 1))
    chunk = embedded([(n, 0) for n in range(100)], vectors)
    write_dense([chunk], np.arange(100, dtype=np.int32), tmp_path, DIMENSION, "squared")
    found = DenseIndex.open(tmp_path).search(vectors[0], 10)
    assert [document for document, _ in found] == list(range(10))


def test_a_document_of_many_windows_does_not_push_others_out(tmp_path: Path) -> None:
    near, far = unit(np.eye(2, DIMENSION) + np.array([[0.0], [0.1]]))
    rows = [(0, w) for w in range(500)] + [(1, 0), (2, 0)]
    chunk = embedded(rows, np.vstack([np.tile(near, (500, 1)), [far, far]]))
    write_dense([chunk], np.arange(3, dtype=np.int32), tmp_path, DIMENSION, "squared")
    assert [document for document, _ in DenseIndex.open(tmp_path).search(near, 3)] == [0, 1, 2]


@pytest.mark.parametrize(("similarity", "expected"), [("squared", 1 / 3), ("plain", 1 / (1 + 2**0.5))])
def test_similarity_is_the_configured_formula(
    similarity: Similarity, expected: float, tmp_path: Path
) -> None:
    chunk = embedded([(0, 0)], np.eye(1, DIMENSION, dtype=np.float32))
    write_dense([chunk], np.zeros(1, np.int32), tmp_path, DIMENSION, similarity)
    orthogonal = np.eye(2, DIMENSION, dtype=np.float32)[1]
    ((document, score),) = DenseIndex.open(tmp_path).search(orthogonal, 1)
    assert document == 0
    assert score == pytest.approx(expected)


def test_the_number_of_chunks_does_not_show(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "four"]
    for folder, chunks in zip(folders, (1, 4), strict=True):
        folder.mkdir()
        index_of([1, 3, 2, 5, 1, 1, 4], 7, folder, chunks)
    assert entries(folders[0]) == entries(folders[1])


def test_an_empty_index_answers_nothing(tmp_path: Path) -> None:
    write_dense([], np.empty(0, np.int32), tmp_path, DIMENSION, "squared")
    assert DenseIndex.open(tmp_path).search(np.ones(DIMENSION, np.float32), 5) == []


def test_embeddings_of_other_documents_are_refused(tmp_path: Path) -> None:
    chunk = embedded([(0, 0), (1, 0)], np.eye(2, DIMENSION, dtype=np.float32))
    with pytest.raises(BuildError, match="do not belong together"):
        write_dense([chunk], np.array([0, -1], np.int32), tmp_path, DIMENSION, "squared")


def test_a_vector_of_another_encoder_is_refused(tmp_path: Path) -> None:
    index = index_of([1, 1], 0, tmp_path)
    with pytest.raises(ReleaseError, match="the index 8"):
        index.search(np.ones(3, np.float32), 5)


def test_a_missing_or_cut_index_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="No dense index"):
        DenseIndex.open(tmp_path)
    index_of([1, 1], 0, tmp_path)
    np.save(tmp_path / "window_document.npy", np.zeros(1, np.int32))
    with pytest.raises(ReleaseError, match="2 rows, not 1"):
        DenseIndex.open(tmp_path)
