"""Documents that Fundamental Relationships tie to the entities that the question names."""

from __future__ import annotations

from collections.abc import Iterator

from crmrag_query.retrieval.channels import RANKING, Ties
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels, Shares


def of(channels: ReleaseChannels, query: Query) -> Iterator[tuple[float, Shares]]:
    for mention in query.mentions:
        share = channels.tied(mention, query.form, query.targets, query.cues)
        yield mention.entities[0].score, share


CHANNEL = Ties(of, needs=("graph", "documents", "name_index", *RANKING))
