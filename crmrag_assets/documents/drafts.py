"""Lines before they have a place in a text: a table with a row for each, filled section by section."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from crmrag_query.documents.schema import HEADER, NOTE
from crmrag_query.graph.arrays import Ints, Longs

DRAFTS: Final[dict[str, pl.DataType]] = {
    "doc": pl.Int32(),  # place of the document among those written together
    "kind": pl.UInt8(),
    "key": pl.String(),
    "label": pl.String(),
    "body": pl.String(),
    "total": pl.Int32(),  # number of targets, or of values
    "targets": pl.List(pl.Int32),  # all that the line states, ascending
}
"""A line reads ``label: body``; a header and a note are their body."""
NONE = pl.lit([], dtype=pl.List(pl.Int32))


def drafts(
    doc: Ints,
    kind: int | npt.NDArray[np.uint8],
    key: str | pl.Series,
    label: str | pl.Series,
    body: pl.Series,
    total: npt.NDArray[np.integer],
    targets: pl.Series | None = None,
) -> pl.DataFrame:
    """Lines of schema DRAFTS from columns; a single value stands for all of them, no ``targets`` for none."""
    columns = {"kind": kind, "key": key, "label": label}
    frame = pl.DataFrame({"doc": doc, "body": body, "total": total})
    whole = frame.with_columns(
        pl.lit(value).alias(name) if isinstance(value, (str, int)) else pl.Series(name, value)
        for name, value in columns.items()
    )
    whole = whole.with_columns(NONE.alias("targets") if targets is None else targets.alias("targets"))
    return whole.select(pl.col(name).cast(kind) for name, kind in DRAFTS.items())


def no_drafts() -> pl.DataFrame:
    return pl.DataFrame(schema=DRAFTS)


def lists(ptr: Longs, values: Ints) -> pl.Series:
    """A series of lists: row i holds ``values[ptr[i]:ptr[i+1]]``."""
    array = pa.LargeListArray.from_arrays(pa.array(ptr, pa.int64()), pa.array(values, pa.int32()))
    return pl.Series(pl.from_arrow(array), dtype=DRAFTS["targets"])


def coded(texts: pl.Series) -> tuple[Ints, pl.Series]:
    """Numbers of texts, equal for equal ones, and the distinct texts that they number."""
    encoded = texts.to_arrow().dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int32), pl.Series(
        pl.from_arrow(encoded.dictionary), dtype=pl.String
    )


def enumerate_names(names: Iterable[str], total: int, limit: int) -> str:
    """``a; b ×3; c and 7 more``: equal names once with their number, at most ``limit`` names, and how many are left.

    ``names`` may stop short of ``total``; what was not looked at counts as more.
    """
    counts: dict[str, int] = {}
    for name in names:
        if name in counts or len(counts) < limit:
            counts[name] = counts.get(name, 0) + 1
    shown = [name if count == 1 else f"{name} ×{count}" for name, count in counts.items()]
    rest = total - sum(counts.values())
    return "; ".join(shown) + (f" and {rest} more" if rest else "")


def enumerate_all(
    line: Ints,
    name: Ints,
    pool: pl.Series,
    total: npt.NDArray[np.integer],
    limit: npt.NDArray[np.integer] | int,
) -> pl.Series:
    """`enumerate_names` for each line 0 … l-1: names ``pool[name[i]]`` of ``line[i]`` (ascending) in order; equal names
    have equal numbers. ``total`` and ``limit`` [l]."""
    if not len(total):
        return pl.Series([], dtype=pl.String)
    lines = pl.DataFrame({"line": np.arange(len(total), dtype=np.int32), "total": total, "limit": limit})
    rows = pl.DataFrame({"line": line, "name": name}, schema={"line": pl.Int32, "name": pl.Int32})
    counted = rows.group_by("line", "name", maintain_order=True).agg(count=pl.len())
    limits = lines["limit"].gather(counted["line"])
    first = counted.filter(pl.int_range(pl.len()).over("line") < limits)
    text = pool.gather(first["name"])
    times = pl.when(pl.col("count") > 1).then(pl.format("{} ×{}", text, "count")).otherwise(text)
    told = first.select("line", "count", text=times).group_by("line", maintain_order=True)
    bodies = told.agg(pl.col("text").str.join("; "), pl.col("count").sum())
    whole = lines.join(bodies, on="line", how="left", maintain_order="left")
    rest = pl.col("total").cast(pl.Int64) - pl.col("count").fill_null(0).cast(pl.Int64)
    body = pl.col("text").fill_null("")
    return whole.select(
        pl.when(rest > 0).then(pl.format("{} and {} more", body, rest)).otherwise(body)
    ).to_series()


def texts_of(lines: pl.DataFrame) -> pl.Series:
    """The text of each line."""
    bare = pl.col("kind").is_in([HEADER, NOTE])
    return lines.select(
        pl.when(bare).then("body").otherwise(pl.concat_str("label", pl.lit(": "), "body"))
    ).to_series()
