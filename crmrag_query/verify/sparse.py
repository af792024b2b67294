"""The sparse index: every posting is of a document and a term that there are, and its totals are right."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from crmrag_query.artifacts.release import Release
from crmrag_query.retrieval.sparse import META, Vocabulary
from crmrag_query.verify.arrays import (
    Array,
    ascending,
    counted,
    pointers,
    shaped,
    sorted_texts,
    within,
    wrong,
)
from crmrag_query.verify.check import Check, Faults

PARTS = ("data", "indices", "indptr")
INDICES = "sparse/indices.csc.index.npy"


def terms_are_sorted(release: Release) -> Faults:
    """The vocabulary is in the order by which terms are looked up."""
    return (yield from vocabulary_is_sorted("sparse/vocabulary", release.sparse.vocabulary))


def vocabulary_is_sorted(what: str, vocabulary: Vocabulary) -> Faults:
    """Terms out of order; returns how many there are."""
    text, ptr = np.asarray(vocabulary.text), np.asarray(vocabulary.ptr)
    terms = len(ptr) - 1
    if not (yield from pointers(f"{what}_ptr.npy", ptr, terms, len(text))):
        buffers = [None, pa.py_buffer(ptr), pa.py_buffer(text)]
        yield from sorted_texts(f"{what}_text.npy", pa.Array.from_buffers(pa.large_binary(), terms, buffers))
    return terms


def postings_resolve(release: Release) -> Faults:
    """Every posting is of a document that there is, each once for a term, with a score; totals are right."""
    index, documents = release.sparse, release.documents.count
    meta = json.loads((release.folder / "sparse" / META).read_bytes())
    yield from counted(f"sparse/{META}: documents", meta.get("documents"), documents)
    yield from counted(f"sparse/{META}: terms", meta.get("terms"), len(index.vocabulary.ptr) - 1)
    if index.retriever is None:
        yield from counted(f"sparse/{META}: postings", meta.get("postings"), 0)
        return 0
    scores: dict[str, Array] = {part: np.asarray(index.retriever.scores[part]) for part in PARTS}
    data, indices, ptr = scores.values()
    yield from counted(f"sparse/{META}: postings", meta.get("postings"), len(indices))
    yield from counted("sparse/params.index.json: num_docs", index.retriever.scores["num_docs"], documents)
    yield from shaped("sparse/data.csc.index.npy", data, "float64", len(indices))
    yield from shaped(INDICES, indices, "int32", len(indices))
    yield from within(f"{INDICES}: documents", indices, 0, documents)
    if not (
        yield from pointers("sparse/indptr.csc.index.npy", ptr, len(index.vocabulary.ptr) - 1, len(indices))
    ):
        yield from ascending(f"{INDICES}: documents of a term", indices, ptr)
    yield from wrong(
        "sparse/data.csc.index.npy: no score", len(data), lambda block: ~np.isfinite(data[block])
    )
    return len(indices)


_READS = ("graph", "documents", "sparse")
CHECKS = (
    Check("terms", "terms", ("sparse",), terms_are_sorted),
    Check("postings", "postings", _READS, postings_resolve),
)
