"""Building the dense index: the windows of all documents as rows of an exact FAISS index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crmrag_assets.indexes.embed import Embedded
from crmrag_query.artifacts.files import canonical_json
from crmrag_query.errors import BuildError
from crmrag_query.retrieval.dense import INDEX, META, SCHEMA_VERSION, Similarity

BLOCK = 65_536  # rows gathered at a time

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class DenseStats:
    documents: int
    rows: int
    dimension: int


def write_dense(
    chunks: Sequence[Embedded],
    document_of: npt.NDArray[np.int32],
    out: Path,
    dimension: int,
    similarity: Similarity,
) -> DenseStats:
    """Write ``index.faiss``, ``window_document.npy`` and ``dense.json`` into ``out``.

    ``document_of`` int32 [nodes]: document of each entity, -1 for none. Rows are ordered by document and
    window, so the number of chunks does not show. Raises BuildError when an embedded entity has no document
    or a document no vector.
    """
    import faiss

    documents, chunk, row = order_rows(chunks, document_of)
    index = faiss.IndexFlatIP(dimension)
    for block in gather(chunks, chunk, row, dimension):
        index.add(block)
    faiss.write_index(index, str(out / INDEX))
    np.save(out / "window_document.npy", documents)
    count = int(documents[-1]) + 1 if len(documents) else 0
    meta = {"schema": SCHEMA_VERSION, "documents": count, "similarity": similarity}
    (out / META).write_text(canonical_json(meta), encoding="utf-8")
    return DenseStats(count, len(documents), dimension)


def order_rows(chunks: Sequence[Embedded], document_of: npt.NDArray[np.int32]) -> tuple[Ints, Ints, Ints]:
    """(document, chunk, row in the chunk) of every window, int32 [rows] each, by document and window."""
    empty = [np.empty(0, np.int32)]
    entities = np.concatenate(empty + [c.windows.column("entity").to_numpy() for c in chunks])
    window = np.concatenate(empty + [c.windows.column("window").to_numpy() for c in chunks])
    sizes = [c.windows.num_rows for c in chunks]
    chunk = np.repeat(np.arange(len(chunks), dtype=np.int32), sizes)
    row = np.concatenate(empty + [np.arange(size, dtype=np.int32) for size in sizes])
    documents = document_of[entities]
    order = np.lexsort((window, documents))
    documents = documents[order].astype(np.int32)
    present = np.unique(documents)
    if len(present) and (present[0] < 0 or present[-1] + 1 != len(present)):
        raise BuildError("Embeddings and documents do not belong together.", "Build the embeddings again.")
    return documents, chunk[order], row[order]


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
