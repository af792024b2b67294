"""Late interaction against a loop over all pairs of tokens; the files of token vectors."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.indexes.token_vectors import write_token_vectors
from crmrag_query.errors import ModelError, ReleaseError
from crmrag_query.retrieval.encoder import EncoderSettings, HashQueries, QueryEncoder, Tokens, Unasked, unit
from crmrag_query.retrieval.token_vectors import HIGHEST, TOGETHER, TokenVectors, code


def made(counts: list[int], seed: int, dimension: int = 8) -> TokenVectors:
    """Documents with so many random tokens each."""
    random = np.random.default_rng(seed)
    vectors = unit(random.standard_normal((sum(counts), dimension)))
    ptr = np.append(0, np.cumsum(counts)).astype(np.int64)
    weight = random.uniform(0.1, 3, 20).astype(np.float32)
    return TokenVectors(ptr, code(vectors), np.eye(dimension, dtype=np.float32), weight)


def tokens(count: int, seed: int, dimension: int = 8) -> Tokens:
    random = np.random.default_rng(seed)
    vectors = unit(random.standard_normal((count, dimension)))
    return Tokens(random.integers(0, 20, count).astype(np.int32), vectors)


def nearest(held: TokenVectors, asked: Tokens, document: int) -> float:
    """MaxSim, token by token."""
    rows = held.codes[held.ptr[document] : held.ptr[document + 1]].astype(np.float64) / HIGHEST
    if not len(rows) or not len(asked.ids):
        return 0.0
    weights = [float(held.weight[id]) for id in asked.ids]
    best = [max(float(row @ vector) for row in rows) for vector in asked.vectors.astype(np.float64)]
    return sum(w * b for w, b in zip(weights, best, strict=True)) / sum(weights)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(0, 5), st.integers(0, 99), st.data())
@settings(max_examples=100)
def test_each_token_of_the_question_counts_with_the_nearest_of_the_document(
    counts: list[int], asked: int, seed: int, data: st.DataObject
) -> None:
    held, question = made(counts, seed), tokens(asked, seed + 1)
    chosen = data.draw(st.lists(st.integers(0, len(counts) - 1), max_size=20))
    found = held.scores(held.asked(question), np.array(chosen, np.int32))
    assert found == pytest.approx([nearest(held, question, one) for one in chosen], abs=1e-5)


def test_more_documents_than_are_scored_at_once_are_scored_alike() -> None:
    held, question = made([1, 0, 2], 7), tokens(3, 8)
    many = np.arange(TOGETHER + 5, dtype=np.int32) % 3
    few = held.scores(held.asked(question), np.arange(3, dtype=np.int32))
    assert held.scores(held.asked(question), many) == pytest.approx(few[many])


def test_what_was_saved_is_opened(tmp_path: Path) -> None:
    held, question = made([2, 0, 1], 3), tokens(2, 4)
    held.save(tmp_path)
    every = np.arange(3, dtype=np.int32)
    opened = TokenVectors.open(tmp_path)
    assert (
        opened.scores(opened.asked(question), every).tolist()
        == held.scores(held.asked(question), every).tolist()
    )


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("codes", np.zeros((2, 8), np.int8)),  # fewer rows than ptr says
        ("codes", np.zeros((3, 7), np.int8)),  # of other dimensions than the projection
        ("codes", np.zeros(3, np.int8)),
        ("projection", np.zeros((8, 8))),
        ("ptr", np.array([0, 2, 2, 3], np.int32)),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path: Path, name: str, array: np.ndarray) -> None:
    made([2, 0, 1], 3).save(tmp_path)
    np.save(tmp_path / f"{name}.npy", array)
    with pytest.raises(ReleaseError, match="crmrag build"):
        TokenVectors.open(tmp_path)


def test_objects_in_a_file_are_never_loaded(tmp_path: Path) -> None:
    made([1], 3).save(tmp_path)
    np.save(tmp_path / "codes.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(ReleaseError, match=r"codes\.npy cannot be read"):
        TokenVectors.open(tmp_path)


def test_tokens_of_another_encoder_are_refused() -> None:
    held = made([1], 3)
    for other in (tokens(2, 4, dimension=9), Tokens(np.array([20], np.int32), tokens(1, 4).vectors)):
        with pytest.raises(ReleaseError, match="do not fit"):
            held.asked(other)


def test_each_document_is_encoded_once(tmp_path: Path) -> None:
    class Counting(HashQueries):
        asked: ClassVar[list[str]] = []

        def tokens(self, text: str, prefix: str = "") -> Tokens:
            self.asked.append(text)
            return super().tokens(text, prefix)

    texts = [f"The painted church number {number}" for number in range(1100)]
    stats = write_token_vectors(texts, Counting(64), "", tmp_path)
    assert sorted(Counting.asked) == sorted(texts) and stats["documents"] == len(texts)
    held = TokenVectors.open(tmp_path)
    for number in (0, 1, 550, 1099):
        own = HashQueries(64).tokens(texts[number])
        assert held.scores(held.asked(own), np.array([number], np.int32))[0] == pytest.approx(1, abs=0.02)


def test_a_shared_word_is_nearer_than_any_other() -> None:
    words = HashQueries(256)
    first, second = words.tokens("The painted church"), words.tokens("a church of stone")
    cosines = first.vectors @ second.vectors.T
    assert first.ids.tolist() == words.token_ids("The painted church").tolist()
    assert cosines[2, 1] == pytest.approx(1) and np.sort(cosines.ravel())[-2] < 0.7


def test_an_encoder_that_may_not_be_asked_has_no_tokens() -> None:
    settings_ = EncoderSettings("litellm", "far/away", "key", 3, 100)
    with pytest.raises(ModelError, match=r"far/away gives no vectors of single tokens.*token_vectors"):
        _ = QueryEncoder(settings_, Unasked(3)).of_tokens
