"""The table of triples that a chunk is: its schema, its order, and how it is written."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

IRI, LITERAL = 0, 1  # values of the column `kind`
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
SKOLEM = "urn:skolem:"

_CODES = pa.dictionary(pa.int32(), pa.utf8())
TRIPLES = pa.schema(
    [
        pa.field("s", pa.utf8(), nullable=False),
        pa.field("p", pa.utf8(), nullable=False),
        pa.field("o", pa.utf8(), nullable=False),
        pa.field("kind", pa.uint8(), nullable=False),
        pa.field("datatype", _CODES, nullable=False),  # "" for strings, with or without a language
        pa.field("lang", _CODES, nullable=False),  # "" for none
        pa.field("g", _CODES, nullable=False),  # named graph, "" for the default graph
    ]
)
ORDER = ["s", "p", "kind", "o", "lang", "datatype", "g"]  # strings by their UTF-8 bytes


def distinct_sorted(frame: pl.DataFrame) -> pl.DataFrame:
    """Every row once, in ORDER: equal sets of rows give equal frames.

    Words may stand as numbers: these are then ordered as numbers.
    """
    # sorted first: what is fetched comes nearly in order, and what is the same then stands together
    ordered = frame.sort(ORDER)
    again = ordered.select(pl.all_horizontal(pl.col(name) == pl.col(name).shift(1) for name in ORDER))
    return ordered.filter(~again.to_series().fill_null(False))


def to_table(frame: pl.DataFrame) -> pa.Table:
    """The frame in schema TRIPLES; dictionaries hold the frame's own values in order of appearance."""
    columns = []
    for field in TRIPLES:
        column = frame.get_column(field.name).to_arrow()
        if pa.types.is_dictionary(field.type):
            column = column.cast(pa.utf8()).dictionary_encode()
        columns.append(column.cast(field.type))
    return pa.Table.from_arrays(columns, schema=TRIPLES)


def write_triples(table: pa.Table, path: Path) -> None:
    """Write a table of schema TRIPLES as Parquet, Zstandard-compressed; equal tables give equal bytes.

    The store flushes what stands in an artifact's folder when that is finished.
    """
    pq.write_table(table, path, compression="zstd", row_group_size=1 << 18)
