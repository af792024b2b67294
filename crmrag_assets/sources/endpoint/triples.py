"""Responses of triples as cells of text: straight from TSV for what nearly all rows are like, else from terms.

Rows of other forms (escapes, numbers without quotes, blank nodes) are left to the reader of terms, and a body with
anything odd in it is left to it whole, so that both ways give the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import polars as pl
import pyoxigraph as ox

from crmrag_assets.harvest.triples import IRI, LITERAL, XSD_STRING
from crmrag_assets.sources.endpoint.results import TSV, Results, Row, Table, read_body

COLUMNS = ("s", "p", "o", "kind", "datatype", "lang", "g")
SCHEMA = {name: pl.UInt8 if name == "kind" else pl.String for name in COLUMNS}
_GRAPH = r"\t(?:<(?<g>[^<>\t]*)>)?"
_ROW = (
    r"^<(?<s>[^<>\t]*)>\t<(?<p>[^<>\t]*)>\t"
    r'(?:<(?<link>[^<>\t]*)>|"(?<text>[^"\\\t]*)"(?:@(?<lang>[A-Za-z0-9-]+)|\^\^<(?<datatype>[^<>\t]*)>)?)'
)
_SOUND = (  # IRIs that need no closer look: nearly all of them, and a hundred times faster
    r"^[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9.-]+(?:/[A-Za-z0-9._~!$&'()*+,;=:@-]*)*"
    r"(?:\?[A-Za-z0-9._~!$&'()*+,;=:@/?-]*)?(?:#[A-Za-z0-9._~!$&'()*+,;=:@/?-]*)?$"
)
_LANGUAGE_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

Cells = tuple[str, str, str, int, str, str, str]
"""A triple as COLUMNS has it."""


def to_frame(triples: Iterable[Cells]) -> pl.DataFrame:
    """The triples, repetitions included, with columns of schema TRIPLES."""
    held = list(triples)
    columns = zip(*held, strict=True) if held else ([] for _ in COLUMNS)
    return pl.DataFrame(dict(zip(COLUMNS, columns, strict=True)), schema=SCHEMA)


@dataclass(frozen=True)
class Triples(Results):
    """The triples of a response, with COLUMNS, in any order.

    ``skipped``: rows that are no triples of a named subject and property and a named or literal object.
    """

    frame: pl.DataFrame

    def __len__(self) -> int:
        return len(self.frame)


def read_triples(body: bytes, content_type: str, variables: tuple[str, ...]) -> Triples:
    """The triples of a response with columns s, p, o, and perhaps g; raises Mangled and NotResults as `read_body`."""
    if (quick := _quickly(body, variables)) is None:
        return _of_terms(read_body(body, content_type, variables))
    frame, left = quick
    if not left:
        return Triples(frame, format=TSV, labelled=content_type == TSV.media_type.partition(";")[0])
    rest = _of_terms(read_body(left, content_type, variables))
    return replace(rest, frame=pl.concat([frame, rest.frame]))


def _of_terms(table: Table[Row]) -> Triples:
    rows = [cells for row in table.rows if (cells := cells_of(row)) is not None]
    return Triples(
        to_frame(rows),
        repaired=table.repaired,
        skipped=table.skipped + len(table) - len(rows),
        format=table.format,
        labelled=table.labelled,
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


def _quickly(body: bytes, variables: tuple[str, ...]) -> tuple[pl.DataFrame, bytes] | None:
    """Triples, and a body of the rows that are left over (b"" for none).

    None where the body is not TSV of these columns, or a row that looks sound is not.
    """
    head, _, lines = body.partition(b"\n")
    asked = b"\t".join(b"?" + name.encode() for name in variables)
    if head != asked or b"\r" in lines or not body.endswith(b"\n"):
        return None
    try:
        rows = pl.Series("line", lines.decode().split("\n")[:-1], pl.String)
        pattern = _ROW + (_GRAPH if "g" in variables else "") + "$"
        cells = rows.str.extract_groups(pattern).struct.unnest()
        quick = cells.get_column("s").is_not_null() & cells.get_column("datatype").ne_missing(
            _LANGUAGE_STRING
        )
        frame = _checked(cells.filter(quick))
    except ValueError:  # no UTF-8, an invalid IRI
        return None
    left = rows.filter(~quick)
    return frame, b"\n".join([head, *(line.encode() for line in left), b""]) if len(left) else b""


def _checked(cells: pl.DataFrame) -> pl.DataFrame:
    """The triples of rows of a quick form; raises ValueError for an IRI or a language that is not valid."""
    graphs = ["g"] if "g" in cells.columns else []
    texts = (cells.get_column(name).drop_nulls().unique() for name in ("s", "p", "link", "datatype", *graphs))
    for iris in texts:
        for iri in iris.filter(~iris.str.contains(_SOUND)):
            ox.NamedNode(iri)
    tags = cells.get_column("lang").drop_nulls().unique()
    languages = {tag: ox.Literal("", language=tag).language for tag in tags}
    return cells.select(
        "s",
        "p",
        o=pl.coalesce("link", "text"),
        kind=pl.when(pl.col("link").is_null()).then(LITERAL).otherwise(IRI).cast(pl.UInt8),
        datatype=pl.col("datatype").fill_null("").replace(XSD_STRING, ""),
        lang=pl.col("lang").replace_strict(languages, default="", return_dtype=pl.String),
        g=pl.col("g").fill_null("") if graphs else pl.lit(""),
    )
