"""Documents: numbered as their entities are, lines within their texts, every entity in a document."""

from __future__ import annotations

from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_query.artifacts.manifest import open_array
from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import (
    BATCH,
    CHAINED,
    KIND_NAMES,
    ROLE_NAMES,
    SELF,
    Documents,
    open_table,
    table_path,
)
from crmrag_query.graph.arrays import FLAG_ENTITY, Longs
from crmrag_query.graph.graph import Graph
from crmrag_query.verify.check import (
    Check,
    Faults,
    ascending,
    empty,
    equal,
    numbers,
    owned,
    pointers,
    shaped,
    whole,
    within,
    wrong,
)

TABLES = ("documents", "lines", "members", "passages")


def tables_are_whole(release: Release) -> Faults:
    """Every table opens with its columns and its texts are such; row i lies in batch i // BATCH."""
    rows = 0
    for name in TABLES:
        folder = release[Documents].folder
        if name == "passages" and not table_path(folder, name).exists():
            continue  # a release that was made before there were any
        table = open_table(folder, name)
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
    table = open_table(documents.folder, "members")
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
    table, ptr = open_table(documents.folder, "lines"), cast(Longs, open_array(documents.folder, "line_ptr"))
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
    Check("document tables", "rows", tables_are_whole, reads=_READS, opens="documents"),
    Check("documents", "documents", documents_are_of_entities, reads=_READS),
    Check("entities in documents", "nodes", entities_have_documents, reads=_READS),
    Check("document members", "members", members_are_sound, reads=_READS),
    Check("document lines", "lines", lines_are_sound, reads=_READS),
    Check("passages", "passages", passages_are_sound, reads=_READS),
)
