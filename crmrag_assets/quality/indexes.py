"""Checks of what retrieval searches."""

from __future__ import annotations

import numpy as np

from crmrag_assets.build.opened import documents_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality.finding import Finding, Row, made_anew
from crmrag_query.retrieval.dense import ROUNDING, DenseIndex, Floats, Longs
from crmrag_query.retrieval.sparse import SparseIndex

BLOCK = 65_536  # vectors multiplied together


def dense_covers_documents(context: BuildContext) -> Finding:
    """Every document has at least one row in the dense index."""
    index, documents = _dense(context), documents_of(context).count
    found = np.unique(index.window_document)
    without = np.setdiff1d(np.arange(documents), found)
    holds = index.documents == documents and not len(without) and (not len(found) or found[-1] < documents)
    counts = {"documents": documents, "indexed": len(found), "rows": len(index.window_document)}
    rows: list[Row] = [
        {"document": documents_of(context).label(n)} for n in without[: context.method.checks.shown].tolist()
    ]
    return Finding(
        bool(holds),
        _covers(holds, "dense", len(found), documents),
        counts,
        {"without": rows} if rows else {},
        made_anew(context, "faiss_index"),
    )


def sparse_covers_documents(context: BuildContext) -> Finding:
    """The sparse index has as many documents as there are."""
    index, documents = SparseIndex.open(context.folder("bm25_index")), documents_of(context).count
    holds = index.documents == documents
    return Finding(
        holds,
        _covers(holds, "sparse", index.documents, documents),
        {"documents": documents, "indexed": index.documents},
        remedy=made_anew(context, "bm25_index"),
    )


def _covers(holds: bool, which: str, indexed: int, documents: int) -> str:
    if holds:
        return f"The {which} index has all {documents:,} documents."
    return f"The {which} index has {indexed:,} documents, and there are {documents:,}."


def dense_finds_the_nearest(context: BuildContext) -> Finding:
    """The index's search finds the documents that a plain scan of all vectors does, for some documents' own vectors."""
    checks, index = context.method.checks, _dense(context)
    rows = len(index.window_document)
    asked = np.unique(np.linspace(0, rows - 1, min(checks.recall_questions, rows)).astype(np.int64))
    k = min(checks.recall_documents, index.documents)
    recalls = _recalls(index, asked, k) if k else []
    recall = float(np.mean(recalls)) if recalls else 1.0
    worst = sorted(zip(recalls, asked.tolist(), strict=True))[: checks.shown]
    documents = documents_of(context)
    tables: dict[str, list[Row]] = {
        "worst": [
            {"document": documents.label(int(index.window_document[row])), "recall": f"{found:.2f}"}
            for found, row in worst
        ]
    }
    holds = recall >= checks.recall_least
    counts = {"recall": round(recall, 6), "questions": len(recalls), "nearest": k}
    says = f"{recall:.1%} of the {k} nearest documents are found, over {len(recalls)} documents' own vectors."
    return Finding(holds, says, counts, {} if holds else tables, made_anew(context, "faiss_index"))


def _dense(context: BuildContext) -> DenseIndex:
    return DenseIndex.open(context.folder("faiss_index"), context.method.dense)


def _recalls(index: DenseIndex, asked: Longs, k: int) -> list[float]:
    """For each row asked for, the share of the ``k`` documents found that are as near as the k-th; ties count as found."""
    vectors = np.ascontiguousarray(index.rows[asked])
    nearest = _scanned(index, vectors)
    found = []
    for number, vector in enumerate(vectors):
        products = nearest[:, number]
        least = np.partition(products, -k)[-k] - 2 * ROUNDING
        documents = [document for document, _ in index.search(vector, k)]
        found.append(float((products[documents] >= least).sum()) / k)
    return found


def _scanned(index: DenseIndex, vectors: Floats) -> Floats:
    """The largest product of each document's windows with each vector, float32 [documents, vectors]."""
    best = np.full((index.documents, len(vectors)), -np.inf, np.float32)
    for start in range(0, len(index.rows), BLOCK):
        products = index.rows[start : start + BLOCK] @ vectors.T
        documents = index.window_document[start : start + BLOCK]
        first = np.flatnonzero(np.diff(documents, prepend=-1))
        own = documents[first]
        best[own] = np.maximum(best[own], np.maximum.reduceat(products, first))
    return best
