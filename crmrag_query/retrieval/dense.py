"""Dense retrieval: exact search over the windows of all documents with FAISS, memory-mapped.

A question's windows are scanned once, for all that is asked of it (all documents, those of a category, those of a tie): the
nearest by the index's own products are kept, and settle most of it. Large data is scanned in 8-bit codes. What the codes may
be wrong by is known, so every window that could be among the nearest is compared again in float32: the ranking is that of a
flat search.

Codes: each dimension is scaled to the whole numbers from -127 to 127. FAISS multiplies them as such
(``QT_8bit_direct_signed``), so the question is coded too. By how much a product of codes differs from that of the vectors is
bounded by the lengths of what rounding took away (Cauchy–Schwarz).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.artifacts.manifest import mapped, open_array, open_ipc, open_meta, rebuild
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Dense
from crmrag_query.errors import ReleaseError
from crmrag_query.retrieval.scores import NOTHING, Hits, best
from crmrag_query.timing import Kept

CHUNK_VECTORS: Final = "vectors.npy"
CHUNK_WINDOWS: Final = "windows.arrow"
# ``place``: that of the window's document in the chunk, by IRI: a new entity elsewhere changes nothing here.
STORED: Final = pa.schema([("place", pa.int32()), ("window", pa.int16()), ("text_hash", pa.binary(32))])


def open_chunk(folder: Path) -> tuple[npt.NDArray[np.float32], pa.Table]:
    """Memory-map vectors float32 [w, d] and their windows (``STORED``); ReleaseError for files that do not fit."""
    vectors = open_array(folder, CHUNK_VECTORS.removesuffix(".npy"))
    windows = open_ipc(folder / CHUNK_WINDOWS, STORED).read_all()
    if vectors.ndim != 2 or vectors.dtype != np.float32 or len(vectors) != windows.num_rows:
        raise ReleaseError(f"{folder / CHUNK_VECTORS} does not fit {CHUNK_WINDOWS}.", rebuild(folder))
    return vectors.view(np.float32), windows


SCALE = "scale"
HIGHEST = 127
TINY = 1e-30  # above nothing, which divides by nothing
LEAST = 1e-6  # of a dimension in which no vector has anything
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Codes:
    """``scale`` float32 [dimension]: codes are vectors times it, rounded. ``error``: the longest that rounding took away from
    a vector of length 1; ``length``: of the longest code."""

    scale: Floats
    error: float
    length: float

    @classmethod
    def open(cls, folder: Path, bounds: Mapping[str, Any]) -> Codes:
        """Raises ReleaseError, KeyError, ValueError for files that do not fit."""
        scale = np.asarray(open_array(folder, SCALE), np.float32)
        return cls(scale, float(bounds["error"]), float(bounds["length"]))

    def of(self, vector: Floats) -> tuple[Floats, float]:
        """The code of a question, whole numbers as float32 [dimension], and what a product of codes counts."""
        weighed = vector / self.scale
        step = max(float(np.abs(weighed).max(initial=0)), TINY) / HIGHEST
        return np.rint(weighed / np.float32(step)).astype(np.float32), step

    def error_of(self, vector: Floats) -> float:
        """The most by which a product of codes, times the step, differs from that of the vectors."""
        code, step = self.of(vector)
        lost = float(np.linalg.norm(vector / self.scale - code * np.float32(step)))
        return self.error * float(np.linalg.norm(vector)) + lost * self.length


def scale_of(largest: Floats) -> Floats:
    """The scale of vectors with these largest absolute values, float32 [dimension]."""
    scale: Floats = (HIGHEST / np.maximum(largest, LEAST)).astype(np.float32)
    return scale


def code(vectors: Floats, scale: Floats) -> npt.NDArray[np.int8]:
    """Codes int8 [n, dimension]."""
    whole: npt.NDArray[np.int8] = np.clip(np.rint(vectors * scale), -HIGHEST, HIGHEST).astype(np.int8)
    return whole


# Schema versions: float32 vectors in the index; 8-bit codes in it and the vectors beside it.
FLAT, CODED = 1, 2
META = "dense.json"
INDEX = "index.faiss"
VECTORS = "vectors.npy"
WINDOWS = "window_document.npy"
KEPT = 8  # questions whose scans are kept
ROUNDING = 2e-6  # by which products of unit vectors in float32 may differ
Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Scan:
    """The rows nearest to a question by the index's products, best first; ``whole`` where no row is left out."""

    rows: Longs
    products: Floats
    whole: bool

    def of(self, chosen: Mask) -> Scan:
        return Scan(self.rows[chosen], self.products[chosen], self.whole)


@dataclass(frozen=True)
class DenseIndex:
    """Rows of unit vectors, one a window, ordered by document, of which not all need have any.

    ``window_document`` int32 [rows], ascending; ``documents``: how many there are; ``rows`` float32 [rows, dimension];
    ``codes`` where the index holds such.
    """

    index: Any
    window_document: npt.NDArray[np.int32]
    documents: int
    rows: Floats
    sizes: Dense
    codes: Codes | None = field(default=None)

    @classmethod
    def from_release(cls, release: Release) -> DenseIndex:
        release.require("faiss_index")
        return cls.open(release.folder / "dense", release.method.dense)

    @classmethod
    def open(cls, folder: Path, sizes: Dense) -> DenseIndex:
        """Memory-map the index in ``folder``; raises ReleaseError when missing, damaged or of another version."""
        import faiss

        meta = open_meta(folder / META, "dense index", (FLAT, CODED))
        try:
            windows = mapped(folder / WINDOWS)
            index: Any = faiss.read_index(str(folder / INDEX), faiss.IO_FLAG_MMAP_IFC)
            codes = Codes.open(folder, meta["codes"]) if meta["schema"] == CODED else None
            rows = _flat_rows(index) if codes is None else mapped(folder / VECTORS)
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise ReleaseError(f"No dense index in {folder}: {error}.", rebuild(folder)) from error
        if index.ntotal != len(windows) or rows.shape != (index.ntotal, index.d):
            raise ReleaseError(
                f"The dense index in {folder} has {index.ntotal} rows, not {len(windows)}.", rebuild(folder)
            )
        return cls(index, windows, meta["documents"], np.asarray(rows), sizes, codes)

    @property
    def dimension(self) -> int:
        return int(self.index.d)

    @cached_property
    def encoded(self) -> Mask:
        """Which documents have a vector, bool [documents]."""
        found = np.zeros(self.documents, bool)
        found[self.window_document[self.window_document < self.documents]] = True
        return found

    def search(self, vector: Floats, k: int, mask: Mask | None = None) -> Hits:
        """The ``k`` documents (of ``mask``, bool [documents], if given) with the window nearest to ``vector``.

        Exact; with the cosine of that window, ties by document number. ``vector`` float32 [dimension] of length 1.
        """
        if vector.shape != (self.dimension,):
            raise ReleaseError(
                f"The question's vector has {vector.shape} numbers, the index {self.dimension}.",
                "Encode it with the encoder of this release.",
            )
        if k <= 0 or not len(self.window_document):
            return NOTHING
        vector = np.ascontiguousarray(vector, np.float32)
        rows = self._all(vector, k) if mask is None else self._among(vector, k, mask)
        return Hits.of(self._ranked(rows, vector, k))

    def cosines(self, vector: Floats, documents: npt.NDArray[np.integer]) -> Floats:
        """The cosine of each document's window that is nearest to ``vector``, float32 [n]; NaN for one without windows."""
        starts = np.searchsorted(self.window_document, documents)
        lengths = np.searchsorted(self.window_document, documents, "right") - starts
        found = np.full(len(documents), np.nan, np.float32)
        held, sizes = lengths > 0, lengths[lengths > 0]
        if len(sizes):
            firsts = np.cumsum(sizes) - sizes
            rows = np.repeat(starts[held] - firsts, sizes) + np.arange(int(sizes.sum()))
            found[held] = np.maximum.reduceat(self.rows[rows] @ vector, firsts)
        return found

    def vectors(self, documents: npt.NDArray[np.integer]) -> Floats:
        """The mean of each document's windows, scaled to length 1, float32 [n, dimension]; 0 for one without windows."""
        means = np.zeros((len(documents), self.dimension), np.float32)
        starts = np.searchsorted(self.window_document, documents)
        stops = np.searchsorted(self.window_document, documents, "right")
        for row, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
            if stop > start:
                means[row] = self.rows[start:stop].mean(axis=0)
        length = np.linalg.norm(means, axis=1, keepdims=True)
        np.divide(means, length, out=means, where=length > 0)
        return means

    def _all(self, vector: Floats, k: int) -> Longs:
        """Rows among which are the nearest windows of the ``k`` nearest documents."""
        scan = self._scanned(vector)
        while (near := self._settled(scan, vector, k)) is None:
            scan = self._scan(vector, 4 * len(scan.rows))
        return near

    def _among(self, vector: Floats, k: int, mask: Mask) -> Longs:
        """The same among the documents of ``mask``: what was scanned before may do, few are compared one by one."""
        documents = int(np.count_nonzero(mask))
        if k < documents:
            scan = self._scanned(vector)
            near = self._settled(scan.of(mask[self.window_document[scan.rows]]), vector, k)
            if near is not None:
                return near
        chosen = mask[self.window_document]
        rows = np.flatnonzero(chosen)
        count = self.sizes.scanned
        while len(rows) > self.sizes.compared and k < documents:
            near = self._settled(self._scan(vector, count, chosen), vector, k)
            if near is not None:
                return near
            count *= 4
        return rows

    def _settled(self, scan: Scan, vector: Floats, k: int) -> Longs | None:
        """The rows that may be nearest for ``k`` documents; None where rows that were not scanned may be among them."""
        _, first = np.unique(self.window_document[scan.rows], return_index=True)
        if scan.whole and len(first) <= k:
            return scan.rows
        if len(first) < k:
            return None
        last = np.partition(first, k - 1)[k - 1]  # rows come best first: the k-th document's nearest
        error = ROUNDING + (0.0 if self.codes is None else self.codes.error_of(vector))  # of a product
        least = scan.products[last] - 2 * error
        if not scan.whole and scan.products[-1] >= least:
            return None
        near: Longs = scan.rows[scan.products >= least]
        return near

    def _ranked(self, rows: Longs, vector: Floats, k: int) -> list[tuple[int, float]]:
        """The ``k`` documents of these rows by their nearest one; equal vectors have equal products, wherever they stand."""
        rows = np.sort(rows)
        products = np.vecdot(self.rows[rows], vector)
        documents = self.window_document[rows]
        starts = np.flatnonzero(np.diff(documents, prepend=-1))
        return best(documents[starts], np.maximum.reduceat(products, starts), k) if len(rows) else []

    @cached_property
    def _scans(self) -> Kept[bytes, Scan]:
        """Scans of all rows by the bytes of the question's vector, of the latest questions; searches run at the same time."""
        return Kept(KEPT)

    def _scanned(self, vector: Floats) -> Scan:
        return self._scans.get(vector.tobytes(), lambda: self._scan(vector, self.sizes.scanned))

    def _scan(self, vector: Floats, count: int, chosen: Mask | None = None) -> Scan:
        """The ``count`` nearest rows (of ``chosen``, bool [rows]) by the index's products."""
        import faiss

        library: Any = faiss  # its constructors take keywords and arrays that its stubs do not know
        there = len(self.window_document) if chosen is None else int(np.count_nonzero(chosen))
        given = None
        if chosen is not None:
            bits = np.packbits(chosen, bitorder="little")
            given = library.SearchParameters(sel=library.IDSelectorBitmap(bits))
        asked, step = (vector, 1.0) if self.codes is None else self.codes.of(vector)
        products, rows = self.index.search(asked[None], min(count, there), params=given)
        return Scan(rows[0], products[0] * np.float32(step), count >= there)


def _flat_rows(index: Any) -> Floats:
    """The vectors of a flat index, where they are mapped."""
    import faiss

    library: Any = faiss
    if not index.ntotal:
        return np.zeros((0, index.d), np.float32)
    rows: Floats = library.rev_swig_ptr(index.get_xb(), index.ntotal * index.d).reshape(-1, index.d)
    return rows
