"""The documents that hold most of the question's words, themselves or in a passage, found in PostgreSQL."""

from __future__ import annotations

from crmrag_query.retrieval.channels import Channel
from crmrag_query.retrieval.database import Database
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.retrieval.scores import Hits


def find(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    database = channels.release[Database]
    return database.documents(database.holding(query.text, size, database.among(query.within)))


CHANNEL = Channel(find, elsewhere=True)
