"""Building the sparse index: BM25 scores equal to rank-bm25's Okapi, in the files that bm25s reads.

bm25s sets the weight of a term that most documents have to zero, where Okapi gives it ``epsilon`` times the
mean weight; so the scores are computed here and handed over.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.files import canonical_json
from crmrag_query.config.build import Sparse
from crmrag_query.retrieval.sparse import META, SCHEMA_VERSION
from crmrag_query.retrieval.tokenizer import tokenize

Ints = npt.NDArray[np.int32]
Doubles = npt.NDArray[np.float64]


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


def write_sparse(texts: Iterable[str], out: Path, bm25: Sparse) -> dict[str, int]:
    """Index the documents' texts in order and write the files into ``out``; gives counts."""
    postings = count_terms(texts)
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


def count_terms(texts: Iterable[str]) -> Postings:
    """Count the terms of every text; memory is three int32 a posting and one string a distinct term."""
    numbers: dict[str, int] = {}
    term, document, count, lengths = array("i"), array("i"), array("i"), array("i")
    for number, text in enumerate(texts):
        tokens = tokenize(text)
        lengths.append(len(tokens))
        found = Counter(tokens)
        term.extend(numbers.setdefault(token, len(numbers)) for token in found)
        document.extend([number] * len(found))
        count.extend(found.values())
    names = [token.encode() for token in numbers]
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    sorted_term = rank[np.array(term, np.int32)]
    by_term = np.argsort(sorted_term, kind="stable")
    return Postings(
        terms=[names[i] for i in order],
        term=sorted_term[by_term],
        document=np.array(document, np.int32)[by_term],
        count=np.array(count, np.int32)[by_term],
        lengths=np.array(lengths, np.int32),
    )


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
