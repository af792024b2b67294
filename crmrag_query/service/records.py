"""What only a service has: answers and conversations that it keeps, feedback; and the routes to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from crmrag_query.client.records import Answer
from crmrag_query.client.wire import Route


@dataclass(frozen=True, slots=True)
class Begin:
    """A new conversation with a data set (None: the default, or the only one)."""

    dataset: str | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """A conversation: whoever has ``id`` may read it, whoever has ``key`` too may go on in it and remove it."""

    id: str
    key: str = field(repr=False)
    dataset: str


@dataclass(frozen=True, slots=True)
class GetConversation:
    id: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its answer; ``answer``: the id of the whole answer; ``asked``: ISO 8601."""

    answer: str
    question: str
    text: str
    asked: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, oldest turn first."""

    id: str
    dataset: str
    created: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Remove:
    """``key``: the one that the conversation was begun with."""

    id: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class GetAnswer:
    id: str


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as it was given; ``current``: its release is still the data set's current one."""

    id: str
    asked: str
    current: bool
    answer: Answer


@dataclass(frozen=True, slots=True)
class Replay:
    id: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """The same question asked of the current release: ``same``, its text and the size of its set are."""

    answer: Answer
    same: bool
    release_changed: bool


@dataclass(frozen=True, slots=True)
class Feedback:
    """What somebody thinks of an answer."""

    answer: str
    verdict: Literal["good", "bad"]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Done, and there is nothing to tell."""


@dataclass(frozen=True, slots=True)
class Health:
    """The service runs (``/health``), or can answer (``/ready``)."""

    status: Literal["ok"]
    datasets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """The versions of the service and of the data it serves: release ids by data set; the data sets that are ``unavailable``
    because their releases are damaged; whether MCP is served (``/mcp``)."""

    version: str
    releases: dict[str, str] = field(default_factory=dict)
    unavailable: tuple[str, ...] = ()
    mcp: bool = False


BEGIN = Route("POST", "/conversations", Begin, Begun)
CONVERSATION = Route("GET", "/conversations", GetConversation, Conversation)
REMOVE = Route("POST", "/conversations/remove", Remove, Nothing)
"""No DELETE: the key would stand in the address, and with that in logs and histories."""
ANSWER = Route("GET", "/answers", GetAnswer, KeptAnswer)
REPLAY = Route("POST", "/replay", Replay, Replayed)
FEEDBACK = Route("POST", "/feedback", Feedback, Nothing)
OWN_ROUTES: tuple[Route[Any, Any], ...] = (BEGIN, CONVERSATION, REMOVE, ANSWER, REPLAY, FEEDBACK)
