"""Steps of the group ``indexes``: encoder, embeddings, dense and sparse index, aggregation index."""

from __future__ import annotations

from pathlib import Path

from crmrag_assets.build.ceiling import caches_of, price_of, require_within_ceiling
from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.opened import (
    catalogue_of,
    documents_in_chunk,
    documents_of,
    encoder_of,
    graph_of,
    numbering_of,
    text_digests,
    texts_hash,
)
from crmrag_assets.build.sharing import asking_api
from crmrag_assets.build.step import BuildContext, Inputs, Stats, Step, always
from crmrag_assets.build.store import data_version
from crmrag_assets.build.workers import side_by_side, workers_of
from crmrag_assets.indexes.aggregation import AggregationSettings, write_aggregation
from crmrag_assets.indexes.dates import time_relationships, write_dates
from crmrag_assets.indexes.dense import write_dense
from crmrag_assets.indexes.embed import Embedded, embed_chunk, open_embedded, write_embedded
from crmrag_assets.indexes.export import export_encoder
from crmrag_assets.indexes.names import names_of, write_names
from crmrag_assets.indexes.profile import Part, count_ties, make_profile, write_profile
from crmrag_assets.indexes.relationships import MatchFiles
from crmrag_assets.indexes.sparse import postings_of, write_sparse
from crmrag_assets.indexes.terms import KnownCounts, count_new_terms
from crmrag_assets.profile.ties import TieCounts
from crmrag_assets.release.contents import link_file
from crmrag_query import __version__
from crmrag_query.config import config_hash
from crmrag_query.linking.question import stop_words
from crmrag_query.ontology.categories import Category
from crmrag_query.relationships.catalogue import Catalogue
from crmrag_query.retrieval.date_index import DateIndex

TERM_COUNTS = "term_counts"  # in the working folder, beside the artifacts; never part of a release
KEPT_SHARE = 0.02  # of texts that are new: counting fewer once more is cheaper than writing the counts of all


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
        "texts": texts_hash(context, chunk or ""),
        "encoder": encoder_of(context).key,
        "window": str(encoder_of(context).window),
    }


def write_embeddings(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    require_within_ceiling(context)
    documents, encoder = documents_of(context), encoder_of(context)
    chosen = documents_in_chunk(context, chunk or "").tolist()
    texts = [(documents.entity(number), documents.text(number)) for number in chosen]
    own, *others = caches_of(context, chunk or "")
    with asking_api(context):
        embedded = embed_chunk(texts, encoder, own, context.progress, others)
    write_embedded(folder, embedded)
    counts: Stats = {
        "documents": len(texts),
        "windows": embedded.windows.num_rows,
        "encoded": embedded.encoded,
    }
    if (price := price_of(context)) is not None:
        tokens = sum(encoder.count(embedded.fresh)) if embedded.fresh else 0
        counts |= {"tokens": tokens, "usd": round(price * tokens, 6)}
    return counts


def _chunk_contents(context: BuildContext, artifact: str) -> Inputs:
    return {f"{artifact}/{chunk}": context.finished(artifact, chunk).content for chunk in chunks_of(context)}


def dense_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    own = {
        "documents": context.finished("documents").content,
        "similarity": context.method.retrieval.similarity,
        "codes_from": str(context.method.dense.codes_from),
        "dimension": str(encoder_of(context).dimension),
    }
    return own | dict(_chunk_contents(context, "embeddings"))


def write_dense_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    documents = documents_of(context)
    chunks: list[Embedded] = [
        open_embedded(context.folder("embeddings", key), documents.entities[documents_in_chunk(context, key)])
        for key in chunks_of(context)
    ]
    stats = write_dense(
        chunks,
        documents.entity_document,
        folder,
        encoder_of(context).dimension,
        context.method.retrieval.similarity,
        context.method.dense.codes_from,
    )
    return {"documents": stats.documents, "rows": stats.rows, "dimension": stats.dimension}


def sparse_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return {"documents": context.finished("documents").content, "config": config_hash(context.method.sparse)}


def write_sparse_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    texts, digests = documents_of(context).table.column("text"), text_digests(context)
    version = data_version(TERM_COUNTS, 1, {"crmrag": __version__})
    there = context.store.is_current(TERM_COUNTS, version)  # every checksum is looked at
    known = KnownCounts.open(context.folder(TERM_COUNTS)) if there else None
    counts, new = count_new_terms(texts, digests, known)
    if new > KEPT_SHARE * len(texts):
        with context.store.writing(TERM_COUNTS, version, {"new": new}) as kept:
            KnownCounts(digests, counts).save(kept)
    return write_sparse(postings_of(counts), folder, context.method.sparse) | {"counted": new}


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


def _matches(context: BuildContext) -> MatchFiles:
    return MatchFiles(
        [context.folder("fr_documents", chunk) for chunk in chunks_of(context)], numbering_of(context)
    )


ENCODER = Step("encoder", 1, encoder_inputs, write_encoder)
EMBEDDINGS = Step(
    "embeddings", 2, embeddings_inputs, write_embeddings, needs=("documents", "encoder"), chunked=True
)
FAISS_INDEX = Step("faiss_index", 2, dense_inputs, write_dense_index, needs=("documents", "embeddings"))
BM25_INDEX = Step("bm25_index", 1, sparse_inputs, write_sparse_index, needs=("documents",), apart=always)
DATE_INDEX = Step("date_index", 1, dates_inputs, write_date_index, needs=("graph",), apart=always)
NAME_INDEX = Step("name_index", 1, names_inputs, write_name_index, needs=("graph",), apart=always)
PROFILE = Step("profile", 1, profile_inputs, write_data_profile, needs=("graph", "date_index"), apart=always)
AGGREGATION_INDEX = Step(
    "aggregation_index", 2, aggregation_inputs, write_aggregation_index, needs=("graph", "fr_documents"), apart=always
)  # fmt: skip
