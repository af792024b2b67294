"""Building the sparse index: BM25 scores equal to rank-bm25's Okapi, in the files that bm25s reads.

bm25s sets the weight of a term that most documents have to zero, where Okapi gives it ``epsilon`` times the
mean weight; so the scores are computed here and handed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from crmrag_assets.indexes.terms import Counts
from crmrag_query.artifacts.files import canonical_json
from crmrag_query.config.build import Sparse
from crmrag_query.retrieval.sparse import META, SCHEMA_VERSION

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Postings:
    """Term counts: ``document``, ``count`` int32 [p], by term, then document; ``ptr`` int64 [terms+1]: those of each term.

    ``lengths`` int32 [documents] in terms. ``terms`` are sorted by their UTF-8 bytes.
    """

    terms: Sequence[bytes]
    ptr: Longs
    document: Ints
    count: Ints
    lengths: Ints


def postings_of(counts: Counts) -> Postings:
    """The same counts by term."""
    rows = (counts.count, counts.term, counts.ptr)
    by_term = sparse.csr_array(rows, shape=(len(counts), len(counts.terms))).tocsc()
    totals = np.append(0, np.cumsum(counts.count, dtype=np.int64))
    return Postings(
        terms=counts.terms,
        ptr=by_term.indptr.astype(np.int64),
        document=by_term.indices.astype(np.int32),
        count=by_term.data,
        lengths=np.diff(totals[counts.ptr]).astype(np.int32),
    )


def write_sparse(postings: Postings, out: Path, bm25: Sparse) -> dict[str, int]:
    """Write the index of these postings into ``out``; gives counts."""
    vocabulary = np.frombuffer(b"".join(postings.terms), np.uint8)
    ends = np.cumsum([0] + [len(term) for term in postings.terms], dtype=np.int64)
    np.save(out / "vocabulary_text.npy", vocabulary)
    np.save(out / "vocabulary_ptr.npy", ends)
    if postings.terms:
        _save(postings, bm25, out)
    stats = {
        "documents": len(postings.lengths),
        "terms": len(postings.terms),
        "postings": len(postings.count),
    }
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


def okapi(postings: Postings, bm25: Sparse) -> Doubles:
    """Score of every posting, float64 [p]: Okapi's term frequency times its inverse document frequency."""
    length = postings.lengths[postings.document] / postings.lengths.mean()
    frequency = postings.count * (bm25.k1 + 1) / (postings.count + bm25.k1 * (1 - bm25.b + bm25.b * length))
    score: Doubles = frequency * np.repeat(inverse_frequency(postings, bm25.epsilon), np.diff(postings.ptr))
    return score


def inverse_frequency(postings: Postings, epsilon: float) -> Doubles:
    """Weight of each term, float64 [terms]; one below zero becomes ``epsilon`` times the mean of all."""
    having = np.diff(postings.ptr)
    weight: Doubles = np.log(len(postings.lengths) - having + 0.5) - np.log(having + 0.5)
    return np.where(weight < 0, epsilon * weight.mean(), weight)
