"""The documents artifact: chunks' documents chained, numbered and written as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from crmrag_assets.build.progress import Progress, SilentProgress
from crmrag_assets.documents.chain import SEPARATOR, Chained, chain, neighbouring
from crmrag_assets.documents.parts import Parts
from crmrag_assets.documents.setting import Setting
from crmrag_query.documents.schema import ABSORBED, BATCH, CHAINED, SCHEMAS, SELF, write_batches
from crmrag_query.graph.arrays import FLAG_ENTITY, Bytes, Ints
from crmrag_query.ontology.categories import Category


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

    The same data gives the same bytes however it was cut into chunks. Memory: arrays, and BATCH documents at a time.
    """
    progress = progress or SilentProgress()
    parts = Parts.open(chunks)
    chained = _chain(setting, parts)
    number = np.cumsum(chained.alive) - 1  # of each living document in the artifact
    living = np.flatnonzero(chained.alive).astype(np.int32)
    pages = [living[at : at + BATCH] for at in range(0, len(living), BATCH)]
    line_counts: list[int] = []

    def lines() -> Iterator[pa.Table]:
        for done, page in enumerate(pages):
            table, counts = _lines(parts, chained, page, done * BATCH)
            line_counts.extend(counts.tolist())
            progress.advance(min((done + 1) * BATCH, len(living)), len(living), "documents")
            yield table

    lengths: list[int] = []
    total = write_batches(out, "lines", lines())
    write_batches(out, "documents", _document_tables(setting, parts, chained, pages, lengths))
    np.save(
        out / "line_ptr.npy", np.concatenate([[0], np.cumsum(line_counts, dtype=np.int64)]).astype(np.int64)
    )
    _write_members(setting, parts, chained, pages, out)
    np.save(
        out / "entity_document.npy", _homes(setting, parts.entities, number[chained.home].astype(np.int32))
    )
    return _stats(setting, parts, lengths, total)


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


def _blocks(chained: Chained, page: Ints) -> tuple[Ints, Ints]:
    """(index into ``page``, block) of all blocks of the page's documents, in order."""
    held = [chained.blocks_of(int(document)) for document in page]
    index = np.repeat(np.arange(len(page), dtype=np.int32), [len(blocks) for blocks in held])
    return index, np.fromiter((block for blocks in held for block in blocks), np.int32, len(index))


def _lines(parts: Parts, chained: Chained, page: Ints, first: int) -> tuple[pa.Table, Ints]:
    """Lines of a page of documents that begins with number ``first``, and how many each has."""
    index, block = _blocks(chained, page)
    size = parts.lengths[block] + len(SEPARATOR)
    offset = np.cumsum(size) - size
    offset -= offset[np.searchsorted(index, np.arange(len(page)))][index]
    origin, table = parts.lines_of(block)
    shift = offset[origin]
    moved = {name: (table.column(name).to_numpy() + shift).astype(np.int32) for name in ("start", "end")}
    document = pa.array((index[origin] + first).astype(np.int32))
    columns = {name: moved.get(name, table.column(name)) for name in table.schema.names}
    counts = np.bincount(index[origin], minlength=len(page)).astype(np.int32)
    return pa.table({"document": document, **columns}, schema=SCHEMAS["lines"]), counts


def _document_tables(
    setting: Setting, parts: Parts, chained: Chained, pages: Sequence[Ints], lengths: list[int]
) -> Iterator[pa.Table]:
    graph = setting.graph
    for page in pages:
        index, block = _blocks(chained, page)
        texts: list[list[str]] = [[] for _ in page]
        for at, text in zip(index.tolist(), parts.texts_of(block), strict=True):
            texts[at].append(text)
        entity = parts.entities[page]
        whole = [SEPARATOR.join(blocks) for blocks in texts]
        lengths.extend(map(len, whole))
        columns = [
            pa.array(entity),
            pa.array(graph.category_of_node[entity]),
            pa.array(graph.adjacency.categories[entity]),
            graph.display_labels.take(pa.array(entity)),
            pa.array(whole, pa.large_utf8()),
        ]
        yield pa.table(columns, schema=SCHEMAS["documents"])


def _write_members(
    setting: Setting, parts: Parts, chained: Chained, pages: Sequence[Ints], out: Path
) -> None:
    counts: list[Ints] = []

    def tables() -> Iterator[pa.Table]:
        for done, page in enumerate(pages):
            document, entity, role = _members(setting, parts, chained, page)
            counts.append(np.bincount(document, minlength=len(page)).astype(np.int32))
            numbered = (document + done * BATCH).astype(np.int32)
            yield pa.table([pa.array(numbered), pa.array(entity), pa.array(role)], schema=SCHEMAS["members"])

    write_batches(out, "members", tables())
    total = np.cumsum(np.concatenate([np.zeros(1, np.int64), *counts]), dtype=np.int64)
    np.save(out / "member_ptr.npy", total)


def _members(setting: Setting, parts: Parts, chained: Chained, page: Ints) -> tuple[Ints, Ints, Bytes]:
    """(index into ``page``, entity, role), sorted by index, role and entity; each entity once in a document."""
    index, block = _blocks(chained, page)
    own = parts.entities[block]
    role = np.where(block == page[index], SELF, CHAINED)
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


def _stats(setting: Setting, parts: Parts, lengths: Sequence[int], lines: int) -> DocumentStats:
    satellites = setting.satellites
    kinds = Counter(satellites.kind[satellites.absorbed].tolist())
    names = list(setting.method.satellites.kinds)
    size = np.asarray(lengths)
    return DocumentStats(
        entities=int(np.count_nonzero(setting.graph.flags & FLAG_ENTITY)),
        absorbed={name: kinds[number] for number, name in enumerate(names, 1)},
        before_chaining=len(parts.entities),
        documents=len(lengths),
        lines=lines,
        characters=int(size.sum()),
        still_thin=int(np.count_nonzero(size < setting.method.chaining.thin_characters)),
    )
