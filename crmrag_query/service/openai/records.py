"""What a chat front end sends and gets, as OpenAI's API documents it; what does not concern us is ignored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from crmrag_query.client import wire
from crmrag_query.client.bounds import HISTORY
from crmrag_query.client.codec import Malformed, from_plain, parse_json, to_plain
from crmrag_query.client.events import Used
from crmrag_query.client.records import Answer
from crmrag_query.errors import QuestionError

OWNER = "crmrag"
MODES = ("", "extractive")
"""Of a data set's models: as the service is configured, and never with a language model."""
MARK = ":"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a message; only texts are read."""

    type: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    role: str
    content: str | tuple[Part, ...] | None = None

    @property
    def text(self) -> str:
        """Its text, that of its parts joined."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or () if part.type == "text")


@dataclass(frozen=True, slots=True)
class StreamOptions:
    include_usage: bool = False


@dataclass(frozen=True, slots=True)
class Chat:
    """``POST /v1/chat/completions``: the last message of the user is the question, the earlier ones its conversation."""

    model: str
    messages: tuple[Said, ...]
    stream: bool | None = False
    stream_options: StreamOptions | None = None

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A data set and how it is answered from; ``created``: OpenAI's field wants a time, and ours have none."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = OWNER


@dataclass(frozen=True, slots=True)
class ChatModels:
    """The models: of each data set as the service is configured, and never with a language model (``:extractive``)."""

    data: tuple[ChatModel, ...]
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """The answer with its cited sources below, as a front end shows nothing else."""

    content: str
    role: Literal["assistant"] = "assistant"
    refusal: None = None


@dataclass(frozen=True, slots=True)
class ChatChoice:
    """The only one."""

    message: ChatMessage
    index: int = 0
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class ChatUsage:
    """Tokens of the language model behind the answer; none where there is none."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0

    @classmethod
    def of(cls, used: Used | None) -> ChatUsage:
        if used is None:
            return cls()
        prompt, completion = used.prompt_tokens, used.completion_tokens
        return cls(prompt, completion, prompt + completion)


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What we add: the id under which the whole answer is kept ("" where none is), the data set and release that it is from,
    whether it states a whole set and of what size, and whether it says that the data does not tell."""

    answer: str
    dataset: str
    release: str
    exhaustive: bool
    refused: bool
    set_size: int | None

    @classmethod
    def of(cls, answer: Answer) -> ChatAnswer:
        size = None if answer.set is None else answer.set.size
        return cls(answer.id, answer.dataset, answer.release, answer.exhaustive, answer.refused, size)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A whole reply; ``citations``: IRIs of the cited sources, by number."""

    id: str
    model: str
    created: int
    choices: tuple[ChatChoice, ...]
    usage: ChatUsage
    citations: tuple[str, ...]
    crmrag: ChatAnswer
    object: Literal["chat.completion"] = "chat.completion"


@dataclass(frozen=True, slots=True)
class ChatError:
    message: str
    type: str
    code: str | None
    status: int
    param: None = None


@dataclass(frozen=True, slots=True)
class ChatFailure:
    """An error as OpenAI's API tells it."""

    error: ChatError


def read_chat(body: bytes) -> Chat:
    """The request of a body; QuestionError where it cannot be read."""
    try:
        value = parse_json(body)
        wire.check_texts(value)
        return from_plain(Chat, value)
    except Malformed as error:
        raise QuestionError(
            f"The request cannot be read: {error}.", "Send what OpenAI's API takes."
        ) from error


def models_of(datasets: Sequence[str]) -> list[str]:
    """The names of all models."""
    return [f"{name}{MARK}{mode}" if mode else name for name in datasets for mode in MODES]


def dataset_of(model: str) -> tuple[str, str]:
    """The data set and the mode of a model's name; QuestionError for a mode that there is not."""
    name, _, mode = model.partition(MARK)
    if mode not in MODES:
        raise QuestionError(f"There is no mode {mode!r}.", f"There are: {', '.join(filter(None, MODES))}.")
    return name, mode


def asked(chat: Chat) -> wire.Ask:
    """The question of a chat, with those before it."""
    said = [one.text for one in chat.messages if one.role == "user"]
    if not said:
        raise QuestionError("No message of the user is there.", "Send a question as the last message.")
    return wire.Ask(
        said[-1], dataset_of(chat.model)[0], tuple(text for text in said[:-1] if text.strip())[-HISTORY:]
    )


def told(answer: Answer) -> str:
    """The text of an answer with its cited sources below, as a front end shows nothing else."""
    return answer.text + sources_text(answer)


def sources_text(answer: Answer) -> str:
    """The cited sources as a list in Markdown, and the notes; "" for none."""
    lines = [f"[{one.n}] {_plain(one.label)} <{one.iri}>" for one in answer.sources if one.cited]
    parts = ["\n".join(["Sources:", *lines])] if lines else []
    parts += [f"Note: {note}" for note in answer.notes]
    return "".join(f"\n\n{part}" for part in parts)


def _plain(label: str) -> str:
    """A label in which no Markdown of the data's is left."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#" else sign for sign in " ".join(label.split()))


def reply(id: str, model: str, created: int, answer: Answer, used: Used | None) -> ChatReply:
    """The whole reply that an answer is."""
    choice = ChatChoice(ChatMessage(told(answer)))
    return ChatReply(
        id, model, created, (choice,), ChatUsage.of(used), citations(answer), ChatAnswer.of(answer)
    )


def chunk(id: str, model: str, created: int, delta: dict[str, Any], end: str | None = None) -> dict[str, Any]:
    """A piece of a reply; ``end``: why it is the last one."""
    return {
        "id": id,
        "object": "chat.completion.chunk",
        "created": created,
        "model": model,
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": end}],
    }


def extras(answer: Answer) -> dict[str, Any]:
    """What we add to OpenAI's fields of the last piece."""
    return {"citations": citations(answer), "crmrag": to_plain(ChatAnswer.of(answer))}


def citations(answer: Answer) -> tuple[str, ...]:
    """IRIs of the cited sources."""
    return tuple(source.iri for source in answer.sources if source.cited)


def failure(
    status: int, message: str, kind: str = "invalid_request_error", code: str | None = None
) -> ChatFailure:
    """An error as OpenAI's API tells it."""
    return ChatFailure(ChatError(message, kind, code, status))
