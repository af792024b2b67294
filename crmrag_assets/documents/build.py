"""The documents artifact: chunks' documents chained, numbered and written as one; and as Markdown, for people to read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.build.step import Progress, SilentProgress
from crmrag_assets.documents.chain import EXEMPT, chain, neighbouring
from crmrag_assets.documents.drafts import file_name
from crmrag_assets.documents.passages import write_passages
from crmrag_assets.documents.portable import Parts
from crmrag_assets.documents.setting import Setting
from crmrag_query.documents.documents import (
    ABSORBED,
    BATCH,
    CHAINED,
    SCHEMAS,
    SELF,
    SEPARATOR,
    Documents,
    write_batches,
)
from crmrag_query.graph.arrays import FLAG_ENTITY, Bytes, Ints, Longs, run_starts

PAGE = 8 * BATCH  # documents gathered from the chunks at once


@dataclass(frozen=True, slots=True)
class _Page:
    """Some documents of the artifact from number ``first`` on, and their blocks, in order.

    ``documents`` int32 [p] before chaining; ``index`` int64 [b], ascending: place in ``documents``; ``block`` int32 [b].
    """

    first: int
    documents: Ints
    index: Longs
    block: Ints


def write_documents(
    setting: Setting, chunks: Sequence[Path], out: Path, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the artifact from all chunks' folders, in any order and of any number.

    The same data gives the same bytes however it was cut into chunks. Memory: arrays, and PAGE documents at a time. Gives
    counts for people; ``absorbed``: satellites by their kind.
    """
    progress = progress or SilentProgress()
    graph, satellites, rules = setting.graph, setting.satellites, setting.method.chaining
    parts = Parts.open(chunks, setting.numbering)
    category, crowded = graph.category_of_node[parts.entities], satellites.crowded[parts.entities]
    thin = (category & EXEMPT) == 0
    thin &= ~crowded  # a type of 100,000 objects is no part of one of them
    thin &= parts.lengths < rules.thin_characters
    chained = chain(
        parts.lengths, thin, neighbouring(graph.adjacency, satellites, parts.entities, thin), rules
    )
    living = np.flatnonzero(chained.alive).astype(np.int32)
    held = chained.rows()
    pages = [
        _Page(at, living[at : at + PAGE], *held.gather(living[at : at + PAGE]))
        for at in range(0, len(living), PAGE)
    ]
    line_counts, member_counts = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
    lengths = [np.empty(0, np.int64)]

    def lines() -> Iterator[pa.Table]:
        for page in pages:
            table, counts = _lines(parts, page)
            line_counts.append(counts)
            progress.advance(page.first + len(page.documents), len(living), "documents")
            yield table

    def documents() -> Iterator[pa.Table]:
        for page in pages:
            table, size = _documents(setting, parts, page)
            lengths.append(size)
            yield table

    def members() -> Iterator[pa.Table]:
        for page in pages:
            document, entity, role = _members(setting, parts, page)
            member_counts.append(np.bincount(document, minlength=len(page.documents)))
            numbered = (document + page.first).astype(np.int32)
            yield pa.table([pa.array(numbered), pa.array(entity), pa.array(role)], schema=SCHEMAS["members"])

    total = write_batches(out, "lines", lines())
    write_batches(out, "documents", documents())
    np.save(out / "line_ptr.npy", np.cumsum(np.concatenate(line_counts), dtype=np.int64))
    write_batches(out, "members", members())
    np.save(out / "member_ptr.npy", np.cumsum(np.concatenate(member_counts), dtype=np.int64))
    number = (np.cumsum(chained.alive) - 1).astype(np.int32)  # of each living document in the artifact
    homes = _homes(setting, parts.entities, number[chained.home])
    np.save(out / "entity_document.npy", homes)
    passages = write_passages(setting, homes, out)
    size, kinds = np.concatenate(lengths), Counter(satellites.kind[satellites.absorbed].tolist())
    return {
        "documents": len(size),
        "lines": total,
        "passages": passages,
        "before_chaining": len(parts.entities),
        "entities": int(np.count_nonzero(graph.flags & FLAG_ENTITY)),
        "characters": int(size.sum()),
        "still_thin": int(np.count_nonzero(size < rules.thin_characters)),
        "absorbed": {name: kinds[number] for number, name in enumerate(setting.method.satellites.kinds, 1)},
    }


def _lines(parts: Parts, page: _Page) -> tuple[pa.Table, Longs]:
    """Lines of a page of documents, and how many each has."""
    size = parts.lengths[page.block] + len(SEPARATOR)
    offset = np.cumsum(size) - size
    offset -= offset[np.searchsorted(page.index, np.arange(len(page.documents)))][page.index]
    origin, table = parts.lines_of(page.block)
    shift, document = offset[origin], page.index[origin]
    moved = {name: (table.column(name).to_numpy() + shift).astype(np.int32) for name in ("start", "end")}
    columns = {name: moved.get(name, table.column(name)) for name in table.schema.names}
    counts = np.bincount(document, minlength=len(page.documents))
    numbered = pa.array((document + page.first).astype(np.int32))
    return pa.table({"document": numbered, **columns}, schema=SCHEMAS["lines"]), counts


def _documents(setting: Setting, parts: Parts, page: _Page) -> tuple[pa.Table, Longs]:
    """Documents of a page, and how many characters each has."""
    graph = setting.graph
    first = np.searchsorted(page.index, np.arange(len(page.documents) + 1))
    blocks = pa.ListArray.from_arrays(pa.array(first, pa.int32()), parts.texts_of(page.block))
    size = np.add.reduceat(parts.lengths[page.block] + len(SEPARATOR), first[:-1]) - len(SEPARATOR)
    entity = parts.entities[page.documents]
    columns = [
        pa.array(entity),
        pa.array(graph.category_of_node[entity]),
        pa.array(graph.adjacency.categories[entity]),
        graph.display_labels.take(pa.array(entity)),
        pc.binary_join(blocks, pa.scalar(SEPARATOR, pa.large_utf8())),
    ]
    return pa.table(columns, schema=SCHEMAS["documents"]), size


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
    new = run_starts(document, entity)
    return document[new], entity[new], roles[new]


def _homes(setting: Setting, entities: Ints, document: Ints) -> Ints:
    """int32 [n]: the document of each node, that of its first parent for a satellite, -1 for a node without one."""
    homes = np.full(setting.graph.nodes, -1, np.int32)
    homes[entities] = document
    parents = setting.satellites.parents
    absorbed = np.flatnonzero(setting.satellites.absorbed)
    homes[absorbed] = homes[parents.val[parents.ptr[absorbed]]]
    return homes


_ACTIVE = re.compile(r"([\\`*_\[\]<>#|~]|&(?=[#\w]))")


def write_markdown(documents: Documents, out: Path, progress: Progress | None = None) -> int:
    """Write ``<label>-<hash of the IRI>.md`` for each document into ``out``; returns how many."""
    progress = progress or SilentProgress()
    for i in range(documents.count):
        iri = documents.graph.iri(documents.entity(i))
        path = out / file_name(documents.label(i), iri)
        path.write_text(markdown(documents.text(i), iri), encoding="utf-8", newline="\n")
        if i % 1000 == 999 or i + 1 == documents.count:
            progress.advance(i + 1, documents.count, "files")
    return documents.count


def markdown(text: str, iri: str) -> str:
    """A document as Markdown: a heading for each block, its lines as a list; nothing in it is active."""
    blocks = [block.split("\n") for block in text.split(SEPARATOR)]
    parts = [f"{'#' if i == 0 else '##'} {_plain(lines[0])}\n" for i, lines in enumerate(blocks)]
    bodies = ["".join(f"- {_plain(line)}\n" for line in lines[1:]) for lines in blocks]
    parts[0] += f"\n`{iri.replace('`', '%60')}`\n"
    return "\n".join(part + ("\n" + body if body else "") for part, body in zip(parts, bodies, strict=True))


def _plain(text: str) -> str:
    return _ACTIVE.sub(
        lambda match: "&amp;" if match[0] == "&" else "&lt;" if match[0] == "<" else "\\" + match[0], text
    )
