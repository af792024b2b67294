"""Names of dimensions: value and unit."""

from __future__ import annotations

from typing import Final

import polars as pl

from crmrag_assets.graph.core import Core, among
from crmrag_assets.graph.names import MEASURES, last_segment
from crmrag_assets.graph.references import values_of
from crmrag_assets.graph.terms import Mask
from crmrag_assets.graph.vocabulary import Vocabulary

VALUES: Final = ("P90", "http://www.w3.org/1999/02/22-rdf-syntax-ns#value")
UNITS: Final = ("P91",)
DECIMALS: Final = 4
WORD: Final = r"^\p{L}+\.?$"


def by_measure(core: Core, vocabulary: Vocabulary, nameless: Mask, names: pl.DataFrame) -> pl.DataFrame:
    """``24.1 cm`` for nameless dimensions: columns node, text, kind; ``names``: columns other, name, of the units.

    A unit without a name is called by its IRI's last segment when that is a word. With several values or units it is
    not known which goes with which: ``10 / 25.4 (cm, in)``.
    """
    measures = core.nodes_of(vocabulary.class_numbers(*MEASURES))
    wanted = among("node", measures[nameless[measures]])
    values = values_of(core, vocabulary, VALUES).filter(
        wanted & (pl.col("other") < 0) & (pl.col("value") != "")
    )
    units = values_of(core, vocabulary, UNITS).filter(wanted).join(names, on="other", how="left")
    segment = last_segment(pl.col("value"))
    unit = pl.coalesce("name", pl.when(segment.str.contains(WORD)).then(segment))
    joined = _joined(values, _number(pl.col("value")), "value", " / ").join(
        _joined(units.filter(unit.is_not_null()), unit, "unit", ", "), on="node", how="left"
    )
    one = (pl.col("values") == 1) & (pl.col("units") == 1)
    text = (
        pl.when(pl.col("unit").is_null()).then(pl.col("value"))
        .when(one).then(pl.format("{} {}", "value", "unit"))
        .otherwise(pl.format("{} ({})", "value", "unit"))
    )  # fmt: skip
    return joined.select("node", text=text, kind=pl.lit("role")).sort("node")


def _joined(frame: pl.DataFrame, text: pl.Expr, name: str, between: str) -> pl.DataFrame:
    """Columns node, ``name`` (distinct texts, sorted and joined) and ``name``s (how many)."""
    distinct = frame.select("node", text=text).unique().sort("node", "text")
    grouped = distinct.group_by("node", maintain_order=True)
    return grouped.agg(pl.col("text").str.join(between).alias(name), pl.len().alias(name + "s"))


def _number(value: pl.Expr) -> pl.Expr:
    """A number without needless digits (``9.9000000000``, ``8.61E0``); other words as they are."""
    number = value.cast(pl.Float64, strict=False).round(DECIMALS)
    plain = number.cast(pl.String).str.replace(r"\.0$", "")
    return pl.when(number.is_finite() & (number.abs() < 1e9)).then(plain).otherwise(value)
