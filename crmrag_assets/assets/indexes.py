"""Group ``indexes``: what retrieval searches."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from crmrag_assets.assets.common import ENCODING, chunk_asset, dataset_asset, made_from
from crmrag_assets.build.indexes import (
    AGGREGATION_INDEX,
    BM25_INDEX,
    DATE_INDEX,
    EMBEDDINGS,
    ENCODER,
    FAISS_INDEX,
    NAME_INDEX,
    PROFILE,
)
from crmrag_assets.materialise import build_artifact, build_chunks
from crmrag_assets.resources import BuildResource


@dataset_asset(group_name="indexes", kinds={"onnx"})
def encoder(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """What a question needs to be encoded without PyTorch: ONNX model, tokenizer, window and prefixes.

    Read by `embeddings` for documents, and at question time.
    """
    return build_artifact(context, build, ENCODER)


@chunk_asset(group_name="indexes", kinds={"numpy"}, deps=made_from(EMBEDDINGS), pool=ENCODING)
def embeddings(
    context: dg.AssetExecutionContext, build: BuildResource
) -> Iterator[dg.MaterializeResult[Any]]:
    """Vectors of the windows of each final document, the header repeated; cached by model and text.

    The asset that costs most, in time or money: `encoded`, `tokens` and `usd` tell how much. Read by `faiss_index`.
    """
    yield from build_chunks(context, build, EMBEDDINGS)


@dataset_asset(group_name="indexes", kinds={"faiss"}, deps=made_from(FAISS_INDEX))
def faiss_index(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """Dense retrieval: an exact FAISS index over all windows, memory-mapped.

    Read at question time for documents that mean what is asked.
    """
    return build_artifact(context, build, FAISS_INDEX)


@dataset_asset(group_name="indexes", kinds={"bm25s"}, deps=made_from(BM25_INDEX))
def bm25_index(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """Sparse retrieval: BM25 with the scores of rank-bm25's Okapi, memory-mapped.

    Read at question time for documents that say the words of a question.
    """
    return build_artifact(context, build, BM25_INDEX)


@dataset_asset(group_name="indexes", kinds={"json"}, deps=made_from(AGGREGATION_INDEX))
def aggregation_index(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """Counts by class and category, statistics of the relationships, works by actor, PageRank.

    Read at question time for counts and rankings, and to put well-connected entities first.
    """
    return build_artifact(context, build, AGGREGATION_INDEX)


@dataset_asset(group_name="indexes", kinds={"numpy"}, deps=made_from(DATE_INDEX))
def date_index(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """When entities were made, happened or lived, by the relationships that lead to Time, sorted by begin.

    Read at question time for periods, and by `profile`.
    """
    return build_artifact(context, build, DATE_INDEX)


@dataset_asset(group_name="indexes", kinds={"numpy", "arrow"}, deps=made_from(NAME_INDEX))
def name_index(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """Labels, alternative names and identifiers of entities by their words, for finding those that a question names.

    Read at question time, in whatever spelling the names are asked for.
    """
    return build_artifact(context, build, NAME_INDEX)


@dataset_asset(group_name="indexes", kinds={"json", "markdown"}, deps=made_from(PROFILE))
def profile(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """What occurs in the data and how it is modelled: classes, types, relationships, properties, literals, with examples.

    `profile.md` is the page to read; `profile.json` guides how questions are parsed and linked.
    """
    return build_artifact(context, build, PROFILE)
