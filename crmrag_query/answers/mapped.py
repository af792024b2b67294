"""Themes: a model reads each for what in it answers a question (map), before one answer is written of all (reduce)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from crmrag_query.answers.gathered import Gathered, Item
from crmrag_query.artifacts.release import Release
from crmrag_query.llm.model import Model, Request
from crmrag_query.llm.pool import ModelPool
from crmrag_query.reading.plan_json import read_json
from crmrag_query.stores.records import GraphCommunity
from crmrag_query.stores.release import ReleaseStore
from crmrag_query.text import plain, shorten

LEVELS, OF_LEVEL, THEMES = 3, 5, 8
"""Levels of themes that are looked at, the finest first, themes of each, and how many are read in all.
Source of the first two: the published mode of this name."""
MEMBERS = 8  # of a theme, the most central, that are told with what is said of them
WORKERS, SECONDS = 5, 30.0
POINTS, POINT = 6, 400  # that a theme may give, and characters of one
REPLY_TOKENS = 600
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


def themes_for(release: Release, question: str, model: Model, language: str, least: float | None) -> Gathered:
    """The themes that bear on a question, those that say most first, each with what a model found in it.

    ``least``: the cosine below which a theme is not read, None for no such bound. Themes of which nothing bears on the
    question are left out; empty where none is found. Where the model fails for a theme, that theme stays as it is.
    """
    store = ReleaseStore(release, language)
    found = _nearest(store, question, least)
    if not found:
        return Gathered()
    items = [_item(store, theme) for theme in found]
    pool = ModelPool(model, workers=WORKERS, seconds=SECONDS, tries=1)
    requests = [_request(release.method.prompts.map, question, item) for item in items]
    read = list(pool.map(requests, read_points))
    told = [
        (item if points is None else _with_points(item, points), _weight(points))
        for item, points in zip(items, read, strict=True)
        if points is None or points
    ]
    told.sort(key=lambda one: -one[1])
    failed = pool.counts["failed"] + pool.counts["left"]
    notes = (f"The model read {len(items) - failed} of {len(items)} themes: {pool.why}",) if failed else ()
    return Gathered(tuple(item for item, _ in told), notes=notes)


def _nearest(store: ReleaseStore, question: str, least: float | None) -> list[GraphCommunity]:
    levels = range(min(LEVELS, len(store.levels())))
    themes = [one for level in levels for one in store.communities(question, level, OF_LEVEL)]
    near = [one for one in themes if least is None or one.similarity is None or one.similarity >= least]
    return sorted(near, key=lambda one: -(one.similarity or 0.0))[:THEMES]


def _item(store: ReleaseStore, theme: GraphCommunity) -> Item:
    """A theme as evidence: its summary, and what is said of its central members."""
    members = theme.members[:MEMBERS]
    said = ((member.label, store.entity(member.iri).description) for member in members)
    lines = (f"{theme.size} members. {theme.summary}", *(f"{plain(label)}: {text}" for label, text in said))
    return Item("community", theme.title, lines, iris=tuple(member.iri for member in members))


def _request(instructions: str, question: str, item: Item) -> Request:
    told = {"question": question, "title": item.label, "summary": item.lines[0], "members": item.lines[1:]}
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


def _with_points(item: Item, points: Sequence[Point]) -> Item:
    """The theme as the writer is told it; an answer still rests on its own lines alone."""
    told = (item.label, item.lines[0], "What bears on the question:", *(f"- {one.text}" for one in points))
    return Item(item.kind, item.label, item.lines, item.triples, item.iris, item.of_entity, told)


def _weight(points: Sequence[Point] | None) -> int:
    return points[0].importance if points else 0
