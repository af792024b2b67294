"""The documents with the highest BM25 score for the question's words."""

from __future__ import annotations

from crmrag_query.retrieval.channels import Channel
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.retrieval.scores import Hits
from crmrag_query.retrieval.sparse import SparseIndex


def find(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    return channels.sparse(query.text, size, query.within)


def meets(channels: ReleaseChannels, query: Query) -> bool:
    """Whether a document has one of the words: looked up, where a search would score all documents that have it."""
    return bool(channels.release[SparseIndex].terms(query.text))


CHANNEL = Channel(find, needs=("bm25_index",), meets=meets)
