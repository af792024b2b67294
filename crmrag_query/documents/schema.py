"""Every table of the documents artifact: its columns, its place on disk, how it is opened and checked.

Tables are Arrow IPC files, uncompressed. Those of all documents are in record batches of ``BATCH`` rows (the last one
shorter), so that a table is written without holding it and row ``i`` lies in batch ``i // BATCH``; those of a chunk
(``fr_documents``, ``fr_lines``, ``matches``) are one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.ipc as ipc

from crmrag_query.artifacts.mapped import open_ipc

BATCH: Final = 8192

HEADER, TYPE, LITERAL, FR, OUTGOING, INCOMING, SATELLITE, NOTE = range(8)  # kinds of lines
KIND_NAMES: Final = ("header", "type", "literal", "relationship", "outgoing", "incoming", "satellite", "note")

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
