"""Looks at an endpoint: at most three requests, each allowed to fail, for what would tell of a change."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from pathlib import Path

import polars as pl

from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.queries import Part, count_triples, rows_of, stated_dates
from crmrag_assets.sources.endpoint.source import SUBJECTS, SparqlEndpoint
from crmrag_query.config.operations import Watching

TRIPLES, STATED, ETAG, MODIFIED = "triples", "stated", "ETag", "Last-Modified"
SAMPLE = "sample of {} entities ({})"


def look(source: SparqlEndpoint, entities: Path, limits: Watching) -> dict[str, str]:
    """What the endpoint tells of itself now, by signal; one that it does not answer for is left out.

    ``entities``: the folder that discovery filled. Raises SourceError where the endpoint does not answer at all.
    """
    client = source.brief_client(limits.request_seconds)
    end = (
        time.monotonic() + 2 * limits.request_seconds
    )  # a request that begins until then may take as long again
    found: dict[str, str] = {}
    asks: list[Callable[[], dict[str, str]]] = [
        lambda: _counted(client),
        lambda: _stated(client),
        lambda: _sampled(client, sample_of(entities, min(limits.sampled, client.settings.batch_entities))),
    ]
    for ask in asks:
        if time.monotonic() + client.settings.pause_seconds > end:
            break
        try:
            found |= ask()
        except Unanswered:
            continue
    return found


def _counted(client: Client) -> dict[str, str]:
    """The number of triples; and what the response says of its age, where that is not simply now."""
    found = {TRIPLES: str(client.count(count_triples(client.scope), patient=False))}
    if etag := client.headers.get("etag"):
        found[ETAG] = etag
    modified, sent = client.headers.get("last-modified", ""), client.headers.get("date", "")
    if modified and _seconds(modified) < _seconds(sent):
        found[MODIFIED] = modified
    return found


def _seconds(date: str) -> float:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _stated(client: Client) -> dict[str, str]:
    """Dates and sizes that the endpoint states of its data sets, where it describes any."""
    stated = sorted(client.strings(stated_dates(client.scope), "stated"))
    return {STATED: ", ".join(stated)} if stated else {}


def _sampled(client: Client, iris: Sequence[str]) -> dict[str, str]:
    """A hash over the triples of some entities, blank nodes aside; none where no entity has any."""
    if not iris:
        return {}
    query = rows_of(Part(tuple(iris), unnamed=True), client.scope)
    rows = {"\t".join(map(str, row)) for row in client.rows(query, client.scope.width, patient=False)}
    if not rows:
        return {}
    asked = hashlib.sha256("\n".join(iris).encode()).hexdigest()[:8]
    return {SAMPLE.format(len(iris), asked): hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest()}


def sample_of(entities: Path, size: int) -> list[str]:
    """Entities that discovery listed, the same each time, from everywhere in the list; none before a discovery."""
    try:
        listed = pl.read_parquet(entities / SUBJECTS, columns=["raw", "iri", "excluded"])
    except (OSError, pl.exceptions.PolarsError):
        return []
    named = listed.filter(~pl.col("excluded") & (pl.col("raw") == pl.col("iri"))).get_column("iri")
    return named.gather_every(max(1, len(named) // size)).head(size).to_list()
