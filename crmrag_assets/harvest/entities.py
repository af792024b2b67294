"""Which subjects are entities (facts: method, Build: Discovery), and what became of them between two harvests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from crmrag_assets.harvest.triples import COLUMNS, IRI, NO_COLUMNS, ORDER, RDF_TYPE
from crmrag_query.config.build import Discovery as Exclusions


@dataclass(frozen=True)
class Entities:
    """The triples of entities, and what was left out because its subject is a term of a schema."""

    frame: pl.DataFrame
    entities: int
    excluded_subjects: int
    excluded_triples: int


def without_schema(frame: pl.DataFrame, exclusions: Exclusions, typing: str | int = RDF_TYPE) -> Entities:
    """Leave out all triples of subjects of an excluded type or in an excluded namespace.

    ``frame`` holds all triples of its subjects, with columns of schema TRIPLES; ``typing``: what stands for rdf:type in it.
    """
    typed = frame.filter(pl.col("p") == typing).filter(pl.col("o").is_in(list(exclusions.excluded_types)))
    subjects = frame.get_column("s").unique()
    named = subjects.to_frame().filter(in_namespace(exclusions.excluded_namespaces)).get_column("s")
    excluded = pl.concat([typed.get_column("s"), named]).unique()
    kept = frame.filter(~pl.col("s").is_in(excluded.implode())) if len(excluded) else frame
    return Entities(kept, len(subjects) - len(excluded), len(excluded), len(frame) - len(kept))


def in_namespace(namespaces: Sequence[str], column: str = "s") -> pl.Expr:
    """Whether an IRI of the column begins as the terms of an ontology do."""
    starts = (pl.col(column).str.starts_with(start) for start in namespaces)
    return pl.any_horizontal(pl.lit(False), *starts)


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


NONE = Changes(*[pl.Series([], dtype=pl.String)] * 4)


def changes_between(before: pl.DataFrame, after: pl.DataFrame) -> Changes:
    """Of two frames of schema TRIPLES, each of distinct rows: of all triples, or of those of one chunk."""
    before, after = (frame.cast(COLUMNS) for frame in (before, after))
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
        return NO_COLUMNS
    return pl.read_parquet(path)


def _distinct(iris: pl.Series) -> pl.Series:
    return iris.unique().sort()
