"""What a language model reads from pages: one call a page, the reply parsed, and three failures in a row end a document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from crmrag_assets.build.step import Progress
from crmrag_query.config.loading import ExtractionPart, Profile
from crmrag_query.llm.model import Part, PartsMessage, Request, image_part
from crmrag_query.llm.pool import ModelPool
from crmrag_query.text import fold, plain

TOKENS: Final = 8000  # of a reply
IN_A_ROW: Final = 3  # failures that end a document
MOST: Final = 500  # entities, and relationships, of a page
LONGEST_NAME, LONGEST_DESCRIPTION = 200, 2000  # characters


@dataclass(frozen=True)
class Read:
    """What a page says: ``entities``, each with name, type and description; ``relationships``, whose source and target are
    places in that list. ``dropped``: how much of the reply was left out: unknown types, no name, ends that are not there."""

    entities: tuple[dict[str, str], ...] = ()
    relationships: tuple[dict[str, Any], ...] = ()
    dropped: int = 0


@dataclass(frozen=True)
class Reading:
    """What came of a page: ``status`` read, failed, stopped (after failures in a row) or left (no more is sent)."""

    status: str
    error: str = ""
    found: Read = field(default_factory=Read)


def read_reply(reply: str, profile: Profile) -> Read:
    """The reply of a model, fences around it or not. Raises ValueError that says what is wrong with it, where it is no JSON
    object with two lists."""
    text = reply.strip()
    if text.startswith("```"):
        text = text.removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("That is no JSON.") from None
    if not isinstance(found, dict):
        raise ValueError('It must be an object with "entities" and "relationships".')
    entities, relationships = (found.get(key, []) for key in ("entities", "relationships"))
    if not isinstance(entities, list) or not isinstance(relationships, list):
        raise ValueError('"entities" and "relationships" must be lists.')
    dropped = max(0, len(entities) - MOST) + max(0, len(relationships) - MOST)
    kept, places = list[dict[str, str]](), dict[str, dict[str, int]]()
    for one in entities[:MOST]:
        name, kind = _text(one, "name", LONGEST_NAME), _text(one, "type", LONGEST_NAME).upper()
        if not name or kind not in profile.entities:
            dropped += 1
        elif kind not in (called := places.setdefault(fold(name), {})):
            called[kind] = len(kept)
            kept.append(
                {"name": name, "type": kind, "description": _text(one, "description", LONGEST_DESCRIPTION)}
            )
    related = list[dict[str, Any]]()
    for one in relationships[:MOST]:
        # An end that is called as two things of the page is neither.
        ends = [
            [*places.get(fold(_text(one, key, LONGEST_NAME)), {}).values()] for key in ("source", "target")
        ]
        kind = _text(one, "type", LONGEST_NAME).upper()
        if any(len(end) != 1 for end in ends) or kind not in profile.relationships:
            dropped += 1
            continue
        about = _text(one, "description", LONGEST_DESCRIPTION)
        related.append({"source": ends[0][0], "target": ends[1][0], "type": kind, "description": about})
    return Read(tuple(kept), tuple(related), dropped)


def _text(holder: Any, key: str, most: int) -> str:
    value = holder.get(key) if isinstance(holder, Mapping) else None
    return plain(value)[:most].strip() if isinstance(value, str) else ""


@dataclass(frozen=True)
class Extractor:
    """Asks a model, through ``pool``, for what pages say, by the types of a profile."""

    pool: ModelPool
    part: ExtractionPart
    profile: str

    def request(self, image: Path) -> Request:
        """One message: the image, then what is wanted."""
        wanted = self.part.instructions(self.profile)
        content: list[Part] = [image_part(image.read_bytes(), "image/png"), {"type": "text", "text": wanted}]
        schema = self.part.profiles[self.profile].schema_of_replies()
        message: PartsMessage = {"role": "user", "content": content}
        return Request([message], schema, most=TOKENS)

    def read(self, documents: Sequence[Sequence[Path | None]], progress: Progress) -> list[list[Reading]]:
        """What came of each page of each document, whose pages are asked for one after another; None is a page without image.

        Documents are read side by side. A reply that came before is not asked for again (``ModelPool``).
        """
        total, done = sum(map(len, documents)), 0

        def told() -> None:
            nonlocal done
            done += 1
            progress.advance(done, total, "reading pages with a model")

        with ThreadPoolExecutor(max(1, self.pool.workers)) as threads:
            return list(threads.map(lambda pages: self._document(pages, told), documents))

    def _document(self, pages: Sequence[Path | None], told: Any) -> list[Reading]:
        found, failures = list[Reading](), 0
        profile = self.part.profiles[self.profile]
        for image in pages:
            if image is None:
                found.append(Reading("failed", "there is no image of the page"))
            elif failures >= IN_A_ROW:
                found.append(Reading("stopped", f"{IN_A_ROW} pages before it failed in a row"))
            else:
                read = self.pool.one(self.request(image), lambda reply: read_reply(reply, profile))
                if read is not None:
                    found.append(Reading("read", found=read))
                    failures = 0
                elif self.pool.ended:
                    found.append(Reading("left", self.pool.why))
                else:
                    found.append(Reading("failed", self.pool.why))
                    failures += 1
            told()
        return found
