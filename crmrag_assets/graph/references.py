"""What stands elsewhere: the same thing in authority files, and images."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import polars as pl

from crmrag_assets.graph.core import Core, among
from crmrag_assets.graph.names import pairs
from crmrag_assets.graph.vocabulary import Vocabulary
from crmrag_query.config.build import Images, Links
from crmrag_query.errors import BuildError

IDENTIFIED: Final = ("P1",)  # leads to appellations too, so only authorities count
DIRECT: Final = (  # whatever address these lead to is an image
    "http://schema.org/image",
    "https://schema.org/image",
    "http://xmlns.com/foaf/0.1/depiction",
    "http://xmlns.com/foaf/0.1/img",
    "linked_art:access_point",
)
HTTP: Final = r"^https?://\S+$"
HOPS: Final = 3  # thing, visual item, digital object, address (Linked Art)


def build_links(core: Core, vocabulary: Vocabulary, constants: Links) -> pl.DataFrame:
    """Columns of schema "links", sorted by node and IRI; a node that is an authority's own counts too."""
    plain = [name for name in constants.properties if name not in IDENTIFIED]
    found = values_of(core, vocabulary, plain).select("node", "value")
    strict = [values_of(core, vocabulary, [name for name in constants.properties if name in IDENTIFIED])]
    strict += [
        pl.DataFrame({"node": other, "value": core.terms.nodes[node]})
        for prop in vocabulary.properties_with(plain, plain)
        for other, node in [pairs(core.backward, prop)]
    ]
    own = pl.DataFrame({"node": np.arange(core.nodes, dtype=np.int32), "value": core.terms.nodes})
    authority = _kind(constants.authorities)
    sure = [_filtered(frame.select("node", "value"), authority != "other") for frame in (*strict, own)]
    links = pl.concat([found, *sure])
    links = _filtered(links, pl.col("value").str.contains(HTTP)).with_columns(kind=authority)
    return links.select("node", iri="value", kind="kind").unique().sort("node", "iri")


def _kind(authorities: Mapping[str, str]) -> pl.Expr:
    """The first authority whose pattern the address begins with, else "other"."""
    kind = pl.lit("other")
    for name, pattern in reversed(list(authorities.items())):
        kind = pl.when(pl.col("value").str.contains(f"^(?:{pattern})")).then(pl.lit(name)).otherwise(kind)
    return kind


def build_images(core: Core, vocabulary: Vocabulary, constants: Images, pattern: str = "") -> pl.DataFrame:
    """Columns of schema "images", sorted by node and address.

    An address is an image by its form (the method's patterns, or the data set's ``pattern``) or by the property that
    leads to it; where a representation has none itself, its address properties are followed.
    """
    patterns = [text for text in (constants.pattern, constants.iiif_pattern, pattern) if text]
    is_image = pl.any_horizontal(pl.col("value").str.contains(text) for text in patterns)
    frontier = _images_from(core, vocabulary, constants.properties)
    further = _images_from(core, vocabulary, constants.address_properties)
    addresses = further.rename({"node": "at"})
    found: list[pl.DataFrame] = []
    for _ in range(HOPS):
        accepted = _filtered(frontier, pl.col("value").str.contains(HTTP) & (pl.col("sure") | is_image))
        found.append(accepted.select("node", url="value"))
        rest = frontier.join(accepted.select("node", "value"), on=["node", "value"], how="anti")
        rest = rest.filter(pl.col("other") >= 0).select("node", at="other")
        frontier = rest.join(addresses, on="at", how="inner").drop("at").unique()
    return pl.concat(found).unique().sort("node", "url")


def _images_from(core: Core, vocabulary: Vocabulary, properties: Sequence[str]) -> pl.DataFrame:
    """Columns node, other (-1 for a literal), value, sure: what these properties lead to, read from either end."""
    parts = [
        values_of(core, vocabulary, [name]).with_columns(sure=pl.lit(name in DIRECT)) for name in properties
    ]
    inverses = [
        inverse for name in properties if (inverse := vocabulary.ontology.inverse(name)) and name != "P1"
    ]
    parts += [
        pl.DataFrame({"node": node, "other": other, "value": core.terms.nodes[other]}).with_columns(
            sure=pl.lit(False)
        )
        for prop in vocabulary.properties_with(inverses)
        for node, other in [pairs(core.backward, prop)]
    ]
    return (
        pl.concat([part.select(list(_FRONTIER)) for part in parts])
        if parts
        else pl.DataFrame(schema=_FRONTIER)
    )


_FRONTIER = {"node": pl.Int32, "other": pl.Int32, "value": pl.String, "sure": pl.Boolean}


def values_of(core: Core, vocabulary: Vocabulary, properties: Iterable[str]) -> pl.DataFrame:
    """What properties (codes or IRIs) lead to: columns node, other (-1 for a literal), value (IRI or literal)."""
    names = list(properties)
    numbers = vocabulary.properties_with(names, names)
    literals = core.literals.filter(among("property", numbers)).select(
        pl.col("subject").alias("node"),
        pl.lit(-1, pl.Int32).alias("other"),
        pl.col("value").str.strip_chars(),
    )
    nodes = [
        pl.DataFrame({"node": node, "other": other, "value": core.terms.nodes[other]})
        for node, other in (pairs(core.forward, prop) for prop in numbers)
    ]
    return pl.concat([literals, *nodes])


def _filtered(frame: pl.DataFrame, condition: pl.Expr) -> pl.DataFrame:
    try:
        return frame.filter(condition)
    except pl.exceptions.ComputeError as error:
        raise BuildError(
            f"A pattern for links or images cannot be used: {error}.",
            "Patterns must not look ahead or behind, nor refer back to a group.",
        ) from error
