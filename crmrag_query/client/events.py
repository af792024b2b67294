"""Events of a streamed answer, in the order in which they come: the plan and its set, where the question has one, evidence,
tokens, what cites what, what it took of a language model, and the whole answer at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from crmrag_query.answers.records import Source
from crmrag_query.client.records import Answer
from crmrag_query.sets.records import AnswerSet, Chip


@dataclass(frozen=True, slots=True)
class Planned:
    """The question as a plan, before it is executed: ``title`` in words, ``chips`` part by part."""

    plan: dict[str, Any] = field(hash=False)
    title: str
    chips: tuple[Chip, ...]


@dataclass(frozen=True, slots=True)
class SetFound:
    """The exact set of the plan, its first page; the answer carries it too."""

    set: AnswerSet


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
class Cited:
    """A stretch of the answer's checked text that cites: ``text[start:end]``, by the numbers of the answer's sources."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Used:
    """What the answer took of a language model: tokens, and US dollars where the price is known."""

    model: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The end: the answer as ``ask`` would give it, whose text was checked and may differ from the tokens."""

    answer: Answer


Event = Planned | SetFound | Evidence | Token | Restart | Cited | Used | Done

BY_NAME: dict[str, type[Event]] = {
    "plan": Planned, "set": SetFound, "evidence": Evidence, "token": Token, "restart": Restart,
    "citation": Cited, "usage": Used, "done": Done,
}  # fmt: skip
NAMES: dict[type[Event], str] = {kind: name for name, kind in BY_NAME.items()}
FAILED = "error"
"""Name of the event that ends a stream with a problem document."""
