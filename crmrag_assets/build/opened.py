"""What several chunks of one build share, opened once for each content: the graph, its chunks, the encoder."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import numpy as np

from crmrag_assets.build.layers import bits_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.harvest.chunks import buckets_of
from crmrag_assets.indexes.encoder import Encoder, encoder_for
from crmrag_query.config.build import Windows
from crmrag_query.config.datasets import EmbeddingConfig
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.arrays import Bytes, Ints
from crmrag_query.graph.graph import Graph
from crmrag_query.relationships.catalogue import Catalogue


@lru_cache(maxsize=2)
def _graph(folder: Path, content: str) -> Graph:
    return Graph.open(folder)


@lru_cache(maxsize=2)
def _buckets(folder: Path, content: str) -> Bytes:
    iris = _graph(folder, content).iris
    first = (hashlib.sha256(iri.as_py().encode()).digest()[0] for iri in iris)
    return np.fromiter(first, np.uint8, len(iris))


@lru_cache(maxsize=2)
def _documents(folder: Path, content: str, graph: Path, graph_content: str) -> Documents:
    return Documents.open(folder, _graph(graph, graph_content))


@lru_cache(maxsize=2)
def _encoder(embedding: EmbeddingConfig, windows: Windows, threads: int) -> Encoder:
    return encoder_for(embedding, windows, workers=threads)


def graph_of(context: BuildContext) -> Graph:
    """The data set's graph, mapped; BuildError when it is not built."""
    return _graph(context.folder("graph"), context.finished("graph").content)


def documents_of(context: BuildContext) -> Documents:
    """The data set's final documents, mapped."""
    graph = context.finished("graph").content
    return _documents(
        context.folder("documents"), context.finished("documents").content, context.folder("graph"), graph
    )


def in_chunk(context: BuildContext, nodes: Ints, chunk: str) -> Ints:
    """Those of ``nodes`` that belong to ``chunk``, in their order."""
    found = buckets_of(chunk, bits_of(context))
    bucket = _buckets(context.folder("graph"), context.finished("graph").content)[nodes]
    return nodes[(bucket >= found.start) & (bucket < found.stop)]


def encoder_of(context: BuildContext) -> Encoder:
    """The encoder that the data set's configuration names."""
    return _encoder(context.config.embedding, context.method.windows, context.threads)


def catalogue_of(context: BuildContext) -> Catalogue:
    return Catalogue.load(context.method)
