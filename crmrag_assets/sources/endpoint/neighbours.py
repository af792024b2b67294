"""What an entity of an endpoint is linked with, for a sample that needs no harvest of the whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import polars as pl
import pyoxigraph as ox

from crmrag_assets.harvest.triples import IRI, RDF_TYPE
from crmrag_assets.sources.base import FAN_IN
from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.queries import is_iri, pointing_at

POINTED = 50  # entities in one request for what points at them
SPARE = 2  # times FAN_IN are asked for, as some are terms of a schema

Links = Mapping[str, set[str]]


def pointing(client: Client, blanks: pl.DataFrame, iris: Sequence[str]) -> Links:
    """Subjects that point at each of ``iris``: the first named ones, asked for, and all that were blank nodes."""
    found = defaultdict[str, set[str]](set)
    asked = list(filter(is_iri, iris))
    for at in range(0, len(asked), POINTED):
        _ask(client, asked[at : at + POINTED], found)
    known = blanks.filter((pl.col("kind") == IRI) & pl.col("o").is_in(list(iris)) & (pl.col("p") != RDF_TYPE))
    for s, o in known.select("s", "o").iter_rows():
        found[o].add(s)
    return found


def _ask(client: Client, targets: Sequence[str], found: dict[str, set[str]]) -> None:
    """Ask for what points at the targets, fewer at once where that is too much; a single one may stay without."""
    try:
        rows = client.table(pointing_at(client.scope, targets, SPARE * FAN_IN), ("iri", "target"), False).rows
    except Unanswered:
        client.note("requests for what points at entities that were not answered")
        half = len(targets) // 2
        for part in (targets[:half], targets[half:]) if half else ():
            _ask(client, part, found)
        return
    for iri, target in rows:
        if isinstance(iri, ox.Literal) and isinstance(target, ox.Literal):
            found[target.value].add(iri.value)


def joined(
    iris: Sequence[str], triples: pl.DataFrame, into: Links, entities: frozenset[str]
) -> dict[str, list[str]]:
    """Neighbours of each of ``iris``: all entities that it points at, then the first FAN_IN that point at it."""
    out = defaultdict[str, set[str]](set)
    links = triples.filter((pl.col("kind") == IRI) & (pl.col("p") != RDF_TYPE) & (pl.col("s") != pl.col("o")))
    for s, o in links.select("s", "o").iter_rows():
        if o in entities:
            out[s].add(o)
    found = {}
    for iri in iris:
        back = sorted(one for one in into.get(iri, ()) if one in entities and one != iri)[:FAN_IN]
        found[iri] = list(dict.fromkeys([*sorted(out[iri]), *back]))
    return found
