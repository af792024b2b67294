"""The channels that search a release's copy in PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping

from crmrag_query.retrieval.channels import Channel
from crmrag_query.retrieval.database import Database
from crmrag_query.retrieval.release_channels import Query, ReleaseChannels
from crmrag_query.retrieval.scores import NOTHING, Hits


def dense(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """The documents nearest to the question, by themselves or by a passage."""
    if not query.vector.any():
        return NOTHING
    database = channels.release[Database]
    return database.documents(database.nearest(query.vector, size, database.among(query.within)))


def words(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """The documents that hold most of the question's words, themselves or in a passage."""
    database = channels.release[Database]
    return database.documents(database.holding(query.text, size, database.among(query.within)))


CHANNELS: Mapping[str, Channel] = {
    "postgres_dense": Channel(dense, needs=("encoder",), elsewhere=True),
    "postgres_words": Channel(words, elsewhere=True),
}
