"""What became of a source's entities between two harvests, from the tables of their triples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from crmrag_assets.harvest.triples import IRI, ORDER

_IRIS = pl.Series([], dtype=pl.String)


@dataclass(frozen=True)
class Changes:
    """IRIs, each series distinct and sorted.

    ``changed``, ``added``, ``removed``: subjects with other triples, with their first ones, and without any now. ``touched``:
    nodes that triples which came or went point at.
    """

    changed: pl.Series
    added: pl.Series
    removed: pl.Series
    touched: pl.Series

    def __len__(self) -> int:
        return len(self.changed) + len(self.added) + len(self.removed)

    def __add__(self, other: Changes) -> Changes:
        names = ("changed", "added", "removed", "touched")
        return Changes(*(_distinct(pl.concat([getattr(self, n), getattr(other, n)])) for n in names))


NONE = Changes(_IRIS, _IRIS, _IRIS, _IRIS)


def changes_between(before: pl.DataFrame, after: pl.DataFrame) -> Changes:
    """Of two frames of schema TRIPLES, each of distinct rows: of all triples, or of those of one chunk."""
    before, after = (
        frame.cast({"datatype": pl.String, "lang": pl.String, "g": pl.String}) for frame in (before, after)
    )
    gone, new = before.join(after, on=ORDER, how="anti"), after.join(before, on=ORDER, how="anti")
    rows = pl.concat([gone.select(ORDER), new.select(ORDER)])
    subjects = _distinct(rows["s"])
    was, now = subjects.is_in(before["s"].implode()), subjects.is_in(after["s"].implode())
    touched = rows.filter(pl.col("kind") == IRI)["o"]
    return Changes(
        subjects.filter(was & now), subjects.filter(~was), subjects.filter(~now), _distinct(touched)
    )


def read_chunk(path: Path) -> pl.DataFrame:
    """A chunk's triples as `prefetch` wrote them; empty where there is none."""
    if not path.exists():
        return pl.DataFrame(schema={name: pl.UInt8() if name == "kind" else pl.String() for name in ORDER})
    return pl.read_parquet(path)


def _distinct(iris: pl.Series) -> pl.Series:
    return iris.unique().sort()
