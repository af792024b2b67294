"""Group ``documents``: what each entity's document says, and the documents that are embedded and shown."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from crmrag_assets.assets.common import chunk_asset, dataset_asset, made_from
from crmrag_assets.build.documents import DOCUMENTS, ENTITY_DOCUMENTS, FR_DOCUMENTS
from crmrag_assets.materialise import build_artifact, build_chunks
from crmrag_assets.resources import BuildResource


@chunk_asset(group_name="documents", kinds={"arrow"}, deps=made_from(FR_DOCUMENTS))
def fr_documents(
    context: dg.AssetExecutionContext, build: BuildResource
) -> Iterator[dg.MaterializeResult[Any]]:
    """One document an entity: header, types, literals, satellites, Fundamental Relationships, direct predicates.

    Paths of any length are walked over the whole graph, whatever the chunk. Read by `documents`, and by
    `aggregation_index`, which counts the matches.
    """
    yield from build_chunks(context, build, FR_DOCUMENTS)


@dataset_asset(group_name="documents", kinds={"arrow"}, deps=made_from(DOCUMENTS))
def documents(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """The documents after satellites are folded in and thin documents are chained: what is embedded and shown.

    Read by `embeddings` and `bm25_index`, and at question time for the context of an answer.
    """
    return build_artifact(context, build, DOCUMENTS)


@dataset_asset(group_name="documents", kinds={"markdown"}, deps=made_from(ENTITY_DOCUMENTS))
def entity_documents(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """The documents as Markdown files, one for each.

    For people who want to see what is said of an entity; nothing else reads them. `write_markdown: false` leaves them out.
    """
    return build_artifact(context, build, ENTITY_DOCUMENTS)
