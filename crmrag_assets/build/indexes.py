"""Steps of the group ``indexes``: encoder, embeddings, dense and sparse index, aggregation index."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.opened import catalogue_of, documents_of, encoder_of, graph_of, in_chunk
from crmrag_assets.build.step import BuildContext, Inputs, Stats, Step
from crmrag_assets.build.workers import side_by_side, workers_of
from crmrag_assets.indexes.aggregation import AggregationSettings, write_aggregation
from crmrag_assets.indexes.dates import time_relationships, write_dates
from crmrag_assets.indexes.dense import write_dense
from crmrag_assets.indexes.embed import Embedded, embed_chunk, open_embedded, write_embedded
from crmrag_assets.indexes.export import export_encoder
from crmrag_assets.indexes.names import names_of, write_names
from crmrag_assets.indexes.profile import Part, count_ties, make_profile, write_profile
from crmrag_assets.indexes.relationships import MatchArrays, read_matches
from crmrag_assets.indexes.sparse import Postings, count_terms, joined, write_sparse
from crmrag_assets.profile.ties import TieCounts
from crmrag_assets.release.contents import link_file
from crmrag_query.config import config_hash
from crmrag_query.linking.question import stop_words
from crmrag_query.ontology.categories import Category
from crmrag_query.relationships.catalogue import Catalogue
from crmrag_query.retrieval.date_index import DateIndex


def encoder_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return {"key": encoder_of(context).key, "config": config_hash(context.config.embedding)}


def write_encoder(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    exported = export_encoder(encoder_of(context), context.data / "encoders")
    for path in sorted(exported.folder.iterdir()):
        link_file(path, folder / path.name)
    settings = exported.settings
    stats: Stats = {"model": settings.model, "dimension": settings.dimension, "window": settings.window}
    return (
        stats | {"provider": settings.provider} | ({"warning": exported.warning} if exported.warning else {})
    )


def embeddings_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return {
        "documents": context.finished("documents").content,
        "encoder": encoder_of(context).key,
        "window": str(encoder_of(context).window),
        "chunk": chunk or "",
    }


def write_embeddings(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    documents, encoder = documents_of(context), encoder_of(context)
    chosen = in_chunk(context, documents.entities, chunk or "")
    row = np.searchsorted(documents.entities, chosen)
    texts = [(int(entity), documents.text(int(i))) for entity, i in zip(chosen, row, strict=True)]
    cache = context.data / "cache" / "embeddings" / encoder.key / f"{chunk}.bin"
    embedded = embed_chunk(texts, encoder, cache, context.progress)
    write_embedded(folder, embedded)
    return {"documents": len(texts), "windows": embedded.windows.num_rows, "encoded": embedded.encoded}


def _chunk_contents(context: BuildContext, artifact: str) -> Inputs:
    return {f"{artifact}/{chunk}": context.finished(artifact, chunk).content for chunk in chunks_of(context)}


def dense_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    own = {
        "documents": context.finished("documents").content,
        "similarity": context.method.retrieval.similarity,
        "dimension": str(encoder_of(context).dimension),
    }
    return own | dict(_chunk_contents(context, "embeddings"))


def write_dense_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    chunks: list[Embedded] = [open_embedded(context.folder("embeddings", key)) for key in chunks_of(context)]
    documents = documents_of(context)
    stats = write_dense(
        chunks,
        documents.entity_document,
        folder,
        encoder_of(context).dimension,
        context.method.retrieval.similarity,
    )
    return {"documents": stats.documents, "rows": stats.rows, "dimension": stats.dimension}


def sparse_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return {"documents": context.finished("documents").content, "config": config_hash(context.method.sparse)}


def write_sparse_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    count = workers_of(context, len(chunks_of(context)))
    bounds = np.linspace(0, documents_of(context).count, count + 1).astype(int).tolist()
    parts = side_by_side(context, _postings, list(pairwise(bounds)), count)
    return dict(write_sparse(joined(list(parts)), folder, context.method.sparse))


def _postings(context: BuildContext, bounds: tuple[int, int]) -> Postings:
    documents = documents_of(context)
    return count_terms(documents.text(number) for number in range(*bounds))


def aggregation_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    method = context.method
    own = {
        "graph": context.finished("graph").content,
        "config": config_hash(
            {"pagerank": config_hash(method.pagerank), "works": config_hash(method.aggregation)}
        ),
        "relationships": config_hash(method.relationship_sets[method.relationships]),
    }
    return own | dict(_chunk_contents(context, "fr_documents"))


def write_aggregation_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    settings = AggregationSettings(
        categories=[(str(category.name), int(category)) for category in Category],
        relationships=[(relationship.id, relationship.label) for relationship in catalogue_of(context)],
        pagerank=context.method.pagerank,
        works=context.method.aggregation,
    )
    return dict(write_aggregation(graph_of(context), _matches(context), settings, folder))


def dates_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    method = context.method
    relationships = method.relationship_sets[method.date_index.relationships]
    return {
        "graph": context.finished("graph").content,
        "relationships": config_hash(relationships),
        "ontology": context.ontology_hash,
    }


def write_date_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    relationships = Catalogue.load(context.method, context.method.date_index.relationships)
    return dict(
        write_dates(graph_of(context), context.vocabulary.ontology, time_relationships(relationships), folder)
    )


def names_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    method = context.method
    return {
        "graph": context.finished("graph").content,
        "config": config_hash(method.linking.names),
        "satellites": config_hash(method.satellites),
        "stop": " ".join(sorted(stop_words(method.questions))),
        "ontology": context.ontology_hash,
    }


def write_name_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    method = context.method
    names = names_of(graph_of(context), context.vocabulary.ontology, method)
    return dict(write_names(names, stop_words(method.questions), method.linking.names, folder))


def profile_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    method = context.method
    return {
        "graph": context.finished("graph").content,
        "date_index": context.finished("date_index").content,
        "title": context.config.title or context.name,
        "config": config_hash(
            {
                "profile": config_hash(method.profile),
                "names": config_hash(method.names),
                "dates": config_hash(method.dates),
                "works": config_hash(method.aggregation),
                "types": method.documents.type_properties,
                "categories": config_hash(method.categories),
            }
        ),
        "relationships": config_hash(method.relationship_sets[method.relationships]),
        "ontology": context.ontology_hash,
    }


def write_data_profile(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    dates, ontology = DateIndex.open(context.folder("date_index")), context.vocabulary.ontology
    count = workers_of(context, len(chunks_of(context)))
    counted = side_by_side(context, _ties, [(part, count) for part in range(count)], count)
    content = make_profile(
        graph_of(context), dates, ontology, context.method, catalogue_of(context), list(counted)
    )
    return dict(write_profile(content, context.config.title or context.name, folder))


def _ties(context: BuildContext, part: Part) -> TieCounts:
    return count_ties(
        graph_of(context), context.vocabulary.ontology, context.method, catalogue_of(context), part
    )


def _matches(context: BuildContext) -> Iterator[MatchArrays]:
    return read_matches(
        [context.folder("fr_documents", chunk) / "matches.arrow" for chunk in chunks_of(context)]
    )


ENCODER = Step("encoder", 1, encoder_inputs, write_encoder)
EMBEDDINGS = Step("embeddings", 1, embeddings_inputs, write_embeddings, chunked=True)
FAISS_INDEX = Step("faiss_index", 1, dense_inputs, write_dense_index)
BM25_INDEX = Step("bm25_index", 1, sparse_inputs, write_sparse_index)
DATE_INDEX = Step("date_index", 1, dates_inputs, write_date_index)
NAME_INDEX = Step("name_index", 1, names_inputs, write_name_index)
PROFILE = Step("profile", 1, profile_inputs, write_data_profile)
AGGREGATION_INDEX = Step("aggregation_index", 1, aggregation_inputs, write_aggregation_index)
