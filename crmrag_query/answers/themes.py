"""Questions that are answered by themes: what the data is about, and which of its themes have to do with something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.subject import subject_of, theme_words
from crmrag_query.answers.understand import Understood
from crmrag_query.artifacts.release import Release
from crmrag_query.communities.communities import Communities
from crmrag_query.communities.themes import Summaries
from crmrag_query.config.modes import Mode
from crmrag_query.config.sentences import sentences
from crmrag_query.context.findings import community
from crmrag_query.documents.documents import Documents
from crmrag_query.retrieval.channels.communities import nearest
from crmrag_query.retrieval.communities import CommunityIndex
from crmrag_query.retrieval.release_channels import ReleaseChannels

CHANNEL = "communities"
NEEDED = ("communities", "community_summaries")
THEMES = 5  # that are told
CITED = 2  # most central members of each that are sources beside it


def themes_of(release: Release, understood: Understood, mode: Mode) -> tuple[int, ...]:
    """The communities that a question is about, the first ones first; none for one that is about no themes, and where the
    release has none: the largest for the data as a whole, those that its words find, in a mode that searches themes those
    that it finds. None within a part of the data: themes are those of all of it."""
    if (
        understood.scope is not None
        or not all(map(release.manifest.has, NEEDED))
        or not len(release[Communities])
    ):
        return ()
    communities, subject = release[Communities], subject_of(release, understood)
    about = theme_words(release, understood) if subject == "themes" else ()
    if subject == "whole" or (subject == "themes" and not about):
        return tuple(communities.outermost[:THEMES].tolist())
    if CHANNEL in mode.channels:
        least = mode.thresholds.get(CHANNEL)
        query = replace(understood.queries[0], levels=mode.limits.community_levels)
        near = [] if understood.unmet else nearest(release[ReleaseChannels], query)
        return _apart(communities, [one for one, cosine in near if least is None or cosine >= least])
    if not about or mode.plans == "never" or not release.manifest.has("community_index"):
        return ()
    index, text = release[CommunityIndex], " ".join(about)
    if not index.sparse.terms(text):
        return ()
    every = np.arange(len(communities), dtype=np.int32)
    found = index.search(text, understood.queries[0].vector, every, THEMES * len(communities.levels))
    return _apart(communities, [one for one, _ in found])


def _apart(communities: Communities, found: Sequence[int]) -> tuple[int, ...]:
    """The first ``THEMES`` of which none is a part of another."""
    kept: dict[int, None] = {}
    for one in found:
        around = {one, *communities.above(one)}
        if around.isdisjoint(kept) and not any(one in communities.above(other) for other in kept):
            kept[one] = None
    return tuple(kept)[:THEMES]


def tell_themes(
    release: Release, themes: Sequence[int], language: str, cited: SourceList, largest: bool
) -> Iterator[str]:
    """Themes in lines, behind one that says whether they are the ``largest`` of all or the nearest; each cites itself and its
    most central members."""
    if not themes:
        return
    forms = sentences().forms(language).themes or sentences().forms("en").themes
    if forms is not None:
        count = f"{len(release[Communities].outermost):,}"
        yield forms.largest.format(n=count) if largest else forms.nearest
    summaries, documents = release[Summaries], release[Documents]
    for one in themes:
        theme = summaries.tell(one, language)
        nodes = [documents.entity(member) for member in summaries.central(one)[:CITED].tolist()]
        numbers = [cited.cite(community(release, one, language))]
        numbers += [cited.cite(node, cited.type_triples(node)) for node in nodes]
        yield f"- {theme.title}: {theme.brief} [{', '.join(map(str, numbers))}]"
