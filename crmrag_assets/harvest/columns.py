"""Canonical N-Quads as columns: lines split all at once, in place of a Python object for each term.

What the parser has validated and written again in one form (a space between terms, quotation marks in literals escaped) needs
no grammar to be split. Lines that do (escapes, blank nodes, triples about triples) are few and handed back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import polars as pl
import pyoxigraph as ox

from crmrag_assets.harvest.triples import IRI, LITERAL, TRIPLES

COLUMNS = {name: pl.UInt8() if name == "kind" else pl.String() for name in TRIPLES.names}
"""Of the table TRIPLES: terms without brackets and quotation marks; "" where there is no datatype, language or graph."""


def canonical_lines(quads: Iterable[ox.Quad]) -> bytes:
    """Quads as canonical N-Quads, a line each; raises what reading them raises."""
    return cast(bytes, ox.serialize(quads, format=ox.RdfFormat.N_QUADS))


def split_lines(lines: bytes) -> tuple[pl.DataFrame, bytes]:
    """Columns of schema COLUMNS of the plain lines, and the other lines. ``lines``: canonical N-Quads."""
    if not lines:
        return pl.DataFrame(schema=COLUMNS), b""
    text = pl.read_csv(
        lines, has_header=False, separator="\x01", quote_char=None, schema={"line": pl.String}
    ).get_column("line")
    parts = text.str.strip_suffix(" .").str.splitn(" ", 3).struct.unnest()
    parts.columns = ["s", "p", "rest"]
    rest, literal = pl.col("rest"), pl.col("rest").str.starts_with('"')
    quoted = rest.str.splitn('"', 3).struct
    split = parts.with_columns(
        literal=literal,
        body=quoted.field("field_1"),
        tail=pl.when(literal).then(quoted.field("field_2")).otherwise(rest),
    )
    tail = pl.col("tail").str.splitn(" ", 2).struct
    split = split.with_columns(term=tail.field("field_0"), graph=tail.field("field_1").fill_null(""))
    plain = split.select(
        pl.col("s").str.starts_with("<")
        & ~(pl.col("literal") & rest.str.contains("\\", literal=True))
        & (pl.col("literal") | (pl.col("term").str.starts_with("<") & ~rest.str.starts_with("<<")))
        & ~(pl.col("literal") & pl.col("term").str.contains("--", literal=True))
        & ~pl.col("graph").str.starts_with("_")
    ).to_series()
    others = "".join(f"{line}\n" for line in text.filter(~plain))
    return _columns(split.filter(plain)), others.encode()


def _columns(split: pl.DataFrame) -> pl.DataFrame:
    literal, term = pl.col("literal"), pl.col("term")
    typed, tagged = term.str.starts_with("^^"), term.str.starts_with("@")
    return split.select(
        s=_bare("s"),
        p=_bare("p"),
        o=pl.when(literal).then("body").otherwise(_bare("term")),
        kind=pl.when(literal).then(LITERAL).otherwise(IRI).cast(pl.UInt8),
        datatype=pl.when(literal & typed).then(term.str.slice(3).str.strip_suffix(">")).otherwise(pl.lit("")),
        lang=pl.when(literal & tagged).then(term.str.slice(1)).otherwise(pl.lit("")),
        g=_bare("graph"),
    )


def _bare(column: str) -> pl.Expr:
    return pl.col(column).str.strip_prefix("<").str.strip_suffix(">")
