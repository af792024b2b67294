"""Lines of literals: a few values of each property, cut in the text and whole in the data."""

from __future__ import annotations

import polars as pl

from crmrag_assets.documents.drafts import drafts
from crmrag_assets.documents.identity import Described
from crmrag_assets.documents.words import clean, shorten_all
from crmrag_query.documents.schema import LITERAL


def literal_drafts(about: Described, dated: pl.Series) -> pl.DataFrame:
    """A line for each property of literals, in order of its number; names are told above, and dates in the documents
    ``dated``."""
    graph, documents, dates = about.graph, about.setting.method.documents, about.setting.method.dates
    dating = {*dates.outer_begin, *dates.outer_end, *dates.inner_begin, *dates.inner_end}
    dating |= {*dates.outer_whole, *dates.inner_whole}
    keys = [graph.property_code(n) or graph.property_iri(n) for n in range(len(graph.property_codes))]
    labels = [clean(graph.property_label(n)) or key for n, key in enumerate(keys)]
    again = [n for n, key in enumerate(keys) if key in dating]
    label = pl.DataFrame({"alike": about.alike}).with_row_index("doc").cast({"doc": pl.Int32})
    told = pl.concat([label.select("doc", "alike"), about.names.select("doc", "alike")])
    repeated = pl.col("property").is_in(again) & pl.col("doc").is_in(dated.implode())
    values = about.literals.filter((pl.col("value") != "") & ~repeated)
    values = values.join(told, on=["doc", "alike"], how="anti", maintain_order="left")
    values = values.unique(["doc", "property", "alike"], keep="first", maintain_order=True)
    lines = values.group_by("doc", "property", maintain_order=True).agg(total=pl.len())
    first = values.filter(pl.int_range(pl.len()).over("doc", "property") < documents.literal_values)
    first = first.with_columns(value=shorten_all(first["value"], documents.literal_characters))
    shown = first.group_by("doc", "property", maintain_order=True).agg(
        pl.col("value").str.join("; "), shown=pl.len()
    )
    rest = lines["total"].cast(pl.Int64) - shown["shown"].cast(pl.Int64)
    body = pl.select(
        pl.when(rest > 0).then(pl.format("{} and {} more", shown["value"], rest)).otherwise(shown["value"])
    ).to_series()
    return drafts(
        lines["doc"].to_numpy(),
        LITERAL,
        pl.Series(keys, dtype=pl.String).gather(lines["property"]),
        pl.Series(labels, dtype=pl.String).gather(lines["property"]),
        body,
        lines["total"].to_numpy(),
    )
