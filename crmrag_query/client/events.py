"""Events of a streamed answer, in the order in which they come: evidence, tokens, and the whole answer at the end."""

from __future__ import annotations

from dataclasses import dataclass

from crmrag_query.answers.records import Source
from crmrag_query.client.records import Answer


@dataclass(frozen=True, slots=True)
class Evidence:
    """Sources that the answer is written from, as far as they are known before it is; the last word is ``Done``'s."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The end: the answer as ``ask`` would give it, whose text was checked and may differ from the tokens."""

    answer: Answer


Event = Evidence | Token | Done

BY_NAME: dict[str, type[Event]] = {"evidence": Evidence, "token": Token, "done": Done}
NAMES: dict[type[Event], str] = {kind: name for name, kind in BY_NAME.items()}
FAILED = "error"
"""Name of the event that ends a stream with a problem document."""
