"""Graph partitions: each document in a part of bounded size, bridges and inner edges are all edges, a vector a part."""

from __future__ import annotations

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.graph_partitions import (
    ALIGNER,
    EDGES,
    NONE,
    PARTITIONS,
    Aligner,
    GraphPartitions,
    PartitionEdges,
)
from crmrag_query.retrieval.encoder import EncoderSettings
from crmrag_query.verify.check import Check, Faults, counted, equal, pointers, shaped, within, wrong


def parts_are_whole(release: Release) -> Faults:
    """A data set may do without, and older releases have none."""
    if not release.manifest.has(PARTITIONS):
        return 0
    return (yield from faults_of_parts(release[GraphPartitions], release[Documents].count))


def faults_of_parts(found: GraphPartitions, documents: int) -> Faults:
    """Each document is in one part, no part has more than the limit, penalties are below 1."""
    count, where = len(found), f"{PARTITIONS}/part.npy"
    if (yield from shaped(where, found.part, "int32", documents)):
        return 0
    if (yield from pointers(f"{PARTITIONS}/member_ptr.npy", found.member_ptr, count, len(found.member))):
        return 0
    if (yield from within(f"{PARTITIONS}/member.npy", found.member, 0, documents)):
        return 0
    if (yield from within(where, found.part, NONE, count)):
        return 0
    told = np.full(documents, NONE, np.int32)
    told[found.member] = np.repeat(np.arange(count, dtype=np.int32), found.sizes)
    yield from equal(f"{where}: not the part that has the document", found.part, told)
    yield from counted(f"{PARTITIONS}/member.npy: documents", len(np.unique(found.member)), len(found.member))
    limit = found.meta.get("limit", 0)
    yield from wrong(
        f"{PARTITIONS}/member_ptr.npy: above the limit of {limit}", count, lambda b: found.sizes[b] > limit
    )
    penalty = np.asarray(found.penalty)
    yield from wrong(f"{PARTITIONS}/penalty.npy", count, lambda b: ~((penalty[b] >= 0) & (penalty[b] < 1)))
    return count


def edges_add_up(release: Release) -> Faults:
    """Bridges lead between the parts that they are told of, and are, with the edges within parts, all edges."""
    if not release.manifest.has(EDGES):
        return 0
    return (
        yield from faults_of_edges(release[PartitionEdges], release[GraphPartitions], release[EntityGraph])
    )


def faults_of_edges(found: PartitionEdges, partitions: GraphPartitions, graph: EntityGraph) -> Faults:
    pairs, documents = len(found.low), len(partitions.part)
    if (yield from pointers(f"{EDGES}/bridge_ptr.npy", found.bridge_ptr, pairs, len(found.bridge_low))):
        return 0
    for name in ("low", "high"):
        ends = np.asarray(getattr(found, f"bridge_{name}"))
        if (yield from within(f"{EDGES}/bridge_{name}.npy", ends, 0, documents)):
            return 0
        told = np.repeat(np.asarray(getattr(found, name)), np.diff(found.bridge_ptr))
        yield from equal(f"{EDGES}/{name}.npy: not the parts of the bridges", partitions.part[ends], told)
    low, high, _ = graph.pairs()
    across = partitions.part[low] != partitions.part[high]
    own = np.minimum(found.bridge_low, found.bridge_high).astype(np.int64) * documents
    own += np.maximum(found.bridge_low, found.bridge_high)
    wanted = np.minimum(low, high)[across].astype(np.int64) * documents + np.maximum(low, high)[across]
    yield from equal(f"{EDGES}: bridges and inner edges are not all edges", np.sort(own), np.sort(wanted))
    return len(found.bridge_low)


def aligner_fits(release: Release) -> Faults:
    """The aligner has a vector of numbers for each part, of the encoder that encodes questions."""
    if not release.manifest.has(ALIGNER):
        return 0
    found, settings = release[Aligner], EncoderSettings.read(release.folder / "encoder")
    if found.vectors.shape[1] != settings.dimension or found.meta.get("encoder") != settings.key:
        yield f"{ALIGNER}: trained with the questions' vectors of another encoder"
    finite = np.asarray(np.isfinite(found.vectors).all(axis=1))
    yield from wrong(f"{ALIGNER}/vectors.npy", len(found.vectors), lambda block: ~finite[block])
    return len(found.vectors)


CHECKS = (
    Check("graph_partitions", "parts", parts_are_whole, reads=("graph", "documents", PARTITIONS)),
    Check("partition_edges", "bridges", edges_add_up, reads=("entity_graph", PARTITIONS, EDGES)),
    Check("alignment_model", "parts", aligner_fits, reads=("encoder", PARTITIONS, ALIGNER)),
)
