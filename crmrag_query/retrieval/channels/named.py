"""The documents of the entities that the question names, the surest first."""

from __future__ import annotations

from crmrag_query.retrieval.channels import Channel
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.retrieval.scores import Hits


def find(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """Their scores are those by which the names were linked. Not cut at ``size``: a question names few things."""
    named = [one for mention in query.mentions for one in mention.entities]
    score: dict[int, float] = {}
    for one in sorted(named, key=lambda one: (-one.score, one.entity)):
        for document in channels.holding([one.entity]):
            score.setdefault(document, one.score)
    return Hits.of(score.items())


CHANNEL = Channel(find, needs=("documents", "name_index"))
