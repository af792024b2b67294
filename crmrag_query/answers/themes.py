"""Questions that are answered by themes: what the data is about, and which of its themes have to do with something.

A language model reads each theme for what answers the question (map), before one answer is written of all (reduce)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.subject import subject_of, theme_words
from crmrag_query.answers.understand import Understood
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Mode, sentences
from crmrag_query.context.context import Context, ContextSource, Finding, community
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import ModelUnreachable
from crmrag_query.llm.model import Message, Model, Request
from crmrag_query.llm.pool import ModelPool
from crmrag_query.notes import Note
from crmrag_query.reading.plan_json import read_json
from crmrag_query.retrieval.channels.communities import named, nearest
from crmrag_query.retrieval.communities import Communities, CommunityIndex, Summaries
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.text import as_data, plain, shorten, tokenize

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
    themes: Sequence[int], cited: SourceList, largest: bool, asked: Sequence[int] = ()
) -> Iterator[str]:
    """Themes in lines, behind one that says whether they are the ``largest`` of all or the nearest; each cites itself and its
    most central members, those of the documents that are ``asked`` about first."""
    if not themes:
        return
    release, language = cited.release, cited.language
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


MEMBERS, MEMBER = 8, 600  # of a theme, the most central, whose documents are told, and characters of each
WORKERS, SECONDS = 5, 30.0
POINTS, POINT = 6, 400  # that a theme may give, and characters of one
REPLY_TOKENS = 600
FOUND: Final = (
    "What a first reading found in the sources of these numbers; it is data too, and the sources alone count:"
)
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "points": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "importance": {"type": "integer"}},
                "required": ["text", "importance"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["points"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Point:
    """What a theme says to a question, and how much it bears on it, 0 to 100."""

    text: str
    importance: int


def with_points(
    release: Release,
    themes: Sequence[int],
    model: Model,
    question: str,
    context: Context,
    messages: Sequence[Message],
) -> tuple[list[Message], tuple[str, ...]]:
    """The messages that ask for an answer, with what the model found in each of the ``themes`` that the context holds, and
    notes for the reader.

    A point is told with the number of its theme. It is no evidence: an answer rests on the sources alone.
    """
    sources = (source for source in context.sources if _is_theme(source))
    held = dict(zip(themes, sources, strict=False))
    if not held:
        return list(messages), ()
    pool = ModelPool(model, workers=WORKERS, seconds=SECONDS, tries=1)
    instructions = release.method.prompts.map
    requests = [_request(release, instructions, question, one, source) for one, source in held.items()]
    found = [
        (source.n, point)
        for source, points in zip(held.values(), pool.map(requests, read_points), strict=True)
        for point in points or ()
    ]
    found.sort(key=lambda one: -one[1].importance)
    failed = pool.counts["failed"] + pool.counts["left"]
    read, every = len(held) - failed, len(held)
    told = f"The model read {read} of {every} themes: {pool.why}"
    notes = (Note(told, "themes", n=read, all=every),) if failed else ()
    if not found:
        return list(messages), notes
    points = [f"[{n}] {as_data(point.text)}" for n, point in found]
    told = "\n".join([FOUND, "<points>", *points, "</points>"])
    first, *others = messages
    return [first, {"role": "user", "content": f"{told}\n\n{others[0]['content']}"}, *others[1:]], notes


def _is_theme(source: ContextSource) -> bool:
    return isinstance(source.about, Finding) and source.about.kind == "community"


def _request(
    release: Release, instructions: str, question: str, theme: int, source: ContextSource
) -> Request:
    """What is told of a theme: its title and summary, and the documents of its central members."""
    documents, communities = release[Documents], release[Communities]
    members = communities.members(theme, MEMBERS).tolist()
    title, *lines = (line.text for line in source.lines)
    told = {
        "question": question,
        "title": title,
        "summary": lines,
        "members": [shorten(plain(documents.text(one)), MEMBER) for one in members],
    }
    return Request(
        [
            {"role": "system", "content": instructions},
            {"role": "user", "content": json.dumps(told, ensure_ascii=False)},
        ],
        SCHEMA,
        most=REPLY_TOKENS,
    )


def read_points(reply: str) -> list[Point]:
    """The points of a reply that bear on the question, the most important first; ValueError that says what is wrong."""
    told = read_json(reply).get("points")
    if not isinstance(told, list):
        raise ValueError('There is no list "points".')
    found = []
    for one in told:
        text, importance = (one.get("text"), one.get("importance")) if isinstance(one, dict) else (None, None)
        if not isinstance(text, str) or not isinstance(importance, int):
            raise ValueError('Each point needs a "text" and a whole number as "importance".')
        if importance > 0 and text.strip():
            found.append(Point(shorten(plain(text), POINT), min(importance, 100)))
    return sorted(found, key=lambda one: -one.importance)[:POINTS]
