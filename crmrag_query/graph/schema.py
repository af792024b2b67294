"""Every table of the graph artifact: its columns, its place on disk, how it is opened and checked.

Tables are Arrow IPC files, uncompressed and in one record batch, so that opening one maps it and copies nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.ipc as ipc

from crmrag_query.artifacts.mapped import open_ipc

SCHEMA_VERSION: Final = 1

WORD: Final = pa.dictionary(pa.int32(), pa.utf8())  # a column of few distinct words
BY_LANGUAGE: Final = pa.map_(pa.utf8(), pa.utf8())  # language tag -> text

TRIPLES: Final = pa.schema(
    [
        ("s", pa.utf8()),
        ("p", pa.utf8()),
        ("o", pa.utf8()),
        ("kind", pa.uint8()),  # 0 IRI, 1 literal
        ("datatype", WORD),  # "" for xsd:string and language-tagged strings
        ("lang", WORD),  # "" for none
        ("g", WORD),  # "" for the default graph
    ]
)

SCHEMAS: Final[dict[str, pa.Schema]] = {
    "nodes": pa.schema([("iri", pa.large_utf8()), ("label", pa.large_utf8()), ("lang", WORD)]),
    "classes": pa.schema(
        [("iri", pa.utf8()), ("code", pa.utf8()), ("label", pa.utf8()), ("labels", BY_LANGUAGE)]
    ),
    "properties": pa.schema(
        [
            ("iri", pa.utf8()),
            ("code", pa.utf8()),
            ("label", pa.utf8()),
            ("inverse_label", pa.utf8()),
            ("labels", BY_LANGUAGE),
            ("inverse_labels", BY_LANGUAGE),
        ]
    ),
    "graphs": pa.schema([("graphs", pa.list_(pa.utf8()))]),
    "literals": pa.schema(
        [
            ("subject", pa.int32()),
            ("property", pa.int32()),
            ("value", pa.large_utf8()),
            ("datatype", WORD),
            ("lang", WORD),
            ("graph", pa.int32()),
        ]
    ),
    "labels": pa.schema([("node", pa.int32()), ("text", pa.large_utf8()), ("lang", WORD), ("kind", WORD)]),
    "timespans": pa.schema(
        [
            ("node", pa.int32()),
            ("outer_begin", pa.int32()),
            ("inner_begin", pa.int32()),
            ("inner_end", pa.int32()),
            ("outer_end", pa.int32()),
            ("text", pa.utf8()),
        ]
    ),
    "links": pa.schema([("node", pa.int32()), ("iri", pa.utf8()), ("kind", WORD)]),
    "images": pa.schema([("node", pa.int32()), ("url", pa.utf8())]),
}

LABEL_KINDS: Final = (
    "label",
    "preferred",
    "appellation",
    "title",
    "identifier",
    "alternative",
    "role",
    "iri",
)
LINK_KINDS: Final = ("wikidata", "getty", "viaf", "geonames", "other")

# The archive of all triples, beside the graph: Parquet, a row a triple; types are triples of rdf:type.
EDGES: Final = "edges.parquet"
RDF_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
EDGE_COLUMNS: Final = ("s", "s_label", "p", "p_label", "o", "o_label")
EDGE_SCHEMA: Final = pa.schema([(name, pa.dictionary(pa.int32(), pa.utf8())) for name in EDGE_COLUMNS])


def table_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.arrow"


def write_table(folder: Path, name: str, table: pa.Table) -> None:
    """Write a table as ``<name>.arrow`` in one uncompressed record batch; the columns are cast to the schema."""
    schema = SCHEMAS[name]
    columns = [_column(table.column(field.name), field.type) for field in schema]
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    with pa.OSFile(str(table_path(folder, name)), "wb") as sink, ipc.new_file(sink, schema) as writer:
        writer.write_batch(batch)


def _column(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """The column as one array of this type; the words of a dictionary are sorted, so equal columns give equal bytes."""
    if kind == WORD:
        import pyarrow.compute as pc  # readers never need it

        column = column.cast(pa.utf8())
        words = pc.unique(column).sort()
        return pa.DictionaryArray.from_arrays(pc.index_in(column, words).combine_chunks(), words)
    return column.cast(kind).combine_chunks()


def open_table(folder: Path, name: str) -> pa.RecordBatch:
    """Memory-map a table.

    Raises ReleaseError when the file is missing, cannot be read or has other columns than the schema.
    """
    return open_ipc(table_path(folder, name), SCHEMAS[name]).get_batch(0)
