"""Embedding a chunk: the windows of its documents, each encoded once for its text, ever."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc

from crmrag_assets.build.progress import Progress, SilentProgress
from crmrag_assets.indexes.cache import VectorCache
from crmrag_assets.indexes.encoder import Encoder
from crmrag_assets.indexes.windows import windows

VECTORS = "vectors.npy"
WINDOWS = "windows.arrow"
BATCH = 64  # texts encoded between two writes to the cache: what a stopped build loses at most

WINDOW_SCHEMA = pa.schema([("entity", pa.int32()), ("window", pa.int16()), ("text_hash", pa.binary(32))])


@dataclass(frozen=True)
class Embedded:
    """Vectors float32 [w, d] of length 1 and, row by row, whose window they are (``WINDOW_SCHEMA``).

    Rows are in order of the documents given; ``encoded`` of the texts were new to the cache.
    """

    vectors: npt.NDArray[np.float32]
    windows: pa.Table
    encoded: int


def embed_chunk(
    documents: Sequence[tuple[int, str]], encoder: Encoder, cache: Path, progress: Progress | None = None
) -> Embedded:
    """Encode the windows of (entity, final text) pairs; ``cache`` is the chunk's file, progress is in
    windows.

    Raises ModelError from the encoder; what was encoded before is kept.
    """
    rows = [
        (entity, number, window)
        for entity, text in documents
        for number, window in enumerate(windows(text, encoder.count, encoder.window))
    ]
    keys = [hashlib.sha256(window.encode()).digest() for _, _, window in rows]
    known = VectorCache.open(cache, encoder.dimension)
    new = {key: row[2] for key, row in zip(keys, rows, strict=True) if key not in known.vectors}
    watching, offset = progress or SilentProgress(), len(rows) - len(new)
    encode_into(known, new, encoder, lambda done: watching.advance(offset + done, len(rows)))
    vectors = np.zeros((len(rows), encoder.dimension), np.float32)
    for row, key in enumerate(keys):
        vectors[row] = known.vectors[key]
    columns = [[row[0] for row in rows], [row[1] for row in rows], keys]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, WINDOW_SCHEMA, strict=True)]
    return Embedded(vectors, pa.table(arrays, WINDOW_SCHEMA), len(new))


def encode_into(
    cache: VectorCache, texts: dict[bytes, str], encoder: Encoder, advance: Callable[[int], None]
) -> None:
    """Encode texts by key, batch after batch, each kept before the next one starts."""
    keys = list(texts)
    advance(0)
    for start in range(0, len(keys), BATCH):
        part = keys[start : start + BATCH]
        vectors = encoder.encode([texts[key] for key in part])
        cache.append(dict(zip(part, vectors, strict=True)))
        advance(start + len(part))


def write_embedded(folder: Path, embedded: Embedded) -> None:
    """Write ``vectors.npy`` and ``windows.arrow`` (IPC file, one uncompressed batch)."""
    np.save(folder / VECTORS, embedded.vectors)
    table = embedded.windows.combine_chunks()
    with pa.OSFile(str(folder / WINDOWS), "wb") as sink, ipc.new_file(sink, WINDOW_SCHEMA) as writer:
        writer.write_table(table)


def open_embedded(folder: Path) -> Embedded:
    """Memory-map what ``write_embedded`` wrote."""
    vectors = np.load(folder / VECTORS, mmap_mode="r")
    with pa.memory_map(str(folder / WINDOWS)) as source:
        table = ipc.open_file(source).read_all()
    return Embedded(vectors, table, 0)
