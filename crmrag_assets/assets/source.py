"""Group ``source``: what was found at the source, and its triples by chunk."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from crmrag_assets.assets.common import HARVEST, chunk_asset, dataset_asset, made_from
from crmrag_assets.build.harvest import HARVEST_REPORT
from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.source import ENTITIES, PREFETCH
from crmrag_assets.materialise import build_artifact, build_chunks
from crmrag_assets.partitions import offer_chunks
from crmrag_assets.resources import BuildResource


@dataset_asset(group_name="source", kinds={"rdf"}, pool=HARVEST)
def entities(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """Discovery: one pass over the source counts its entities, which decides on the number of chunks.

    Broken lines are skipped, counted and shown; a source without CIDOC-CRM ends the build with a message. Read by
    `prefetch`, which takes what was found apart by chunks.
    """
    found = build_artifact(context, build, ENTITIES)
    offer_chunks(context.instance, chunks_of(build.opened(context.partition_key)))
    return found


@chunk_asset(group_name="source", kinds={"parquet"}, deps=made_from(PREFETCH), pool=HARVEST)
def prefetch(context: dg.AssetExecutionContext, build: BuildResource) -> Iterator[dg.MaterializeResult[Any]]:
    """Outgoing triples, literals and types of a chunk's entities: `triples.parquet`.

    Every triple is an outgoing triple of exactly one subject, so each is fetched once and none is missed. Read by `graph`;
    a chunk whose triples stay the same is never read again.
    """
    yield from build_chunks(context, build, PREFETCH)


@dataset_asset(group_name="source", kinds={"json", "markdown"}, deps=made_from(HARVEST_REPORT))
def harvest_report(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
    """Whether all of the source was harvested: what is missing, whether it changed meanwhile, what reading it cost.

    Adds up discovery and all chunks, and asks the source once more what it holds. Its JSON goes into the release's
    provenance, never into what the manifest pins: the same data gives the same release wherever it was read from. Its
    Markdown is for whoever doubts that the data is complete.
    """
    return build_artifact(context, build, HARVEST_REPORT)
