"""Embedding a chunk: the windows of its documents, each encoded once for its text, ever."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc

from crmrag_assets.build.progress import Progress, SilentProgress
from crmrag_assets.indexes.cache import CutCache, VectorCache
from crmrag_assets.indexes.encoder import Encoder
from crmrag_assets.indexes.windows import CUTTING, cut
from crmrag_query.retrieval.embedded import STORED, VECTORS, WINDOWS

BATCH = 64  # texts encoded between two writes to the cache: what a stopped build loses at most

WINDOW_SCHEMA = pa.schema([("entity", pa.int32()), ("window", pa.int16()), ("text_hash", pa.binary(32))])


@dataclass(frozen=True)
class Embedded:
    """Vectors float32 [w, d] of length 1 and, row by row, whose window they are (``WINDOW_SCHEMA``).

    Rows are in order of the documents given; ``encoded`` of the texts were new to the cache: ``fresh``.
    """

    vectors: npt.NDArray[np.float32]
    windows: pa.Table
    encoded: int
    fresh: tuple[str, ...] = ()


def embed_chunk(
    documents: Sequence[tuple[int, str]],
    encoder: Encoder,
    cache: Path,
    progress: Progress | None = None,
    others: Iterable[Path] = (),
) -> Embedded:
    """Encode the windows of (entity, final text) pairs; ``cache`` is the chunk's file, progress is in windows.

    Neither cuts nor encodes a text again that it knows from that file and the one of cuts beside it. Nor is encoded what has
    a vector in one of ``others``, files of chunks that held these documents before. Raises ModelError from the encoder; what
    was encoded before is kept.
    """
    of = [_key(text) for _, text in documents]
    texts = {key: text for key, (_, text) in zip(of, documents, strict=True)}
    known, cuts, new = _looked_up(texts, encoder, cache, others)
    rows = [
        (entity, number, window)
        for key, (entity, _) in zip(of, documents, strict=True)
        for number, window in enumerate(cuts.cuts[key])
    ]
    watching, offset = progress or SilentProgress(), len(rows) - len(new)
    encode_into(known, new, encoder, lambda done: watching.advance(offset + done, len(rows)))
    vectors = np.zeros((len(rows), encoder.dimension), np.float32)
    for row, (_, _, key) in enumerate(rows):
        vectors[row] = known.vectors[key]
    columns = [[row[column] for row in rows] for column in range(3)]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, WINDOW_SCHEMA, strict=True)]
    return Embedded(vectors, pa.table(arrays, WINDOW_SCHEMA), len(new), tuple(new.values()))


def pending(
    texts: Iterable[str], encoder: Encoder, cache: Path, others: Iterable[Path] = ()
) -> tuple[int, list[str]]:
    """What `embed_chunk` would encode: of how many of the texts, and which windows."""
    by_key = {_key(text): text for text in texts}
    _, cuts, new = _looked_up(by_key, encoder, cache, others)
    return sum(any(window in new for window in cuts.cuts[key]) for key in by_key), list(new.values())


def _looked_up(
    texts: Mapping[bytes, str], encoder: Encoder, cache: Path, others: Iterable[Path]
) -> tuple[VectorCache, CutCache, dict[bytes, str]]:
    """The chunk's caches, and by key the windows of the texts that have no vector in any."""
    known = VectorCache.open(cache, encoder.dimension)
    cuts = CutCache.open(cache.with_name(f"{cache.stem}-{encoder.window}-{CUTTING}.cuts"))
    return known, cuts, _borrowed(_new_windows(texts, known, cuts, encoder), known, others)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _new_windows(
    texts: Mapping[bytes, str], known: VectorCache, cuts: CutCache, encoder: Encoder
) -> dict[bytes, str]:
    """The windows without a vector, by key; texts that are not known, or have such a window, are cut."""
    new = [
        key
        for key in texts
        if key not in cuts.cuts or not all(map(known.vectors.__contains__, cuts.cuts[key]))
    ]
    parts = cut([texts[key] for key in new], encoder.count, encoder.window)
    keys = [[_key(window) for window in part] for part in parts]
    cuts.append({key: found for key, found in zip(new, keys, strict=True) if key not in cuts.cuts})
    windows = zip(chain.from_iterable(keys), chain.from_iterable(parts), strict=True)
    return {key: window for key, window in windows if key not in known.vectors}


def _borrowed(new: dict[bytes, str], known: VectorCache, others: Iterable[Path]) -> dict[bytes, str]:
    """Those that no other file has a vector of; what is found there becomes known here."""
    for path in others:
        if not new:
            break
        vectors = VectorCache.open(path, known.dimension).vectors
        known.append({key: vectors[key] for key in new if key in vectors})
        new = {key: window for key, window in new.items() if key not in vectors}
    return new


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
    """Write ``vectors.npy`` and ``windows.arrow`` (IPC file, one uncompressed batch); rows are in order of their entities."""
    np.save(folder / VECTORS, embedded.vectors)
    _, place = np.unique(embedded.windows.column("entity").to_numpy(), return_inverse=True)
    columns = [pa.array(place.astype(np.int32)), *embedded.windows.columns[1:]]
    table = pa.table(columns, STORED).combine_chunks()
    with pa.OSFile(str(folder / WINDOWS), "wb") as sink, ipc.new_file(sink, STORED) as writer:
        writer.write_table(table)


def open_embedded(folder: Path, entities: npt.NDArray[np.int32] | None = None) -> Embedded:
    """Memory-map what ``write_embedded`` wrote; ``entities`` of the chunk's documents, ascending, else 0, 1, …"""
    vectors = np.load(folder / VECTORS, mmap_mode="r")
    with pa.memory_map(str(folder / WINDOWS)) as source:
        table = ipc.open_file(source).read_all()
    place = table.column("place").to_numpy()
    entity = pa.array(place if entities is None else entities[place])
    return Embedded(vectors, pa.table([entity, *table.columns[1:]], WINDOW_SCHEMA), 0)
