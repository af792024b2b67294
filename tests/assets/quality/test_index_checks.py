"""Indexes hold every document, and find what is nearest."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from crmrag_assets.build.step import BuildContext, run_step
from crmrag_assets.quality.indexes import (
    dense_covers_documents,
    dense_finds_the_nearest,
    sparse_covers_documents,
)
from crmrag_assets.steps.registry import STEPS
from tests.support.quality import rewriting


def coded(context: BuildContext) -> BuildContext:
    """The context with a dense index of 8-bit codes, which is built."""
    dense = context.method.dense.model_copy(update={"codes_from": 1, "scanned": 12})
    made = replace(context, method=context.method.model_copy(update={"dense": dense}))
    run_step(STEPS["faiss_index"], made)
    return made


def rewritten(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values), encoding="utf-8")


def test_indexes_have_every_document(sound: BuildContext) -> None:
    dense, sparse = dense_covers_documents(sound), sparse_covers_documents(sound)
    assert dense.holds and sparse.holds
    assert dense.counts["documents"] == dense.counts["indexed"] == sparse.counts["indexed"]


def test_a_document_without_a_row_is_named(copied: BuildContext) -> None:
    with rewriting(copied, "faiss_index") as folder:
        documents = np.load(folder / "window_document.npy")
        documents[documents == documents[-1]] -= 1
        np.save(folder / "window_document.npy", documents)
    found = dense_covers_documents(copied)
    assert not found.holds and int(found.counts["indexed"]) == int(found.counts["documents"]) - 1
    assert len(found.tables["without"]) == 1 and f"remove {copied.folder('faiss_index')}" in found.remedy


def test_a_sparse_index_of_other_documents_is_refused(copied: BuildContext) -> None:
    with rewriting(copied, "bm25_index") as folder:
        for path in folder.glob("*.json"):
            stored = json.loads(path.read_text())
            if "num_docs" in stored:
                rewritten(path, num_docs=stored["num_docs"] - 1)
            if "documents" in stored:
                rewritten(path, documents=stored["documents"] - 1)
    found = sparse_covers_documents(copied)
    assert not found.holds and "and there are" in found.says


def test_a_flat_index_and_one_of_codes_find_the_nearest(copied: BuildContext) -> None:
    assert dense_finds_the_nearest(copied).counts["recall"] == 1.0
    found = dense_finds_the_nearest(coded(copied))
    assert found.holds and int(found.counts["questions"]) > 10


def test_codes_that_are_not_those_of_the_vectors_are_found_out(copied: BuildContext) -> None:
    context = coded(copied)
    with rewriting(context, "faiss_index") as folder:
        vectors = np.load(folder / "vectors.npy")
        np.save(folder / "vectors.npy", np.roll(vectors, len(vectors) // 2, axis=0))
    found = dense_finds_the_nearest(context)
    assert not found.holds and float(found.counts["recall"]) < 0.9 and found.tables["worst"]
