"""What stands elsewhere: the same thing in authority files, and images."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import polars as pl

from crmrag_assets.graph.core import Core, among
from crmrag_assets.graph.names import Vocabulary
from crmrag_query.config.build import Images, Links
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import Ints

IDENTIFIED: Final = "P1"  # leads to appellations too, so only authorities count
# What an IRI of an authority begins with; any other address is "other". The kinds are those of the links' schema.
AUTHORITIES: Final = {
    "wikidata": r"https?://(www\.)?wikidata\.org/(entity|wiki)/Q\d+",
    "getty": r"https?://vocab\.getty\.edu/(page/)?(aat|tgn|ulan|cona)/\d+",
    "viaf": r"https?://(www\.)?viaf\.org/viaf/\d+",
    "geonames": r"https?://(www\.|sws\.)?geonames\.org/\d+",
}
DIRECT: Final = (  # whatever address these lead to is an image
    "http://schema.org/image",
    "https://schema.org/image",
    "http://xmlns.com/foaf/0.1/depiction",
    "http://xmlns.com/foaf/0.1/img",
    "linked_art:access_point",
)
HTTP: Final = r"^https?://\S+$"
# Addresses of images: by the endings of their formats, and by IIIF's Image API.
IMAGE: Final = r"(?i)^https?://\S+\.(jpe?g|png|gif|webp|tiff?|jp2)([?#]\S*)?$"
IIIF: Final = r"(?i)^https?://\S+/(info\.json|full/[^/]+/[^/]+/(default|native|color|gray)\.\w+)$"
HOPS: Final = 3  # thing, visual item, digital object, address (Linked Art)


def build_links(core: Core, vocabulary: Vocabulary, constants: Links) -> pl.DataFrame:
    """Columns of schema "links", sorted by node and IRI; a node that is an authority's own counts too."""
    plain = [name for name in constants.properties if name != IDENTIFIED]
    authority = pl.lit("other")
    for name, pattern in reversed(list(AUTHORITIES.items())):
        authority = (
            pl.when(pl.col("value").str.contains(f"^(?:{pattern})")).then(pl.lit(name)).otherwise(authority)
        )
    identified = [name for name in constants.properties if name == IDENTIFIED]
    of_authorities = [
        pl.DataFrame({"node": np.arange(core.nodes, dtype=np.int32), "value": core.terms.nodes}),
        values_of(core, vocabulary, identified).select("node", "value"),
        *(
            pl.DataFrame({"node": other, "value": core.terms.nodes[node]})
            for other, node in map(core.backward.pairs, vocabulary.properties_with(plain))
        ),
    ]
    known = [frame.filter(authority != "other") for frame in of_authorities]
    links = pl.concat([values_of(core, vocabulary, plain).select("node", "value"), *known])
    links = links.filter(pl.col("value").str.contains(HTTP)).with_columns(kind=authority)
    return links.select("node", iri="value", kind="kind").unique().sort("node", "iri")


def build_images(core: Core, vocabulary: Vocabulary, constants: Images, pattern: str = "") -> pl.DataFrame:
    """Columns of schema "images", sorted by node and address.

    An address is an image by its form (IMAGE, IIIF, or the data set's ``pattern``) or by the property that leads to it; where
    a representation has none itself, its address properties are followed. BuildError for a pattern that cannot be used.
    """
    is_image = pl.any_horizontal(
        pl.col("value").str.contains(text) for text in (IMAGE, IIIF, pattern) if text
    )
    frontier = _images_from(core, vocabulary, constants.properties)
    addresses = _images_from(core, vocabulary, constants.address_properties).rename({"node": "at"})
    found: list[pl.DataFrame] = []
    for _ in range(HOPS):
        try:
            accepted = frontier.filter(pl.col("value").str.contains(HTTP) & (pl.col("sure") | is_image))
        except pl.exceptions.ComputeError as error:
            raise BuildError(
                f"A pattern for images cannot be used: {error}.",
                "Patterns must not look ahead or behind, nor refer back to a group.",
            ) from error
        found.append(accepted.select("node", url="value"))
        rest = frontier.join(accepted.select("node", "value"), on=["node", "value"], how="anti")
        rest = rest.filter(pl.col("other") >= 0).select("node", at="other")
        frontier = rest.join(addresses, on="at", how="inner").drop("at").unique()
    return pl.concat(found).unique().sort("node", "url")


def _images_from(core: Core, vocabulary: Vocabulary, properties: Iterable[str]) -> pl.DataFrame:
    """Columns node, other (-1 for a literal), value, sure: what these properties lead to, read from either end."""
    names = list(properties)
    backward = map(core.backward.pairs, vocabulary.inverses_of(name for name in names if name != IDENTIFIED))
    return pl.concat(
        [
            *(
                values_of(core, vocabulary, [name]).with_columns(sure=pl.lit(name in DIRECT))
                for name in names
            ),
            *(_nodes(core, pair).with_columns(sure=pl.lit(False)) for pair in backward),
            values_of(core, vocabulary, []).with_columns(sure=pl.lit(False)),
        ]
    )


def values_of(core: Core, vocabulary: Vocabulary, properties: Iterable[str]) -> pl.DataFrame:
    """What properties (codes or IRIs) lead to: columns node, other (-1 for a literal), value (IRI or literal)."""
    numbers = vocabulary.properties_with(properties)
    literals = core.literals.filter(among("property", numbers)).select(
        pl.col("subject").alias("node"),
        pl.lit(-1, pl.Int32).alias("other"),
        pl.col("value").str.strip_chars(),
    )
    return pl.concat([literals, *(_nodes(core, core.forward.pairs(prop)) for prop in numbers)])


def _nodes(core: Core, pairs: tuple[Ints, Ints]) -> pl.DataFrame:
    node, other = pairs
    return pl.DataFrame({"node": node, "other": other, "value": core.terms.nodes[other]})
