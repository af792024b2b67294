"""The application: routes of the wire format, the page, operations; everything else is in the modules beside it. And its
start: in one process or several that share a port, on connections that wait only so long.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import click
import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, StreamingResponse
from starlette.routing import Match
from starlette.routing import Route as McpRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from crmrag_query.answers.ask import prepare
from crmrag_query.answers.records import Event
from crmrag_query.artifacts.manifest import read_ahead, room
from crmrag_query.artifacts.mirror import shown_place
from crmrag_query.artifacts.release import Release
from crmrag_query.client import wire
from crmrag_query.client.base import AsyncCalls
from crmrag_query.client.library import FIRST, Library
from crmrag_query.client.local import open_engine
from crmrag_query.client.wire import Q, Route, T
from crmrag_query.codec import Problem, from_plain, from_problem, parse_json, to_json, to_plain, to_problem
from crmrag_query.config.service import Connections, load_service
from crmrag_query.documents.pages import Pages
from crmrag_query.errors import (
    ConfigError,
    CrmRagError,
    MissingExtraError,
    QuestionError,
    ServiceError,
    UnknownEntity,
)
from crmrag_query.llm.model import LiteLLM, Model
from crmrag_query.service import openapi
from crmrag_query.service.answering import Answering, Desk, OpenAI, Workers, unknown_path
from crmrag_query.service.guard import LIMITS, Access, Guard, SafeHeaders, again
from crmrag_query.service.observe import SHARED, Observer, Watch, log_to_stderr
from crmrag_query.service.openapi import docs_page
from crmrag_query.service.responses import (
    FILES,
    HEARTBEAT,
    KEPT,
    LEFT,
    OWN_ROUTES,
    PAGE,
    STREAMED,
    GetDocuments,
    GetFile,
    GetPage,
    Health,
    Large,
    PutDocument,
    Version,
    begun,
    event_stream,
    failure,
    is_tagged,
    known_already,
    not_modified,
    problem,
    result,
    tag_of,
    unless_left,
    written,
)
from crmrag_query.service.store import Store
from crmrag_query.service.uploads import LOOK_SECONDS, LOOKED, UPLOADS, Refused, Sent, Uploads, part_of
from crmrag_query.timing import tells_questions
from crmrag_query.version import __version__

MCP = "/mcp"


@dataclass(frozen=True)
class Here:
    """The transport of a client that the service itself answers; its errors tell no more than those over HTTP do."""

    answering: Answering

    async def handle(self, route: Route[Q, T], request: Q) -> T:
        with _as_problems():
            return await self.answering.result(route, request)

    async def stream(self, request: wire.Ask) -> AsyncGenerator[Event]:
        with _as_problems():
            async for event in self.answering.events(request):
                if isinstance(event, CrmRagError):
                    raise event
                yield event

    async def close(self) -> None:
        pass


@contextmanager
def _as_problems() -> Iterator[None]:
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


def mcp_server(answering: Answering) -> Starlette | None:
    """The MCP server; None where its extra is not installed. Whom it answers, and which bodies, is the guard's business."""
    try:
        from crmrag_query.mcp.server import http_app
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise  # a fault of ours, not an extra that is missing
        return None
    config = answering.desk.config
    client = AsyncCalls.over(Here(answering), "this service")
    return http_app(client, MCP, body_bytes=config.bounds.body_bytes, config=config.mcp)


class _Posted:
    """Hands over requests, and ends the work of those whose callers leave."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        await unless_left(Request(scope, receive), self._app(scope, again(body, receive), send))


def make_ready(releases: Library, model: Model | None = None) -> None:
    """Open every release, read it and search it once, and load what reaches the language model, so that nobody waits for
    that. Asks no language model."""
    left = room()
    for release in open_all(releases):
        with suppress(CrmRagError, OSError):  # whoever asks is told what is the matter
            left = read_ahead(release.folder, left)
            prepare(release, FIRST, wikidata=False)
    if isinstance(model, LiteLLM):
        try:
            model.load()
        except CrmRagError as error:
            LOG.warning("%s", error)


def open_all(releases: Library) -> list[Release]:
    """Every release that can be opened; those that cannot be are told in the log."""
    opened = []
    for name in releases.names():
        try:
            opened.append(releases.release(name)[1])
        except CrmRagError as error:
            LOG.warning("Data set %r: %s", name, error)
    return opened


STATIC = Path(__file__).parent / "static"
LOG = logging.getLogger("crmrag.service")
REFUSALS = {
    404: ("Not found", "There is nothing at this address.", ""),
    405: ("Method not allowed", "Not in this way.", ""),
}
PACKED_FROM = 1000
"""Bytes from which a file of the page is sent compressed: nothing in them is secret."""
PROGRAMS = ("/api/", "/v1/", "/static/")
"""Beginnings of addresses that no person types."""
PAGES = ("/", "/a/{id}", "/c/{id}", "/d/{name}", "/e", "/s", "/t", "/m")
Endpoint = Callable[[Request], Awaitable[Response]]


def create_app(desk: Desk, access: Access) -> FastAPI:
    """The application over a desk; ``access``: who may ask, and how often."""

    observer = Observer()
    answering = Answering(desk, Workers(desk.config.work), observer)
    mcp = mcp_server(answering)

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        ready = (desk.engine.releases, desk.engine.model)
        threading.Thread(target=make_ready, args=ready, name="opening", daemon=True).start()
        if mcp is None:
            LOG.warning("MCP is not served at %s: it needs the extra 'mcp' (pip install 'crmrag[mcp]').", MCP)
        async with nullcontext() if mcp is None else mcp.router.lifespan_context(mcp):
            yield
        desk.close()

    app = FastAPI(
        title="CRM-RAG", version=__version__, lifespan=living, openapi_url=None, docs_url=None, redoc_url=None,
        redirect_slashes=False,
    )  # fmt: skip
    app.state.releases = desk.engine.releases
    api = Api(answering, access, with_mcp=mcp is not None)
    for route in (*wire.ROUTES, *OWN_ROUTES):
        app.add_api_route(wire.PREFIX + route.path, api.endpoint(route), methods=_methods(route.method))
    for file, format in FILES.items():
        app.add_api_route(wire.PREFIX + file, api.file(format), methods=["GET"])
    app.add_api_route(wire.PREFIX + PAGE, api.page, methods=["GET"])
    for path in UPLOADS:
        app.add_api_route(path, api.upload, methods=["POST"])
    app.add_api_route(UPLOADS[0], api.documents, methods=["GET"])
    for path, endpoint in (
        ("/health", api.health), ("/ready", api.ready), ("/version", api.version), ("/metrics", api.metrics),
        ("/openapi.json", api.document),
    ):  # fmt: skip
        app.add_api_route(path, endpoint, methods=_methods("GET"))
    if mcp is not None:
        app.router.routes.append(McpRoute(MCP, _Posted(mcp), methods=["POST"]))
    chat = OpenAI(answering)
    app.add_api_route("/v1/models", chat.models, methods=["GET"])
    app.add_api_route("/v1/models/{name}", chat.model, methods=["GET"])
    app.add_api_route("/v1/chat/completions", chat.chat, methods=["POST"])
    app.add_api_route("/docs", _docs, methods=_methods("GET"))
    for page in PAGES:
        app.add_api_route(page, _page, methods=_methods("GET"))
    app.mount("/static", GZipMiddleware(StaticFiles(directory=STATIC), PACKED_FROM), name="static")
    app.add_exception_handler(CrmRagError, _told)
    app.add_exception_handler(HTTPException, _refused)
    app.add_middleware(
        Guard, access=access, bounds=desk.config.bounds, origins=desk.config.origins,
        upload_bytes=round((desk.config.uploads.megabytes + 1) * (1 << 20)),
    )  # fmt: skip
    if desk.config.origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(desk.config.origins), allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "Accept", "If-None-Match"],
            expose_headers=["ETag", "Retry-After", "X-Request-Id", *LIMITS],
        )  # fmt: skip
    app.add_middleware(Watch, observer=observer)
    app.add_middleware(SafeHeaders)
    return app


class Api:
    """Endpoints over a desk."""

    def __init__(self, answering: Answering, access: Access, with_mcp: bool) -> None:
        self._answering, self._access, self._with_mcp = answering, access, with_mcp
        self._desk, self._read = answering.desk, answering.workers.read
        self._uploads = Uploads(Path(self._desk.engine.releases.target), self._desk.config.uploads)
        self._taking = asyncio.Semaphore(LOOKED)

    def endpoint(self, route: Route[Any, Any]) -> Endpoint:
        """The endpoint of a route."""

        async def answer(request: Request) -> Response:
            asked = await _read(route, request)
            if route is wire.ASK:
                return await self._ask(request, asked)
            if route is wire.EXPORT:
                made = await unless_left(request, self._answering.export(asked))
                return Response(status_code=LEFT) if made is None else Large(*made)
            tag = await self._tag(request, route, asked)
            if tag is not None and known_already(request, tag):
                return not_modified(tag)
            text = await unless_left(request, self._answering.written(route, asked))
            return Response(status_code=LEFT) if text is None else written(text, tag)

        answer.__name__ = f"{route.method.lower()}_{route.path.strip('/').replace('/', '_')}"
        return answer

    def file(self, format: str) -> Endpoint:
        """The endpoint of whole sets as files of a format."""

        async def answer(request: Request) -> Response:
            asked = _asked(GetFile, request).export(format)
            made = await unless_left(request, self._answering.file(asked))
            if made is None:
                return Response(status_code=LEFT)
            found, sent = made
            return Large(found.text.encode(), sent, found.media_type, found.name)

        answer.__name__ = f"get_set_{format}"
        return answer

    async def page(self, request: Request) -> Response:
        """The image of a page of a document."""
        asked = _asked(GetPage, request)

        def found() -> tuple[str, Path]:
            release = self._desk.engine.releases.release(asked.dataset)[1]
            page = release[Pages].by_iri.get(asked.iri)
            if page is None or page.image is None:
                raise UnknownEntity(
                    f"There is no image of a page {asked.iri}.", "Give the IRI of a page that a source names."
                )
            return release.id, page.image

        release, image = await self._read(found)
        tag = tag_of(request, [release])
        if known_already(request, tag):
            return not_modified(tag)
        return FileResponse(image, media_type="image/png", headers=KEPT | {"ETag": tag})

    async def upload(self, request: Request) -> Response:
        """Put a document into a data set's inbox."""
        kind, asked = request.headers.get("content-type", ""), _asked(PutDocument, request)
        body = await request.body()

        def taken() -> Sent:
            form = kind.partition(";")[0].strip().lower() == "multipart/form-data"
            name, content = part_of(kind, body) if form else (asked.name, body)
            dataset = asked.dataset or next(iter(self._uploads.config.datasets), "")
            return self._uploads.take(dataset, name, content)

        try:
            async with self._taking:  # who waits takes no thread that answers
                found = result(await self._read(taken))
        except Refused as refused:
            return problem(refused.problem)
        found.status_code = 202
        return found

    async def documents(self, request: Request) -> Response:
        """What became of the documents that were sent; of one, by ``id``, as events where they are wanted."""
        asked = _asked(GetDocuments, request)

        def release() -> Release | None:
            try:
                return self._desk.engine.releases.release(asked.dataset)[1]
            except CrmRagError:  # nothing is built yet
                return None

        def sent() -> Sent:
            return self._uploads.sent(asked.dataset, asked.id, release())

        async def events() -> AsyncIterator[bytes]:
            before: Sent | None = None
            while before is None or before.state == "waiting":
                now = await self._read(sent)
                yield f"event: document\ndata: {to_json(now)}\n\n".encode() if now != before else HEARTBEAT
                before = now
                if now.state == "waiting":
                    await asyncio.sleep(LOOK_SECONDS)

        try:
            self._uploads.require(asked.dataset)
            if not asked.id:
                return result(await self._read(lambda: self._uploads.listed(asked.dataset, release())))
        except Refused as refused:
            return problem(refused.problem)
        if wire.EVENTS in request.headers.get("accept", ""):
            return StreamingResponse(events(), media_type=wire.EVENTS, headers=STREAMED)
        return result(await self._read(sent))

    async def _ask(self, request: Request, asked: wire.Ask) -> Response:
        """A question: as a stream of events where the caller takes one, else its answer. An error that comes soon enough has
        its own status; in a stream that has begun it is an event."""
        if wire.EVENTS not in request.headers.get("accept", ""):
            answer = await unless_left(request, self._answering.answer(asked))
            return Response(status_code=LEFT) if answer is None else result(answer)
        events, silence = self._answering.events(asked), self._desk.config.heartbeat_seconds
        stream = event_stream(events, await begun(events, silence), silence, _written)
        return StreamingResponse(stream, media_type=wire.EVENTS, headers=STREAMED)

    async def _tag(self, request: Request, route: Route[Any, Any], asked: Any) -> str | None:
        """The tag of what a GET reads from releases; None for what depends on more."""
        if not is_tagged(route):
            return None
        releases = self._desk.engine.releases

        def names() -> list[str]:
            if route is not wire.DATASETS:
                return [releases.release(asked.dataset)[1].id]
            return [f"{name} {getattr(found, 'id', '')}" for name, found in releases.glances()]

        return tag_of(request, await self._read(names))

    async def health(self) -> Response:
        return result(Health("ok"))

    async def ready(self, request: Request) -> Response:
        """Whether every data set can be asked, and there is one: its release opened, what questions need of it read. Which
        ones is told to who may ask them."""
        releases = self._desk.engine.releases

        def encoded() -> dict[str, float]:
            return {name: round(releases.release(name)[1].manifest.share, 4) for name in releases.names()}

        shares = await self._read(encoded)
        if not shares:
            why = releases.nothing()
            return problem(Problem(503, why.what, "Not ready", remedy=why.remedy))
        return result(
            Health("ok", tuple(shares), shares) if self._access.opened_by(request) else Health("ok")
        )

    async def version(self, request: Request) -> Response:
        """The service's version; what it serves is told to who may ask it."""
        if not self._access.opened_by(request):
            return result(Version(__version__))
        releases = self._desk.engine.releases

        def served() -> Version:
            found = dict(releases.glances())
            ids = {name: one.id for name, one in found.items() if isinstance(one, Release)}
            return Version(__version__, ids, tuple(sorted(found.keys() - ids)), self._with_mcp)

        return result(await self._read(served))

    async def metrics(self) -> Response:
        return self._answering.observer.metrics()

    async def document(self) -> Response:
        return Response(openapi.document_json(), media_type=wire.JSON, headers={"Cache-Control": "no-cache"})


def _methods(method: str) -> list[str]:
    return [method, "HEAD"] if method == "GET" else [method]


def _written(event: Event | CrmRagError) -> bytes:
    return wire.write_event(event).encode()


async def _read(route: Route[Any, Any], request: Request) -> Any:
    """The request's record; QuestionError where it cannot be read."""
    if route.method == "POST":
        return wire.read_body(route.request, await request.body())
    return _asked(route.request, request)


def _asked(kind: type[Q], request: Request) -> Q:
    """The record of a query string; QuestionError where it cannot be read."""
    given = request.query_params.multi_items()
    if len(dict(given)) < len(given):
        raise QuestionError("The request cannot be read: a parameter stands twice.", "Give it once.")
    return wire.read_parameters(kind, dict(given))


async def _page(request: Request) -> Response:
    """The page, the same at all its addresses."""
    return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})


async def _docs(request: Request) -> Response:
    """The interface as a page, which needs nothing from other hosts."""
    return Response(docs_page(), media_type="text/html", headers={"Cache-Control": "no-cache"})


async def _told(request: Request, error: Exception) -> Response:
    """The problem document of one of our errors; the log tells the whole where who asked is told less."""
    assert isinstance(error, CrmRagError)
    response = failure(error)
    if response.status_code >= 500:
        request.state.failed = str(error)
    return response


async def _refused(request: Request, error: Exception) -> Response:
    """The problem document of what no endpoint answered; for people at an address without a page, the page."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        scope = {**request.scope, "root_path": request.scope.get("app_root_path", "")}
        routes = (one for one in request.app.routes if one.matches(scope)[0] is not Match.NONE)
        found = {method for one in routes for method in getattr(one, "methods", None) or ("GET", "HEAD")}
        headers["Allow"] = ", ".join(sorted(found | {"OPTIONS"}))
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
    if request.scope["path"].startswith("/v1/"):
        response = unknown_path(request.scope["path"], error.status_code)
        response.headers.update(headers)
        return response
    page = "text/html" in request.headers.get("accept", "").lower() and request.method in ("GET", "HEAD")
    if error.status_code == 404 and page and not request.scope["path"].startswith(PROGRAMS):
        return FileResponse(STATIC / "index.html", 404, headers={"Cache-Control": "no-cache"})
    title, detail, remedy = REFUSALS.get(error.status_code, ("Refused", str(error.detail), ""))
    return problem(Problem(error.status_code, detail, title, remedy=remedy or "See /openapi.json."), headers)


@cache
def connections() -> Connections:
    """As configured; read in each process, as worker processes are given no more of a connection than its class."""
    return load_service().connections


class Patient(H11Protocol):
    """Closes a connection on which no whole head of a request comes in time, or on which nothing is taken for a while."""

    _late: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that it is told whenever something waits to be taken
        self._wait()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self._unwatch()
        super().resume_writing()

    def _watch(self, waiting: int) -> None:
        """Look after a while whether any of the ``waiting`` bytes were taken."""
        self._unwatch()
        self._stuck = self.loop.call_later(connections().write_seconds, self._look, waiting)

    def _look(self, waited: int) -> None:
        waiting = self.transport.get_write_buffer_size()
        if waiting < waited:
            self._watch(waiting)
        else:
            self.transport.abort()  # closing it would wait for its reader

    def _unwatch(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def data_received(self, data: bytes) -> None:
        if self._late is None:  # after a request, the next one
            self._wait()
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._unwatch()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._late = self.loop.call_later(connections().head_seconds, self.transport.close)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


SETTINGS = "CRMRAG_SERVICE"  # in which the settings reach the worker processes
KEYS = "CRMRAG_API_KEYS"
UPLOAD_KEYS = "CRMRAG_UPLOAD_KEYS"  # of who may also send documents
WAITING = 2048  # connections that are not taken yet; the system's own bound (somaxconn) is what operators set
HEALTH = 30  # seconds in which a worker must show that it lives: longer than the longest work that lets no other thread in


@dataclass(frozen=True, slots=True)
class Settings:
    """What is served and how; ``state``: the folder where answers are kept, None for nowhere; ``address``: the one that is
    listened on, "" for one that others see to; ``trust``: hosts that releases may have questions sent to."""

    data: str
    dataset: str | None = None
    model: str | None = None
    api_base: str | None = None
    state: str | None = None
    quiet: bool = False
    address: str = ""
    trust: tuple[str, ...] = ()


def application(settings: Settings) -> FastAPI:
    """The application of these settings; raises the errors of data and configuration."""
    config = load_service()
    engine = open_engine(settings.data, settings.dataset, settings.model, settings.api_base, settings.trust)
    if settings.dataset is not None:
        engine.releases.release(settings.dataset)
    store = None if settings.state is None else Store(Path(settings.state), config.kept)
    return create_app(
        Desk(engine, config, store),
        Access.of(_keys(KEYS), _hosts(config.hosts, settings.address), _keys(UPLOAD_KEYS)),
    )


def worker() -> FastAPI:
    """The application in a process of uvicorn's."""
    settings = from_plain(Settings, parse_json(os.environ[SETTINGS]))
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
    send_traces()
    log_to_stderr(logging.WARNING if settings.quiet else logging.INFO)
    return application(settings)


ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Variables of OpenTelemetry's specification that say where traces are sent, by HTTP with protobuf."""
NAME = "OTEL_SERVICE_NAME"
QUERY = "url.query"


def send_traces() -> None:
    """Have this process send its traces where the environment says, if it does. Raises MissingExtraError."""
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"Sending traces ({ENDPOINTS[1]})", "traces", error.name or "") from error

    class WithoutQueries(SpanProcessor):
        """Empties the query strings that FastAPI keeps: questions stand in them."""

        def on_start(self, span: Any, parent_context: object = None) -> None:
            if QUERY in span.attributes:
                span.set_attribute(QUERY, "")

    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: os.environ.get(NAME) or "crmrag"}))
    if not tells_questions():
        provider.add_span_processor(WithoutQueries())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def _end_with_parent() -> None:
    """End this process once the one that started it is gone: killed, that one could not say so, and the port stayed taken."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def run(settings: Settings, host: str, port: int, workers: int) -> None:
    """Serve until the process is told to end; ServiceError where the port is taken."""
    with closing(_socket(host, port)) as listening:
        address, shown = listening.getsockname(), f"[{host}]" if ":" in host else host
        settings = replace(settings, address=address[0])
        app = application(settings)  # what cannot be served is told here, once, and not by every worker
        click.echo(
            f"CRM-RAG serves {shown_place(Path(settings.data))} at http://{shown}:{address[1]} (Ctrl+C ends it)",
            err=True,
        )
        if not app.state.releases.names():
            click.echo(
                "No data set is built yet; it is served as soon as it is: crmrag build DATASET.", err=True
            )
        log_to_stderr(logging.WARNING if settings.quiet else logging.INFO)
        if workers > 1:
            _run_several(settings, workers, listening)
        else:
            send_traces()
            uvicorn.Server(_config(app)).run([listening])


def _run_several(settings: Settings, workers: int, listening: socket.socket) -> None:
    """Worker processes that share a socket and, in a folder, their metrics; one that dies is replaced."""
    with tempfile.TemporaryDirectory(prefix="crmrag-metrics-", ignore_cleanup_errors=True) as folder:
        os.environ |= {SETTINGS: to_json(settings), SHARED: folder}
        Multiprocess(_config("crmrag_query.service.app:worker", workers), [listening]).run()


def _config(app: FastAPI | str, workers: int = 1) -> uvicorn.Config:
    times = connections()
    return uvicorn.Config(
        app, factory=isinstance(app, str), workers=workers, log_config=None, access_log=False,
        http=Patient, ws="none", timeout_graceful_shutdown=times.grace_seconds,
        timeout_keep_alive=times.idle_seconds, timeout_worker_healthcheck=HEALTH, server_header=False, proxy_headers=True,
    )  # fmt: skip


def _hosts(given: tuple[str, ...], address: str) -> tuple[str, ...] | None:
    """The hosts to answer for besides this machine's own; None for any."""
    if given or not address:
        return given or None
    return (f"[{address}]" if ":" in address else address,) if ip_address(address).is_loopback else None


def _socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(WAITING)  # who comes before the service is ready waits for it
    except OSError as error:
        listening.close()
        raise ServiceError(
            f"{host}:{port} cannot be listened on: {error.strerror}.",
            "Give another one: --port 8001, --host …",
        ) from error
    listening.set_inheritable(True)
    return listening


def _keys(variable: str) -> list[str]:
    keys = [key.strip() for key in os.environ.get(variable, "").split(",")]
    given = [key for key in keys if key]
    if any(not (key.isascii() and key.isprintable()) for key in given):
        raise ConfigError.single(variable, "", "a key holds characters that no header may hold")
    return given
