"""Vectors: as many documents embedded as the manifest says, by their present texts, and searched by the vectors that were
embedded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from crmrag_query.artifacts.files import BUCKETS, Digests, digests_of
from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import CrmRagError
from crmrag_query.graph.arrays import Longs
from crmrag_query.retrieval.dense import INDEX, VECTORS, WINDOWS, DenseIndex, Floats, code, open_chunk
from crmrag_query.retrieval.encoder import EncoderSettings, QueryEncoder
from crmrag_query.retrieval.token_vectors import FOLDER, HIGHEST, MOST, TokenVectors
from crmrag_query.verify.check import (
    Check,
    Faults,
    Mask,
    ascending,
    counted,
    numbers,
    pointers,
    shaped,
    within,
    wrong,
)

ROWS = 1 << 15  # vectors looked at together
UNIT = 1e-3  # by which the length of a vector may differ from 1
SIGN = 128  # that FAISS adds to a signed code


def lengths(vectors: Floats) -> Floats:
    """The length of each vector; infinite or no number where one of its numbers is."""
    found: Floats = np.sqrt(np.vecdot(vectors, vectors))
    return found


def documents_have_vectors(release: Release) -> Faults:
    """Every row is of a document or passage that there is; as many documents have one as the manifest says, and each with all
    the passages that lead to it."""
    if not release.manifest.has("faiss_index"):
        stated = release.manifest.counts.get("encoded", 0)
        yield from counted("manifest.json: documents with a vector", stated, 0)
        return 0
    index, documents = release[DenseIndex], release[Documents]
    encoded = index.encoded[: documents.count]
    yield from counted("manifest.json: documents with a vector", release.manifest.encoded, int(encoded.sum()))
    return (yield from covered(index, encoded[documents.home]))


def covered(index: DenseIndex, wanted: Mask) -> Faults:
    """Rows of no text, texts without a row of those that are ``wanted``, bool [texts], and others with one."""
    of, texts = index.window_document, len(wanted)
    if (yield from shaped(f"dense/{WINDOWS}", of, "int32", len(of))):
        return 0
    yield from counted("dense/dense.json: documents", index.documents, texts)
    if not (yield from within(f"dense/{WINDOWS}: documents", of, 0, texts)):
        yield from ascending(f"dense/{WINDOWS}", of, strict=False)
        rows = np.bincount(of, minlength=texts)
        yield from wrong(
            f"dense/{WINDOWS}: documents without a vector", texts, lambda b: (rows[b] == 0) & wanted[b]
        )
        yield from wrong(
            f"dense/{WINDOWS}: passages with a vector, of documents without one",
            texts,
            lambda b: (rows[b] > 0) & ~wanted[b],
        )
    return texts


def vectors_are_sound(release: Release) -> Faults:
    """Every vector has length 1; where the index holds codes, these are the vectors'."""
    if not release.manifest.has("faiss_index"):
        return 0
    index = release[DenseIndex]
    rows, codes = index.rows, index.codes
    yield from wrong(
        f"dense/{VECTORS}: not of length 1",
        len(rows),
        lambda block: ~(np.abs(lengths(rows[block]) - 1) <= UNIT),
        lambda row: f"row {row:,}",
        ROWS,
    )
    if codes is not None:
        stored, scale = _stored_codes(release.folder / "dense" / INDEX, rows.shape), codes.scale

        def other(block: slice) -> Mask:
            wanted = (code(rows[block], scale).astype(np.int16) + SIGN).astype(np.uint8)
            found: Mask = (stored[block] != wanted).any(axis=1)
            return found

        what = f"dense/{INDEX}: codes of other vectors"
        yield from wrong(what, len(rows), other, lambda row: f"row {row:,}", ROWS)
    return len(rows)


def _stored_codes(path: Path, shape: tuple[int, ...]) -> Digests:
    """The codes as FAISS holds them, uint8 [rows, dimension], mapped: they end its file."""
    if not shape[0]:
        return np.zeros(shape, np.uint8)
    return np.asarray(np.memmap(path, np.uint8, "r", path.stat().st_size - shape[0] * shape[1], shape))


def embeddings_are_those_searched(release: Release) -> Faults:
    """Every document and passage that has vectors is in a chunk of embeddings, by its present text, and its vectors are those
    of the dense index."""
    if not release.manifest.has("faiss_index"):
        return 0
    documents, index = release[Documents], release[DenseIndex]
    paths = (entry.path.split("/") for entry in release.manifest.files)
    names = sorted({parts[1] for parts in paths if parts[0] == "embeddings" and len(parts) == 3})
    if not names or int(names[0], 16) != 0:
        yield "embeddings/: the chunk 00 is missing"
        return 0
    start = np.searchsorted(index.window_document, np.arange(len(documents.texts) + 1))
    digests, looked = digests_of(documents.texts), 0
    for name, texts in _in_chunks(names, documents):
        chosen = texts[index.encoded[texts]]
        vectors, windows = open_chunk(release.folder / "embeddings" / name)
        looked += len(vectors)
        what = f"embeddings/{name}"
        place, window = (numbers(windows.column(column)) for column in ("place", "window"))
        if not (yield from within(f"{what}/windows.arrow: places", place, 0, len(chosen))):
            hashes = _hashes(windows)
            yield from _are_searched(what, vectors, chosen, place, window, hashes, index, start, digests)
    if looked != len(index.window_document):
        yield f"embeddings/: {looked:,} windows where the dense index has {len(index.window_document):,}"
    return looked


def _in_chunks(names: list[str], documents: Documents) -> Iterator[tuple[str, Longs]]:
    """Each chunk, named by the first byte that its entities' hashes begin with, and its documents and passages, ascending."""
    bucket = digests_of(documents.graph.iris.take(pa.array(documents.entities)))[:, 0]
    ends = [*(int(name, 16) for name in names), BUCKETS]
    for name, (low, high) in zip(names, pairwise(ends), strict=True):
        yield name, np.flatnonzero(((bucket >= low) & (bucket < high))[documents.home])


def _are_searched(
    what: str,
    vectors: Floats,
    documents: Longs,
    place: Longs,
    window: Longs,
    hashes: Digests,
    index: DenseIndex,
    start: Longs,
    digests: Digests,
) -> Faults:
    """A chunk's ``vectors``, of ``documents`` at a ``place`` by their ``window``, against the index.

    ``start``: the first row of each document in the index, and the end; ``digests`` of the documents' texts.
    """
    windows = np.bincount(place, minlength=len(documents))
    yield from wrong(
        f"{what}: documents without a vector",
        len(documents),
        lambda block: windows[block] == 0,
        lambda at: int(documents[at]),
    )
    of = documents[place]
    row = start[of] + window
    off = (window < 0) | (row >= start[of + 1])
    if off.any() or vectors.shape[1] != index.dimension:
        yield f"{what}: {int(off.sum()):,} windows that the dense index does not have"
        return 1
    bad = yield from wrong(
        f"{what}: vectors other than those of the dense index",
        len(row),
        lambda block: (index.rows[row[block]] != vectors[block]).any(axis=1),
        lambda at: f"row {at:,}",
        ROWS,
    )
    alone = np.flatnonzero(windows[place] == 1)  # a document's only window is its whole text
    own, texts = hashes[alone], of[alone]
    return bad + (
        yield from wrong(
            f"{what}: vectors of another text than the document's",
            len(alone),
            lambda block: (own[block] != digests[texts[block]]).any(axis=1),
            lambda at: f"document {texts[at]:,}",
        )
    )


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
    settings, stated = EncoderSettings.read(release.folder / "encoder"), release.manifest.embedding
    if release.manifest.has("faiss_index"):
        dimension = release[DenseIndex].dimension
        yield from counted("encoder/encoder.json: dimension", settings.dimension, dimension)
    for name in ("model", "provider", "dimension", "window"):
        if stated.get(name) != getattr(settings, name):
            yield f"encoder/encoder.json: {name} is {getattr(settings, name)!r}, the manifest says {stated.get(name)!r}"
    return 1


def encoder_opens(release: Release) -> Faults:
    """The encoder opens and encodes; one that lives elsewhere (an API, PyTorch) is not asked."""
    if EncoderSettings.read(release.folder / "encoder").provider not in ("onnx", "hash"):
        return 0
    try:
        vectors = release[QueryEncoder].encode(["a question"])
    except CrmRagError as error:
        yield f"encoder/: it cannot be opened: {error.what}"
        return 1
    if not np.isfinite(vectors).all():
        yield "encoder/: what it encodes are no numbers"
    return 1


_READS = ("graph", "documents", "dense", "config.json")


def token_vectors_are_sound(release: Release) -> Faults:
    """Each document has some tokens, as many as are held at most, of length 1 but for rounding. A data set may do without."""
    if not release.manifest.has(FOLDER):
        return 0
    held, documents = release[TokenVectors], release[Documents].count
    if (yield from pointers(f"{FOLDER}/ptr.npy", held.ptr, documents, len(held.codes))):
        return 0
    counts = np.diff(held.ptr)
    yield from wrong(f"{FOLDER}/ptr.npy: more than {MOST} tokens", documents, lambda b: counts[b] > MOST)
    yield from wrong(f"{FOLDER}/weight.npy: no weight", len(held.weight), lambda b: ~(held.weight[b] > 0))
    rounding = np.sqrt(held.codes.shape[1]) / 2 + 1e-3
    yield from wrong(
        f"{FOLDER}/codes.npy: not of length 1",
        len(held.codes),
        lambda b: np.abs(lengths(held.codes[b].astype(np.float32)) - HIGHEST) > rounding,
        size=ROWS,
    )
    return len(held.codes)


CHECKS = (
    Check("documents in the dense index", "documents", documents_have_vectors, reads=_READS),
    Check("vectors", "vectors", vectors_are_sound, reads=("dense", "config.json")),
    Check("embeddings", "windows", embeddings_are_those_searched, reads=(*_READS, "embeddings")),
    Check("token vectors", "tokens", token_vectors_are_sound, reads=("graph", "documents", FOLDER)),
    Check("encoder", "encoder", encoder_fits, reads=("dense", "encoder", "config.json")),
)
PROBES = (Check("encoding", "question", encoder_opens, reads=("encoder",)),)
"""What takes as long as a model takes to load."""
