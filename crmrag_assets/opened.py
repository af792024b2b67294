"""What several chunks of one build share, opened once for each content: the graph, its chunks, the encoder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from crmrag_assets.build.step import (
    BuildContext,
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
from crmrag_assets.indexes.encoder import (
    Embedded,
    Encoder,
    by_importance,
    encoder_for,
    open_embedded,
    shares_of,
)
from crmrag_query.artifacts.manifest import BUCKETS, digests_of
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.pages import load
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.graph import Graph
from crmrag_query.relationships.engine import Catalogue
from crmrag_query.retrieval.aggregation import Aggregation
from crmrag_query.retrieval.communities import Communities, Summaries
from crmrag_query.retrieval.dense import DenseIndex

Made = TypeVar("Made")
AT_ONCE = 2  # data sets of which is kept what is opened: a build may open a sample of one beside the whole


def once_for(
    *artifacts: str, and_for: Callable[[BuildContext], object] = lambda context: None
) -> Callable[[Callable[[BuildContext], Made]], Callable[[BuildContext], Made]]:
    """What a function makes of these artifacts, made once for each content of them, and for what ``and_for`` gives.

    The function raises BuildError where one of them is not built.
    """

    def kept(make: Callable[[BuildContext], Made]) -> Callable[[BuildContext], Made]:
        known: dict[object, Made] = {}

        @wraps(make)
        def made(context: BuildContext) -> Made:
            of = [(context.folder(one), context.finished(one).content) for one in artifacts]
            key = (*of, and_for(context))
            if key not in known:
                known[key] = make(context)
                for old in [*known][:-AT_ONCE]:
                    del known[old]
            return known[key]

        return made

    return kept


@once_for("graph")
def graph_of(context: BuildContext) -> Graph:
    """The data set's graph, mapped."""
    return Graph.open(context.folder("graph"))


@once_for("graph")
def numbering_of(context: BuildContext) -> Numbering:
    """The graph's nodes by their ids."""
    return Numbering.of(graph_of(context).iris)


@once_for("documents", "graph")
def documents_of(context: BuildContext) -> Documents:
    """The data set's final documents, mapped."""
    return Documents.open(context.folder("documents"), graph_of(context))


@once_for("documents", "graph", "aggregation_index")
def shares_with(context: BuildContext) -> npt.NDArray[np.uint8]:
    """From which share on each document has vectors, in per cent, uint8 [documents]: the most important ones first."""
    ranked = Aggregation.open(context.folder("aggregation_index")).pagerank
    return shares_of(by_importance(documents_of(context), ranked))


def with_vectors(context: BuildContext) -> npt.NDArray[np.bool_]:
    """The documents that have vectors in the release that is made, bool [documents]."""
    return shares_with(context) <= context.share


def texts_with_vectors(context: BuildContext) -> Ints:
    """The texts that are searched by vectors, int32, ascending: those documents, then the passages that lead to them."""
    return np.flatnonzero(with_vectors(context)[documents_of(context).home]).astype(np.int32)


@once_for("documents", "graph", "aggregation_index", and_for=lambda context: context.share)
def _texts_by_bucket(context: BuildContext) -> tuple[Ints, Longs]:
    """The texts that are searched by vectors, int32, by the bucket of their entity; where each bucket begins, int64 [257]."""
    documents, texts = documents_of(context), texts_with_vectors(context)
    bucket = buckets_of_ids(numbering_of(context).ids[documents.entities])[documents.home[texts]]
    order = np.argsort(bucket, kind="stable")
    return texts[order], pointers(bucket[order], BUCKETS)


def texts_in_chunk(context: BuildContext, chunk: str) -> Ints:
    """Of the texts that are searched by vectors those of a chunk, int32, ascending: the documents whose entities belong to
    ``chunk``, then the passages that lead to them."""
    texts, begin = _texts_by_bucket(context)
    found = buckets_of(chunk, bits_of(context))
    return np.sort(texts[begin[found.start] : begin[found.stop]])


@once_for("documents", "graph")
def text_digests(context: BuildContext) -> npt.NDArray[np.uint64]:
    """SHA-256 of the final text of each document, then of each passage, uint64 [texts, 4]."""
    return digests_of(documents_of(context).texts).view(np.uint64)


def embedded_of(context: BuildContext) -> Iterator[Embedded]:
    """The vectors of every chunk, mapped, with whose they are."""
    for chunk in chunks_of(context):
        yield open_embedded(context.folder("embeddings", chunk), texts_in_chunk(context, chunk))


def dense_of(context: BuildContext) -> DenseIndex:
    """The dense index, mapped."""
    return DenseIndex.open(context.folder("faiss_index"), context.method.dense)


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


@once_for(and_for=lambda one: (one.config.embedding, one.data, one.threads, api_turns(one)))
def encoder_of(context: BuildContext) -> Encoder:
    """The encoder that the data set's configuration names."""
    root = context.data / "encoders"
    return encoder_for(context.config.embedding, root, context.threads, api_turns(context))


@once_for(and_for=lambda context: (context.method.relationships, config_of(context, "relationships")))
def catalogue_of(context: BuildContext) -> Catalogue:
    """The relationships in use."""
    return Catalogue.load(context.method)


def harvest_of(context: BuildContext) -> dict[str, Any]:
    """The harvest report as it was written; BuildError when it is not built."""
    context.finished("harvest_report")
    found: dict[str, Any] = json.loads((context.folder("harvest_report") / HARVEST_JSON).read_bytes())
    return found


def page_rows(context: BuildContext, artifact: str, name: str) -> list[dict[str, Any]]:
    """The rows of a table of ``crmrag_query.documents.pages``, of all finished chunks of an artifact of pages."""
    folders = (context.folder(artifact, chunk) for chunk in context.store.chunks(artifact))
    return [row for folder in folders for row in load(folder, name)]


def folders_of(context: BuildContext, artifact: str) -> list[Path]:
    """The folders of all chunks of an artifact, in order."""
    return [context.folder(artifact, chunk) for chunk in chunks_of(context)]


def prefetched(context: BuildContext) -> list[Path]:
    """The triples of every chunk, in order."""
    return [folder / TRIPLES_FILE for folder in folders_of(context, "prefetch")]


def cache_of(context: BuildContext, name: str) -> Path:
    """The file in which vectors of the data set's encoder are kept."""
    return context.data / "cache" / "embeddings" / encoder_of(context).key / f"{name}.bin"
