"""The documents artifact: chunks' documents chained, numbered and written as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.build.progress import Progress, SilentProgress
from crmrag_assets.documents.chain import SEPARATOR, Chained, chain, neighbouring
from crmrag_assets.documents.parts import Parts
from crmrag_assets.documents.setting import Setting
from crmrag_query.documents.schema import ABSORBED, BATCH, CHAINED, SCHEMAS, SELF, write_batches
from crmrag_query.graph.arrays import FLAG_ENTITY, Bytes, Ints, Longs
from crmrag_query.ontology.categories import Category

PAGE = 8 * BATCH  # documents gathered from the chunks at once


@dataclass(frozen=True, slots=True)
class DocumentStats:
    """Counts for people: entities, absorbed satellites by kind, documents before and after chaining, characters."""

    entities: int
    absorbed: dict[str, int]
    before_chaining: int
    documents: int
    lines: int
    characters: int
    still_thin: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def write_documents(
    setting: Setting, chunks: Sequence[Path], out: Path, progress: Progress | None = None
) -> DocumentStats:
    """Write the artifact from all chunks' folders, in any order and of any number, and count.

    The same data gives the same bytes however it was cut into chunks. Memory: arrays, and PAGE documents at a time.
    """
    progress = progress or SilentProgress()
    parts = Parts.open(chunks, setting.numbering)
    chained = _chain(setting, parts)
    number = np.cumsum(chained.alive) - 1  # of each living document in the artifact
    living = np.flatnonzero(chained.alive).astype(np.int32)
    held = chained.rows()
    pages = [
        _Page(at, living[at : at + PAGE], *held.gather(living[at : at + PAGE]))
        for at in range(0, len(living), PAGE)
    ]
    line_counts: list[Ints] = []

    def lines() -> Iterator[pa.Table]:
        for page in pages:
            table, counts = _lines(parts, page)
            line_counts.append(counts)
            progress.advance(page.first + len(page.documents), len(living), "documents")
            yield table

    lengths: list[Longs] = []
    total = write_batches(out, "lines", lines())
    write_batches(out, "documents", _document_tables(setting, parts, pages, lengths))
    np.save(out / "line_ptr.npy", _ends(line_counts))
    _write_members(setting, parts, pages, out)
    np.save(
        out / "entity_document.npy", _homes(setting, parts.entities, number[chained.home].astype(np.int32))
    )
    return _stats(setting, parts, np.concatenate([np.empty(0, np.int64), *lengths]), total)


@dataclass(frozen=True, slots=True)
class _Page:
    """Some documents of the artifact from number ``first`` on, and their blocks, in order.

    ``documents`` int32 [p] before chaining; ``index`` int64 [b], ascending: place in ``documents``; ``block`` int32 [b].
    """

    first: int
    documents: Ints
    index: Longs
    block: Ints


def _ends(counts: Sequence[Ints]) -> Longs:
    """Where the rows of each document begin, and the last ones end; int64 [documents+1]."""
    return np.cumsum(np.concatenate([np.zeros(1, np.int64), *counts]), dtype=np.int64)


def _chain(setting: Setting, parts: Parts) -> Chained:
    rules = setting.method.chaining
    exempt = sum(int(Category[name]) for name in rules.exempt_categories)
    category = setting.graph.category_of_node[parts.entities]
    crowded = setting.satellites.crowded[
        parts.entities
    ]  # a type of 100,000 objects is no part of one of them
    thin = ((category & exempt) == 0) & ~crowded & (parts.lengths < rules.thin_characters)
    return chain(
        parts.lengths,
        thin,
        neighbouring(setting.graph.adjacency, setting.satellites, parts.entities, thin),
        rules,
    )


def _lines(parts: Parts, page: _Page) -> tuple[pa.Table, Ints]:
    """Lines of a page of documents, and how many each has."""
    size = parts.lengths[page.block] + len(SEPARATOR)
    offset = np.cumsum(size) - size
    offset -= offset[np.searchsorted(page.index, np.arange(len(page.documents)))][page.index]
    origin, table = parts.lines_of(page.block)
    shift, document = offset[origin], page.index[origin]
    moved = {name: (table.column(name).to_numpy() + shift).astype(np.int32) for name in ("start", "end")}
    columns = {name: moved.get(name, table.column(name)) for name in table.schema.names}
    counts = np.bincount(document, minlength=len(page.documents)).astype(np.int32)
    numbered = pa.array((document + page.first).astype(np.int32))
    return pa.table({"document": numbered, **columns}, schema=SCHEMAS["lines"]), counts


def _document_tables(
    setting: Setting, parts: Parts, pages: Sequence[_Page], lengths: list[Longs]
) -> Iterator[pa.Table]:
    graph = setting.graph
    for page in pages:
        first = np.searchsorted(page.index, np.arange(len(page.documents) + 1))
        blocks = pa.ListArray.from_arrays(pa.array(first, pa.int32()), parts.texts_of(page.block))
        lengths.append(
            np.add.reduceat(parts.lengths[page.block] + len(SEPARATOR), first[:-1]) - len(SEPARATOR)
        )
        entity = parts.entities[page.documents]
        columns = [
            pa.array(entity),
            pa.array(graph.category_of_node[entity]),
            pa.array(graph.adjacency.categories[entity]),
            graph.display_labels.take(pa.array(entity)),
            pc.binary_join(blocks, pa.scalar(SEPARATOR, pa.large_utf8())),
        ]
        yield pa.table(columns, schema=SCHEMAS["documents"])


def _write_members(setting: Setting, parts: Parts, pages: Sequence[_Page], out: Path) -> None:
    counts: list[Ints] = []

    def tables() -> Iterator[pa.Table]:
        for page in pages:
            document, entity, role = _members(setting, parts, page)
            counts.append(np.bincount(document, minlength=len(page.documents)).astype(np.int32))
            numbered = (document + page.first).astype(np.int32)
            yield pa.table([pa.array(numbered), pa.array(entity), pa.array(role)], schema=SCHEMAS["members"])

    write_batches(out, "members", tables())
    np.save(out / "member_ptr.npy", _ends(counts))


def _members(setting: Setting, parts: Parts, page: _Page) -> tuple[Longs, Ints, Bytes]:
    """(index into the page, entity, role), sorted by index, role and entity; each entity once in a document."""
    index, block = page.index, page.block
    own = parts.entities[block]
    role = np.where(block == page.documents[index], SELF, CHAINED)
    origin, satellite = setting.satellites.children.gather(own)
    document = np.concatenate([index, index[origin]])
    entity = np.concatenate([own, satellite])
    roles = np.concatenate([role, np.full(len(satellite), ABSORBED)]).astype(np.uint8)
    order = np.lexsort((entity, roles, document))
    document, entity, roles = document[order], entity[order], roles[order]
    new = np.ones(len(document), bool)
    new[1:] = (document[1:] != document[:-1]) | (entity[1:] != entity[:-1])
    return document[new], entity[new], roles[new]


def _homes(setting: Setting, entities: Ints, document: Ints) -> Ints:
    """int32 [n]: the document of each node, that of its first parent for a satellite, -1 for a node without one."""
    homes = np.full(setting.graph.nodes, -1, np.int32)
    homes[entities] = document
    parents = setting.satellites.parents
    absorbed = np.flatnonzero(setting.satellites.absorbed)
    homes[absorbed] = homes[parents.val[parents.ptr[absorbed]]]
    return homes


def _stats(setting: Setting, parts: Parts, size: Longs, lines: int) -> DocumentStats:
    satellites = setting.satellites
    kinds = Counter(satellites.kind[satellites.absorbed].tolist())
    names = list(setting.method.satellites.kinds)
    return DocumentStats(
        entities=int(np.count_nonzero(setting.graph.flags & FLAG_ENTITY)),
        absorbed={name: kinds[number] for number, name in enumerate(names, 1)},
        before_chaining=len(parts.entities),
        documents=len(size),
        lines=lines,
        characters=int(size.sum()),
        still_thin=int(np.count_nonzero(size < setting.method.chaining.thin_characters)),
    )
