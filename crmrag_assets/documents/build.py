"""The documents artifact: chunks' documents chained, numbered and written as one; and as Markdown, for people to read."""

from __future__ import annotations

import heapq
import itertools
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.build.step import Progress, SilentProgress
from crmrag_assets.documents.drafts import capital, clean, clean_all, file_name
from crmrag_assets.documents.identity import ADDRESS, headings
from crmrag_assets.documents.portable import Parts
from crmrag_assets.documents.satellites import Csr, Satellites, csr_from_pairs
from crmrag_assets.documents.setting import REFERRING, Setting, numbers_of
from crmrag_query.config.loading import Chaining
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
from crmrag_query.graph.arrays import FLAG_ENTITY, Adjacency, Bytes, Ints, Longs, ranges, run_starts
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category
from crmrag_query.text import sentence_starts

Bools = npt.NDArray[np.bool_]
EXEMPT = Category.Event | Category.Actor  # their documents join no other's (published)
NUMBER_BITS = 32  # of a document's number beside its length
NUMBERS = (1 << NUMBER_BITS) - 1


@dataclass(frozen=True, slots=True)
class Chained:
    """What became of ``d`` documents, numbered in the order of their entities (that is, of IRIs).

    ``alive`` bool [d]: still a document; ``blocks``: for each document that others joined, all its blocks in order, its
    own first; ``home`` int32 [d]: the document that holds each block.
    """

    alive: Bools
    blocks: dict[int, list[int]]
    home: Ints

    def rows(self) -> Csr:
        """The blocks of every document, in order; of one that is no document any more, itself."""
        counts = np.ones(len(self.alive), np.int64)
        joined = np.fromiter(self.blocks, np.int64, len(self.blocks))
        counts[joined] = [len(blocks) for blocks in self.blocks.values()]
        ptr = np.concatenate([[0], np.cumsum(counts)])
        blocks = np.repeat(np.arange(len(self.alive), dtype=np.int32), counts)
        held = itertools.chain.from_iterable(self.blocks.values())
        place = ranges(ptr[joined], counts[joined])
        blocks[place] = np.fromiter(held, np.int32, len(place))
        return Csr(ptr, blocks)


def neighbouring(adjacency: Adjacency, satellites: Satellites, entities: Ints, wanted: Bools) -> Csr:
    """Documents that a triple joins, either way, for the ``wanted`` ones of the documents of ``entities``.

    A satellite counts for the document that tells it, unless several do: a type that two paintings share makes them no
    neighbours.
    """
    anchor = np.full(len(satellites.kind), -1, np.int32)
    anchor[entities] = np.arange(len(entities), dtype=np.int32)
    single = np.flatnonzero(satellites.parents.counts == 1)
    anchor[single] = anchor[satellites.parents.val[satellites.parents.ptr[single]]]
    one, other = anchor[adjacency.forward.sources], anchor[adjacency.forward.val]
    joined = (one >= 0) & (other >= 0) & (one != other)
    one, other = one[joined], other[joined]
    start, end = np.concatenate([one, other]), np.concatenate([other, one])
    kept = wanted[start]
    return csr_from_pairs(start[kept], end[kept], len(entities))


def chain(lengths: npt.NDArray[np.int64], thin: Bools, neighbours: Csr, rules: Chaining) -> Chained:
    """Join each thin document to its longest neighbour with room, the smallest document first, ties by IRI.

    ``lengths`` int64 [d] in characters; ``thin`` bool [d]: may be joined while below the limit; ``neighbours``: rows of at
    least those. A document without a neighbour that has room stays. Each triple of a thin document is looked at a bounded
    number of times: what has joined it is at most as long as it may be itself.
    """
    size: list[int] = lengths.tolist()  # plain lists: what is looked at is one document's at a time
    starts: list[int] = neighbours.ptr.tolist()
    may_join: list[bool] = thin.tolist()
    alive, home = bytearray(b"\1") * len(size), np.arange(len(size), dtype=np.int32)
    blocks: dict[int, list[int]] = {}
    open_ = np.flatnonzero(thin & (lengths < rules.thin_characters))
    # Sorted once, by length and number, the smallest last.
    first: list[int] = np.sort(lengths[open_] << NUMBER_BITS | open_)[::-1].tolist()
    later: list[int] = []  # a heap of those that come on the way
    while first or later:
        turn = first.pop() if first and not (later and later[0] < first[-1]) else heapq.heappop(later)
        length, document = turn >> NUMBER_BITS, turn & NUMBERS
        if not alive[document] or size[document] != length:
            continue
        own = blocks.get(document) or [document]
        near = [neighbours.val[starts[block] : starts[block + 1]] for block in own]
        room = rules.limit_characters - length - len(SEPARATOR)
        best, longest = -1, -1
        for other in home[near[0] if len(near) == 1 else np.concatenate(near)].tolist():
            reached = size[other]
            if longest <= reached <= room and other != document and (reached > longest or other < best):
                best, longest = other, reached
        if best < 0:
            continue
        blocks.setdefault(best, [best]).extend(own)
        blocks.pop(document, None)
        size[best] += length + len(SEPARATOR)
        alive[document] = False
        home[own] = best
        if may_join[best] and size[best] < rules.thin_characters:
            heapq.heappush(later, size[best] << NUMBER_BITS | best)
    return Chained(np.frombuffer(alive, np.bool_), blocks, home)


def split(text: str, characters: int, overlap: int) -> list[tuple[int, int]]:
    """Parts of a text as (start, end), of at most so many characters, which overlap by at most ``overlap`` (at most half of
    these). A part ends, and the next one begins, between sentences where there is such a place, else between words."""
    starts, parts, start = sentence_starts(text), list[tuple[int, int]](), 0
    while len(text) - start > characters:
        last = start + characters
        middle = start + characters // 2 + 1
        at = bisect_right(starts, last) - 1
        end = (
            starts[at] if at >= 0 and starts[at] >= middle else text.rfind(" ", middle - 1, last) + 1 or last
        )
        parts.append((start, end))
        at = bisect_left(starts, end - overlap)
        first = (
            starts[at] if at < len(starts) and starts[at] < end else text.find(" ", end - overlap, end) + 1
        )
        start = first or end - overlap
    return [*parts, (start, len(text))]


def passages(setting: Setting, home: Ints) -> Iterator[pa.Table]:
    """The passages of all long texts as tables, by document, entity and place in the data.

    ``home`` int32 [n]: document of each node, -1 for none, of which there are no passages.
    """
    rows, parents = _texts(setting, home)
    order = np.lexsort((rows, parents, home[parents]))
    rows, parents = rows[order], parents[order]
    for at in range(0, len(rows), BATCH):
        yield _page(setting, home, rows[at : at + BATCH], parents[at : at + BATCH])


def _texts(setting: Setting, home: Ints) -> tuple[Longs, Ints]:
    """Rows of the long literals that become passages, and the entity that each describes: of a text about one entity alone
    that entity, else whoever has the literal; of a satellite the entity that it belongs to."""
    graph, rules, satellites = setting.graph, setting.method.documents, setting.satellites
    table = graph.literal_table
    wanted = numbers_of(graph, rules.passage_properties)
    rows = np.flatnonzero(np.isin(table.column("property").to_numpy(), wanted))
    length = pc.utf8_length(table.column("value").take(pa.array(rows))).to_numpy()
    rows = rows[length >= rules.passage_from]
    if not len(rows):
        return rows, np.empty(0, np.int32)
    holder = table.column("subject").to_numpy()[rows]
    parents = np.where(setting.described[holder] >= 0, setting.described[holder], holder).astype(np.int32)
    absorbed = satellites.absorbed[parents]
    parents[absorbed] = satellites.parents.val[satellites.parents.ptr[parents[absorbed]]]
    held = home[parents] >= 0
    return rows[held], parents[held]


def _page(setting: Setting, home: Ints, rows: Longs, parents: Ints) -> pa.Table:
    graph, rules = setting.graph, setting.method.documents
    columns = graph.literal_table.select(["subject", "property", "value"]).take(pa.array(rows))
    values = clean_all(pl.Series(pl.from_arrow(columns.column("value"))))
    entities, place = np.unique(parents, return_inverse=True)
    heads = headings(setting, entities).to_list()
    sources, properties = (columns.column(name).to_numpy() for name in ("subject", "property"))
    about = rules.words.get(f"{REFERRING}i", "")

    def parts() -> Iterator[tuple[int, int, int, str, str, int, int, str]]:
        told = set[tuple[int, str]]()
        facts = zip(
            parents.tolist(), place.tolist(), sources.tolist(), properties.tolist(), values, strict=True
        )
        for entity, at, source, prop, value in facts:
            if len(value) < rules.passage_from or (entity, value) in told or re.match(ADDRESS, value):
                continue
            told.add((entity, value))
            key = setting.properties[prop]
            label = about if entity == setting.described[source] else ""
            label = label or rules.words.get(key) or capital(clean(graph.property_label(prop)) or key)
            for start, end in split(value, rules.passage_characters, rules.passage_overlap):
                text = f"{heads[at]}\n{label}: {value[start:end].rstrip()}"
                yield int(home[entity]), entity, source, key, label, start, end, text

    schema = SCHEMAS["passages"]
    found = list(zip(*parts(), strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(found, schema, strict=True)], schema
    )


def described(graph: Graph, whole: Sequence[str]) -> Bools:
    """bool [n]: nodes whose IRI begins as one of these, and the instances of a class that is one of them."""
    found = graph.of_classes(
        [number for number in range(len(graph.class_codes)) if graph.class_iri(number) in whole]
    )
    for text in whole:
        found[slice(*graph.beginning(text))] = True
    return found


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
    setting: Setting,
    chunks: Sequence[Path],
    out: Path,
    progress: Progress | None = None,
    whole: Sequence[str] = (),
) -> dict[str, Any]:
    """Write the artifact from all chunks' folders, in any order and of any number.

    ``whole``: see `SourceConfig.whole`.

    The same data gives the same bytes however it was cut into chunks. Memory: arrays, and PAGE documents at a time. Gives
    counts for people; ``absorbed``: satellites by their kind.
    """
    progress = progress or SilentProgress()
    graph, satellites, rules = setting.graph, setting.satellites, setting.method.chaining
    parts = Parts.open(chunks, setting.numbering)
    category, crowded = graph.category_of_node[parts.entities], satellites.crowded[parts.entities]
    thin = (category & EXEMPT) == 0
    thin &= ~crowded  # a type of 100,000 objects is no part of one of them
    thin &= ~described(graph, whole)[parts.entities]
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
    passage_count = write_batches(out, "passages", passages(setting, homes))
    size, kinds = np.concatenate(lengths), Counter(satellites.kind[satellites.absorbed].tolist())
    return {
        "documents": len(size),
        "lines": total,
        "passages": passage_count,
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
