"""The central documents of the communities whose themes are nearest to the question, level by level."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.linking import KINDS
from crmrag_query.retrieval.channels import Channel
from crmrag_query.retrieval.communities import Communities, CommunityIndex
from crmrag_query.retrieval.release_channels import Query, ReleaseChannels
from crmrag_query.retrieval.scores import Hits

OF_A_LEVEL = 3  # communities, the nearest
MEMBERS = 20  # of each, the most central
ALIKE = 3  # things of one name, equally likely
JOINED = 10  # communities of what they are joined to
LEAST = 0.4
"""Similarity of a theme, calibrated, on the scale (1 + cosine) / 2. Source: the published mode ``global_vector``."""


def things(release: Release, query: Query) -> list[int]:
    """The documents of what a question calls by a whole name, of several equally likely some."""
    numbers = release[Documents].entity_document
    found = dict[int, None]()
    for mention in query.mentions:
        likeliest = [one for one in mention.entities if one.score == mention.entities[0].score][:ALIKE]
        found.update((int(numbers[one.entity]), None) for one in likeliest if one.how in KINDS)
    return [document for document in found if document >= 0]


def named(release: Release, query: Query) -> list[int]:
    """The communities of what a question names: of each thing the one that it is most central to, the outermost of several;
    then the finest ones of what it is joined to in the entity graph, by how strongly."""
    communities, found, around = release[Communities], dict[int, None](), np.zeros(len(release[Communities]))
    for document in things(release, query):
        own = communities.of_document(document)
        places = {one: communities.members(one, MEMBERS).tolist() for one in own}
        led = [one for one in own if document in places[one]]
        if led:
            first = min(led, key=lambda one: (places[one].index(document), -int(communities.level[one])))
            found[first] = None
        found.update(dict.fromkeys(own[:1] if not led else ()))
        neighbours, weights = release[EntityGraph].of(document)
        inside = communities.finest(neighbours)
        np.add.at(around, inside[inside >= 0], weights[inside >= 0])
    best = np.argsort(-around, kind="stable")[:JOINED].tolist()
    found.update(dict.fromkeys(one for one in best if around[one] > 0))
    return list(found)


def nearest(channels: ReleaseChannels, query: Query) -> list[tuple[int, float]]:
    """The communities of what a question names, then those whose themes are nearest to it, some of each level, best first;
    with their cosines."""
    communities, index = channels.release[Communities], channels.release[CommunityIndex]
    measured = query.vector.any() and channels.release.manifest.has("faiss_index")
    least = channels.calibrated(LEAST) if measured else 0.0
    levels = [told["level"] for told in communities.levels][: query.levels]
    first = named(channels.release, query)
    found = [
        one
        for level in levels
        for one in index.search(query.text, query.vector, communities.of_level(level), OF_A_LEVEL)
        if one[1] >= least and one[0] not in first
    ]
    led = [(one, float(index.vectors[one] @ query.vector)) for one in first]
    return led + sorted(found, key=lambda one: (-one[1], one[0]))


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


CHANNELS: Mapping[str, Channel] = {
    "communities": Channel(
        find,
        needs=(
            "communities",
            "community_summaries",
            "community_index",
            "entity_graph",
            "encoder",
            "documents",
        ),
        meets=meets,
    )
}
