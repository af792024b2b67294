"""What each document is written from, as one number: where it stays, the document that was written before is taken over.

A document is written from its entity, from what the entity's facts and relationships lead to, and from what holds of all the
data: the method, the classes and properties. Whatever writing reads of a node goes into a number of the node, by content
and never by the graph's numbering; the numbers of a document's entity, facts and matches are mixed and added up.

Numbers have 64 bits, and polars hashes texts alike in one version of it: so that version is part of what holds of all.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from crmrag_assets.build.step import Hashes
from crmrag_assets.documents.portable import NODES, Numbering, remapped
from crmrag_assets.documents.setting import POINTED_AT, Setting
from crmrag_assets.documents.ways import gather_facts
from crmrag_query.artifacts.files import sha256_file
from crmrag_query.artifacts.manifest import open_array
from crmrag_query.documents.documents import open_table
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.linking import mixed
from crmrag_query.relationships.engine import walk

Bools = npt.NDArray[np.bool_]
ORIGINS = "origins"  # beside the tables of a chunk: one of each of its documents, uint64


@dataclass(frozen=True)
class Known:
    """Documents that were written before, of one chunk: their entities int32 [d] in the graph of now, -1 for one that is no
    more, and the origin of each; their tables in the chunk's own numbers, and the node of each of these."""

    entities: Ints
    origins: Hashes
    documents: pa.Table
    lines: pa.Table
    nodes: Ints

    @classmethod
    def open(cls, folder: Path, numbering: Numbering) -> Known:
        """Map them; ReleaseError where a file is missing or broken."""
        ids, origins = (cast(Hashes, open_array(folder, name)) for name in (NODES, ORIGINS))
        nodes = numbering.known(ids)
        documents, lines = (open_table(folder, name) for name in ("fr_documents", "fr_lines"))
        return cls(nodes[documents.column("entity").to_numpy()], origins, documents, lines, nodes)

    def of(self, same: Bools) -> tuple[pa.Table, pa.Table]:
        """Documents and lines, in the graph's numbers, of those that read the ``same``, bool [d]."""
        owners = np.zeros(len(self.nodes), bool)
        owners[self.documents.column("entity").to_numpy()[same]] = True
        lines = self.lines.filter(pa.array(owners[self.lines.column("entity").to_numpy()]))
        documents = self.documents.filter(pa.array(same))
        return self._renumbered(documents, "entity"), self._renumbered(lines, "entity", "targets")

    def _renumbered(self, table: pa.Table, *columns: str) -> pa.Table:
        for name in columns:
            at = table.schema.get_field_index(name)
            chunks = [remapped(chunk, self.nodes) for chunk in table.column(name).chunks]
            table = table.set_column(
                at, table.schema.field(at), pa.chunked_array(chunks, table.field(at).type)
            )
        return table


@dataclass(frozen=True)
class Origins:
    """Numbers of what documents of a setting are written from; ``method``: identity of all that is configured for them."""

    setting: Setting
    method: str

    def of(self, entities: Ints) -> Hashes:
        """The origin of the document of each of ``entities``, ascending, uint64."""
        setting, told = self.setting, self.setting.telling.setting
        adjacency = setting.graph.adjacency
        facts = gather_facts(adjacency, entities)
        found = walk(adjacency, setting.ontology, told.ways.walked, entities, plan=told.plan)
        way = found.relationship.astype(np.uint64) << np.uint64(32)
        way += (found.path.astype(np.uint64) << np.uint64(8)) + found.depth
        begin = np.searchsorted(found.source, np.append(entities, np.iinfo(np.int32).max))
        matched = mixed(mixed(way) + self._nodes[found.target])
        return (
            self._common
            + mixed(self._nodes[entities] + self._own[entities])
            + _sums(mixed(self._keys[facts.key] + self._nodes[facts.target]), facts.ptr)
            + mixed(_sums(matched, begin))
        )

    @cached_property
    def _common(self) -> np.uint64:
        """Of what holds of all documents: the method, classes and properties, and how often a property leads to the same."""
        folder, often = self.setting.graph.folder, self.setting.pointed_at > POINTED_AT
        tables = [sha256_file(folder / f"{name}.arrow") for name in ("classes", "properties")]
        said = " ".join([self.method, pl.__version__, *tables, often.tobytes().hex()])
        return np.uint64(int.from_bytes(hashlib.sha256(said.encode()).digest()[:8], "big"))

    @cached_property
    def _keys(self) -> Hashes:
        """By key of a fact, uint64 [2 * properties]."""
        graph = self.setting.graph
        iris = [graph.property_iri(number) for number in range(len(graph.property_codes))]
        own = _of_texts(pl.Series(iris, dtype=pl.String))
        return np.stack([mixed(own), mixed(~own)], axis=1).ravel()

    @cached_property
    def _nodes(self) -> Hashes:
        """What writing reads of a node that a document speaks of: its IRI, names, classes, dates, what it is to texts, and of
        what stands between others (reified properties, identifiers with their types) its own facts; uint64 [n]."""
        setting, graph = self.setting, self.setting.graph
        names, pool, ids = setting.names, setting.pool, setting.numbering.ids
        found = mixed(ids)
        numbers = (
            graph.flags, graph.category_of_node, graph.adjacency.categories, setting.satellites.kind, names.named, names.told,
            names.made, names.texts, setting.apart, setting.images, setting.lone, setting.attended, setting.dating,
            setting.identifying,
        )  # fmt: skip
        texts = _of_texts(pool.texts)
        described = np.where(setting.described >= 0, ids[setting.described], np.uint64(0))
        shown = (
            texts[pool.shown],
            texts[pool.annotated],
            texts[pool.kinds],
            _of_texts(names.dates),
            described,
        )
        for number in (*numbers, *shown):
            found = mixed(found + np.asarray(number).astype(np.uint64))
        ptr, classes = graph.type_rows
        found += mixed(_sums(mixed(classes.astype(np.uint64)), ptr))
        rows, ptr = graph.label_rows
        found += mixed(_sums(_of_rows(rows, ("text", "lang", "kind"), ptr), ptr))
        between = np.flatnonzero(setting.of_kind("reified") | setting.identifying).astype(np.int32)
        facts = gather_facts(graph.adjacency, between)
        around = _sums(mixed(self._keys[facts.key] + found[facts.target]), facts.ptr)
        found[between] += mixed(around)
        return found

    @cached_property
    def _own(self) -> Hashes:
        """What writing reads of a node besides for its own document: its literals; uint64 [n]."""
        table, ptr = self.setting.graph.literal_table, self.setting.graph.literal_ptr
        properties = self._keys[2 * table.column("property").to_numpy()]
        return _sums(mixed(properties + _of_rows(table, ("value", "lang"), ptr)), ptr)


def _of_texts(texts: pl.Series) -> Hashes:
    return texts.hash().to_numpy()


def _of_rows(table: pa.RecordBatch, columns: tuple[str, ...], ptr: Longs) -> Hashes:
    """Of rows that stand by node: some of their columns, and the place within their node; uint64 [rows]."""
    found = (np.arange(table.num_rows) - np.repeat(ptr[:-1], np.diff(ptr))).astype(np.uint64)
    for name in columns:
        texts = pl.Series(pl.from_arrow(table.column(name))).cast(pl.String)
        found = mixed(found + _of_texts(texts))
    return found


def _sums(values: Hashes, ptr: Longs) -> Hashes:
    """Sum of each row of values, modulo 2^64, uint64 [rows]."""
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
    sums: Hashes = total[ptr[1:]] - total[ptr[:-1]]
    return sums
