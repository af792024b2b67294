"""Vectors: every document embedded, by its present text, and searched by the vectors that were embedded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.artifacts.chunks import BUCKETS, Digests, digests_of
from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.arrays import Longs
from crmrag_query.retrieval.codes import code
from crmrag_query.retrieval.dense import INDEX, VECTORS, WINDOWS, DenseIndex
from crmrag_query.retrieval.embedded import open_chunk
from crmrag_query.retrieval.encoder import EncoderSettings
from crmrag_query.verify.arrays import (
    FIRST,
    Mask,
    ascending,
    blocks,
    counted,
    numbers,
    shaped,
    told,
    within,
    wrong,
)
from crmrag_query.verify.check import Check, Faults

ROWS = 1 << 15  # vectors looked at together
UNIT = 1e-3  # by which the length of a vector may differ from 1
SIGN = 128  # that FAISS adds to a signed code


def documents_have_vectors(release: Release) -> Faults:
    """Every row is of a document that there is, and every document has one."""
    index, documents = release.dense, release.documents.count
    of = index.window_document
    if (yield from shaped(f"dense/{WINDOWS}", of, "int32", len(of))):
        return 0
    yield from counted("dense/dense.json: documents", index.documents, documents)
    if not (yield from within(f"dense/{WINDOWS}: documents", of, 0, documents)):
        yield from ascending(f"dense/{WINDOWS}", of, strict=False)
        rows = np.bincount(of, minlength=documents)
        yield from wrong(f"dense/{WINDOWS}: documents without a vector", documents, lambda b: rows[b] == 0)
    return documents


def vectors_are_sound(release: Release) -> Faults:
    """Every vector has length 1; where the index holds codes, these are the vectors'."""
    index, length = release.dense, len(release.dense.rows)
    stored = None if index.codes is None else _stored_codes(release, index)
    bad: dict[str, list[int]] = {
        f"dense/{VECTORS}: not of length 1": [],
        f"dense/{INDEX}: codes of other vectors": [],
    }
    long, coded = bad.values()
    for block in blocks(length, ROWS):
        rows = index.rows[block]
        off = ~(np.abs(np.sqrt(np.vecdot(rows, rows)) - 1) <= UNIT)
        long += (np.flatnonzero(off) + block.start).tolist()
        if stored is not None and index.codes is not None:
            wanted = (code(rows, index.codes.scale).astype(np.int16) + SIGN).astype(np.uint8)
            coded += (np.flatnonzero((stored[block] != wanted).any(axis=1)) + block.start).tolist()
    for what, places in bad.items():
        if places:
            yield told(what, len(places), length, [f"row {place:,}" for place in places[:FIRST]])
    return length


def _stored_codes(release: Release, index: DenseIndex) -> Digests:
    """The codes as FAISS holds them, uint8 [rows, dimension], mapped: they end its file."""
    path, shape = release.folder / "dense" / INDEX, index.rows.shape
    offset = path.stat().st_size - shape[0] * shape[1]
    if not shape[0]:
        return np.zeros(shape, np.uint8)
    return np.asarray(np.memmap(path, np.uint8, "r", offset, shape))


@dataclass(frozen=True)
class _Chunks:
    """Chunks of embeddings by name, the first byte that their entities' hashes begin with and above."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, release: Release) -> _Chunks:
        paths = (entry.path.split("/") for entry in release.manifest.files)
        return cls(
            tuple(sorted({parts[1] for parts in paths if parts[0] == "embeddings" and len(parts) == 3}))
        )

    def documents(self, documents: Documents) -> Iterator[tuple[str, Longs]]:
        """The documents of each chunk, ascending."""
        bucket = digests_of(documents.graph.iris.take(pa.array(documents.entities)))[:, 0]
        ends = [*(int(name, 16) for name in self.names), BUCKETS]
        for name, (low, high) in zip(self.names, pairwise(ends), strict=True):
            yield name, np.flatnonzero((bucket >= low) & (bucket < high))


def embeddings_are_those_searched(release: Release) -> Faults:
    """Every document is in a chunk of embeddings, by its present text, and its vectors are those of the dense index."""
    documents, index, chunks = release.documents, release.dense, _Chunks.of(release)
    if not chunks.names or int(chunks.names[0], 16) != 0:
        yield "embeddings/: the chunk 00 is missing"
        return 0
    start = np.searchsorted(index.window_document, np.arange(documents.count + 1))
    digests, looked = digests_of(documents.table.column("text")), 0
    for name, chosen in chunks.documents(documents):
        vectors, windows = open_chunk(release.folder / "embeddings" / name)
        looked += len(vectors)
        yield from _chunk_is_searched(
            _Embedded(f"embeddings/{name}", vectors, windows, chosen), index, start, digests
        )
    if looked != len(index.window_document):
        yield f"embeddings/: {looked:,} windows where the dense index has {len(index.window_document):,}"
    return looked


@dataclass(frozen=True)
class _Embedded:
    """A chunk of embeddings; ``documents`` those that belong to it, ascending."""

    where: str
    vectors: npt.NDArray[np.float32]
    windows: pa.Table
    documents: Longs


def _chunk_is_searched(chunk: _Embedded, index: DenseIndex, start: Longs, digests: Digests) -> Faults:
    """``start``: the first row of each document in the index, and the end; ``digests`` of the documents' texts."""
    what, documents = chunk.where, chunk.documents
    place, window = (numbers(chunk.windows.column(column)) for column in ("place", "window"))
    if bad := (yield from within(f"{what}/windows.arrow: places", place, 0, len(documents))):
        return bad
    windows = np.bincount(place, minlength=len(documents))
    bad = yield from wrong(
        f"{what}: documents without a vector",
        len(documents),
        lambda block: windows[block] == 0,
        lambda at: int(documents[at]),
    )
    of = documents[place]
    row = start[of] + window
    off: Mask = (window < 0) | (row >= start[of + 1])
    if off.any() or chunk.vectors.shape[1] != index.dimension:
        yield f"{what}: {int(off.sum()):,} windows that the dense index does not have"
        return bad + 1
    bad += yield from _alike(what, chunk.vectors, index, row)
    alone = np.flatnonzero(windows[place] == 1)  # a document's only window is its whole text
    hashes, texts = _hashes(chunk.windows)[alone], of[alone]
    return bad + (
        yield from wrong(
            f"{what}: vectors of another text than the document's",
            len(alone),
            lambda block: (hashes[block] != digests[texts[block]]).any(axis=1),
            lambda at: f"document {texts[at]:,}",
        )
    )


def _alike(what: str, vectors: npt.NDArray[np.float32], index: DenseIndex, row: Longs) -> Faults:
    found, first = 0, list[object]()
    for block in blocks(len(row), ROWS):
        places = np.flatnonzero((index.rows[row[block]] != vectors[block]).any(axis=1))
        found += len(places)
        first += [f"row {block.start + at:,}" for at in places[: FIRST - len(first)].tolist()]
    if found:
        yield told(f"{what}: vectors other than those of the dense index", found, len(row), first)
    return found


def _hashes(windows: pa.Table) -> Digests:
    """``text_hash`` of all windows, uint8 [w, 32]."""
    parts = [
        np.frombuffer(chunk.buffers()[1], np.uint8)[chunk.offset * 32 : (chunk.offset + len(chunk)) * 32]
        for chunk in windows.column("text_hash").chunks
        if len(chunk)
    ]
    return np.concatenate([np.empty(0, np.uint8), *parts]).reshape(-1, 32)


def encoder_fits(release: Release) -> Faults:
    """The encoder is that of the manifest, and its vectors are as long as those of the index."""
    settings = EncoderSettings.read(release.folder / "encoder")
    yield from counted("encoder/encoder.json: dimension", settings.dimension, release.dense.dimension)
    told_of = release.manifest.embedding
    for name in ("model", "provider", "dimension", "window"):
        if told_of.get(name) != getattr(settings, name):
            yield f"encoder/encoder.json: {name} is {getattr(settings, name)!r}, the manifest says {told_of.get(name)!r}"
    return 1


def encoder_opens(release: Release) -> Faults:
    """The encoder opens and encodes; one that lives elsewhere (an API, PyTorch) is not asked."""
    if EncoderSettings.read(release.folder / "encoder").provider not in ("onnx", "hash"):
        return 0
    vectors = release.encoder.encode(["a question"])
    if not np.isfinite(vectors).all():
        yield "encoder/: what it encodes are no numbers"
    return 1


_READS = ("graph", "documents", "dense", "config.json")
CHECKS = (
    Check("documents in the dense index", "documents", _READS, documents_have_vectors),
    Check("vectors", "vectors", ("dense", "config.json"), vectors_are_sound),
    Check("embeddings", "windows", (*_READS, "embeddings"), embeddings_are_those_searched),
    Check("encoder", "encoder", ("dense", "encoder", "config.json"), encoder_fits),
)
PROBES = (Check("encoding", "question", ("encoder",), encoder_opens),)
"""What takes as long as a model takes to load: left out where a build checks what it just exported and compared."""
