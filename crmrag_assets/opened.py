"""What several chunks of one build share, opened once for each content: the graph, its chunks, the encoder."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_assets.build.step import (
    BuildContext,
    Turns,
    api_turns,
    bits_of,
    buckets_of,
    buckets_of_ids,
    chunks_of,
    config_of,
)
from crmrag_assets.documents.portable import Numbering
from crmrag_assets.graph.core import pointers
from crmrag_assets.harvest.prefetch import TRIPLES_FILE
from crmrag_assets.harvest.report import HARVEST_JSON
from crmrag_assets.indexes.encoder import Encoder, by_importance, encoder_for, shares_of
from crmrag_query.artifacts.manifest import BUCKETS, Digests, digests_of
from crmrag_query.config.datasets import EmbeddingConfig
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.pages import load
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.graph import Graph
from crmrag_query.relationships.engine import Catalogue
from crmrag_query.retrieval.aggregation import Aggregation
from crmrag_query.retrieval.communities import Communities, Summaries


@lru_cache(maxsize=2)
def _graph(folder: Path, content: str) -> Graph:
    return Graph.open(folder)


@lru_cache(maxsize=2)
def _numbering(folder: Path, content: str) -> Numbering:
    return Numbering.of(_graph(folder, content).iris)


@lru_cache(maxsize=2)
def _documents(folder: Path, content: str, graph: Path, graph_content: str) -> Documents:
    return Documents.open(folder, _graph(graph, graph_content))


@lru_cache(maxsize=2)
def _digests(folder: Path, content: str, graph: Path, graph_content: str) -> Digests:
    return digests_of(_documents(folder, content, graph, graph_content).texts)


@lru_cache(maxsize=2)
def _shares(
    folder: Path, content: str, graph: Path, graph_content: str, ranked: Path, ranks: str
) -> npt.NDArray[np.uint8]:
    documents = _documents(folder, content, graph, graph_content)
    return shares_of(by_importance(documents, Aggregation.open(ranked).pagerank))


@lru_cache(maxsize=2)
def _texts_by_bucket(
    folder: Path, content: str, graph: Path, graph_content: str, ranked: Path, ranks: str, share: int
) -> tuple[Ints, Longs]:
    """The texts that are searched by vectors, int32, by the bucket of their entity; where each bucket begins, int64 [257]."""
    documents = _documents(folder, content, graph, graph_content)
    wanted = _shares(folder, content, graph, graph_content, ranked, ranks) <= share
    texts = np.flatnonzero(wanted[documents.home]).astype(np.int32)
    bucket = buckets_of_ids(_numbering(graph, graph_content).ids[documents.entities])[documents.home[texts]]
    order = np.argsort(bucket, kind="stable")
    return texts[order], pointers(bucket[order], BUCKETS)


@lru_cache(maxsize=2)
def _encoder(embedding: EmbeddingConfig, root: Path, threads: int, turns: Turns | None) -> Encoder:
    return encoder_for(embedding, root, threads, turns)


def _made(context: BuildContext, *artifacts: str) -> list[Any]:
    """Folder and content of each of these artifacts; BuildError when one is not built."""
    return [part for one in artifacts for part in (context.folder(one), context.finished(one).content)]


def graph_of(context: BuildContext) -> Graph:
    """The data set's graph, mapped; BuildError when it is not built."""
    return _graph(*_made(context, "graph"))


def numbering_of(context: BuildContext) -> Numbering:
    """The graph's nodes by their ids."""
    return _numbering(*_made(context, "graph"))


def documents_of(context: BuildContext) -> Documents:
    """The data set's final documents, mapped."""
    return _documents(*_made(context, "documents", "graph"))


def shares_with(context: BuildContext) -> npt.NDArray[np.uint8]:
    """From which share on each document has vectors, in per cent, uint8 [documents]: the most important ones first."""
    return _shares(*_made(context, "documents", "graph", "aggregation_index"))


def with_vectors(context: BuildContext) -> npt.NDArray[np.bool_]:
    """The documents that have vectors in the release that is made, bool [documents]."""
    return shares_with(context) <= context.share


def texts_with_vectors(context: BuildContext) -> Ints:
    """The texts that are searched by vectors, int32, ascending: those documents, then the passages that lead to them."""
    return np.flatnonzero(with_vectors(context)[documents_of(context).home]).astype(np.int32)


def texts_in_chunk(context: BuildContext, chunk: str) -> Ints:
    """Of the texts that are searched by vectors those of a chunk, int32, ascending: the documents whose entities belong to
    ``chunk``, then the passages that lead to them."""
    made = _made(context, "documents", "graph", "aggregation_index")
    texts, begin = _texts_by_bucket(*made, context.share)
    found = buckets_of(chunk, bits_of(context))
    return np.sort(texts[begin[found.start] : begin[found.stop]])


def text_digests(context: BuildContext) -> npt.NDArray[np.uint64]:
    """SHA-256 of the final text of each document, then of each passage, uint64 [texts, 4]."""
    return _digests(*_made(context, "documents", "graph")).view(np.uint64)


def texts_hash(context: BuildContext, chunk: str) -> str:
    """Identity of the final texts of a chunk's documents and passages, in order of their entities' IRIs."""
    return hashlib.sha256(text_digests(context)[texts_in_chunk(context, chunk)].tobytes()).hexdigest()


def in_chunk(context: BuildContext, nodes: Ints, chunk: str) -> Ints:
    """Those of ``nodes`` that belong to ``chunk``, in their order."""
    found = buckets_of(chunk, bits_of(context))
    bucket = buckets_of_ids(numbering_of(context).ids[nodes])
    return nodes[(bucket >= found.start) & (bucket < found.stop)]


def summaries_of(context: BuildContext) -> Summaries:
    """What is told of the data set's communities, mapped."""
    communities = Communities.open(context.folder("communities"))
    folder = context.folder("community_summaries")
    return Summaries.open(folder, communities, documents_of(context), context.method)


def encoder_of(context: BuildContext) -> Encoder:
    """The encoder that the data set's configuration names."""
    root = context.data / "encoders"
    return _encoder(context.config.embedding, root, context.threads, api_turns(context))


_CATALOGUES: dict[tuple[str, str], Catalogue] = {}


def catalogue_of(context: BuildContext) -> Catalogue:
    """The relationships in use, read once for a configuration."""
    key = context.method.relationships, config_of(context, "relationships")
    if key not in _CATALOGUES:
        _CATALOGUES.clear()
        _CATALOGUES[key] = Catalogue.load(context.method)
    return _CATALOGUES[key]


def harvest_of(context: BuildContext) -> dict[str, Any]:
    """The harvest report as it was written; BuildError when it is not built."""
    context.finished("harvest_report")
    found: dict[str, Any] = json.loads((context.folder("harvest_report") / HARVEST_JSON).read_bytes())
    return found


def page_rows(context: BuildContext, artifact: str, name: str) -> list[dict[str, Any]]:
    """The rows of a table of ``crmrag_query.documents.pages``, of all finished chunks of an artifact of pages."""
    folders = (context.folder(artifact, chunk) for chunk in context.store.chunks(artifact))
    return [row for folder in folders for row in load(folder, name)]


def prefetched(context: BuildContext) -> list[Path]:
    """The triples of every chunk, in order."""
    return [context.folder("prefetch", chunk) / TRIPLES_FILE for chunk in chunks_of(context)]


def cache_of(context: BuildContext, name: str) -> Path:
    """The file in which vectors of the data set's encoder are kept."""
    return context.data / "cache" / "embeddings" / encoder_of(context).key / f"{name}.bin"
