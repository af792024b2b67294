"""The dates of nodes, read from their literals: each distinct literal is read once."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from crmrag_assets.graph.core import Core, among
from crmrag_assets.graph.vocabulary import Vocabulary
from crmrag_query.config.build import Dates
from crmrag_query.dates import parse_date
from crmrag_query.graph.arrays import Ints

TIME_SPAN: Final = "E52"
DATE_TYPES: Final = tuple(
    f"http://www.w3.org/2001/XMLSchema#{name}"
    for name in ("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth")
)
ROLES: Final = (
    "outer_begin",
    "outer_end",
    "inner_begin",
    "inner_end",
    "outer_whole",
    "inner_whole",
    "qualifiers",
)
COLUMNS: Final = ("node", "outer_begin", "inner_begin", "inner_end", "outer_end", "text")


def build_timespans(
    core: Core, vocabulary: Vocabulary, constants: Dates, names: pl.DataFrame, suspects: Ints
) -> pl.DataFrame:
    """Dates of every node that states any, columns of schema "timespans", sorted by node.

    ``names``: stated names (node, text), read as dates for a time-span that has no other; suspects have no dates.
    """
    stated = _read(_stated(core, vocabulary, constants))
    spans = core.nodes_of(vocabulary.class_numbers(TIME_SPAN))
    undated = np.setdiff1d(
        spans, stated.filter(pl.col("begin").is_not_null() | pl.col("end").is_not_null())["node"]
    )
    named = _read(names.filter(among("node", undated)).select("node", value="text", datatype=pl.lit("")))
    named = named.filter(pl.col("begin").is_not_null() | pl.col("end").is_not_null())
    facts = pl.concat([stated, named.with_columns(role=pl.lit("outer_whole")).select(stated.columns)])
    found = _combine(facts.filter(~among("node", suspects)))
    return found.filter(~pl.all_horizontal(pl.col(COLUMNS[1:5]).is_null()) | (pl.col("text") != "")).sort(
        "node"
    )


def _stated(core: Core, vocabulary: Vocabulary, constants: Dates) -> pl.DataFrame:
    """Literals that state dates: columns node, value, datatype, role."""
    role: dict[int, str] = {}
    for name in ROLES:
        wanted = getattr(constants, name)
        role |= dict.fromkeys(vocabulary.properties_with(wanted, wanted), name)
    typed = core.nodes_of(np.union1d(vocabulary.class_numbers(TIME_SPAN), np.flatnonzero(vocabulary.event)))
    other = pl.col("datatype").is_in(DATE_TYPES) & among("subject", typed)
    return (
        core.literals.lazy()
        .filter(among("property", list(role)) | other)
        .with_columns(role=pl.col("property").replace_strict(role, default="other", return_dtype=pl.String))
        .select("value", "datatype", "role", node="subject")
        .collect()
    )


def _read(literals: pl.DataFrame) -> pl.DataFrame:
    """Add columns begin and end, int32 day numbers, null where open or not understood."""
    distinct = literals.select("value", "datatype").unique(maintain_order=True)
    read = [parse_date(value, datatype) for value, datatype in distinct.iter_rows()]
    return literals.join(
        distinct.with_columns(
            begin=pl.Series([interval.begin if interval else None for interval in read], dtype=pl.Int32),
            end=pl.Series([interval.end if interval else None for interval in read], dtype=pl.Int32),
        ),
        on=["value", "datatype"],
        how="left",
        maintain_order="left",
    )


def _combine(facts: pl.DataFrame) -> pl.DataFrame:
    """One row a node; precise bounds go before whole intervals, these before other dates; bounds in reverse are none."""

    def of(column: str, role: str) -> pl.Expr:
        return pl.col(column).filter(pl.col("role") == role)

    words = pl.col("value").filter(pl.col("role").is_in(["outer_whole", "inner_whole", "qualifiers"]))
    found = facts.group_by("node").agg(
        outer_begin=pl.coalesce(
            of("begin", "outer_begin").min(), of("begin", "outer_whole").min(), of("begin", "other").min()
        ),
        outer_end=pl.coalesce(
            of("end", "outer_end").max(), of("end", "outer_whole").max(), of("end", "other").max()
        ),
        inner_begin=pl.coalesce(of("end", "inner_begin").max(), of("begin", "inner_whole").min()),
        inner_end=pl.coalesce(of("begin", "inner_end").min(), of("end", "inner_whole").max()),
        text=words.unique().sort().str.strip_chars().str.join("; "),
    )
    for begin, end in (("outer_begin", "outer_end"), ("inner_begin", "inner_end")):
        forward = (pl.col(begin) <= pl.col(end)) | pl.col(begin).is_null() | pl.col(end).is_null()
        found = found.with_columns(pl.when(forward).then(pl.col(name)).alias(name) for name in (begin, end))
    return found.with_columns(pl.col("text").fill_null("")).select(COLUMNS)
