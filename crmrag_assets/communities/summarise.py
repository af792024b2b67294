"""Summaries by a language model: each community's title and text, from its most central members or the themes within it.

What it is told is data, as JSON. Replies are kept by what was asked (``ModelPool``), so that only communities whose members'
texts changed are written again. Where none comes, what is composed stands, and the failure is counted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from crmrag_assets.build.step import Progress
from crmrag_query.communities.themes import WORDS, Summaries, Theme
from crmrag_query.llm.model import Request
from crmrag_query.llm.pool import ModelPool

TITLE, TEXT = 100, 600  # characters of a title, and of a member's text that is told
PARTS = 20  # themes within one that are told, the largest
TOKENS = 300  # of a reply
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "summary": {"type": "string"}},
    "required": ["title", "summary"],
    "additionalProperties": False,
}


@dataclass
class Writer:
    """A model, asked through a pool, that writes themes in ``language``."""

    pool: ModelPool
    instructions: str
    language: str

    def write(self, summaries: Summaries, told: int, progress: Progress) -> dict[int, Theme]:
        """The themes that came, by community: those of the finest level from members, others from the themes within them."""
        communities, done = summaries.communities, 0
        found: dict[int, Theme] = {}
        for told_of in communities.levels:
            numbers = communities.of_level(told_of["level"]).tolist()
            requests = [self._request(_content(summaries, one, told, found)) for one in numbers]
            for one, said in zip(numbers, self.pool.map(requests, read_theme), strict=True):
                done += 1
                if said is not None:
                    found[one] = Theme(*said, self.pool.model.name)
                progress.advance(done, len(communities))
        return found

    def _request(self, content: str) -> Request:
        instructions = self.instructions.replace("{language}", self.language)
        return Request(
            [{"role": "system", "content": instructions}, {"role": "user", "content": content}],
            SCHEMA,
            most=TOKENS,
        )


def read_theme(reply: str) -> tuple[str, str]:
    """Title and text of a reply, each in one line; ValueError that says what is wrong with it."""
    text = reply.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("That is no JSON.") from None
    if not isinstance(found, dict) or not all(
        isinstance(found.get(key), str) for key in ("title", "summary")
    ):
        raise ValueError('The object must have "title" and "summary", two texts.')
    title, summary = (" ".join(found[key].split()) for key in ("title", "summary"))
    if not title or not summary or not (title + summary).isprintable():
        raise ValueError("Neither may be empty or hold control characters.")
    if len(title) > TITLE:
        raise ValueError(f"The title has more than {TITLE} characters.")
    if len(summary.split()) > WORDS:
        raise ValueError(f"The summary has more than {WORDS} words.")
    return title, summary


def _content(summaries: Summaries, community: int, told: int, written: dict[int, Theme]) -> str:
    """What the model is told of a community, as JSON."""
    parts: Sequence[int] = summaries.communities.parts(community)[:PARTS].tolist()
    if parts:
        themes = [written.get(one) or summaries.tell(one) for one in parts]
        return json.dumps(
            {"themes": [{"title": one.title, "summary": one.text} for one in themes]}, ensure_ascii=False
        )
    documents = summaries.documents
    members = [
        {"name": documents.label(one), "text": documents.text(one)[:TEXT]}
        for one in summaries.communities.members(community, told).tolist()
    ]
    return json.dumps({"members": members}, ensure_ascii=False)
