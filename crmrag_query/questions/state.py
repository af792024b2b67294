"""What a conversation remembers: a value of its own, which can be stored and read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from crmrag_query.config.loading import Conversation
from crmrag_query.errors import QuestionError
from crmrag_query.questions.form import Form

QUESTIONS = 3  # of one topic, the first and the last, that a follow-up is read with
# Kept of each turn: entities in focus, sources, entities excluded. More than any pronoun can mean.
FOCUS, SHOWN, EXCLUDED = 20, 100, 100
# Ceilings of what is read back, whatever the configuration keeps.
LONGEST_STATE = 4_000_000  # characters of JSON
LONGEST_PLAN = 200_000  # characters of a turn's plan
LONGEST_IRI, LONGEST_TEXT, LONGEST_NAME, MOST_WORDS = 4000, 20_000, 2000, 100
Iri = Annotated[str, StringConstraints(max_length=LONGEST_IRI)]
Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]
Name = Annotated[str, StringConstraints(max_length=LONGEST_NAME)]
Iris = Annotated[tuple[Iri, ...], Field(max_length=1000)]


class Kind(Enum):
    """How a question stands to what went before."""

    STANDALONE = "standalone"
    PIVOT = "pivot"
    VAGUE = "vague"
    MORE = "more"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class Focus:
    """An entity that was spoken of: its IRI, its Fundamental Category, its label, and the words that its types call it by."""

    __pydantic_config__: ClassVar[Any] = ConfigDict(extra="forbid")

    iri: Iri
    category: Name = ""
    label: Name = ""
    words: Annotated[tuple[Name, ...], Field(max_length=MOST_WORDS)] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One question: as asked; with the names that it stands for; its form and kind; the entities in focus (best first),
    those shown as sources, and those that pivots excluded so far in its topic. ``opens``: it is the first of its topic;
    ``plan``: of the set that answered it, as JSON, "" for none; ``sure``: that set was the whole answer."""

    __pydantic_config__: ClassVar[Any] = ConfigDict(extra="forbid")

    question: Text
    resolved: Text
    form: Form
    kind: Kind
    focus: Annotated[tuple[Focus, ...], Field(max_length=1000)] = ()
    shown: Iris = ()
    excluded: Iris = ()
    opens: bool = False
    plan: Annotated[str, StringConstraints(max_length=LONGEST_PLAN)] = ""
    sure: bool = True


@dataclass(frozen=True, slots=True)
class ConversationState:
    """The turns of one conversation, oldest first. A new turn makes a new state and leaves this one as it was."""

    __pydantic_config__: ClassVar[Any] = ConfigDict(extra="forbid")

    turns: Annotated[tuple[Turn, ...], Field(max_length=1000)] = ()

    @property
    def topic(self) -> tuple[Turn, ...]:
        """The last turns of one topic: from the last one that opened one."""
        starts = [i for i, turn in enumerate(self.turns) if turn.opens]
        return self.turns[starts[-1] if starts else 0 :]

    @property
    def shown(self) -> tuple[str, ...]:
        """Every entity shown in the topic, in order."""
        return tuple(dict.fromkeys(iri for turn in self.topic for iri in turn.shown))

    @property
    def excluded(self) -> tuple[str, ...]:
        """Every entity excluded in the topic, in order."""
        return tuple(dict.fromkeys(iri for turn in self.topic for iri in turn.excluded))

    def after(self, turn: Turn, config: Conversation) -> ConversationState:
        """The state with one more turn; the oldest go, and texts and lists are cut, as ``config`` says."""
        kept = replace(
            turn,
            question=_text(turn.question, LONGEST_TEXT),
            resolved=_text(turn.resolved, LONGEST_TEXT),
            focus=tuple(map(_focus, turn.focus[:FOCUS])),
            shown=_iris(turn.shown, SHOWN),
            excluded=_iris(turn.excluded, EXCLUDED),
            plan=turn.plan if len(turn.plan) <= LONGEST_PLAN else "",
        )
        return ConversationState((*self.turns, kept)[-config.turns :])

    def to_json(self) -> str:
        """The state as JSON; ``from_json`` reads it back as an equal value."""
        return _adapter().dump_json(self).decode()

    @staticmethod
    def from_json(text: str | bytes) -> ConversationState:
        """Read a stored state. Raises QuestionError for anything that ``to_json`` does not write."""
        if len(text) > LONGEST_STATE:
            raise QuestionError(
                f"The stored conversation has {len(text)} characters.",
                f"It may have at most {LONGEST_STATE}.",
            )
        try:
            return _adapter().validate_json(text)
        except (ValidationError, UnicodeError) as error:
            raise QuestionError(
                f"The stored conversation cannot be read: {_reason(error)}", "Start a new conversation."
            ) from None


def turns_of(questions: Sequence[str]) -> ConversationState:
    """A state of questions alone, as of a caller who kept nothing else: all one topic."""
    return ConversationState(
        tuple(
            Turn(text, text, Form.SPECIFIC, Kind.REFERENCE if i else Kind.STANDALONE, opens=i == 0)
            for i, text in enumerate(_text(question, LONGEST_TEXT) for question in questions)
        )
    )


def _text(text: str, longest: int) -> str:
    """The text as it can be stored: no half of a surrogate pair, and not too long."""
    return text[:longest].encode("utf-8", "replace").decode("utf-8")


def _iris(iris: Sequence[str], most: int) -> tuple[str, ...]:
    """The first that can be stored; a longer one cannot be cut, and is left out."""
    return tuple(_text(iri, LONGEST_IRI) for iri in iris if len(iri) <= LONGEST_IRI)[:most]


def _focus(focus: Focus) -> Focus:
    words = tuple(_text(word, LONGEST_NAME) for word in focus.words[:MOST_WORDS])
    names = (_text(focus.category, LONGEST_NAME), _text(focus.label, LONGEST_NAME))
    return Focus(_text(focus.iri, LONGEST_IRI), *names, words)


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[ConversationState]:
    return TypeAdapter(ConversationState)


def _reason(error: ValidationError | UnicodeError) -> str:
    if isinstance(error, UnicodeError):
        return "it is no text"
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"][:6])
    return f"{where}: {first['msg']}" if where else str(first["msg"])
