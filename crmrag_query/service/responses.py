"""Results, errors and streams as HTTP responses in the wire format."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from crmrag_query import __version__
from crmrag_query.client import wire
from crmrag_query.client.codec import to_json
from crmrag_query.client.events import Event
from crmrag_query.client.problems import Problem, to_problem
from crmrag_query.errors import CrmRagError

T = TypeVar("T")
KEPT = {"Cache-Control": "no-cache"}  # may be kept, and is asked about by its tag before it is used again
UNKEPT = {"Cache-Control": "no-store"}
STREAMED = UNKEPT | {"X-Accel-Buffering": "no"}  # nginx passes on what it gets
RETRY_SECONDS = "5"  # a question takes less, and a release is opened by then
HEARTBEAT = b": alive\n\n"
LEFT = 499  # the status in the log of a request whose caller has left; nobody gets it
ENDING: set[asyncio.Future[None]] = set()  # streams that are being ended: tasks that nothing holds may vanish


def says_json(request: Request) -> bool:
    """Whether a body is said to be JSON: a form of another web page cannot say so without being asked about (CORS)."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == wire.JSON


def tag_of(request: Request, releases: Iterable[str]) -> str:
    """The entity tag of what is read at this address from these releases."""
    address = f"{request.scope['path']}?{request.scope['query_string'].decode('latin-1')}"
    told = "\n".join([__version__, address, *releases])
    return f'"{hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()[:20]}"'


def known_already(request: Request, tag: str) -> bool:
    """Whether the caller holds what has this tag (If-None-Match, RFC 9110 13.1.2)."""
    given = request.headers.get("if-none-match", "")
    return any(one.strip().removeprefix("W/") == tag for one in given.split(","))


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
    told = to_problem(error)
    return problem(told, retry(told.status))


def retry(status: int) -> dict[str, str]:
    """The header that tells whom a status refuses for now when to come back."""
    return {"Retry-After": RETRY_SECONDS} if status == 503 else {}


async def unless_left(request: Request, work: Awaitable[T]) -> T | None:
    """What ``work`` gives; None where the caller leaves before, which ends it. The body must have been read."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    wanted, gone = asyncio.ensure_future(work), asyncio.ensure_future(left())
    try:
        await asyncio.wait({wanted, gone}, return_when=asyncio.FIRST_COMPLETED)
        return wanted.result() if wanted.done() else None
    finally:
        gone.cancel()
        wanted.cancel()


async def begun(
    events: AsyncGenerator[Event | CrmRagError], silence: float
) -> asyncio.Future[Event | CrmRagError]:
    """The first event, waited for no longer than ``silence`` seconds; raises the error that comes in its place by then, so
    that it still has a status of its own."""
    first = asyncio.ensure_future(anext(events))
    try:
        await asyncio.wait({first}, timeout=silence)
    except asyncio.CancelledError:
        first.cancel()
        raise
    if first.done() and isinstance(found := first.result(), CrmRagError):
        raise found
    return first


async def event_stream(
    events: AsyncGenerator[Event | CrmRagError],
    first: asyncio.Future[Event | CrmRagError],
    silence: float,
    write: Callable[[Event | CrmRagError], bytes],
) -> AsyncIterator[bytes]:
    """Events as text, ``first`` being awaited already. After ``silence`` seconds without one a comment says that the stream
    lives; ``events`` end where their reader does."""
    pending = first
    try:
        while True:
            done, _ = await asyncio.wait({pending}, timeout=silence)
            if not done:
                yield HEARTBEAT
                continue
            try:
                event = pending.result()
            except StopAsyncIteration:
                return
            if text := write(event):
                yield text
            pending = asyncio.ensure_future(anext(events))
    finally:
        # In a task of its own: this one may be cancelled, and then nothing in it can be awaited.
        ending = asyncio.ensure_future(_end(events, pending))
        ENDING.add(ending)
        ending.add_done_callback(ENDING.discard)


async def _end(events: AsyncGenerator[Any], pending: asyncio.Future[Any]) -> None:
    pending.cancel()
    await asyncio.wait({pending})
    await events.aclose()
