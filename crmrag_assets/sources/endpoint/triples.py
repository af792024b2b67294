"""Responses of triples as cells of text: straight from TSV for what nearly all rows are like, else from terms.

Rows of other forms (escapes, numbers without quotes, blank nodes) are left to the reader of terms, and a body with
anything odd in it is left to it whole, so that both ways give the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import polars as pl
import pyoxigraph as ox

from crmrag_assets.harvest.triples import IRI, LITERAL, XSD_STRING
from crmrag_assets.sources.endpoint.results import TSV, Row, Table, read_body

COLUMNS = ("s", "p", "o", "kind", "datatype", "lang", "g")
SCHEMA = {name: pl.UInt8 if name == "kind" else pl.String for name in COLUMNS}
_TAGGED = re.compile(r'"([^"\\]*)"(?:@([A-Za-z0-9-]+)|\^\^<([^<>]*)>)')
_LANGUAGE_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

Cells = tuple[str, str, str, int, str, str, str]
"""A triple as COLUMNS has it."""


def to_frame(triples: Iterable[Cells]) -> pl.DataFrame:
    """The triples, repetitions included, with columns of schema TRIPLES."""
    held = list(triples)
    columns = zip(*held, strict=True) if held else ([] for _ in COLUMNS)
    return pl.DataFrame(dict(zip(COLUMNS, columns, strict=True)), schema=SCHEMA)


def read_triples(body: bytes, content_type: str, variables: tuple[str, ...]) -> Table[Cells]:
    """The triples of a response with columns s, p, o, and perhaps g; raises Mangled and NotResults as `read_body`.

    ``skipped``: rows that are no triples of a named subject and property and a named or literal object.
    """
    if (quick := _quickly(body, variables)) is None:
        return _of_terms(read_body(body, content_type, variables))
    held, left = quick
    if not left:
        return Table(held, format=TSV, labelled=content_type == TSV.media_type.partition(";")[0])
    rest = _of_terms(read_body(left, content_type, variables))
    return replace(rest, rows=held + rest.rows)


def _of_terms(table: Table[Row]) -> Table[Cells]:
    rows = [cells for row in table.rows if (cells := cells_of(row)) is not None]
    return Table(
        rows, table.repaired, table.skipped + len(table.rows) - len(rows), table.format, table.labelled
    )


def cells_of(row: Row) -> Cells | None:
    """A row of terms s, p, o (and g) as cells; None for what is no triple that can be kept.

    A graph named by a blank node cannot be named outside its response: its triples join the default graph.
    """
    s, p, o, *graphs = row
    if not isinstance(s, ox.NamedNode) or not isinstance(p, ox.NamedNode):
        return None
    g = graphs[0].value if graphs and isinstance(graphs[0], ox.NamedNode) else ""
    if isinstance(o, ox.NamedNode):
        return s.value, p.value, o.value, IRI, "", "", g
    if not isinstance(o, ox.Literal):
        return None
    if o.language:
        return s.value, p.value, o.value, LITERAL, "", o.language, g
    datatype = "" if o.datatype.value == XSD_STRING else o.datatype.value
    return s.value, p.value, o.value, LITERAL, datatype, "", g


def _quickly(body: bytes, variables: tuple[str, ...]) -> tuple[list[Cells], bytes] | None:
    """Triples, and a body of the rows that are left over (b"" for none).

    None where the body is not TSV of these columns, or not sound throughout.
    """
    head, _, lines = body.partition(b"\n")
    asked = b"\t".join(b"?" + name.encode() for name in variables)
    if head != asked or b"\r" in lines or not body.endswith(b"\n"):
        return None
    reader = _Reader(len(variables))
    try:
        left = [line for line in lines.decode().split("\n")[:-1] if not reader.takes(line)]
    except ValueError:  # no UTF-8, another number of cells, an invalid IRI
        return None
    return reader.held, b"\n".join([head, *(line.encode() for line in left), b""]) if left else b""


class _Reader:
    """Takes lines of ``width`` cells apart; looks at each distinct IRI once."""

    def __init__(self, width: int) -> None:
        self.held: list[Cells] = []
        self._graphs = width - 3
        self._valid = {"": ""}  # cell -> IRI

    def takes(self, line: str) -> bool:
        """Hold the line's triple, False for a form that is left over; raises ValueError for what is no sound row."""
        s, p, o, *rest = line.split("\t")
        if len(rest) != self._graphs:
            raise ValueError("another number of cells")
        valid, g, first = self._valid, rest[0] if rest else "", o[:1]
        if s[:1] != "<" or p[:1] != "<" or (g and g[0] != "<"):
            return False
        for cell in (s, p, g):
            if cell not in valid:
                valid[cell] = _iri(cell)
        if first == "<":
            if o not in valid:
                valid[o] = _iri(o)
            self.held.append((valid[s], valid[p], valid[o], IRI, "", "", valid[g]))
            return True
        parts = _literal(o) if first == '"' else None
        if parts is None:
            return False
        text, datatype, language = parts
        self.held.append((valid[s], valid[p], text, LITERAL, datatype, language, valid[g]))
        return True


def _iri(cell: str) -> str:
    if cell[-1:] != ">":
        raise ValueError("no IRI")
    return str(ox.NamedNode(cell[1:-1]).value)


def _literal(cell: str) -> tuple[str, str, str] | None:
    """Text, datatype and language; None for a form that is left over."""
    if "\\" in cell:
        return None
    if cell[-1] == '"' and len(cell) > 1 and '"' not in cell[1:-1]:
        return cell[1:-1], "", ""
    match = _TAGGED.fullmatch(cell)
    if match is None:
        return None
    text, language, datatype = match.groups()
    if language:
        return text, "", str(ox.Literal("", language=language).language)
    if datatype == _LANGUAGE_STRING:
        return None
    return text, "" if datatype == XSD_STRING else str(ox.NamedNode(datatype).value), ""
