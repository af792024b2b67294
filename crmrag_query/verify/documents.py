"""Documents: numbered as their entities are, lines within their texts, every entity in a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_query.artifacts.mapped import open_array
from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.schema import BATCH, CHAINED, KIND_NAMES, ROLE_NAMES, SELF, open_table
from crmrag_query.graph.arrays import FLAG_ENTITY, Ints, Longs
from crmrag_query.verify.arrays import (
    FIRST,
    Array,
    ascending,
    equal,
    numbers,
    owned,
    pointers,
    shaped,
    told,
    whole,
    within,
    wrong,
)
from crmrag_query.verify.check import Check, Faults

TABLES = ("documents", "lines", "members")


def tables_are_whole(release: Release) -> Faults:
    """Every table opens with its columns and its texts are such; row i lies in batch i // BATCH."""
    rows = 0
    for name in TABLES:
        table = open_table(release.documents.folder, name)
        rows += table.num_rows
        yield from whole(f"documents/{name}.arrow", table)
        sizes = [len(chunk) for chunk in table.column(0).chunks]
        if any(size != BATCH for size in sizes[:-1]) or (sizes and sizes[-1] > BATCH):
            yield f"documents/{name}.arrow: its batches are not of {BATCH:,} rows"
    return rows


def documents_are_of_entities(release: Release) -> Faults:
    """Each document is of an entity of the graph, with its name and categories, in the order of entities."""
    documents, graph = release.documents, release.graph
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
        yield from _labelled(documents, entities)
    return len(entities)


def _labelled(documents: Documents, entities: Ints) -> Faults:
    labels, start, bad, first = documents.graph.display_labels, 0, 0, list[object]()
    for chunk in documents.table.column("label").chunks:
        known = labels.take(pa.array(entities[start : start + len(chunk)]))
        places = np.flatnonzero(pc.not_equal(chunk, known).to_numpy(zero_copy_only=False))
        bad += len(places)
        first += (places[: FIRST - len(first)] + start).tolist()
        start += len(chunk)
    if bad:
        yield told("documents/documents.arrow: label other than the graph's", bad, len(entities), first)
    return bad


def entities_have_documents(release: Release) -> Faults:
    """Every entity's facts are in a document that there is, and a document's own entity leads to it."""
    documents, graph = release.documents, release.graph
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
    documents, graph = release.documents, release.graph
    table = open_table(documents.folder, "members")
    entity, role = (numbers(table.column(name)) for name in ("entity", "role"))
    ptr = _ends(documents, "member_ptr")
    bad = yield from pointers("documents/member_ptr.npy", ptr, documents.count, table.num_rows)
    bad += yield from within("documents/members.arrow: entities", entity, 0, graph.nodes)
    yield from within("documents/members.arrow: roles", role, 0, len(ROLE_NAMES))
    if bad:
        return int(table.num_rows)
    document = numbers(table.column("document"))
    yield from owned("documents/members.arrow", ptr, document)
    first = np.zeros(len(entity), bool)
    first[ptr[:-1][np.diff(ptr) > 0]] = True
    yield from wrong(
        "documents/member_ptr.npy: documents without a member",
        documents.count,
        lambda b: np.diff(ptr[b.start : b.stop + 1]) == 0,
    )
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


def _ends(documents: Documents, name: str) -> Longs:
    return cast(Longs, open_array(documents.folder, name))


def lines_are_sound(release: Release) -> Faults:
    """Each line stands with its document, within its text, and speaks of nodes of the graph."""
    documents, graph = release.documents, release.graph
    table, ptr = open_table(documents.folder, "lines"), _ends(documents, "line_ptr")
    document = numbers(table.column("document"))
    if not (yield from pointers("documents/line_ptr.npy", ptr, documents.count, table.num_rows)):
        yield from owned("documents/lines.arrow", ptr, document)
    bad = yield from within("documents/lines.arrow: documents", document, 0, documents.count)
    yield from within("documents/lines.arrow: entities", numbers(table.column("entity")), 0, graph.nodes)
    yield from within("documents/lines.arrow: kinds", numbers(table.column("kind")), 0, len(KIND_NAMES))
    start, end = (numbers(table.column(name)) for name in ("start", "end"))
    if not bad:
        lengths = np.concatenate([np.empty(0, np.int64), *_lengths(documents)])
        yield from wrong(
            "documents/lines.arrow: beyond the document's text",
            len(start),
            lambda b: (start[b] < 0) | (end[b] < start[b]) | (end[b] > lengths[document[b]]),
            lambda row: f"row {row:,}, document {document[row]:,}",
        )
    yield from _targets(table, graph.nodes)
    return int(table.num_rows)


def _lengths(documents: Documents) -> Iterator[Array]:
    """Characters of each document, some at once."""
    for chunk in documents.table.column("text").chunks:
        yield pc.utf8_length(chunk).to_numpy()


def _targets(table: pa.Table, nodes: int) -> Faults:
    """Targets outside the graph."""
    outside, first = 0, list[object]()
    row = 0
    for batch in table.select(["targets"]).to_batches():
        lists = batch.column(0)
        ends = lists.offsets.to_numpy()
        values = lists.values.to_numpy()[ends[0] : ends[-1]]
        beyond = np.flatnonzero((values < 0) | (values >= nodes))
        outside += len(beyond)
        first += [f"node {values[at]:,} in rows from {row:,}" for at in beyond[: FIRST - len(first)].tolist()]
        row += batch.num_rows
    if outside:
        yield f"documents/lines.arrow: targets outside the graph: {outside:,} (first: {', '.join(map(str, first))})"
    return outside


CHECKS = (
    Check("document tables", "rows", ("graph", "documents"), tables_are_whole, opens="documents"),
    Check("documents", "documents", ("graph", "documents"), documents_are_of_entities),
    Check("entities in documents", "nodes", ("graph", "documents"), entities_have_documents),
    Check("document members", "members", ("graph", "documents"), members_are_sound),
    Check("document lines", "lines", ("graph", "documents"), lines_are_sound),
)
