"""The application: routes of the wire format, the page, operations; everything else is in the modules beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse, StreamingResponse
from starlette.staticfiles import StaticFiles

from crmrag_query import __version__
from crmrag_query.client import wire
from crmrag_query.client.codec import to_json
from crmrag_query.client.problems import Problem
from crmrag_query.client.wire import Route
from crmrag_query.errors import CrmRagError, QuestionError, ReleaseError
from crmrag_query.service import openapi
from crmrag_query.service.desk import Desk
from crmrag_query.service.guard import Access, Guard
from crmrag_query.service.observe import Observer
from crmrag_query.service.records import OWN_ROUTES, Health, Version
from crmrag_query.service.responses import (
    UNKEPT,
    event_stream,
    failure,
    known_already,
    not_modified,
    problem,
    result,
    tag_of,
)
from crmrag_query.service.running import Workers

STATIC = Path(__file__).parent / "static"
PAGES = ("/", "/a/{id}", "/c/{id}", "/d/{name}", "/e", "/s")
Endpoint = Callable[[Request], Awaitable[Response]]


def create_app(desk: Desk, access: Access) -> FastAPI:
    """The application over a desk; ``access``: who may ask, and how often."""

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    app = FastAPI(
        title="CRM-RAG", version=__version__, lifespan=living, openapi_url=None, docs_url=None, redoc_url=None
    )
    observer = Observer()
    workers = Workers(desk.config.work)
    api = Api(desk, workers, observer)
    for route in (*wire.ROUTES, *OWN_ROUTES):
        app.add_api_route(wire.PREFIX + route.path, api.endpoint(route), methods=[route.method])
    for path, endpoint in (
        ("/health", api.health), ("/ready", api.ready), ("/version", api.version), ("/metrics", api.metrics),
        ("/openapi.json", api.document),
    ):  # fmt: skip
        app.add_api_route(path, endpoint, methods=["GET"])
    for page in PAGES:
        app.add_api_route(page, _page, methods=["GET", "HEAD"])
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_exception_handler(CrmRagError, _told)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(404, _refused)
    app.add_exception_handler(405, _refused)
    app.add_middleware(Guard, access=access, bounds=desk.config.bounds)
    if desk.config.origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(desk.config.origins), allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Accept"], expose_headers=["ETag", "X-Request-Id"],
        )  # fmt: skip
    app.add_middleware(observer.middleware())
    return app


class Api:
    """Endpoints over a desk."""

    def __init__(self, desk: Desk, workers: Workers, observer: Observer) -> None:
        self._desk, self._workers, self._observer = desk, workers, observer

    def endpoint(self, route: Route[Any, Any]) -> Endpoint:
        """The endpoint of a route."""

        async def answer(request: Request) -> Response:
            asked = await _read(route, request)
            if route is wire.ASK:
                return await self._ask(request, asked)
            tag = await self._tag(route, asked)
            if tag is not None and known_already(request, tag):
                return not_modified(tag)
            found = await self._workers.read(partial(self._desk.handle, route, asked))
            return result(found, tag)

        answer.__name__ = f"{route.method.lower()}_{route.path.strip('/').replace('/', '_')}"
        return answer

    async def _ask(self, request: Request, asked: wire.Ask) -> Response:
        """A question: as a stream of events where the caller takes one, else its answer."""
        events = self._workers.stream(lambda: self._observer.watched(self._desk, asked))
        if wire.EVENTS in request.headers.get("accept", ""):
            first = await anext(events)
            if isinstance(first, CrmRagError):
                return failure(first)

            async def all_events() -> AsyncIterator[Any]:
                yield first
                async for event in events:
                    yield event

            silence = self._desk.config.heartbeat_seconds
            headers = UNKEPT | {"X-Accel-Buffering": "no"}
            return StreamingResponse(
                event_stream(all_events(), silence), media_type=wire.EVENTS, headers=headers
            )
        last: Any = None
        async for event in events:
            last = event
        return failure(last) if isinstance(last, CrmRagError) else result(last.answer)

    async def _tag(self, route: Route[Any, Any], asked: Any) -> str | None:
        """The tag of what a GET reads from releases; None for what depends on more."""
        if route.method != "GET" or route in OWN_ROUTES or route is wire.EVALUATIONS:
            return None
        releases = self._desk.engine.releases
        if route is wire.DATASETS:
            return await self._workers.read(
                lambda: tag_of([f"{name} {releases.release(name)[1].id}" for name in releases.names()])
            )
        return await self._workers.read(lambda: tag_of([releases.release(asked.dataset)[1].id]))

    async def health(self) -> Response:
        return result(Health("ok"))

    async def ready(self) -> Response:
        """Whether every data set can be asked: its release opened, what questions need of it read."""
        releases = self._desk.engine.releases
        names = await self._workers.read(
            lambda: tuple(name for name in releases.names() if releases.release(name))
        )
        return result(Health("ok", names))

    async def version(self) -> Response:
        releases = self._desk.engine.releases
        served = await self._workers.read(
            lambda: {name: releases.release(name)[1].id for name in releases.names()}
        )
        return result(Version(__version__, served))

    async def metrics(self) -> Response:
        return self._observer.metrics()

    async def document(self) -> Response:
        return Response(openapi.document_json(), media_type=wire.JSON, headers={"Cache-Control": "no-cache"})


async def _read(route: Route[Any, Any], request: Request) -> Any:
    """The request's record; QuestionError where it cannot be read."""
    if route.method == "POST":
        return wire.read_body(route.request, await request.body())
    given = dict(request.query_params.multi_items())
    if len(given) < len(request.query_params.multi_items()):
        raise QuestionError("The request cannot be read: a parameter stands twice.", "Give it once.")
    return wire.read_parameters(route.request, given)


async def _page(request: Request) -> Response:
    """The page, the same at all its addresses."""
    return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})


async def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, CrmRagError)
    if isinstance(error, ReleaseError):
        request.state.failed = str(error)
    return failure(error)


async def _refused(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    told = {
        404: ("Not found", "There is nothing at this address."),
        405: ("Method not allowed", "Not in this way."),
    }
    title, detail = told.get(status, ("Refused", str(getattr(error, "detail", ""))))
    headers = dict(getattr(error, "headers", None) or {})
    return problem(Problem(status, detail, title, remedy="See /openapi.json."), headers)


__all__ = ["create_app", "to_json"]
