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
from crmrag_assets.indexes.encoder import WINDOW_SCHEMA, Embedded
from crmrag_query.artifacts.manifest import entries
from crmrag_query.config.loading import Dense
from crmrag_query.errors import BuildError, ReleaseError
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import unit

Floats = npt.NDArray[np.float32]
DIMENSION = 8
FLAT = Dense(codes_from=10**9, scanned=4, compared=3)  # sizes at which tests meet every way of searching
CODED = FLAT.model_copy(update={"codes_from": 0})


def embedded(rows: list[tuple[int, int]], vectors: Floats) -> Embedded:
    columns = [[e for e, _ in rows], [w for _, w in rows], [b"\0" * 32] * len(rows)]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, WINDOW_SCHEMA, strict=True)]
    return Embedded(vectors, pa.table(arrays, WINDOW_SCHEMA))


def corpus(windows: list[int], seed: int) -> tuple[list[tuple[int, int]], Floats]:
    """(document, window) of each row, and unit vectors of which some are equal."""
    rows = [(document, window) for document, count in enumerate(windows) for window in range(count)]
    random = np.random.default_rng(seed)
    return rows, unit(random.integers(-2, 3, (len(rows), DIMENSION)).astype(np.float64) + 0.25)


def index_of(
    windows: list[int],
    seed: int,
    folder: Path,
    chunks: int = 1,
    sizes: Dense = FLAT,
) -> DenseIndex:
    rows, vectors = corpus(windows, seed)
    parts = [[n for n, (document, _) in enumerate(rows) if document % chunks == c] for c in range(chunks)]
    chunked = [embedded([rows[n] for n in part], vectors[part]) for part in parts]
    return written(chunked, folder, sizes)


def written(
    chunks: list[Embedded], folder: Path, sizes: Dense = FLAT, texts: list[int] | None = None
) -> DenseIndex:
    """The index of all texts up to the last one that has a vector, or of ``texts`` alone."""
    last = max((max(chunk.windows.column("number").to_pylist(), default=-1) for chunk in chunks), default=-1)
    wanted = np.arange(last + 1) if texts is None else np.array(texts)
    write_dense(chunks, folder, DIMENSION, sizes.codes_from, wanted.astype(np.int32), last + 1)
    return DenseIndex.open(folder, sizes)


def brute_force(
    windows: list[int], seed: int, vector: Floats, mask: npt.NDArray[np.bool_]
) -> dict[int, float]:
    rows, vectors = corpus(windows, seed)
    squared = ((vectors.astype(np.float64) - vector) ** 2).sum(axis=1)
    nearest: dict[int, float] = {}
    for (document, _), distance in zip(rows, squared, strict=True):
        if mask[document]:
            nearest[document] = max(nearest.get(document, -1.0), 1 - distance / 2)
    return nearest


WINDOWS = st.lists(st.integers(1, 6), min_size=1, max_size=40)


@settings(max_examples=40, deadline=None)
@given(WINDOWS, st.integers(0, 99), st.data())
def test_an_index_of_some_documents_finds_what_one_of_all_finds_among_them(
    tmp_path_factory: pytest.TempPathFactory, windows: list[int], seed: int, data: st.DataObject
) -> None:
    rows, vectors = corpus(windows, seed)
    some = sorted(data.draw(st.sets(st.integers(0, len(windows) - 1), min_size=1)))
    chosen = [n for n, (document, _) in enumerate(rows) if document in some]
    folder = tmp_path_factory.mktemp("some")
    index = written([embedded([rows[n] for n in chosen], vectors[chosen])], folder, texts=some)
    whole = index_of(windows, seed, tmp_path_factory.mktemp("all"))
    mask = np.isin(np.arange(len(windows)), some)
    vector = unit(np.random.default_rng(seed).normal(size=(1, DIMENSION)))[0]
    found, expected = index.search(vector, len(windows)), whole.search(vector, len(windows), mask)
    assert found.ranking == expected.ranking and found.scores.tolist() == expected.scores.tolist()
    assert np.flatnonzero(index.encoded).tolist() == some


@settings(max_examples=80, deadline=None)
@given(
    WINDOWS,
    st.integers(0, 99),
    st.integers(1, 50),
    st.sampled_from([1.0, 0.5, 0.1, 0.0]),
    st.booleans(),
    st.sampled_from([FLAT, CODED]),
)
def test_search_equals_brute_force_with_and_without_a_mask_and_codes(
    windows: list[int], seed: int, k: int, share: float, masked: bool, sizes: Dense
) -> None:
    random = np.random.default_rng(seed + 1000)
    vector = unit(random.normal(size=(1, DIMENSION)))[0]
    mask = random.random(len(windows)) < share if masked else np.ones(len(windows), bool)
    expected = brute_force(windows, seed, vector, mask)
    with TemporaryDirectory() as folder:
        found = index_of(windows, seed, Path(folder), sizes=sizes).search(vector, k, mask if masked else None)
    assert len(found) == min(k, len(expected))
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx(sorted(expected.values(), reverse=True)[:k], abs=1e-5)
    assert all(score == pytest.approx(expected[document], abs=1e-5) for document, score in found)


@pytest.mark.parametrize("sizes", [FLAT, CODED])
def test_equal_documents_come_in_order_of_number(sizes: Dense, tmp_path: Path) -> None:
    vectors = np.tile(unit(np.ones((1, DIMENSION))), (100, 1))
    chunk = embedded([(n, 0) for n in range(100)], vectors)
    found = written([chunk], tmp_path, sizes=sizes).search(vectors[0], 10)
    assert [document for document, _ in found] == list(range(10))


@pytest.mark.parametrize("sizes", [FLAT, CODED])
def test_a_document_of_many_windows_does_not_push_others_out(sizes: Dense, tmp_path: Path) -> None:
    near, far = unit(np.eye(2, DIMENSION) + np.array([[0.0], [0.1]]))
    rows = [(0, w) for w in range(500)] + [(1, 0), (2, 0)]
    chunk = embedded(rows, np.vstack([np.tile(near, (500, 1)), [far, far]]))
    index = written([chunk], tmp_path, sizes=sizes)
    assert [document for document, _ in index.search(near, 3)] == [0, 1, 2]


def test_a_score_is_the_cosine(tmp_path: Path) -> None:
    chunk = embedded([(0, 0)], np.eye(1, DIMENSION, dtype=np.float32))
    index = written([chunk], tmp_path)
    for vector, cosine in ((np.eye(2, DIMENSION)[1], 0.0), (-np.eye(1, DIMENSION)[0], -1.0)):
        assert list(index.search(vector.astype(np.float32), 1)) == [(0, pytest.approx(cosine))]


@pytest.mark.parametrize("sizes", [FLAT, CODED])
def test_the_number_of_chunks_does_not_show(sizes: Dense, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "four"]
    for folder, chunks in zip(folders, (1, 4), strict=True):
        folder.mkdir()
        index_of([1, 3, 2, 5, 1, 1, 4], 7, folder, chunks, sizes=sizes)
    assert entries(folders[0]) == entries(folders[1])


@pytest.mark.parametrize("sizes", [FLAT, CODED])
def test_an_empty_index_answers_nothing(sizes: Dense, tmp_path: Path) -> None:
    index = written([], tmp_path, sizes=sizes)
    assert len(index.search(np.ones(DIMENSION, np.float32), 5)) == 0
    assert index.vectors(np.array([0], np.int32)).tolist() == [[0.0] * DIMENSION]


def test_embeddings_of_other_documents_are_refused(tmp_path: Path) -> None:
    chunk = embedded([(0, 0), (2, 0)], np.eye(2, DIMENSION, dtype=np.float32))
    with pytest.raises(BuildError, match="do not belong together"):
        written([chunk], tmp_path)


def test_a_missing_or_cut_index_or_a_vector_of_another_encoder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="No dense index"):
        DenseIndex.open(tmp_path, FLAT)
    index = index_of([1, 1], 0, tmp_path)
    with pytest.raises(ReleaseError, match="the index 8"):
        index.search(np.ones(3, np.float32), 5)
    np.save(tmp_path / "window_document.npy", np.zeros(1, np.int32))
    with pytest.raises(ReleaseError, match="2 rows, not 1"):
        DenseIndex.open(tmp_path, FLAT)


def test_products_of_codes_differ_by_no_more_than_is_told(tmp_path: Path) -> None:
    index, random = index_of([3] * 60, 5, tmp_path, sizes=CODED), np.random.default_rng(8)
    assert index.codes is not None
    coded = index.index.reconstruct_n(0, index.index.ntotal)
    for vector in unit(random.normal(size=(50, DIMENSION))):
        asked, step = index.codes.of(vector)
        assert np.abs(coded @ asked * step - index.rows @ vector).max() <= index.codes.error_of(vector)


def test_a_large_index_keeps_its_vectors_as_they_were_and_needs_them(tmp_path: Path) -> None:
    index = index_of([2, 1, 3], 4, tmp_path, sizes=CODED)
    assert index.rows.tolist() == corpus([2, 1, 3], 4)[1].tolist()
    assert isinstance(index.rows.base, np.memmap)
    (tmp_path / "vectors.npy").unlink()
    with pytest.raises(ReleaseError, match="No dense index"):
        DenseIndex.open(tmp_path, CODED)


def test_what_was_scanned_for_a_question_serves_its_categories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = CODED.model_copy(update={"scanned": 200})
    index, scans = index_of([1] * 300, 3, tmp_path, sizes=sizes), []
    scan = DenseIndex._scan
    monkeypatch.setattr(DenseIndex, "_scan", lambda self, *given: scans.append(given) or scan(self, *given))
    vector = unit(np.random.default_rng(1).normal(size=(1, DIMENSION)))[0]
    every = list(index.search(vector, 5))
    assert list(index.search(vector, 5, np.ones(300, bool))) == every
    assert len(scans) == 1
