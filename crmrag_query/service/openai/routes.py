"""``/v1/models`` and ``/v1/chat/completions``, streamed or whole."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from crmrag_query.client import wire
from crmrag_query.client.events import Done, Event, Restart, Token, Used
from crmrag_query.client.problems import to_problem
from crmrag_query.errors import CrmRagError, ReleaseNotFound
from crmrag_query.service.desk import Desk
from crmrag_query.service.observe import Observer
from crmrag_query.service.openai import records
from crmrag_query.service.openai.records import Chat
from crmrag_query.service.responses import UNKEPT
from crmrag_query.service.running import Workers
from crmrag_query.service.store import new_id

LAST = b"data: [DONE]\n\n"
SINCE = 0  # of models: OpenAI's field wants a time, and ours have none


class OpenAI:
    """Endpoints over a desk."""

    def __init__(self, desk: Desk, workers: Workers, observer: Observer) -> None:
        self._workers, self._observer = workers, observer
        engine = desk.engine
        plain = replace(engine, how=replace(engine.how, model=None))
        self._desks = {"": desk, "extractive": replace(desk, engine=plain)}
        self._names = engine.releases.names

    async def models(self) -> Response:
        names = await self._workers.read(self._names)
        listed = [_model(one) for one in records.models_of(names)]
        return JSONResponse({"object": "list", "data": listed}, headers=UNKEPT)

    async def model(self, name: str) -> Response:
        if name not in records.models_of(await self._workers.read(self._names)):
            return self._failure(ReleaseNotFound(f"There is no model {name!r}.", "See /v1/models."))
        return JSONResponse(_model(name), headers=UNKEPT)

    async def chat(self, request: Request) -> Response:
        """A reply, as a stream of chunks where it is wanted so."""
        try:
            chat = records.read_chat(await request.body())
            asked, (_, mode) = records.asked(chat), records.dataset_of(chat.model)
        except CrmRagError as error:
            return self._failure(error)
        events = self._workers.stream(lambda: self._observer.watched(self._desks[mode], asked))
        if not chat.stream:
            return await self._whole(chat, events)
        try:
            first = await anext(events)
        except CrmRagError as error:
            return self._failure(error)
        if isinstance(first, CrmRagError):
            return self._failure(first)
        return StreamingResponse(_chunks(chat, first, events), media_type=wire.EVENTS, headers=UNKEPT)

    async def _whole(self, chat: Chat, events: AsyncIterator[Event | CrmRagError]) -> Response:
        used: Used | None = None
        try:
            async for event in events:
                if isinstance(event, CrmRagError):
                    return self._failure(event)
                if isinstance(event, Used):
                    used = event
                if isinstance(event, Done):
                    whole = records.completion(_id(), chat.model, int(time.time()), event.answer, used)
                    return JSONResponse(whole, headers=UNKEPT)
        except CrmRagError as error:
            return self._failure(error)
        raise AssertionError("a stream ends with Done or an error")

    def _failure(self, error: CrmRagError) -> Response:
        told = to_problem(error)
        kind = "invalid_request_error" if told.status < 500 else "server_error"
        code = "model_not_found" if isinstance(error, ReleaseNotFound) else None
        body = records.problem(told.status, f"{told.detail} {told.remedy}".strip(), kind, code)
        return JSONResponse(body, told.status, headers=UNKEPT)


async def _chunks(
    chat: Chat, first: Event, events: AsyncIterator[Event | CrmRagError]
) -> AsyncIterator[bytes]:
    """Pieces of text as they come. What was said cannot be taken back: a model that fails is told of, and what its text was
    checked to lack or to hold shows in the sources and notes at the end."""
    id, created = _id(), int(time.time())

    def written(delta: dict[str, Any], end: str | None = None, **more: Any) -> bytes:
        return _line(records.chunk(id, chat.model, created, delta, end) | more)

    yield written({"role": "assistant", "content": ""})
    used: Used | None = None
    event: Event | CrmRagError | None = first
    while event is not None:
        match event:
            case Token(text):
                yield written({"content": text})
            case Restart(reason):
                yield written({"content": f"\n\n({reason})\n\n"})
            case Used():
                used = event
            case Done(answer):
                yield written({"content": records.sources_text(answer)})
                yield written({}, "stop", **records.extras(answer))
            case CrmRagError():
                yield _line(records.problem(500, str(event), "server_error"))
                return
        event = await anext(events, None)
    if chat.wants_usage:
        whole = records.chunk(id, chat.model, created, {}) | {"choices": [], "usage": records.usage(used)}
        yield _line(whole)
    yield LAST


def _line(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def _id() -> str:
    return f"chatcmpl-{new_id()}"


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": SINCE, "owned_by": records.OWNER}
