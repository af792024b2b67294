"""Building the dense index: the windows of all documents and passages as rows of a flat FAISS index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_assets.indexes.encoder import Embedded
from crmrag_query.artifacts.manifest import canonical_json
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import Ints, ranges
from crmrag_query.retrieval.dense import (
    CODED,
    FLAT,
    INDEX,
    META,
    SCALE,
    VECTORS,
    WINDOWS,
    code,
    scale_of,
)

BLOCK = 65_536  # rows gathered at a time
ROWS_AT = 8  # where in its file FAISS tells the rows of an index
SIGN = 128  # that FAISS adds to a signed code

Floats = npt.NDArray[np.float32]


def write_dense(
    chunks: Sequence[Embedded], out: Path, dimension: int, codes_from: int, texts: Ints, count: int
) -> dict[str, int]:
    """Write ``index.faiss``, ``window_document.npy`` and ``dense.json`` into ``out``.

    From ``codes_from`` rows on the index holds 8-bit codes (``crmrag_query.retrieval.dense``), with ``scale.npy``, and
    ``vectors.npy`` the vectors. Rows are ordered by text and window, so the number of chunks does not show; each text, of a
    document or a passage, counts as a document here. ``texts``: those that have vectors, ascending, of the ``count`` that
    there are. Raises BuildError when another has, or one has none. Gives counts.
    """
    import faiss

    library: Any = faiss
    documents, chunk, row = order_rows(chunks, texts)
    blocks = gather(chunks, chunk, row, dimension)
    meta: dict[str, Any] = {"schema": FLAT}
    if len(row) < codes_from:
        write_rows(out / INDEX, library.IndexFlatIP(dimension), blocks, len(row))
    else:
        coded = Coded(scale_of(largest(chunks, dimension)))
        empty = library.IndexScalarQuantizer(
            dimension, library.ScalarQuantizer.QT_8bit_direct_signed, library.METRIC_INNER_PRODUCT
        )
        kept = np.lib.format.open_memmap(out / VECTORS, "w+", np.float32, (len(row), dimension))
        write_rows(out / INDEX, empty, coded.blocks(blocks, kept), len(row))
        np.save(out / f"{SCALE}.npy", coded.scale)
        meta = {"schema": CODED, "codes": {"error": coded.error, "length": coded.length}}
    np.save(out / WINDOWS, documents)
    meta["documents"] = count
    (out / META).write_text(canonical_json(meta), encoding="utf-8")
    return {"documents": len(texts), "rows": len(documents), "dimension": dimension}


@dataclass
class Coded:
    """Vectors on their way into codes, and the bounds of what these lose, to the next millionth above."""

    scale: Floats
    error: float = 0.0
    length: float = 0.0

    def blocks(self, blocks: Iterable[Floats], kept: Floats) -> Iterator[npt.NDArray[np.uint8]]:
        """The codes as FAISS holds them, uint8 [up to BLOCK, dimension]; the vectors are put into ``kept``."""
        at = 0
        for block in blocks:
            kept[at : at + len(block)] = block
            at += len(block)
            signed = code(block, self.scale)
            self.error = max(self.error, _longest(signed / self.scale - block))
            self.length = max(self.length, _longest(signed.astype(np.float32)))
            yield (signed.astype(np.int16) + SIGN).astype(np.uint8)


def _longest(vectors: npt.NDArray[np.floating]) -> float:
    return float(np.ceil(1e6 * np.linalg.norm(vectors.astype(np.float64), axis=1).max(initial=0)) / 1e6)


def largest(chunks: Sequence[Embedded], dimension: int) -> Floats:
    """The largest absolute value of each dimension, float32 [dimension]."""
    found = np.zeros(dimension, np.float32)
    for chunk in chunks:
        for start in range(0, len(chunk.vectors), BLOCK):
            np.maximum(found, np.abs(chunk.vectors[start : start + BLOCK]).max(axis=0, initial=0), out=found)
    return found


def write_rows(path: Path, empty: Any, blocks: Iterable[npt.NDArray[Any]], rows: int) -> None:
    """Write the file of a flat index like ``empty`` with these rows, not holding them; BuildError if FAISS does not read it.

    It is that of the empty index, in which two numbers tell the rows and the values that follow.
    """
    import faiss

    head = bytearray(faiss.serialize_index(empty).tobytes())
    head[ROWS_AT : ROWS_AT + 8] = rows.to_bytes(8, "little")
    head[-8:] = (rows * empty.d).to_bytes(8, "little")
    with path.open("wb") as stream:
        stream.write(head)
        for block in blocks:
            block.tofile(stream)
    written = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    if (written.ntotal, written.d) != (rows, empty.d):
        raise BuildError("FAISS writes its indexes otherwise than known.", "Install faiss-cpu 1.15.")


def order_rows(chunks: Sequence[Embedded], texts: Ints) -> tuple[Ints, Ints, Ints]:
    """(text, chunk, row in the chunk) of every window, int32 [rows] each, by text and window.

    Raises BuildError unless all of ``texts`` have some, and no other.
    """
    empty = [np.empty(0, np.int32)]
    numbers = np.concatenate(empty + [c.windows.column("number").to_numpy() for c in chunks])
    window = np.concatenate(empty + [c.windows.column("window").to_numpy() for c in chunks])
    sizes = np.array([c.windows.num_rows for c in chunks], np.int64)
    chunk = np.repeat(np.arange(len(chunks), dtype=np.int32), sizes)
    row = ranges(np.zeros_like(sizes), sizes).astype(np.int32)
    order = np.lexsort((window, numbers))
    numbers = numbers[order].astype(np.int32)
    if not np.array_equal(np.unique(numbers), texts):
        raise BuildError("Embeddings and documents do not belong together.", "Build the embeddings again.")
    return numbers, chunk[order], row[order]


def gather(
    chunks: Sequence[Embedded], chunk: Ints, row: Ints, dimension: int
) -> Iterator[npt.NDArray[np.float32]]:
    """Vectors in the given order, block by block, float32 [up to BLOCK, dimension]."""
    for start in range(0, len(chunk), BLOCK):
        of_chunk, of_row = chunk[start : start + BLOCK], row[start : start + BLOCK]
        block = np.empty((len(of_chunk), dimension), np.float32)
        for number in np.unique(of_chunk):
            here = np.flatnonzero(of_chunk == number)
            block[here] = chunks[number].vectors[of_row[here]]
        yield block
