"""Personalised PageRank from the entities that the question names."""

from __future__ import annotations

from crmrag_query.retrieval.channels import Channel
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.retrieval.scores import NOTHING, Hits


def find(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    named = [one.entity for mention in query.mentions for one in mention.entities]
    return channels.walked(named, size, query.within) if named else NOTHING


CHANNEL = Channel(find, needs=("graph", "documents", "name_index"))
