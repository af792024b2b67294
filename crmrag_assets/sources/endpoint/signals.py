"""A look at an endpoint between builds: at most three requests, each allowed to fail."""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path

import polars as pl

from crmrag_assets.harvest.source import ETAG, MODIFIED, TRIPLES
from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.queries import Part, count_triples, rows_of, stated_dates
from crmrag_query.config.operations import Watching

SUBJECTS = "subjects.parquet"  # in the folder of discovery: the subjects that are asked for
STATED = "stated"
SAMPLE = "sample of {} entities ({})"


def signals(client: Client, entities: Path, limits: Watching) -> dict[str, str]:
    """What the endpoint tells of itself now, by signal; one that it does not answer for is left out.

    ``entities``: the folder that discovery filled. Raises SourceError where the endpoint does not answer at all.
    """

    def counted() -> dict[str, str]:
        """The number of triples; and what the response says of its age, where that is not simply now."""
        found = {TRIPLES: str(client.count(count_triples(client.scope), patient=False))}
        if etag := client.headers.get("etag"):
            found[ETAG] = etag
        modified, sent = client.headers.get("last-modified", ""), client.headers.get("date", "")
        if modified and _seconds(modified) < _seconds(sent):
            found[MODIFIED] = modified
        return found

    def stated() -> dict[str, str]:
        """Dates and sizes that the endpoint states of its data sets, where it describes any."""
        values = sorted(client.strings(stated_dates(client.scope), "stated"))
        return {STATED: ", ".join(values)} if values else {}

    def sampled() -> dict[str, str]:
        """A hash over the triples of some entities, blank nodes aside; none where no entity has any."""
        iris = sample_of(entities, min(limits.sampled, client.settings.batch_entities))
        if not iris:
            return {}
        query = rows_of(Part(tuple(iris), unnamed=True), client.scope)
        rows = {"\t".join(map(str, row)) for row in client.rows(query, client.scope.width, patient=False)}
        name = SAMPLE.format(len(iris), _hash("\n".join(iris))[:8])
        return {name: _hash("\n".join(sorted(rows)))} if rows else {}

    # A request that begins until then may take as long again.
    end = time.monotonic() + 2 * limits.request_seconds
    found: dict[str, str] = {}
    for ask in (counted, stated, sampled):
        if time.monotonic() + client.settings.pause_seconds > end:
            break
        with suppress(Unanswered):
            found |= ask()
    return found


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _seconds(date: str) -> float:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0


def sample_of(entities: Path, size: int) -> list[str]:
    """Entities that discovery listed, the same each time, from everywhere in the list; none before a discovery."""
    try:
        listed = pl.read_parquet(entities / SUBJECTS, columns=["raw", "iri", "excluded"])
    except (OSError, pl.exceptions.PolarsError):
        return []
    named = listed.filter(~pl.col("excluded") & (pl.col("raw") == pl.col("iri"))).get_column("iri")
    return named.gather_every(max(1, len(named) // size)).head(size).to_list()
