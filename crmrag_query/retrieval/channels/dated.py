"""Documents of what is dated within the period that the question names."""

from __future__ import annotations

from collections.abc import Iterator

from crmrag_query.retrieval.channels import RANKING, Ties
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels, Shares


def of(channels: ReleaseChannels, query: Query) -> Iterator[tuple[float, Shares]]:
    if query.period is not None:
        yield 1.0, channels.dated(query.period, query.targets, query.cues)


CHANNEL = Ties(of, needs=("date_index", "documents", *RANKING))
