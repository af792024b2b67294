"""Summaries by a language model: each community's title and text, from its most central members or the themes within it.

What it is told is data, as JSON; a reply that does not fit is sent back once. Replies are kept by what was asked, so that
only communities whose members' texts changed are written again. Where none comes, what is composed stands, and the failure is
counted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from crmrag_assets.build.step import Progress
from crmrag_query.artifacts.files import canonical_json, write_text
from crmrag_query.communities.themes import WORDS, Summaries, Theme
from crmrag_query.errors import ModelError
from crmrag_query.llm.model import Message, Model, reply_of

WORKERS, SECONDS = 5, 30.0
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
    """A model that writes themes in ``language``, and the folder of its replies; counts what it was asked and failed at."""

    model: Model
    instructions: str
    language: str
    cache: Path
    counts: dict[str, int] = field(default_factory=lambda: {"asked": 0, "kept": 0, "failed": 0})

    def write(self, summaries: Summaries, told: int, progress: Progress) -> dict[int, Theme]:
        """The themes that came, by community: those of the finest level from members, others from the themes within them."""
        communities, done = summaries.communities, 0
        found: dict[int, Theme] = {}
        with ThreadPoolExecutor(WORKERS) as pool:
            for told_of in communities.levels:
                numbers = communities.of_level(told_of["level"]).tolist()
                contents = [_content(summaries, one, told, found) for one in numbers]
                for one, theme in zip(numbers, pool.map(self._theme, contents), strict=True):
                    done += 1
                    if theme is not None:
                        found[one] = theme
                    progress.advance(done, len(communities))
        return found

    def _theme(self, content: str) -> Theme | None:
        messages: list[Message] = [
            {"role": "system", "content": self.instructions.replace("{language}", self.language)},
            {"role": "user", "content": content},
        ]
        asked = canonical_json({"model": self.model.name, "messages": messages, "schema": SCHEMA})
        file = self.cache / f"{hashlib.sha256(asked.encode()).hexdigest()}.json"
        if (known := _kept(file)) is not None:
            self.counts["kept"] += 1
            return Theme(*known, self.model.name)
        for _ in range(2):
            self.counts["asked"] += 1
            try:
                reply = reply_of(self.model, messages, SECONDS, SCHEMA, TOKENS)
            except ModelError:
                break
            read = read_theme(reply)
            if isinstance(read, tuple):
                write_text(file, canonical_json(list(read)))
                return Theme(*read, self.model.name)
            messages = [
                *messages,
                {"role": "assistant", "content": reply},
                {"role": "user", "content": f"{read} Reply again, with the JSON object alone."},
            ]
        self.counts["failed"] += 1
        return None


def read_theme(reply: str) -> tuple[str, str] | str:
    """Title and text of a reply, each in one line; or what is wrong with it."""
    text = reply.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return "That is no JSON."
    if not isinstance(found, dict) or not all(
        isinstance(found.get(key), str) for key in ("title", "summary")
    ):
        return 'The object must have "title" and "summary", two texts.'
    title, summary = (" ".join(found[key].split()) for key in ("title", "summary"))
    if not title or not summary or not (title + summary).isprintable():
        return "Neither may be empty or hold control characters."
    if len(title) > TITLE:
        return f"The title has more than {TITLE} characters."
    if len(summary.split()) > WORDS:
        return f"The summary has more than {WORDS} words."
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


def _kept(file: Path) -> tuple[str, str] | None:
    try:
        title, text = json.loads(file.read_text(encoding="utf-8"))
        return str(title), str(text)
    except (OSError, ValueError, TypeError):
        return None
