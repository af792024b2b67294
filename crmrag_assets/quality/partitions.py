"""Checks of graph partitions."""

from __future__ import annotations

from collections.abc import Iterator

from crmrag_assets.build.step import BuildContext, is_made
from crmrag_assets.opened import documents_of
from crmrag_assets.quality.finding import made_anew
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.graph_partitions import GraphPartitions, PartitionEdges
from crmrag_query.verify.check import Finding, collected
from crmrag_query.verify.graph_partitions import faults_of_edges, faults_of_parts


def parts_within_limit(context: BuildContext) -> Finding:
    """Every document is in one part, and none has more than the limit: what is chosen by parts is bounded by it."""
    if not is_made(context, "graph_partitions"):
        return Finding(True, "The data set does without graph partitions.", {"parts": 0, "largest": 0})
    found = GraphPartitions.open(context.folder("graph_partitions"))
    seen = collected(faults_of_parts(found, documents_of(context).count))
    largest = int(found.sizes.max(initial=0))
    says = f"All {len(found.part):,} documents are in {len(found):,} parts of at most {largest:,}."
    counts = {"parts": len(found), "largest": largest}
    return Finding(
        seen.holds,
        says if seen.holds else "; ".join(seen.faults),
        counts,
        remedy=made_anew(context, "graph_partitions"),
    )


def contradictions(context: BuildContext) -> Iterator[str]:
    """What parts and their edges, as they were built last, say against each other, the documents and the entity graph."""
    found = GraphPartitions.open(context.folder("graph_partitions"))
    edges = PartitionEdges.open(context.folder("partition_edges"))
    graph = EntityGraph.open(context.folder("entity_graph"))
    yield from faults_of_parts(found, documents_of(context).count)
    yield from faults_of_edges(edges, found, graph)
