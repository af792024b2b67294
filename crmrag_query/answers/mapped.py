"""Themes: a model reads each for what in it answers a question (map), before one answer is written of all (reduce)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from crmrag_query.artifacts.release import Release
from crmrag_query.communities.communities import Communities
from crmrag_query.context.context import Context, ContextSource, Finding
from crmrag_query.documents.documents import Documents
from crmrag_query.llm.model import Message, Model, Request
from crmrag_query.llm.pool import ModelPool
from crmrag_query.reading.plan_json import read_json
from crmrag_query.text import as_data, plain, shorten

MEMBERS, MEMBER = 8, 600  # of a theme, the most central, whose documents are told, and characters of each
WORKERS, SECONDS = 5, 30.0
POINTS, POINT = 6, 400  # that a theme may give, and characters of one
REPLY_TOKENS = 600
UNREAD = "The model read"  # … so many of the themes: in the note of one that failed at others
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
    notes = (f"{UNREAD} {len(held) - failed} of {len(held)} themes: {pool.why}",) if failed else ()
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
