"""The documents artifact: its tables, and memory-mapped texts with their lines, members and passages.

A document gives the beginning of a long text; the whole of it stands in passages, which are searched like documents and lead
to the document of the entity that the text describes.

Tables are Arrow IPC files, uncompressed. Those of all documents are in record batches of ``BATCH`` rows (the last one
shorter), so that a table is written without holding it and row ``i`` lies in batch ``i // BATCH``; those of a chunk
(``fr_documents``, ``fr_lines``, ``matches``) are one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc

from crmrag_query.artifacts.manifest import open_array, open_ipc
from crmrag_query.artifacts.release import Release
from crmrag_query.graph.arrays import Bytes, Ints, Longs
from crmrag_query.graph.graph import Graph

BATCH: Final = 8192
KINDS: Final = range(9)  # of lines
HEADER, TYPE, LITERAL, FR, OUTGOING, INCOMING, SATELLITE, NOTE, PASSAGE = KINDS
RELATIONAL: Final = (FR, OUTGOING, INCOMING)  # those that lead to other nodes
KIND_NAMES: Final = (
    "header", "type", "literal", "relationship", "outgoing", "incoming", "satellite", "note", "passage",
)  # fmt: skip
SEPARATOR: Final = "\n\n"  # between the blocks of a document
SELF, ABSORBED, CHAINED = range(3)  # roles of members
ROLE_NAMES: Final = ("self", "satellite", "chained")
_LINE: Final = [
    ("entity", pa.int32()),  # whom the line is about
    ("kind", pa.uint8()),
    ("key", pa.utf8()),  # relationship, property code, or IRI of a property outside the CRM family
    ("label", pa.utf8()),
    ("start", pa.int32()),  # characters of the document's text
    ("end", pa.int32()),
    ("total", pa.int32()),  # how many targets or values there are, shown or not
    ("targets", pa.list_(pa.int32())),  # all of them
]
SCHEMAS: Final[dict[str, pa.Schema]] = {
    "fr_documents": pa.schema([("entity", pa.int32()), ("text", pa.large_utf8())]),
    "fr_lines": pa.schema(_LINE),
    "matches": pa.schema(
        [("entity", pa.int32()), ("relationship", pa.int16()), ("target", pa.int32()), ("path", pa.int16())]
    ),
    "documents": pa.schema(
        [
            ("entity", pa.int32()),
            ("category", pa.uint8()),
            ("categories", pa.uint8()),
            ("label", pa.large_utf8()),
            ("text", pa.large_utf8()),
        ]
    ),
    "lines": pa.schema([("document", pa.int32()), *_LINE]),
    "members": pa.schema([("document", pa.int32()), ("entity", pa.int32()), ("role", pa.uint8())]),
    "passages": pa.schema(
        [
            ("document", pa.int32()),
            ("entity", pa.int32()),  # whom the text describes
            ("source", pa.int32()),  # the node that states the text: the entity, or a text about it
            ("key", pa.utf8()),  # property, as in lines
            ("label", pa.utf8()),
            ("start", pa.int32()),  # characters of the whole text, on one line
            ("end", pa.int32()),
            ("text", pa.large_utf8()),  # the entity's header, then "label: part"
        ]
    ),
}
FILES: Final = {"fr_documents": "documents", "fr_lines": "lines"}  # those not named after their schema


def table_path(folder: Path, name: str) -> Path:
    return folder / f"{FILES.get(name, name)}.arrow"


def write_whole(folder: Path, name: str, table: pa.Table) -> None:
    """Write a table as one file of one batch, so that rows are taken from it without copying the rest."""
    schema = SCHEMAS[name]
    with pa.OSFile(str(table_path(folder, name)), "wb") as sink, ipc.new_file(sink, schema) as writer:
        writer.write_batch(_batch(table.cast(schema), schema))


def write_batches(folder: Path, name: str, batches: Iterable[pa.Table]) -> int:
    """Write tables one after another as one file of equal batches; returns the rows. Holds one input at a time."""
    schema = SCHEMAS[name]
    rows = 0
    with pa.OSFile(str(table_path(folder, name)), "wb") as sink, ipc.new_file(sink, schema) as writer:
        for batch in _equal(batches, schema):
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def _equal(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    held = schema.empty_table()
    for table in tables:
        held = pa.concat_tables([held, table.cast(schema)])
        while held.num_rows >= BATCH:
            yield _batch(held.slice(0, BATCH), schema)
            held = held.slice(BATCH)
    if held.num_rows:
        yield _batch(held, schema)


def _batch(table: pa.Table, schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([column.combine_chunks() for column in table.columns], schema=schema)


def open_table(folder: Path, name: str) -> pa.Table:
    """Memory-map a table; raises ReleaseError when the file is missing, unreadable or of another version."""
    return open_ipc(table_path(folder, name), SCHEMAS[name]).read_all()


def record_of(graph: Graph, node: int) -> dict[str, Any]:
    """IRI, label, classes, literals, and triples both ways of a node; every value as the source has it."""
    adjacency = graph.adjacency
    iri = graph.iri(node)
    out = [
        (iri, graph.property_iri(p), graph.iri(int(o)))
        for p in range(len(adjacency.codes))
        for o in adjacency.forward.neighbours(p, node)
    ]
    into = [
        (graph.iri(int(s)), graph.property_iri(p), iri)
        for p in range(len(adjacency.codes))
        for s in adjacency.backward.neighbours(p, node)
        if int(s) != node
    ]
    literals = [
        {
            "property": graph.property_iri(literal.property),
            "value": literal.value,
            "datatype": literal.datatype,
            "lang": literal.lang,
            "graphs": list(literal.graphs),
        }
        for literal in graph.literals(node)
    ]
    return {
        "iri": iri,
        "label": graph.label(node),
        "types": [graph.class_iri(int(number)) for number in graph.types(node)],
        "literals": literals,
        "triples": [{"s": s, "p": p, "o": o} for s, p, o in out + into],
    }


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a document: ``text[start:end]`` in characters.

    ``entity`` is whom it is about (a chained entity keeps its own lines); ``key`` is the relationship, the property's code
    or its IRI; ``targets`` are all the nodes that it states, of which the text may name the first few; ``total`` counts
    targets, or values where the line states literals.
    """

    HEADER, TYPE, LITERAL, FR, OUTGOING, INCOMING, SATELLITE, NOTE, PASSAGE = KINDS

    document: int
    entity: int
    kind: int
    key: str
    label: str
    start: int
    end: int
    total: int
    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a long text, from ``start`` to ``end`` of it: ``text`` is a header and a line of it.

    ``entity`` is whom it describes, and ``document`` the one that holds this entity; ``source`` the node that states the text
    by the property ``key``.
    """

    document: int
    entity: int
    source: int
    key: str
    label: str
    start: int
    end: int
    text: str

    @property
    def body(self) -> str:
        """The part of the text alone."""
        return self.text.partition("\n")[2].removeprefix(f"{self.label}: ")


@dataclass(frozen=True, slots=True)
class Member:
    """An entity whose facts a document holds; ``role`` 0 the document's own, 1 an absorbed satellite, 2 chained."""

    entity: int
    role: int


@dataclass(frozen=True)
class Documents:
    """The documents of one data set, numbered by their entity's number in the graph."""

    folder: Path
    graph: Graph

    @classmethod
    def from_release(cls, release: Release) -> Documents:
        return cls.open(release.folder / "documents", release[Graph])

    @classmethod
    def open(cls, folder: Path, graph: Graph) -> Documents:
        """Open the artifact in ``folder``; raises ReleaseError when it is missing or of another version."""
        documents = cls(folder, graph)
        _ = documents.table  # fails here and not at the first question
        return documents

    @cached_property
    def table(self) -> pa.Table:
        """All documents, mapped; see ``schema``."""
        return open_table(self.folder, "documents")

    @property
    def count(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def entities(self) -> Ints:
        """Entity of each document, int32 [d], ascending."""
        return cast(Ints, self.table.column("entity").to_numpy())

    @cached_property
    def category_of(self) -> Bytes:
        """Primary category bit of each document's entity, uint8 [d]."""
        return cast(Bytes, self.table.column("category").to_numpy())

    @cached_property
    def categories_of(self) -> Bytes:
        """Mask of category bits of each document's entity, uint8 [d]."""
        return cast(Bytes, self.table.column("categories").to_numpy())

    def text(self, i: int, column: str = "text") -> str:
        chunk, row = divmod(i, BATCH)
        return str(self.table.column(column).chunk(chunk)[row].as_py())

    def label(self, i: int) -> str:
        return self.text(i, "label")

    def entity(self, i: int) -> int:
        return int(self.entities[i])

    def category(self, i: int) -> int:
        return int(self.category_of[i])

    @cached_property
    def _lines(self) -> tuple[pa.Table, Longs]:
        return open_table(self.folder, "lines"), open_array(self.folder, "line_ptr")

    def lines(self, i: int) -> list[Line]:
        """The lines of a document in the order of its text."""
        table, ptr = self._lines
        rows: list[dict[str, Any]] = table.slice(int(ptr[i]), int(ptr[i + 1] - ptr[i])).to_pylist()
        return [Line(**{**row, "targets": tuple(row["targets"])}) for row in rows]

    @cached_property
    def _members(self) -> tuple[pa.Table, Longs]:
        return open_table(self.folder, "members"), open_array(self.folder, "member_ptr")

    def members(self, i: int) -> list[Member]:
        """Whose facts a document holds: its own entity, absorbed satellites, chained entities."""
        table, ptr = self._members
        rows = table.slice(int(ptr[i]), int(ptr[i + 1] - ptr[i])).to_pylist()
        return [Member(row["entity"], row["role"]) for row in rows]

    def told_in(self, i: int) -> list[int]:
        """The entities that a document tells of: its own and those chained to it."""
        return [member.entity for member in self.members(i) if member.role != ABSORBED]

    @cached_property
    def entity_document(self) -> Ints:
        """Document of each node, int32 [n]: its own, the one it was chained into, or its first parent's; -1 for none."""
        return open_array(self.folder, "entity_document")

    def document_of(self, entity: int) -> int | None:
        """The document that holds an entity's facts, or None for a node that is no entity."""
        document = int(self.entity_document[entity])
        return None if document < 0 else document

    @cached_property
    def passages(self) -> pa.Table:
        """All passages, in the order of their documents; none where a release was made before there were any."""
        if not table_path(self.folder, "passages").exists():
            return SCHEMAS["passages"].empty_table()
        return open_table(self.folder, "passages")

    def passage(self, number: int) -> Passage:
        (row,) = self.passages.slice(number, 1).to_pylist()
        return Passage(**row)

    def passages_of(self, i: int) -> range:
        """Numbers of the passages that lead to a document."""
        first, end = np.searchsorted(self.home[self.count :], [i, i + 1]).tolist()
        return range(first, end)

    def whole(self, i: int) -> str:
        """The text of a document and those of its passages, as blocks one after another."""
        passages = (self.passage(number).text for number in self.passages_of(i))
        return SEPARATOR.join([self.text(i), *passages])

    @cached_property
    def texts(self) -> pa.ChunkedArray:
        """All texts that are searched: those of the documents, then those of the passages."""
        columns = self.table.column("text"), self.passages.column("text")
        return pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.large_utf8())

    def searched(self, number: int) -> str:
        """One of ``texts``."""
        if number < self.count:
            return self.text(number)
        chunk, row = divmod(number - self.count, BATCH)
        return str(self.passages.column("text").chunk(chunk)[row].as_py())

    @cached_property
    def home(self) -> Ints:
        """The document to which each of ``texts`` leads, int32 [texts]: itself, or that of the passage's entity."""
        own = np.arange(self.count, dtype=np.int32)
        return np.concatenate([own, cast(Ints, self.passages.column("document").to_numpy())])

    def record(self, i: int) -> dict[str, Any]:
        """Everything a document stands for, as plain JSON values: text, lines with all targets, and for each member all
        its literals and triples."""
        lines = [
            {
                "entity": self.graph.iri(line.entity),
                "kind": KIND_NAMES[line.kind],
                "key": line.key,
                "label": line.label,
                "start": line.start,
                "end": line.end,
                "total": line.total,
                "targets": [self.graph.iri(target) for target in line.targets],
            }
            for line in self.lines(i)
        ]
        members = [record_of(self.graph, m.entity) | {"role": ROLE_NAMES[m.role]} for m in self.members(i)]
        head = {"iri": self.graph.iri(self.entity(i)), "label": self.label(i), "category": self.category(i)}
        return {**head, "text": self.text(i), "lines": lines, "members": members}
