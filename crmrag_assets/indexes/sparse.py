"""Building the sparse index: BM25 scores equal to rank-bm25's Okapi, in the files that bm25s reads.

bm25s sets the weight of a term that most documents have to zero, where Okapi gives it ``epsilon`` times the
mean weight; so the scores are computed here and handed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.files import canonical_json
from crmrag_query.config.build import Sparse
from crmrag_query.retrieval.sparse import META, SCHEMA_VERSION
from crmrag_query.retrieval.tokenizer import tokens_of, words

Ints = npt.NDArray[np.int32]
Doubles = npt.NDArray[np.float64]
BLOCK = 4096  # texts that are counted together


@dataclass(frozen=True)
class Postings:
    """Term counts: ``term``, ``document``, ``count`` int32 [p], by term, then document.

    ``lengths`` int32 [documents] in terms.

    ``terms`` are sorted by their UTF-8 bytes.
    """

    terms: list[bytes]
    term: Ints
    document: Ints
    count: Ints
    lengths: Ints

    @property
    def ptr(self) -> npt.NDArray[np.int64]:
        """Range of postings of each term, int64 [terms+1]."""
        return np.searchsorted(self.term, np.arange(len(self.terms) + 1)).astype(np.int64)


def write_sparse(postings: Postings, out: Path, bm25: Sparse) -> dict[str, int]:
    """Write the index of these postings into ``out``; gives counts."""
    vocabulary = np.frombuffer(b"".join(postings.terms), np.uint8)
    ends = np.cumsum([0] + [len(term) for term in postings.terms], dtype=np.int64)
    np.save(out / "vocabulary_text.npy", vocabulary)
    np.save(out / "vocabulary_ptr.npy", ends)
    if postings.terms:
        _save(postings, bm25, out)
    stats = {"documents": len(postings.lengths), "terms": len(postings.terms), "postings": len(postings.term)}
    (out / META).write_text(canonical_json({"schema": SCHEMA_VERSION} | stats), encoding="utf-8")
    return stats


def _save(postings: Postings, bm25: Sparse, out: Path) -> None:
    import bm25s

    index = bm25s.BM25(k1=bm25.k1, b=bm25.b, method="atire", idf_method="robertson", dtype="float64")
    index.scores = {
        "data": okapi(postings, bm25),
        "indices": postings.document,
        "indptr": postings.ptr,
        "num_docs": len(postings.lengths),
    }
    index.vocab_dict = {}  # terms are looked up in our mapped vocabulary
    index.nonoccurrence_array = None
    index.save(out, show_progress=False)


class _Numbers(dict[str, tuple[int, ...]]):
    """Word of a text -> numbers of its tokens, given in order of appearance."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: dict[str, int] = {}

    def __missing__(self, word: str) -> tuple[int, ...]:
        tokens = self.tokens
        found = self[word] = tuple(tokens.setdefault(token, len(tokens)) for token in tokens_of(word))
        return found


def count_terms(texts: Iterable[str]) -> Postings:
    """Count the terms of every text; memory is three int32 a posting and one string a distinct word."""
    numbers = _Numbers()
    parts: list[Ints] = []
    lengths: list[Ints] = []
    remaining = iter(texts)
    while block := list(islice(remaining, BLOCK)):
        counted, length = _count(block, numbers, sum(map(len, lengths)))
        parts.append(counted)
        lengths.append(length)
    names = [token.encode() for token in numbers.tokens]
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    term, document, count = np.concatenate([np.empty((3, 0), np.int32), *parts], axis=1)
    del parts
    term = rank[term]
    by_term = np.argsort(term, kind="stable")
    return Postings(
        terms=[names[i] for i in order],
        term=term[by_term],
        document=document[by_term],
        count=count[by_term],
        lengths=np.concatenate([np.empty(0, np.int32), *lengths]),
    )


def joined(parts: Sequence[Postings]) -> Postings:
    """The postings of texts that were counted in parts, one after another."""
    if len(parts) == 1:
        return parts[0]
    terms = sorted(set(chain.from_iterable(part.terms for part in parts)))
    number = {term: n for n, term in enumerate(terms)}
    first = np.cumsum([0, *(len(part.lengths) for part in parts)])
    renamed = [np.array([number[term] for term in part.terms], np.int32)[part.term] for part in parts]
    term = np.concatenate(renamed)
    by_term = np.argsort(term, kind="stable")
    document = np.concatenate([part.document + low for part, low in zip(parts, first, strict=False)])
    return Postings(
        terms=terms,
        term=term[by_term],
        document=document[by_term].astype(np.int32),
        count=np.concatenate([part.count for part in parts])[by_term],
        lengths=np.concatenate([part.lengths for part in parts]),
    )


def _count(texts: Sequence[str], numbers: _Numbers, first: int) -> tuple[Ints, Ints]:
    """Term, document (from ``first`` on) and count of a block's postings, int32 [3, p] by document, and its lengths."""
    terms = [list(chain.from_iterable(map(numbers.__getitem__, words(text)))) for text in texts]
    length = np.fromiter(map(len, terms), np.int32, len(terms))
    term = np.fromiter(chain.from_iterable(terms), np.int64, int(length.sum()))
    pairs, count = np.unique(np.repeat(np.arange(len(texts)), length) << 32 | term, return_counts=True)
    return np.stack([pairs & 0xFFFFFFFF, (pairs >> 32) + first, count]).astype(np.int32), length


def okapi(postings: Postings, bm25: Sparse) -> Doubles:
    """Score of every posting, float64 [p]: Okapi's term frequency times its inverse document frequency."""
    length = postings.lengths[postings.document] / postings.lengths.mean()
    frequency = postings.count * (bm25.k1 + 1) / (postings.count + bm25.k1 * (1 - bm25.b + bm25.b * length))
    score: Doubles = frequency * inverse_frequency(postings, bm25.epsilon)[postings.term]
    return score


def inverse_frequency(postings: Postings, epsilon: float) -> Doubles:
    """Weight of each term, float64 [terms]; one below zero becomes ``epsilon`` times the mean of all."""
    having = np.diff(postings.ptr)
    weight: Doubles = np.log(len(postings.lengths) - having + 0.5) - np.log(having + 0.5)
    return np.where(weight < 0, epsilon * weight.mean(), weight)
