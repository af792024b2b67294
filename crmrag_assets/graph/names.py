"""Stated names: labels, and what appellations, titles and identifiers say, in every language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import polars as pl

from crmrag_assets.graph.core import Core, among
from crmrag_assets.graph.vocabulary import Vocabulary
from crmrag_query.config.build import Names
from crmrag_query.graph.arrays import Ints, Rows

APPELLATIONS: Final = ("E41",)
TITLES: Final = ("E35",)
MEASURES: Final = ("E54",)  # named by value and unit, see roles
NAME_LENGTH: Final = 120  # characters of a name that is really a text, then "…"
IRI_LIKE: Final = r"^(?:[A-Za-z][A-Za-z0-9+.-]*:/+\S*|urn:\S+)$"
PRIMARY: Final = (
    "http://vocab.getty.edu/aat/300404670"  # AAT "preferred terms", the primary name in Linked Art
)
PREFERRED: Final = "http://www.w3.org/2004/02/skos/core#prefLabel"
ORDER: Final = ("label", "preferred", "title", "appellation", "content", "alternative", "identifier")
Pairs = tuple[Ints, Ints]


def stated_names(
    core: Core, vocabulary: Vocabulary, constants: Names, languages: Sequence[str], suspects: Ints
) -> pl.DataFrame:
    """Every stated name once: columns node, text, lang, kind, rank, sorted by node and rank, the best name first.

    Rank: what the node is called comes before alternatives, its own content and identifiers; then languages in the
    given order (untagged after the first); then kinds in ``ORDER``. Suspects keep only labels.
    """
    texts = _texts(core, vocabulary, constants, suspects)
    linked = _linked(core, vocabulary, constants, texts, suspects)
    names = pl.concat([_own(core, vocabulary, constants, texts), linked]).with_columns(
        pl.col("text").str.replace_all(r"\s+", " ").str.strip_chars()
    )
    names = names.filter((pl.col("text") != "") & ~pl.col("text").str.contains(IRI_LIKE))
    ranked = names.with_columns(rank=_rank(languages)).sort("node", "rank", "text", "lang", "kind")
    ranked = ranked.unique(["node", "text", "lang"], keep="first", maintain_order=True)
    return ranked.with_columns(pl.col("kind").replace("content", "label"))


def _rank(languages: Sequence[str]) -> pl.Expr:
    """Smaller is better; see ``stated_names``."""
    kind = pl.col("kind").replace_strict({kind: n for n, kind in enumerate(ORDER)}, return_dtype=pl.Int32)
    group = pl.when(kind <= ORDER.index("appellation")).then(0).otherwise(kind)
    primary = pl.col("lang").str.to_lowercase().str.split("-").list.first()
    place = {lang.lower(): 2 * n for n, lang in enumerate(languages)} | {"": 1}
    language = primary.replace_strict(place, default=2 * len(languages) + 2, return_dtype=pl.Int32)
    return (group * 1000 + language) * 10 + kind


def _texts(core: Core, vocabulary: Vocabulary, constants: Names, suspects: Ints) -> pl.DataFrame:
    """The literals that say what an appellation is: columns node, text, lang, rank (place in value_properties)."""
    rank = _places(vocabulary, constants.value_properties)
    return (
        core.literals.lazy()
        .filter(among("property", list(rank)) & ~among("subject", suspects))
        .select(
            "property",
            node="subject",
            text="value",
            lang="lang",
            rank=pl.col("property").replace_strict(rank, return_dtype=pl.Int32),
        )
        .filter((pl.col("text") != "") & ~pl.col("text").str.contains(IRI_LIKE))
        .filter(pl.col("rank") == pl.col("rank").min().over("node"))
        .collect()
    )


def _places(vocabulary: Vocabulary, properties: Sequence[str]) -> dict[int, int]:
    """Property number -> place in a list of codes and IRIs."""
    return {
        n: place for place, name in enumerate(properties) for n in vocabulary.properties_with([name], [name])
    }


def _own(core: Core, vocabulary: Vocabulary, constants: Names, texts: pl.DataFrame) -> pl.DataFrame:
    """Names that literals of the node itself state.

    What an appellation says is its name, and its label ("Primary Name") only describes it.
    """
    kinds: dict[int, str] = {}
    for properties, name in (
        (constants.alternative_properties, "alternative"),
        (constants.title_properties, "title"),
        (constants.name_properties, "appellation"),
        (constants.label_properties, "label"),
        ([PREFERRED], "preferred"),
    ):
        kinds |= dict.fromkeys(vocabulary.properties_with(properties, properties), name)
    kind = pl.col("property").replace_strict(kinds, default="", return_dtype=pl.String)
    stated = core.literals.filter(among("property", list(kinds)))
    content = texts.filter(~among("property", list(kinds)))
    appellation = among("node", core.nodes_of(vocabulary.class_numbers(*APPELLATIONS)))
    said = among("node", content.filter(appellation)["node"])
    measure = among("node", core.nodes_of(vocabulary.class_numbers(*MEASURES)))
    return pl.concat(
        [
            stated.select(node="subject", text="value", lang="lang", kind=kind).with_columns(
                kind=pl.when(said & (pl.col("kind") != "title")).then(pl.lit("alternative")).otherwise("kind")
            ),
            content.filter(~measure).select(
                "node",
                pl.when(appellation).then("text").otherwise(shortened(pl.col("text"))).alias("text"),
                "lang",
                kind=pl.when(appellation).then(pl.lit("label")).otherwise(pl.lit("content")),
            ),
        ]
    )


def last_segment(iri: pl.Expr) -> pl.Expr:
    """What follows the last separator that something follows; the whole IRI when there is nothing else."""
    return pl.coalesce(iri.str.extract(r"^urn:.*?([^:/]+)$"), iri.str.extract(r"([^/#]+)[/#]*$"), iri)


def shortened(text: pl.Expr, length: int = NAME_LENGTH) -> pl.Expr:
    """The beginning of a text at a word's end, with "…" when something is left out."""
    plain = text.str.replace_all(r"\s+", " ").str.strip_chars()
    cut = plain.str.slice(0, length).str.replace(r"\s\S*$", "") + "…"
    return pl.when(plain.str.len_chars() > length).then(cut).otherwise(plain)


def _linked(
    core: Core, vocabulary: Vocabulary, constants: Names, texts: pl.DataFrame, suspects: Ints
) -> pl.DataFrame:
    """Names that stand on appellations, titles and identifiers of a node."""
    parts = [
        pl.DataFrame({"node": node, "name": name, "kind": [kind] * len(node)}, schema_overrides=_LINK_SCHEMA)
        for properties, kind in (
            (constants.title_properties, "title"),
            (constants.name_properties, "appellation"),
        )
        for node, name in _pairs(core, vocabulary, properties)
    ]
    links = pl.concat(parts) if parts else pl.DataFrame(schema=_LINK_SCHEMA)
    links = links.filter(~among("node", suspects))
    titles = core.nodes_of(vocabulary.class_numbers(*TITLES))
    identifiers = core.nodes_of(vocabulary.class_numbers(*constants.identifier_classes))
    primary = _primary(core, vocabulary)
    kind = (
        pl.when(among("name", identifiers)).then(pl.lit("identifier"))
        .when(among("name", primary)).then(pl.lit("preferred"))
        .when(among("name", titles)).then(pl.lit("title"))
        .otherwise(pl.col("kind"))
    )  # fmt: skip
    joined = links.with_columns(kind=kind).join(texts, left_on="name", right_on="node", how="inner")
    return joined.select("node", shortened(pl.col("text"), 2 * NAME_LENGTH).alias("text"), "lang", "kind")


_LINK_SCHEMA = {"node": pl.Int32, "name": pl.Int32, "kind": pl.String}


def _pairs(core: Core, vocabulary: Vocabulary, codes: Iterable[str]) -> list[Pairs]:
    """(node, appellation) by these properties, read from either end."""
    inverses = [inverse for code in codes if (inverse := vocabulary.ontology.inverse(code))]
    found = [pairs(core.forward, prop) for prop in vocabulary.properties_with(codes)]
    return found + [pairs(core.backward, prop) for prop in vocabulary.properties_with(inverses)]


def pairs(rows: Rows, prop: int) -> Pairs:
    """All pairs of a property in one direction, in order of the first."""
    low, high = int(rows.prop[prop]), int(rows.prop[prop + 1])
    count = np.diff(rows.ptr[low : high + 1])
    return np.repeat(rows.row[low:high], count), rows.val[rows.ptr[low] : rows.ptr[high]]


def _primary(core: Core, vocabulary: Vocabulary) -> Ints:
    """Appellations typed as the primary name."""
    node = int(core.terms.nodes.search_sorted(PRIMARY))
    if node >= core.nodes or core.terms.nodes[node] != PRIMARY:
        return np.empty(0, np.int32)
    return np.unique(
        np.concatenate(
            [core.backward.neighbours(p, node) for p in vocabulary.properties_with(["P2"])]
            + [core.forward.neighbours(p, node) for p in vocabulary.properties_with(["P2i"])]
            or [np.empty(0, np.int32)]
        )
    )
