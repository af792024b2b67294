"""All names of all nodes, and which of them is shown."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from crmrag_assets.graph.core import Core
from crmrag_assets.graph.roles import PATTERNS, made_names
from crmrag_assets.graph.vocabulary import ENGLISH, Vocabulary
from crmrag_query.config.build import Names
from crmrag_query.graph.arrays import Ints

MADE_KINDS = ("role", "iri")


def build_labels(
    core: Core,
    vocabulary: Vocabulary,
    constants: Names,
    stated: pl.DataFrame,
    timespans: pl.DataFrame,
    languages: Sequence[str],
    suspects: Ints,
) -> pl.DataFrame:
    """Columns of schema "labels", sorted by node, best first; a node has one made name when none is stated."""
    lang = next((lang for lang in languages if lang in PATTERNS), ENGLISH)
    made = made_names(core, vocabulary, constants, stated, timespans, lang, suspects)
    tagged = made.with_columns(
        lang=pl.when(pl.col("kind") == "role").then(pl.lit(lang)).otherwise(pl.lit(""))
    )
    columns = ["node", "text", "lang", "kind"]
    return pl.concat([stated.select(columns), tagged.select(columns)]).sort("node", maintain_order=True)
