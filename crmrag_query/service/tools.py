"""The MCP server at ``/mcp``, over the service's own desk: the same releases, bounds, metrics and log as the API's."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import Request
from starlette.routing import Route as Path
from starlette.types import ASGIApp, Receive, Scope, Send

from crmrag_query.answers.records import Event
from crmrag_query.client import wire
from crmrag_query.client.base import AsyncClient
from crmrag_query.client.wire import Route
from crmrag_query.codec import from_problem, to_plain, to_problem
from crmrag_query.errors import CrmRagError
from crmrag_query.service.answering import Answering
from crmrag_query.service.guard import again
from crmrag_query.service.responses import unless_left

Q = TypeVar("Q")
T = TypeVar("T")
LOG = logging.getLogger("crmrag.service")
MCP = "/mcp"


@dataclass(frozen=True)
class Here:
    """The transport of a client that the service itself answers; its errors tell no more than those over HTTP do."""

    answering: Answering

    async def send(self, route: Route[Q, T], request: Q) -> T:
        with _told():
            return await self.answering.result(route, request)

    async def stream(self, request: wire.Ask) -> AsyncGenerator[Event]:
        with _told():
            async for event in self.answering.events(request):
                if isinstance(event, CrmRagError):
                    raise event
                yield event

    async def close(self) -> None:
        pass


@contextmanager
def _told() -> Iterator[None]:
    """Errors as their problem documents tell them; the log has the whole where that is less."""
    try:
        yield
    except CrmRagError as error:
        problem = to_problem(error)
        if problem.status >= 500:
            LOG.warning("A tool failed: %s", error)
        raise from_problem(to_plain(problem)) from None
    except Exception:  # a fault of ours, of any kind: its text may hold paths or data
        LOG.exception("A tool failed")
        raise CrmRagError("The service failed.", "The service's log has the details.") from None


@dataclass(frozen=True)
class Served:
    """Where the MCP server answers, and what must run as long as it does."""

    path: Path
    running: AbstractAsyncContextManager[object]


def mcp_server(answering: Answering) -> Served | None:
    """The MCP server; None where its extra is not installed. Whom it answers, and which bodies, is the guard's business."""
    try:
        from crmrag_query.mcp.server import http_app
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise  # a fault of ours, not an extra that is missing
        return None
    config = answering.desk.config
    client = AsyncClient.over(Here(answering), "this service")
    app = http_app(client, MCP, body_bytes=config.bounds.body_bytes, config=config.mcp)
    return Served(Path(MCP, _Posted(app), methods=["POST"]), app.router.lifespan_context(app))


class _Posted:
    """Hands over requests, and ends the work of those whose callers leave."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        await unless_left(Request(scope, receive), self._app(scope, again(body, receive), send))
