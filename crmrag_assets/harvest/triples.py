"""The table of triples that a chunk is: its schema, its order, how it is written; and terms, or lines, as such a table.

The plain ones of many lines are split all at once, which is three times as fast as an object for each term. A line is plain
when it is written in the one canonical way (a space between terms, nothing escaped, no blank nodes) and holds only what
every grammar allows: that is less than the parser takes, and never more. All others are handed back.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph as ox

IRI, LITERAL = 0, 1  # values of the column `kind`
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


COLUMNS = {name: pl.UInt8() if name == "kind" else pl.String() for name in TRIPLES.names}
"""Of the table TRIPLES: terms without brackets and quotation marks; "" where there is no datatype, language or graph."""
NO_COLUMNS = pl.DataFrame(schema=COLUMNS)
_SEGMENT: Final = r"[A-Za-z0-9_.~!$&'()*+,;=:@\xA0-\x{D7FF}-]|%[0-9A-Fa-f]{2}"
_PATH: Final = rf"//[A-Za-z0-9.-]+(?::[0-9]*)?(?:/(?:{_SEGMENT}|/)*)?|(?:{_SEGMENT})(?:{_SEGMENT}|/)*"
_IRI: Final = rf"<[A-Za-z][A-Za-z0-9+.-]*:(?:{_PATH})(?:\?(?:{_SEGMENT}|[/?])*)?(?:#(?:{_SEGMENT}|[/?])*)?>"
_TEXT: Final = r'"[^"\\\x00-\x1F\x7F]*"'
_LITERAL: Final = rf"{_TEXT}(?:@[A-Za-z]{{2,3}}(?:-[A-Za-z]{{2}})?|\^\^{_IRI})?"
_TRIPLE: Final = rf"^{_IRI} {_IRI} (?:{_IRI}|{_LITERAL})"
PLAIN_TRIPLE: Final = rf"{_TRIPLE} \.$"
PLAIN_QUAD: Final = rf"{_TRIPLE}(?: {_IRI})? \.$"
_NEEDS_LANGUAGE: Final = (
    "angString>"  # rdf:langString and rdf:dirLangString, which parsers refuse as a stated datatype
)
_TERMS: Final = (
    r'^<(?<s>[^>]*)> <(?<p>[^>]*)> (?:<(?<link>[^>]*)>|"(?<text>[^"]*)"(?:@(?<lang>\S+)|\^\^<(?<datatype>[^>]*)>)?)'
    r"(?: <(?<g>[^>]*)>)? \.$"
)
Terms = TypeVar("Terms", bound=Iterable[object])


def columns_of(rows: Iterable[Terms]) -> tuple[pl.DataFrame, list[Terms], int]:
    """Triples of rows of terms s, p, o, g, with columns of schema COLUMNS; the other rows; and how many are anonymous.

    Triples are of a named subject and property and a named or literal object. Those without a graph, and those of a graph
    named by a blank node (anonymous ones), join the default graph: it cannot be named outside its file or response.
    """
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    subjects, properties, objects, kinds, datatypes, languages, graphs = columns.values()
    others: list[Terms] = []
    anonymous = 0
    for row in rows:
        s, p, o, g = row
        if isinstance(o, ox.NamedNode):
            kind, datatype, language = IRI, "", ""
        elif isinstance(o, ox.Literal):
            language = o.language or ""
            kind, datatype = LITERAL, "" if language else o.datatype.value
        else:
            others.append(row)
            continue
        if not isinstance(s, ox.NamedNode) or not isinstance(p, ox.NamedNode):
            others.append(row)
            continue
        subjects.append(s.value)
        properties.append(p.value)
        objects.append(o.value)
        kinds.append(kind)
        datatypes.append("" if datatype == XSD_STRING else datatype)
        languages.append(language)
        graphs.append(g.value if isinstance(g, ox.NamedNode) else "")
        anonymous += isinstance(g, ox.BlankNode)
    return pl.DataFrame(columns, schema=COLUMNS), others, anonymous


def split_lines(lines: bytes, plain: str) -> tuple[pl.DataFrame, bytes]:
    """The plain lines with columns of schema COLUMNS, and the other lines; ``plain``: PLAIN_TRIPLE or PLAIN_QUAD."""
    try:
        text = pl.Series("line", lines.decode().removesuffix("\n").split("\n"))
    except UnicodeDecodeError:
        return NO_COLUMNS, lines
    good = text.str.contains(plain) & ~text.str.contains(_NEEDS_LANGUAGE, literal=True)
    others = "".join(f"{line}\n" for line in text.filter(~good)).encode()
    terms = text.filter(good).str.extract_groups(_TERMS).struct.unnest()
    frame = terms.select(
        "s",
        "p",
        o=pl.coalesce("link", "text"),
        kind=pl.when(pl.col("link").is_null()).then(LITERAL).otherwise(IRI).cast(pl.UInt8),
        datatype=pl.col("datatype").fill_null("").replace(XSD_STRING, ""),
        lang=pl.col("lang").fill_null("").str.to_lowercase(),
        g=pl.col("g").fill_null(""),
    )
    return frame, others
