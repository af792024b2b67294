"""Listing the themes of a release: communities with what is told of them."""

from __future__ import annotations

import numpy as np

from crmrag_query import bounds
from crmrag_query.artifacts.release import Release
from crmrag_query.client.entities import find_node
from crmrag_query.client.records import ThemeInfo, Themes
from crmrag_query.client.wire import ListThemes
from crmrag_query.communities.communities import NONE, Communities
from crmrag_query.communities.themes import Summaries
from crmrag_query.documents.documents import Documents
from crmrag_query.entities.named import Named
from crmrag_query.errors import QuestionError

MEMBERS = 10  # of a theme, the most central


def list_themes(release: Release, dataset: str, request: ListThemes) -> Themes:
    """The page of themes that is asked for. QuestionError for a theme that there is not; ReleaseError without communities."""
    bounds.check_range("limit", request.limit, 1, bounds.SEARCH)
    bounds.check_range("offset", request.offset, 0, bounds.OFFSET)
    communities = release[Communities]
    language = request.language or release.manifest.language
    if request.theme:
        chosen = np.array([_number(release, request.theme)], np.int32)
    elif request.of:
        document = release[Documents].document_of(find_node(release, request.of))
        chosen = np.array([] if document is None else communities.of_document(document), np.int32)
    elif request.within:
        chosen = communities.parts(_number(release, request.within))
    elif request.level is not None:
        chosen = communities.of_level(request.level)
    else:
        chosen = communities.outermost
    page = chosen[request.offset : request.offset + request.limit].tolist()
    covered = int(communities.levels[0]["documents"]) if communities.levels else 0
    return Themes(
        tuple(_theme(release, one, language) for one in page),
        len(chosen),
        len(communities.levels),
        release[Documents].count - covered,
        language,
        dataset,
        release.id,
    )


def _number(release: Release, theme: str) -> int:
    number = release[Communities].number(theme)
    if number is None:
        raise QuestionError(
            f"There is no theme {theme[:40]!r} in release {release.id}.",
            "Ids change with a theme's members: list the themes again.",
        )
    return number


def _theme(release: Release, community: int, language: str) -> ThemeInfo:
    communities, documents = release[Communities], release[Documents]
    told = release[Summaries].tell(community, language)
    parent = int(communities.parent[community])
    nodes = [documents.entity(one) for one in communities.members(community, MEMBERS).tolist()]
    graph = documents.graph
    return ThemeInfo(
        id=communities.name(community),
        level=int(communities.level[community]),
        rank=int(communities.rank[community]),
        size=communities.size(community),
        title=told.title,
        text=told.text,
        model=told.model,
        parent="" if parent == NONE else communities.name(parent),
        parts=len(communities.parts(community)),
        members=tuple(Named(graph.iri(node), graph.label(node, (language,))) for node in nodes),
    )
