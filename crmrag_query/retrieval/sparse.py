"""Sparse retrieval: Okapi BM25 over the memory-mapped postings of bm25s."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.files import ReleaseFiles
from crmrag_query.artifacts.manifest import mapped, open_meta, rebuild
from crmrag_query.errors import ReleaseError
from crmrag_query.retrieval.scores import Hits, best
from crmrag_query.text import tokenize
from crmrag_query.timing import Kept

SCHEMA_VERSION = 1
META = "sparse.json"
KEPT = 4  # questions whose scores are kept: up to 12 bytes a document each

Scored = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Vocabulary:
    """Terms sorted by their UTF-8 bytes, mapped: ``text`` uint8, ``ptr`` int64 [terms+1]."""

    text: npt.NDArray[np.uint8]
    ptr: npt.NDArray[np.int64]

    def number(self, term: str) -> int | None:
        """The number of a term, or None when no document has it; binary search."""
        wanted, terms = term.encode(), range(len(self.ptr) - 1)
        found = bisect_left(terms, wanted, key=self._bytes)
        return found if found in terms and self._bytes(found) == wanted else None

    def _bytes(self, number: int) -> bytes:
        return self.text[self.ptr[number] : self.ptr[number + 1]].tobytes()


@dataclass(frozen=True)
class SparseIndex:
    """BM25 scores of every (term, document) in compressed columns, one a term."""

    documents: int
    vocabulary: Vocabulary
    retriever: Any  # bm25s.BM25, None for an index without terms

    @classmethod
    def from_release(cls, release: ReleaseFiles) -> SparseIndex:
        return cls.open(release.folder / "sparse")

    @classmethod
    def open(cls, folder: Path) -> SparseIndex:
        """Memory-map the index in ``folder``; raises ReleaseError when missing or of another version."""
        import bm25s

        meta = open_meta(folder / META, "sparse index")
        try:
            text, ptr = (mapped(folder / f"vocabulary_{part}.npy") for part in ("text", "ptr"))
            loaded = bm25s.BM25.load(folder, mmap=True, load_vocab=False) if meta["terms"] else None
        except (OSError, ValueError, KeyError) as error:
            raise ReleaseError(f"No sparse index in {folder}: {error}.", rebuild(folder)) from error
        return cls(meta["documents"], Vocabulary(text, ptr), loaded)

    def terms(self, question: str) -> list[int]:
        """Numbers of the question's terms that some document has; one repeated counts again."""
        found = (self.vocabulary.number(token) for token in tokenize(question))
        return [number for number in found if number is not None]

    def scores(self, question: str) -> npt.NDArray[np.float64]:
        """Score of every document, float64 [documents]; equal to rank-bm25's BM25Okapi."""
        return self._added(self.terms(question))[0]

    def search(self, question: str, k: int, mask: npt.NDArray[np.bool_] | None = None) -> Hits:
        """The ``k`` best of the documents that hold a term of the question and are in ``mask``, with their BM25 scores.

        ``mask``: bool [documents]. Ties by document number.
        """
        documents, scores = self._held.get(question, lambda: self._holding(question))
        if mask is not None:
            chosen = mask[documents]
            documents, scores = documents[chosen], scores[chosen]
        return Hits.of(best(documents, scores, k))

    @cached_property
    def _held(self) -> Kept[str, Scored]:
        """What was found for the latest questions, for all that is asked of one."""
        return Kept(KEPT)

    def _holding(self, question: str) -> Scored:
        """The documents that hold a term of a question, ascending, and their scores."""
        scores, holding = self._added(self.terms(question))
        documents = np.flatnonzero(holding)
        return documents, scores[documents]

    def _added(self, terms: Sequence[int]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Score of every document, and whether it holds a term."""
        scores, holding = np.zeros(self.documents), np.zeros(self.documents, bool)
        if terms:
            # As plain arrays: NumPy's own class for mapped ones makes work on them slow.
            data, indices, indptr = (
                np.asarray(self.retriever.scores[part]) for part in ("data", "indices", "indptr")
            )
            for term in terms:
                here = slice(int(indptr[term]), int(indptr[term + 1]))
                np.add.at(scores, indices[here], data[here])
                holding[indices[here]] = True
        return scores, holding
