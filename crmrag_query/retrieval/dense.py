"""Dense retrieval: exact search over the windows of all documents with FAISS, memory-mapped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from crmrag_query.errors import ReleaseError
from crmrag_query.retrieval.fusion import best

SCHEMA_VERSION = 1
META = "dense.json"
INDEX = "index.faiss"

Similarity = Literal["squared", "plain"]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class DenseIndex:
    """Rows of unit vectors, one a window, ordered by document.

    ``window_document`` int32 [rows], ascending; ``similarity`` says which formula turns the Euclidean
    distance L2 into a score: ``squared`` 1/(1 + L2²), ``plain`` 1/(1 + L2) (facts: method, Query). Both
    rank as the cosine does.
    """

    index: Any
    window_document: npt.NDArray[np.int32]
    documents: int
    similarity: Similarity

    @classmethod
    def open(cls, folder: Path) -> DenseIndex:
        """Memory-map the index in ``folder``; raises ReleaseError when missing or of another version."""
        import faiss

        try:
            meta = json.loads((folder / META).read_text(encoding="utf-8"))
            if meta["schema"] != SCHEMA_VERSION:
                raise ReleaseError(
                    f"The dense index in {folder} has version {meta['schema']}.", "Build it again."
                )
            rows = np.load(folder / "window_document.npy", mmap_mode="r")
            index = faiss.read_index(str(folder / INDEX), faiss.IO_FLAG_MMAP_IFC)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ReleaseError(
                f"No dense index in {folder}: {error}.", "Build the data set again."
            ) from error
        if index.ntotal != len(rows):
            raise ReleaseError(
                f"The dense index in {folder} has {index.ntotal} rows, not {len(rows)}.", "Build it again."
            )
        return cls(index, rows, meta["documents"], meta["similarity"])

    @property
    def dimension(self) -> int:
        return int(self.index.d)

    def search(
        self, vector: Floats, k: int, mask: npt.NDArray[np.bool_] | None = None
    ) -> list[tuple[int, float]]:
        """The ``k`` documents (of ``mask``, bool [documents], if given) with the window nearest to
        ``vector``.

        Exact; (document, similarity) best first, ties by document number. ``vector`` float32 [dimension] of
        length 1.
        """
        if vector.shape != (self.dimension,):
            raise ReleaseError(
                f"The question's vector has {vector.shape} numbers, the index {self.dimension}.",
                "Encode it with the encoder of this release.",
            )
        bits = None if mask is None else np.packbits(mask[self.window_document], bitorder="little")
        rows = len(self.window_document) if bits is None else int(np.bitwise_count(bits).sum())
        asked = min(rows, 2 * k + 16)
        while asked and k > 0:
            documents, products, last = self._nearest(vector, asked, bits)
            # Complete when k documents are ahead of every row not asked for, equal ones included.
            if asked == rows or (len(documents) >= k and np.sort(products)[-k] > last):
                return [
                    (document, self._score(product)) for document, product in best(documents, products, k)
                ]
            asked = min(rows, asked * 4)
        return []

    def vectors(self, documents: npt.NDArray[np.integer]) -> Floats:
        """The mean of each document's windows, scaled to length 1, float32 [n, dimension]; 0 for one without windows."""
        means = np.zeros((len(documents), self.dimension), np.float32)
        starts = np.searchsorted(self.window_document, documents)
        stops = np.searchsorted(self.window_document, documents, "right")
        for row, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
            if stop > start:
                means[row] = self.index.reconstruct_n(start, stop - start).mean(axis=0)
        length = np.linalg.norm(means, axis=1, keepdims=True)
        np.divide(means, length, out=means, where=length > 0)
        return means

    def _nearest(
        self, vector: Floats, rows: int, bits: npt.NDArray[np.uint8] | None
    ) -> tuple[npt.NDArray[np.int32], Floats, float]:
        """Documents of the nearest ``rows`` windows, product of each one's best, the last row's product."""
        import faiss

        library: Any = faiss  # its constructors take keywords and arrays that its stubs do not know
        chosen = None if bits is None else library.SearchParameters(sel=library.IDSelectorBitmap(bits))
        products, found = self.index.search(
            np.ascontiguousarray(vector[None], np.float32), rows, params=chosen
        )
        documents, first = np.unique(self.window_document[found[0]], return_index=True)
        return documents, products[0][first], float(products[0][-1])

    def _score(self, product: float) -> float:
        squared = max(0.0, 2 - 2 * product)
        return 1 / (1 + (squared if self.similarity == "squared" else squared**0.5))
