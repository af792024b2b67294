"""What a walk finds through the part of the entity graph that the question is for."""

from __future__ import annotations

from crmrag_query.retrieval.channels import Channel
from crmrag_query.retrieval.channels import dense as by_vectors
from crmrag_query.retrieval.channels import sparse as by_words
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.retrieval.scores import Hits
from crmrag_query.retrieval.walker import Walker


def find(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    found = channels.release[Walker].walk(query).found
    return Hits(found.documents[:size], found.scores[:size])


def meets(channels: ReleaseChannels, query: Query) -> bool:
    """Whether there is anywhere to land."""
    return by_words.meets(channels, query) or by_vectors.meets(channels, query)


CHANNEL = Channel(
    find,
    needs=("entity_graph", "token_vectors", "faiss_index", "bm25_index", "encoder", "documents"),
    meets=meets,
)
