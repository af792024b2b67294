"""Reading the documents artifact: memory-mapped texts, their lines and their members."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, cast

import pyarrow as pa

from crmrag_query.artifacts.mapped import open_array
from crmrag_query.documents import schema
from crmrag_query.documents.record import record_of
from crmrag_query.documents.schema import open_table
from crmrag_query.graph.arrays import Bytes, Ints, Longs
from crmrag_query.graph.graph import Graph


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a document: ``text[start:end]`` in characters.

    ``entity`` is whom it is about (a chained entity keeps its own lines); ``key`` is the relationship, the property's code
    or its IRI; ``targets`` are all the nodes that it states, of which the text may name the first few; ``total`` counts
    targets, or values where the line states literals.
    """

    HEADER: ClassVar[int] = schema.HEADER
    TYPE: ClassVar[int] = schema.TYPE
    LITERAL: ClassVar[int] = schema.LITERAL
    FR: ClassVar[int] = schema.FR
    OUTGOING: ClassVar[int] = schema.OUTGOING
    INCOMING: ClassVar[int] = schema.INCOMING
    SATELLITE: ClassVar[int] = schema.SATELLITE
    NOTE: ClassVar[int] = schema.NOTE

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

    def _text(self, column: str, i: int) -> str:
        chunk, row = divmod(i, schema.BATCH)
        return str(self.table.column(column).chunk(chunk)[row].as_py())

    def text(self, i: int) -> str:
        return self._text("text", i)

    def label(self, i: int) -> str:
        return self._text("label", i)

    def entity(self, i: int) -> int:
        return int(self.entities[i])

    def category(self, i: int) -> int:
        return int(self.category_of[i])

    @cached_property
    def _lines(self) -> tuple[pa.Table, Longs]:
        return open_table(self.folder, "lines"), cast(Longs, open_array(self.folder, "line_ptr"))

    def lines(self, i: int) -> list[Line]:
        """The lines of a document in the order of its text."""
        table, ptr = self._lines
        rows: list[dict[str, Any]] = table.slice(int(ptr[i]), int(ptr[i + 1] - ptr[i])).to_pylist()
        return [Line(**{**row, "targets": tuple(row["targets"])}) for row in rows]

    @cached_property
    def _members(self) -> tuple[pa.Table, Longs]:
        return open_table(self.folder, "members"), cast(Longs, open_array(self.folder, "member_ptr"))

    def members(self, i: int) -> list[Member]:
        """Whose facts a document holds: its own entity, absorbed satellites, chained entities."""
        table, ptr = self._members
        rows = table.slice(int(ptr[i]), int(ptr[i + 1] - ptr[i])).to_pylist()
        return [Member(row["entity"], row["role"]) for row in rows]

    @cached_property
    def entity_document(self) -> Ints:
        """Document of each node, int32 [n]: its own, the one it was chained into, or its first parent's; -1 for none."""
        return cast(Ints, open_array(self.folder, "entity_document"))

    def document_of(self, entity: int) -> int | None:
        """The document that holds an entity's facts, or None for a node that is no entity."""
        document = int(self.entity_document[entity])
        return None if document < 0 else document

    def record(self, i: int) -> dict[str, Any]:
        """Everything a document stands for, as plain JSON values: text, lines with all targets, and for each member all
        its literals and triples."""
        lines = [
            {
                "entity": self.graph.iri(line.entity),
                "kind": schema.KIND_NAMES[line.kind],
                "key": line.key,
                "label": line.label,
                "start": line.start,
                "end": line.end,
                "total": line.total,
                "targets": [self.graph.iri(target) for target in line.targets],
            }
            for line in self.lines(i)
        ]
        members = [
            record_of(self.graph, m.entity) | {"role": schema.ROLE_NAMES[m.role]} for m in self.members(i)
        ]
        head = {"iri": self.graph.iri(self.entity(i)), "label": self.label(i), "category": self.category(i)}
        return {**head, "text": self.text(i), "lines": lines, "members": members}
