"""The sparse index; its oracle is rank-bm25's BM25Okapi."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from crmrag_assets.indexes.sparse import Postings, count_terms, postings_of, write_sparse
from crmrag_query.config.loading import Sparse
from crmrag_query.errors import ReleaseError
from crmrag_query.retrieval.sparse import SparseIndex
from crmrag_query.text import tokenize

WORDS = ["church", "icon", "ναός", "1986.12.3", "saint", "the", "mural", "Εικόνα"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
CONSTANTS = Sparse(k1=1.5, b=0.75)


def counted(texts: list[str]) -> Postings:
    return postings_of(count_terms(pa.chunked_array([pa.array(texts, pa.large_utf8())])))


def index_of(texts: list[str], folder: Path, constants: Sparse = CONSTANTS) -> SparseIndex:
    write_sparse(counted(texts), folder, constants)
    return SparseIndex.open(folder)


def okapi(texts: list[str], constants: Sparse = CONSTANTS) -> BM25Okapi:
    return BM25Okapi([tokenize(t) for t in texts], k1=constants.k1, b=constants.b, epsilon=constants.epsilon)


@settings(max_examples=120, deadline=None)
@given(
    st.lists(TEXTS, min_size=1, max_size=12).filter(any),
    TEXTS,
    st.builds(Sparse, k1=st.floats(0.1, 3), b=st.floats(0, 0.99)),
)
def test_scores_equal_okapi(texts: list[str], question: str, constants: Sparse) -> None:
    with TemporaryDirectory() as folder:
        scores = index_of(texts, Path(folder), constants).scores(question)
    np.testing.assert_allclose(
        scores, okapi(texts, constants).get_scores(tokenize(question)), rtol=1e-11, atol=1e-12
    )


def test_a_term_of_most_documents_weighs_epsilon_times_the_mean(tmp_path: Path) -> None:
    texts = ["the icon", "the mural", "the church of the saint", "an altar"]
    scores = index_of(texts, tmp_path).scores("the")
    assert min(scores[:3]) > 0 == scores[3]
    np.testing.assert_allclose(scores, okapi(texts).get_scores(["the"]), rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=12), TEXTS, st.integers(0, 15), st.data())
def test_search_ranks_the_documents_that_hold_a_term_and_are_in_the_mask(
    texts: list[str], question: str, k: int, data: st.DataObject
) -> None:
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))))
    wanted = set(tokenize(question))
    with TemporaryDirectory() as folder:
        index = index_of(texts, Path(folder))
        scores = index.scores(question)
        holding = [n for n, text in enumerate(texts) if wanted & set(tokenize(text))]
        ranking = sorted(((n, float(scores[n])) for n in holding), key=lambda row: (-row[1], row[0]))
        assert list(index.search(question, k)) == ranking[:k]
        assert list(index.search(question, k, mask)) == [row for row in ranking if mask[row[0]]][:k]


@pytest.mark.parametrize("texts", [[], [""], ["", " - "]])
def test_a_corpus_without_words_answers_nothing(texts: list[str], tmp_path: Path) -> None:
    index = index_of(texts, tmp_path)
    assert len(index.search("church", 5)) == 0
    assert index.scores("church").shape == (len(texts),)


def test_a_question_without_known_words_finds_nothing(tmp_path: Path) -> None:
    index = index_of(["church", "icon"], tmp_path)
    assert [len(index.search(text, 5)) for text in ("", "submarine", "zzz aaa")] == [0, 0, 0]


def test_accents_and_identifiers_find_their_document(tmp_path: Path) -> None:
    index = index_of(["Ναός της Παναγίας", "inv. 1986.12.3", "inv. 1986.13.3"], tmp_path)
    assert [n for n, _ in index.search("ΝΑΟΣ", 5)] == [0]
    assert [n for n, _ in index.search("object 1986.12.3?", 5)] == [1, 2]


def test_scores_are_mapped_not_read(tmp_path: Path) -> None:
    assert isinstance(index_of(["icon"], tmp_path).retriever.scores["data"], np.memmap)


def test_a_missing_or_damaged_index_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="No sparse index"):
        SparseIndex.open(tmp_path)
    write_sparse(counted(["icon"]), tmp_path, CONSTANTS)
    (tmp_path / "sparse.json").write_text('{"schema": 99}')
    with pytest.raises(ReleaseError, match="version 99"):
        SparseIndex.open(tmp_path)
