"""The documents nearest to the question, by themselves or by a passage, found in PostgreSQL."""

from __future__ import annotations

from crmrag_query.retrieval.channels import Channel
from crmrag_query.retrieval.database import Database
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.retrieval.scores import NOTHING, Hits


def find(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    if not query.vector.any():
        return NOTHING
    database = channels.release[Database]
    return database.documents(database.nearest(query.vector, size, database.among(query.within)))


CHANNEL = Channel(find, needs=("encoder",), elsewhere=True)
