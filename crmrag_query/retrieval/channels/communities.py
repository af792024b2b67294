"""The central documents of the communities whose themes are nearest to the question, level by level."""

from __future__ import annotations

from crmrag_query.communities.communities import Communities
from crmrag_query.retrieval.channels import Channel
from crmrag_query.retrieval.communities import CommunityIndex
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.retrieval.scores import Hits

OF_A_LEVEL = 3  # communities, the nearest
MEMBERS = 20  # of each, the most central
LEAST = 0.4
"""Similarity of a theme, calibrated, on the scale (1 + cosine) / 2. Source: the published mode ``global_vector``."""


def nearest(channels: ReleaseChannels, query: Query) -> list[tuple[int, float]]:
    """The communities whose themes are nearest to a question, some of each level, with their cosines, best first."""
    communities, index = channels.release[Communities], channels.release[CommunityIndex]
    measured = query.vector.any() and channels.release.manifest.has("faiss_index")
    least = channels.calibrated(LEAST) if measured else 0.0
    levels = [told["level"] for told in communities.levels][: query.levels]
    found = [
        one
        for level in levels
        for one in index.search(query.text, query.vector, communities.of_level(level), OF_A_LEVEL)
        if one[1] >= least
    ]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def find(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """Their scores are the cosines of their communities; a document of several has the best."""
    score: dict[int, float] = {}
    communities = channels.release[Communities]
    for community, cosine in nearest(channels, query):
        members = communities.members(community, MEMBERS if query.within is None else None)
        if query.within is not None:
            members = members[query.within[members]][:MEMBERS]
        for document in members.tolist():
            score.setdefault(document, cosine)
    return Hits.of(list(score.items())[:size])


def meets(channels: ReleaseChannels, query: Query) -> bool:
    """Whether a theme has one of the words."""
    return bool(channels.release[CommunityIndex].sparse.terms(query.text))


CHANNEL = Channel(
    find, needs=("communities", "community_summaries", "community_index", "encoder", "documents"), meets=meets
)
