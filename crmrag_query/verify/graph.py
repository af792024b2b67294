"""The graph, the index of its triples, their archive and graph partitions: numbers within the graph, both directions the same
triples, parts that are whole. Documents: numbered as their entities are, lines within their texts, each entity in one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crmrag_query.artifacts.manifest import open_array, rebuild
from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import (
    BATCH,
    CHAINED,
    KIND_NAMES,
    ROLE_NAMES,
    SELF,
    Documents,
    table_path,
)
from crmrag_query.documents.documents import open_table as open_documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.arrays import EDGE_SCHEMA, EDGES, FLAG_ENTITY, SCHEMAS, Ints, Longs, Rows, open_table
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.graph_partitions import ALIGNER, NONE, PARTITIONS, Aligner, GraphPartitions, PartitionEdges
from crmrag_query.graph_partitions import EDGES as PARTITION_EDGES
from crmrag_query.linking import mixed
from crmrag_query.ontology.load import Category
from crmrag_query.retrieval.encoder import EncoderSettings
from crmrag_query.syntax import RDF_TYPE
from crmrag_query.verify.check import (
    Check,
    Faults,
    ascending,
    blocks,
    counted,
    empty,
    equal,
    numbers,
    owned,
    pointers,
    shaped,
    sorted_texts,
    whole,
    within,
    wrong,
)

BY_NODE = ("timespans", "links", "images")
SPARSE = ("timespans",)  # tables in which a place may be empty: an open date
ROWS_AT_ONCE = 1 << 18
BATCH_ROWS = 1 << 20  # of edges.parquet
HALF = np.uint64(32)

Part = tuple[Ints, Ints, Ints]


def tables_are_whole(release: Release) -> Faults:
    """Every table of the graph opens with its columns, and its texts and words are such."""
    rows = 0
    for name in SCHEMAS:
        table = open_table(release[Graph].folder, name)
        rows += table.num_rows
        yield from whole(f"graph/{name}.arrow", table, sparse=name in SPARSE)
    return rows


def nodes_are_described(release: Release) -> Faults:
    """Every node has its IRI, in order, its flags, categories, classes and a name."""
    graph = release[Graph]
    if (yield from counted("graph/nodes.arrow", graph.nodes, len(graph.iris))):
        return 0
    yield from sorted_texts("graph/nodes.arrow: IRIs", graph.iris)
    category, categories = graph.category_of_node, graph.adjacency.categories
    for name, array in (("flags", graph.flags), ("category", category), ("categories", categories)):
        yield from shaped(f"graph/{name}.npy", array, "uint8", graph.nodes)
    known = np.array([0, *map(int, Category)], np.uint8)
    yield from wrong(
        "graph/category.npy: no category", graph.nodes, lambda block: ~np.isin(category[block], known)
    )
    ptr, val = graph.type_rows
    yield from shaped("graph/type_val.npy", val, "int32", len(val))
    yield from within("graph/type_val.npy: classes", val, 0, len(graph.class_codes))
    if not (yield from pointers("graph/type_ptr.npy", ptr, graph.nodes, len(val))):
        yield from ascending("graph/type_val.npy", val, ptr)
    labels, ptr = graph.label_rows
    if not (yield from pointers("graph/label_ptr.npy", ptr, graph.nodes, labels.num_rows)):
        yield from owned("graph/labels.arrow", ptr, numbers(labels.column("node")))
        yield from empty("graph/label_ptr.npy: nodes without a name", ptr)
    for name in BY_NODE:
        owner = numbers(open_table(graph.folder, name).column("node"))
        yield from within(f"graph/{name}.arrow: nodes", owner, 0, graph.nodes)
        yield from ascending(f"graph/{name}.arrow: nodes", owner, strict=False)
    return graph.nodes


def rows_are_sound(release: Release) -> Faults:
    """Rows of both directions stay within the graph, and hold the same triples."""
    graph = release[Graph]
    adjacency = graph.adjacency
    bad = yield from _rows_are_sound("graph/forward", adjacency.forward, graph)
    bad += yield from _rows_are_sound("graph/backward", adjacency.backward, graph)
    sets = len(graph.graph_sets)
    yield from shaped("graph/triple_graph.npy", graph.triple_graph, "int32", graph.triples)
    yield from within("graph/triple_graph.npy: sets of named graphs", graph.triple_graph, 0, sets)
    if not bad and _sum(adjacency.forward) != _sum(adjacency.backward, turned=True):
        yield "graph/backward_val.npy: the backward rows hold other triples than the forward ones"
    return len(adjacency.forward.val)


def _rows_are_sound(what: str, rows: Rows, graph: Graph) -> Faults:
    bad = 0
    for name, array, kind in (("row", rows.row, "int32"), ("val", rows.val, "int32")):
        bad += yield from shaped(f"{what}_{name}.npy", array, kind, len(array))
        bad += yield from within(f"{what}_{name}.npy: nodes", array, 0, graph.nodes)
    bad += yield from counted(f"{what}_val.npy: triples", graph.triples, len(rows.val))
    broken = yield from pointers(f"{what}_prop.npy", rows.prop, len(graph.property_codes), len(rows.row))
    if not broken:
        bad += yield from ascending(f"{what}_row.npy", rows.row, rows.prop)
    torn = yield from pointers(f"{what}_ptr.npy", rows.ptr, len(rows.row), len(rows.val))
    if not torn:
        bad += yield from ascending(f"{what}_ptr.npy: rows without a value", rows.ptr)
        bad += yield from ascending(f"{what}_val.npy", rows.val, rows.ptr)
    return bad + broken + torn


def parts_of(rows: Rows) -> Iterator[tuple[int, Part]]:
    """All steps of rows in order, some at once: number of the first, then property, source and target int32 [k]."""
    per_row = np.repeat(np.arange(len(rows.prop) - 1, dtype=np.int32), np.diff(rows.prop))
    for block in blocks(len(rows.row), ROWS_AT_ONCE):
        low, high = int(rows.ptr[block.start]), int(rows.ptr[block.stop])
        size = np.diff(rows.ptr[block.start : block.stop + 1])
        yield low, (np.repeat(per_row[block], size), np.repeat(rows.row[block], size), rows.val[low:high])


def _sum(rows: Rows, turned: bool = False) -> int:
    """A number that is the same for the same triples in any order; ``turned``: rows are by object."""
    total = 0
    for _, (prop, source, target) in parts_of(rows):
        subject, object_ = (target, source) if turned else (source, target)
        of_subject = mixed((prop.astype(np.uint64) << HALF) | subject.astype(np.uint64))
        total += int(mixed(of_subject + object_.astype(np.uint64)).sum(dtype=np.uint64))
    return total % 2**64


def literals_are_sound(release: Release) -> Faults:
    """Every literal stands with its node, and its property and named graphs are there."""
    graph = release[Graph]
    table, ptr = graph.literal_table, graph.literal_ptr
    if not (yield from pointers("graph/literal_ptr.npy", ptr, graph.nodes, table.num_rows)):
        yield from owned("graph/literals.arrow", ptr, numbers(table.column("subject")))
    for name, count in (("property", len(graph.property_codes)), ("graph", len(graph.graph_sets))):
        yield from within(f"graph/literals.arrow: {name}", numbers(table.column(name)), 0, count)
    return int(table.num_rows)


def counts_are_right(release: Release) -> Faults:
    """What ``meta.json`` counts is what the arrays and tables hold."""
    graph, meta = release[Graph], release[Graph].meta
    found = {
        "nodes": len(graph.iris),
        "entities": int(np.count_nonzero(graph.flags & FLAG_ENTITY)),
        "triples": len(graph.adjacency.forward.val),
        "literals": graph.literal_table.num_rows,
        "types": len(graph.type_rows[1]),
        "classes": len(graph.class_codes),
        "properties": len(graph.property_codes),
    }
    for name, count in found.items():
        yield from counted(f"graph/meta.json: {name}", meta.get(name), count)
    return len(found)


def triples_are_indexed(release: Release) -> Faults:
    """Every triple of the graph stands in the index with its subject and property, under its subject and its object."""
    graph, index = release[Graph], release[TriplesIndex]
    objects, nodes = graph.adjacency.forward.val, graph.nodes
    count = len(objects)
    bad = 0
    for name in ("tri_s", "tri_p", "out_tri", "in_tri"):
        bad += yield from shaped(f"triples_index/{name}.npy", getattr(index, name), "int32", count)
    if bad:
        return count
    subjects: Ints = np.empty(count, np.int32)
    for low, (prop, source, _) in parts_of(graph.adjacency.forward):
        part = slice(low, low + len(prop))
        subjects[part] = source
        yield from equal(
            "triples_index/tri_p.npy: properties other than the graph's", index.tri_p[part], prop
        )
    yield from equal("triples_index/tri_s.npy: subjects other than the graph's", index.tri_s, subjects)
    for side, ends in (("out", subjects), ("in", objects)):
        ptr, listed = getattr(index, f"{side}_ptr"), getattr(index, f"{side}_tri")
        bad = yield from within(f"triples_index/{side}_tri.npy: triples", listed, 0, count)
        bad += yield from pointers(f"triples_index/{side}_ptr.npy", ptr, nodes, count)
        if not bad:
            yield from ascending(f"triples_index/{side}_tri.npy", listed, ptr)
            yield from owned(f"triples_index/{side}_tri.npy", ptr, ends[listed])
    return count


def edges_are_all(release: Release) -> Faults:
    """``edges.parquet`` has each triple, type and literal of the graph once: as many rows of each property."""
    graph = release[Graph]
    path = release.folder / "edges" / EDGES
    with pq.ParquetFile(path, read_dictionary=["p"]) as file:
        if not file.schema_arrow.equals(EDGE_SCHEMA):
            raise ReleaseError(f"{path} has columns of another version.", rebuild(path.parent))
        rows = int(file.metadata.num_rows)
        _, types = graph.type_rows
        yield from counted(
            f"edges/{EDGES}: rows", rows, graph.triples + graph.literal_table.num_rows + len(types)
        )
        found: dict[str, int] = {}
        for batch in file.iter_batches(BATCH_ROWS, columns=["p"]):
            for one in pc.value_counts(batch.column(0).cast(pa.utf8())).to_pylist():
                found[one["values"]] = found.get(one["values"], 0) + one["counts"]
    wanted = _uses(graph)
    for iri in sorted(found.keys() | wanted.keys()):
        if found.get(iri, 0) != wanted.get(iri, 0):
            yield f"edges/{EDGES}: {found.get(iri, 0):,} rows of {iri}, the graph has {wanted.get(iri, 0):,}"
    return rows


def _uses(graph: Graph) -> dict[str, int]:
    """Triples and literals of each property by IRI, and the types."""
    forward, count = graph.adjacency.forward, len(graph.property_codes)
    uses = np.diff(forward.ptr[forward.prop])
    uses += np.bincount(numbers(graph.literal_table.column("property")), minlength=count)
    wanted: dict[str, int] = {}
    for number in np.flatnonzero(uses).tolist():
        iri = graph.property_iri(number)
        wanted[iri] = wanted.get(iri, 0) + int(uses[number])
    if len(graph.type_rows[1]):
        wanted[RDF_TYPE] = wanted.get(RDF_TYPE, 0) + len(graph.type_rows[1])
    return wanted


def parts_are_whole(release: Release) -> Faults:
    """The graph partitions are those of the documents."""
    return faults_of_parts(release[GraphPartitions], release[Documents].count)


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
    return faults_of_edges(release[PartitionEdges], release[GraphPartitions], release[EntityGraph])


def faults_of_edges(found: PartitionEdges, partitions: GraphPartitions, graph: EntityGraph) -> Faults:
    pairs, documents = len(found.low), len(partitions.part)
    if (
        yield from pointers(
            f"{PARTITION_EDGES}/bridge_ptr.npy", found.bridge_ptr, pairs, len(found.bridge_low)
        )
    ):
        return 0
    for name in ("low", "high"):
        ends = np.asarray(getattr(found, f"bridge_{name}"))
        if (yield from within(f"{PARTITION_EDGES}/bridge_{name}.npy", ends, 0, documents)):
            return 0
        told = np.repeat(np.asarray(getattr(found, name)), np.diff(found.bridge_ptr))
        yield from equal(
            f"{PARTITION_EDGES}/{name}.npy: not the parts of the bridges", partitions.part[ends], told
        )
    low, high, _ = graph.pairs()
    across = partitions.part[low] != partitions.part[high]
    own = np.minimum(found.bridge_low, found.bridge_high).astype(np.int64) * documents
    own += np.maximum(found.bridge_low, found.bridge_high)
    wanted = np.minimum(low, high)[across].astype(np.int64) * documents + np.maximum(low, high)[across]
    yield from equal(
        f"{PARTITION_EDGES}: bridges and inner edges are not all edges", np.sort(own), np.sort(wanted)
    )
    return len(found.bridge_low)


def aligner_fits(release: Release) -> Faults:
    """The aligner has a vector of numbers for each part, of the encoder that encodes questions."""
    found, settings = release[Aligner], EncoderSettings.read(release.folder / "encoder")
    if found.vectors.shape[1] != settings.dimension or found.meta.get("encoder") != settings.key:
        yield f"{ALIGNER}: trained with the questions' vectors of another encoder"
    finite = np.asarray(np.isfinite(found.vectors).all(axis=1))
    yield from wrong(f"{ALIGNER}/vectors.npy", len(found.vectors), lambda block: ~finite[block])
    return len(found.vectors)


PARTITION_CHECKS = (
    Check(
        "graph_partitions", "parts", parts_are_whole, reads=("graph", "documents", PARTITIONS), where=PARTITIONS
    ),
    Check(
        "partition_edges", "bridges", edges_add_up, reads=("entity_graph", PARTITIONS, PARTITION_EDGES),
        where=PARTITION_EDGES,
    ),
    Check("alignment_model", "parts", aligner_fits, reads=("encoder", PARTITIONS, ALIGNER), where=ALIGNER),
)  # fmt: skip


TABLES = ("documents", "lines", "members", "passages")


def document_tables_are_whole(release: Release) -> Faults:
    """Every table opens with its columns and its texts are such; row i lies in batch i // BATCH."""
    rows = 0
    for name in TABLES:
        folder = release[Documents].folder
        if name == "passages" and not table_path(folder, name).exists():
            continue  # a release that was made before there were any
        table = open_documents(folder, name)
        rows += table.num_rows
        yield from whole(f"documents/{name}.arrow", table)
        sizes = [len(chunk) for chunk in table.column(0).chunks]
        if any(size != BATCH for size in sizes[:-1]) or (sizes and sizes[-1] > BATCH):
            yield f"documents/{name}.arrow: its batches are not of {BATCH:,} rows"
    return rows


def documents_are_of_entities(release: Release) -> Faults:
    """Each document is of an entity of the graph, with its name and categories, in the order of entities."""
    documents, graph = release[Documents], release[Graph]
    entities = numbers(documents.table.column("entity"))
    if not (yield from within("documents/documents.arrow: entities", entities, 0, graph.nodes)):
        yield from ascending("documents/documents.arrow: entities", entities)
        yield from wrong(
            "documents/documents.arrow: of nodes that are no entities",
            len(entities),
            lambda block: graph.flags[entities[block]] & FLAG_ENTITY == 0,
        )
        for name, array in (("category", graph.category_of_node), ("categories", graph.adjacency.categories)):
            column = numbers(documents.table.column(name))
            yield from equal(
                f"documents/documents.arrow: {name} other than the graph's", column, array[entities]
            )
        labels, known = documents.table.column("label"), graph.display_labels
        yield from wrong(
            "documents/documents.arrow: label other than the graph's",
            len(entities),
            lambda block: np.asarray(
                pc.not_equal(
                    labels.slice(block.start, block.stop - block.start), known.take(pa.array(entities[block]))
                )
            ),
        )
    return len(entities)


def entities_have_documents(release: Release) -> Faults:
    """Every entity's facts are in a document that there is, and a document's own entity leads to it."""
    documents, graph = release[Documents], release[Graph]
    home, count = documents.entity_document, documents.count
    if (yield from shaped("documents/entity_document.npy", home, "int32", graph.nodes)):
        return 0
    bad = yield from within("documents/entity_document.npy: documents", home, -1, count)
    yield from wrong(
        "documents/entity_document.npy: entities without a document",
        graph.nodes,
        lambda block: (graph.flags[block] & FLAG_ENTITY != 0) & (home[block] < 0),
        lambda node: graph.iri(node),
    )
    entities = documents.entities
    if not bad and len(entities) and int(entities.min()) >= 0 and int(entities.max()) < graph.nodes:
        own = np.arange(count, dtype=np.int32)
        yield from equal("documents/entity_document.npy: leads to another document", home[entities], own)
    return graph.nodes


def members_are_sound(release: Release) -> Faults:
    """Each document's members: first its own entity, then others of the graph that lead to it."""
    documents, graph = release[Documents], release[Graph]
    table = open_documents(documents.folder, "members")
    entity, role = (numbers(table.column(name)) for name in ("entity", "role"))
    ptr = cast(Longs, open_array(documents.folder, "member_ptr"))
    bad = yield from pointers("documents/member_ptr.npy", ptr, documents.count, table.num_rows)
    bad += yield from within("documents/members.arrow: entities", entity, 0, graph.nodes)
    yield from within("documents/members.arrow: roles", role, 0, len(ROLE_NAMES))
    if bad:
        return int(table.num_rows)
    document = numbers(table.column("document"))
    yield from owned("documents/members.arrow", ptr, document)
    first = np.zeros(len(entity), bool)
    first[ptr[:-1][np.diff(ptr) > 0]] = True
    yield from empty("documents/member_ptr.npy: documents without a member", ptr)
    yield from wrong(
        "documents/members.arrow: the document's own entity is not its first member, and only that",
        len(entity),
        lambda block: (role[block] == SELF) != first[block],
    )
    yield from equal(
        "documents/members.arrow: own entity other than the document's",
        entity[role == SELF],
        documents.entities,
    )
    home = documents.entity_document
    yield from wrong(
        "documents/members.arrow: chained entities that lead to another document",
        len(entity),
        lambda block: (role[block] == CHAINED) & (home[entity[block]] != document[block]),
    )
    return int(table.num_rows)


def lines_are_sound(release: Release) -> Faults:
    """Each line stands with its document, within its text, and speaks of nodes of the graph."""
    documents, graph = release[Documents], release[Graph]
    table, ptr = (
        open_documents(documents.folder, "lines"),
        cast(Longs, open_array(documents.folder, "line_ptr")),
    )
    document = numbers(table.column("document"))
    if not (yield from pointers("documents/line_ptr.npy", ptr, documents.count, table.num_rows)):
        yield from owned("documents/lines.arrow", ptr, document)
    bad = yield from within("documents/lines.arrow: documents", document, 0, documents.count)
    yield from within("documents/lines.arrow: entities", numbers(table.column("entity")), 0, graph.nodes)
    yield from within("documents/lines.arrow: kinds", numbers(table.column("kind")), 0, len(KIND_NAMES))
    start, end = (numbers(table.column(name)) for name in ("start", "end"))
    if not bad:
        lengths = pc.utf8_length(documents.table.column("text")).to_numpy()
        yield from wrong(
            "documents/lines.arrow: beyond the document's text",
            len(start),
            lambda b: (start[b] < 0) | (end[b] < start[b]) | (end[b] > lengths[document[b]]),
            lambda row: f"row {row:,}, document {document[row]:,}",
        )
    targets = numbers(pc.list_flatten(table.column("targets")))
    yield from within("documents/lines.arrow: targets outside the graph", targets, 0, graph.nodes)
    return int(table.num_rows)


def passages_are_sound(release: Release) -> Faults:
    """Each passage, in the order of documents, leads to the document of the entity that it describes, and is a part of a text
    of a node of the graph."""
    documents, graph = release[Documents], release[Graph]
    table = documents.passages
    document, entity, source, start, end = (
        numbers(table.column(name)) for name in ("document", "entity", "source", "start", "end")
    )
    yield from ascending("documents/passages.arrow: documents", document, strict=False)
    bad = yield from within("documents/passages.arrow: documents", document, 0, documents.count)
    bad += yield from within("documents/passages.arrow: entities", entity, 0, graph.nodes)
    yield from within("documents/passages.arrow: sources", source, 0, graph.nodes)
    home = documents.entity_document
    if not bad:
        yield from wrong(
            "documents/passages.arrow: entities that another document holds",
            len(entity),
            lambda block: home[entity[block]] != document[block],
        )
    lengths = pc.utf8_length(table.column("text")).to_numpy()
    yield from wrong(
        "documents/passages.arrow: texts shorter than the part that they hold, or of no part",
        len(start),
        lambda b: (start[b] < 0) | (end[b] <= start[b]) | (lengths[b] < (end[b] - start[b]) - 1),
    )
    return int(table.num_rows)


_READS = ("graph", "documents")
CHECKS = (
    Check("graph tables", "rows", tables_are_whole, reads=("graph",), opens="graph"),
    Check("graph counts", "counts", counts_are_right, reads=("graph",)),
    Check("nodes", "nodes", nodes_are_described, reads=("graph",)),
    Check("triples", "triples", rows_are_sound, reads=("graph",)),
    Check("literals", "literals", literals_are_sound, reads=("graph",)),
    Check("triples index", "triples", triples_are_indexed, reads=("graph", "triples_index")),
    Check("edges", "rows", edges_are_all, reads=("graph", "edges")),
    Check("document tables", "rows", document_tables_are_whole, reads=_READS, opens="documents"),
    Check("documents", "documents", documents_are_of_entities, reads=_READS),
    Check("entities in documents", "nodes", entities_have_documents, reads=_READS),
    Check("document members", "members", members_are_sound, reads=_READS),
    Check("document lines", "lines", lines_are_sound, reads=_READS),
    Check("passages", "passages", passages_are_sound, reads=_READS),
)
