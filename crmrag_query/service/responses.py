"""Results, errors and streams as HTTP responses in the wire format."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from crmrag_query import __version__
from crmrag_query.client import wire
from crmrag_query.client.codec import to_json
from crmrag_query.client.events import Event
from crmrag_query.client.problems import Problem, to_problem
from crmrag_query.errors import CrmRagError

KEPT = {"Cache-Control": "no-cache"}  # may be kept, and is asked about by its tag before it is used again
UNKEPT = {"Cache-Control": "no-store"}
HEARTBEAT = b": alive\n\n"


def tag_of(releases: list[str]) -> str:
    """The entity tag of what is read from these releases: the address tells the rest."""
    return f'"{hashlib.sha256(" ".join([__version__, *releases]).encode()).hexdigest()[:20]}"'


def known_already(request: Request, tag: str) -> bool:
    """Whether the caller holds what has this tag (If-None-Match, RFC 9110 13.1.2)."""
    given = request.headers.get("if-none-match", "")
    return any(one.strip().removeprefix("W/") in (tag, "*") for one in given.split(",")) if given else False


def result(value: Any, tag: str | None = None) -> Response:
    """A record as JSON."""
    headers = UNKEPT if tag is None else KEPT | {"ETag": tag}
    return Response(to_json(value), media_type=wire.JSON, headers=headers)


def not_modified(tag: str) -> Response:
    return Response(status_code=304, headers=KEPT | {"ETag": tag})


def problem(one: Problem, headers: dict[str, str] | None = None) -> Response:
    """A problem document."""
    return Response(to_json(one), one.status, {**UNKEPT, **(headers or {})}, media_type=wire.PROBLEM)


def failure(error: CrmRagError) -> Response:
    """The problem document of an error."""
    return problem(to_problem(error))


async def event_stream(events: AsyncIterator[Event | CrmRagError], silence: float) -> AsyncIterator[bytes]:
    """Events as text; after ``silence`` seconds without one a comment says that the stream lives."""
    pending: asyncio.Task[Event | CrmRagError] | None = None
    try:
        while True:
            if pending is None:
                pending = asyncio.ensure_future(anext(events))
            done, _ = await asyncio.wait({pending}, timeout=silence)
            if not done:
                yield HEARTBEAT
                continue
            event, pending = pending, None
            try:
                yield wire.write_event(event.result()).encode()
            except StopAsyncIteration:
                return
    finally:
        if pending is not None:
            pending.cancel()
        close = getattr(events, "aclose", None)
        if close is not None and pending is None:
            await close()
