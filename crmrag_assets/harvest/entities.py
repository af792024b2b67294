"""Which subjects are entities (facts: method, Build: Discovery)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from crmrag_assets.harvest.triples import RDF_TYPE
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
