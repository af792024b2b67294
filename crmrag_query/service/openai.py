"""An interface like OpenAI's, so that existing chat front ends can ask: a model for each data set and mode.

What does not concern a data set is ignored.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from crmrag_query.answers.records import Answer, Done, Event, Restart, Token, Used
from crmrag_query.bounds import HISTORY
from crmrag_query.client import wire
from crmrag_query.codec import Malformed, from_plain, parse_json, to_json, to_plain, to_problem
from crmrag_query.errors import CrmRagError, QuestionError, ReleaseNotFound
from crmrag_query.retrieval.channels import ConfiguredModes
from crmrag_query.service.answering import Answering
from crmrag_query.service.responses import (
    LEFT,
    STREAMED,
    UNKEPT,
    Chat,
    ChatAnswer,
    ChatChoice,
    ChatError,
    ChatFailure,
    ChatMessage,
    ChatModel,
    ChatModels,
    ChatReply,
    ChatUsage,
    begun,
    event_stream,
    retry,
    unless_left,
)
from crmrag_query.service.store import new_id

EXTRACTIVE = "extractive"
"""In place of a mode's name: the default mode, and never with a language model."""
MARK = ":"


def models_of(datasets: Sequence[str], modes: Sequence[str]) -> list[str]:
    """The names of all models; ``modes``: those that there are, the default first."""
    return [f"{name}{MARK}{mode}" if mode else name for name in datasets for mode in ("", *modes, EXTRACTIVE)]


def asked_in(chat: Chat) -> wire.Ask:
    """The question of a chat, with those before it, in the mode that its model names."""
    texts = [one.text for one in chat.messages if one.role == "user"]
    if not texts:
        raise QuestionError("No message of the user is there.", "Send a question as the last message.")
    earlier = tuple(text for text in texts[:-1] if text.strip())
    name, _, mode = chat.model.partition(MARK)
    return wire.Ask(texts[-1], name, earlier[-HISTORY:], mode=mode)


def sources_text(answer: Answer) -> str:
    """The cited sources as a list in Markdown, and the notes; "" for none."""
    lines = []
    for one in answer.sources:
        if one.cited:
            # no Markdown of the data's
            label = re.sub(r"[\\`*_\[\]<>#]", r"\\\g<0>", " ".join(one.label.split()))
            lines.append(f"[{one.n}] {label} <{one.iri}>")
    parts = ["\n".join(["Sources:", *lines])] if lines else []
    parts += [f"Note: {note}" for note in answer.notes]
    return "".join(f"\n\n{part}" for part in parts)


def citations(answer: Answer) -> tuple[str, ...]:
    """IRIs of the cited sources."""
    return tuple(source.iri for source in answer.sources if source.cited)


LAST = "[DONE]"


class OpenAI:
    """Endpoints over a desk."""

    def __init__(self, answering: Answering) -> None:
        desk = answering.desk
        plain = replace(desk.engine, how=replace(desk.engine.how, model=None))
        self._answering, self._plain = answering, replace(answering, desk=replace(desk, engine=plain))
        self._names, self._read = desk.engine.releases.names, answering.workers.read
        self._configured = ConfiguredModes(desk.engine.releases.opener.config)
        self._silence = desk.config.heartbeat_seconds

    def _modes(self) -> tuple[str, ...]:
        """The names of all modes, the default first, as they stand in the files now."""
        return tuple(self._configured.all())

    async def models(self) -> Response:
        names = models_of(await self._read(self._names), self._modes()[1:])
        return _told(ChatModels(tuple(map(ChatModel, names))))

    async def model(self, name: str) -> Response:
        names = models_of(await self._read(self._names), self._modes())  # the default by its name, too
        if name not in names:
            return _failed(ReleaseNotFound(f"There is no model {name!r}.", "See /v1/models."))
        return _told(ChatModel(name))

    async def chat(self, request: Request) -> Response:
        """A reply, as a stream of chunks where it is wanted so."""
        try:
            try:
                sent = parse_json(await request.body())
                _require_supported(sent)
                chat = from_plain(Chat, sent)
            except Malformed as error:
                raise QuestionError(
                    f"The request cannot be read: {error}.", "Send what OpenAI's API takes."
                ) from error
            events = self._events(chat)
            if not chat.stream:
                reply = await unless_left(request, _whole(chat, events))
                return Response(status_code=LEFT) if reply is None else _told(reply)
            first = await begun(events, self._silence)
        except CrmRagError as error:
            return _failed(error)
        stream = event_stream(events, first, self._silence, Chunks(chat).written)
        return StreamingResponse(stream, media_type=wire.EVENTS, headers=STREAMED)

    async def _events(self, chat: Chat) -> AsyncGenerator[Event | CrmRagError]:
        """The events of the answer to a chat. A mode that there is not is no error, as front ends keep names of models: the
        answer is in the default one, and says so."""
        asked, modes = asked_in(chat), self._modes()
        named, known = asked.mode, asked.mode in modes
        answering = self._plain if named == EXTRACTIVE else self._answering
        async for event in answering.events(asked if known else replace(asked, mode="")):
            if isinstance(event, Done) and not known and named not in ("", EXTRACTIVE):
                answer, there = event.answer, ", ".join((*modes, EXTRACTIVE))
                note = f"There is no mode {named[:80]!r}: answered in {answer.mode!r}. There are: {there}."
                event = Done(replace(answer, notes=(note, *answer.notes)))
            yield event


async def _whole(chat: Chat, events: AsyncGenerator[Event | CrmRagError]) -> ChatReply:
    used: Used | None = None
    async for event in events:
        if isinstance(event, CrmRagError):
            raise event
        if isinstance(event, Used):
            used = event
        if isinstance(event, Done):
            answer = event.answer
            choice = ChatChoice(ChatMessage(answer.text + sources_text(answer)))
            return ChatReply(
                _id(), chat.model, int(time.time()), (choice,), ChatUsage.of(used), citations(answer),
                ChatAnswer.of(answer),
            )  # fmt: skip
    raise AssertionError("a stream ends with Done or an error")


@dataclass
class Chunks:
    """Events as the pieces of a reply. What was said cannot be taken back: a model that fails is told of, and what its text
    was checked to lack or to hold shows in the sources and notes at the end."""

    chat: Chat
    id: str = field(default_factory=lambda: _id())
    created: int = field(default_factory=lambda: int(time.time()))
    _used: Used | None = None
    _begun: bool = False

    def written(self, event: Event | CrmRagError) -> bytes:
        """What an event adds to the stream."""
        opening = b"" if self._begun else self._chunk({"role": "assistant", "content": ""})
        self._begun = True
        return opening + self._said(event)

    def _said(self, event: Event | CrmRagError) -> bytes:
        match event:
            case Token(text):
                return self._chunk({"content": text})
            case Restart(reason):
                return self._chunk({"content": f"\n\n({reason})\n\n"})
            case Used():
                self._used = event
            case Done(answer):
                extras = {"citations": citations(answer), "crmrag": to_plain(ChatAnswer.of(answer))}
                end = self._chunk({"content": sources_text(answer)}) + self._chunk({}, "stop", **extras)
                if self.chat.stream_options is not None and self.chat.stream_options.include_usage:
                    end += self._chunk({}, choices=[], usage=to_plain(ChatUsage.of(self._used)))
                return end + _line(LAST)
            case CrmRagError():
                return _line(json.dumps(to_plain(_failure(event)), ensure_ascii=False))
        return b""

    def _chunk(self, delta: dict[str, Any], end: str | None = None, **more: Any) -> bytes:
        """A piece of the reply; ``end``: why it is the last one."""
        whole = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.chat.model,
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": end}],
        }
        return _line(json.dumps(whole | more, ensure_ascii=False))


def _require_supported(sent: Any) -> None:
    """QuestionError, which names it, for what would be left out of the reply without a word."""
    given = sent if isinstance(sent, dict) else {}
    for name in ("tools", "functions"):
        if given.get(name):
            raise QuestionError(
                f"`{name}` is not supported: a data set calls none.",
                f"Ask without `{name}`, or use MCP at /mcp.",
            )
    if given.get("n") not in (None, 1):
        raise QuestionError(
            f"`n` is {str(given['n'])[:20]}: there is one answer to a question.", "Leave `n` out."
        )


def unknown_path(path: str, status: int) -> Response:
    """What is told at an address below /v1 that there is not, or not in this way."""
    message = f"There is nothing at {path[:100]} in this way. There are GET /v1/models and POST /v1/chat/completions."
    return _told(ChatFailure(ChatError(message, "invalid_request_error", "unknown_url", status)), status)


def _line(text: str) -> bytes:
    return f"data: {text}\n\n".encode()


def _told(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(to_json(value), status, UNKEPT | (headers or {}), media_type=wire.JSON)


def _failed(error: CrmRagError) -> Response:
    status = to_problem(error).status
    return _told(_failure(error), status, retry(status))


def _failure(error: CrmRagError) -> ChatFailure:
    """An error as OpenAI's API tells it, in the words of its problem document."""
    told = to_problem(error)
    kind = "invalid_request_error" if told.status < 500 else "server_error"
    code = "model_not_found" if isinstance(error, ReleaseNotFound) else None
    return ChatFailure(ChatError(f"{told.detail} {told.remedy}".strip(), kind, code, told.status))


def _id() -> str:
    return f"chatcmpl-{new_id()}"
