"""Events of a streamed answer, in the order in which they come: evidence, tokens, and the whole answer at the end."""

from __future__ import annotations

from dataclasses import dataclass

from crmrag_query.answers.records import Source
from crmrag_query.client.records import Answer


@dataclass(frozen=True, slots=True)
class Evidence:
    """The sources that the answer is written from, before a word of it; their numbers are not yet those of the answer."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Restart:
    """The pieces so far are no answer, for this reason (a language model that failed): another one follows."""

    reason: str


@dataclass(frozen=True, slots=True)
class Done:
    """The end: the answer as ``ask`` would give it, whose text was checked and may differ from the tokens."""

    answer: Answer


Event = Evidence | Token | Restart | Done

BY_NAME: dict[str, type[Event]] = {"evidence": Evidence, "token": Token, "restart": Restart, "done": Done}
NAMES: dict[type[Event], str] = {kind: name for name, kind in BY_NAME.items()}
FAILED = "error"
"""Name of the event that ends a stream with a problem document."""
