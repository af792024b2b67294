"""``/v1/models`` and ``/v1/chat/completions``, streamed or whole."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from crmrag_query.client import wire
from crmrag_query.client.codec import to_json, to_plain
from crmrag_query.client.events import Done, Event, Restart, Token, Used
from crmrag_query.client.problems import to_problem
from crmrag_query.errors import CrmRagError, ReleaseNotFound
from crmrag_query.service.answering import Answering
from crmrag_query.service.openai import records
from crmrag_query.service.openai.records import Chat, ChatFailure, ChatModel, ChatModels, ChatReply, ChatUsage
from crmrag_query.service.responses import LEFT, STREAMED, UNKEPT, begun, event_stream, retry, unless_left
from crmrag_query.service.store import new_id

LAST = "[DONE]"


class OpenAI:
    """Endpoints over a desk."""

    def __init__(self, answering: Answering) -> None:
        desk = answering.desk
        plain = replace(desk.engine, how=replace(desk.engine.how, model=None))
        self._modes = {"": answering, "extractive": replace(answering, desk=replace(desk, engine=plain))}
        self._names, self._read = desk.engine.releases.names, answering.workers.read
        self._silence = desk.config.heartbeat_seconds

    async def models(self) -> Response:
        names = records.models_of(await self._read(self._names))
        return _told(ChatModels(tuple(map(ChatModel, names))))

    async def model(self, name: str) -> Response:
        if name not in records.models_of(await self._read(self._names)):
            return _failed(ReleaseNotFound(f"There is no model {name!r}.", "See /v1/models."))
        return _told(ChatModel(name))

    async def chat(self, request: Request) -> Response:
        """A reply, as a stream of chunks where it is wanted so."""
        try:
            chat = records.read_chat(await request.body())
            asked, (_, mode) = records.asked(chat), records.dataset_of(chat.model)
            if not chat.stream:
                reply = await unless_left(request, _whole(chat, self._modes[mode], asked))
                return Response(status_code=LEFT) if reply is None else _told(reply)
            events = self._modes[mode].events(asked)
            first = await begun(events, self._silence)
        except CrmRagError as error:
            return _failed(error)
        stream = event_stream(events, first, self._silence, Chunks(chat).written)
        return StreamingResponse(stream, media_type=wire.EVENTS, headers=STREAMED)


async def _whole(chat: Chat, answering: Answering, asked: wire.Ask) -> ChatReply:
    used: Used | None = None
    async for event in answering.events(asked):
        if isinstance(event, CrmRagError):
            raise event
        if isinstance(event, Used):
            used = event
        if isinstance(event, Done):
            return records.reply(_id(), chat.model, int(time.time()), event.answer, used)
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
                sources = self._chunk({"content": records.sources_text(answer)})
                end = self._chunk({}, "stop", **records.extras(answer))
                return sources + end + self._usage() + _line(LAST)
            case CrmRagError():
                return _line(json.dumps(to_plain(_failure(event)), ensure_ascii=False))
        return b""

    def _usage(self) -> bytes:
        used = {"choices": [], "usage": to_plain(ChatUsage.of(self._used))}
        return self._chunk({}, **used) if self.chat.wants_usage else b""

    def _chunk(self, delta: dict[str, Any], end: str | None = None, **more: Any) -> bytes:
        whole = records.chunk(self.id, self.chat.model, self.created, delta, end) | more
        return _line(json.dumps(whole, ensure_ascii=False))


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
    return records.failure(told.status, f"{told.detail} {told.remedy}".strip(), kind, code)


def _id() -> str:
    return f"chatcmpl-{new_id()}"
