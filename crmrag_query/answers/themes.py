"""Questions that are answered by themes: what the data is about, and which of its themes have to do with something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

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
from crmrag_query.errors import ModelUnreachable
from crmrag_query.retrieval.channels.communities import named, nearest
from crmrag_query.retrieval.communities import CommunityIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.text import tokenize

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
    searches, channels = CHANNEL in mode.channels, release[ReleaseChannels]
    if understood.unmet or not release.manifest.has("community_index"):
        return ()
    if not searches and (not about or mode.plans == "never"):
        return ()
    query = replace(understood.queries[0], levels=mode.limits.community_levels)
    if about:  # what else the question says is said of every theme
        query = replace(query, text=" ".join(about))
        with suppress(ModelUnreachable):
            query = replace(query, vector=release[QueryEncoder].of_question(query.text))
    first = named(release, query)
    said = {word for mention in query.mentions for word in tokenize(mention.text)}
    if about and first and said.issuperset(about):  # themes around what is named
        return _apart(communities, first)
    if not searches and not first and not release[CommunityIndex].sparse.terms(query.text):
        return ()
    least = mode.thresholds.get(CHANNEL)
    near = nearest(channels, query)
    return _apart(communities, [one for one, cosine in near if least is None or cosine >= least])


def _apart(communities: Communities, found: Sequence[int]) -> tuple[int, ...]:
    """The first ``THEMES`` of which none is a part of another."""
    kept: dict[int, None] = {}
    for one in found:
        around = {one, *communities.above(one)}
        if around.isdisjoint(kept) and not any(one in communities.above(other) for other in kept):
            kept[one] = None
    return tuple(kept)[:THEMES]


def tell_themes(
    release: Release,
    themes: Sequence[int],
    language: str,
    cited: SourceList,
    largest: bool,
    asked: Sequence[int] = (),
) -> Iterator[str]:
    """Themes in lines, behind one that says whether they are the ``largest`` of all or the nearest; each cites itself and its
    most central members, those of the documents that are ``asked`` about first."""
    if not themes:
        return
    forms = sentences().forms(language).themes or sentences().forms("en").themes
    if forms is not None:
        count = f"{len(release[Communities].outermost):,}"
        yield forms.largest.format(n=count) if largest else forms.nearest
    summaries, documents = release[Summaries], release[Documents]
    for one in themes:
        theme = summaries.tell(one, language)
        members = release[Communities].members(one)
        first = dict.fromkeys(
            (*(document for document in asked if document in members), *summaries.central(one).tolist())
        )
        nodes = [documents.entity(member) for member in list(first)[:CITED]]
        numbers = [cited.cite(community(release, one, language))]
        numbers += [cited.cite(node, cited.type_triples(node)) for node in nodes]
        yield f"- {theme.title}: {theme.brief} [{', '.join(map(str, numbers))}]"
