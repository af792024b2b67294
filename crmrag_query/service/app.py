"""The application: routes of the wire format, the page, operations; everything else is in the modules beside it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, StreamingResponse
from starlette.routing import Match
from starlette.staticfiles import StaticFiles

from crmrag_query.answers.ask import prepare
from crmrag_query.answers.records import Event
from crmrag_query.artifacts.manifest import read_ahead, room
from crmrag_query.artifacts.release import Release
from crmrag_query.client import wire
from crmrag_query.client.local import FIRST, Library
from crmrag_query.client.wire import Route
from crmrag_query.codec import Problem, to_json
from crmrag_query.documents.pages import Pages
from crmrag_query.errors import CrmRagError, QuestionError, UnknownEntity
from crmrag_query.llm.model import LiteLLM, Model
from crmrag_query.service import openapi
from crmrag_query.service.answering import Answering, Workers
from crmrag_query.service.desk import Desk
from crmrag_query.service.guard import LIMITS, Access, Guard, SafeHeaders
from crmrag_query.service.observe import Observer, Watch
from crmrag_query.service.openai import OpenAI, unknown_path
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
from crmrag_query.service.tools import MCP, mcp_server
from crmrag_query.service.uploads import LOOK_SECONDS, LOOKED, UPLOADS, Refused, Sent, Uploads, part_of
from crmrag_query.version import __version__


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
        ready = (desk.engine.releases, desk.engine.how.model)
        threading.Thread(target=make_ready, args=ready, name="opening", daemon=True).start()
        if mcp is None:
            LOG.warning("MCP is not served at %s: it needs the extra 'mcp' (pip install 'crmrag[mcp]').", MCP)
        async with nullcontext() if mcp is None else mcp.running:
            yield
        desk.close()

    app = FastAPI(
        title="CRM-RAG", version=__version__, lifespan=living, openapi_url=None, docs_url=None, redoc_url=None,
        redirect_slashes=False,
    )  # fmt: skip
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
        app.router.routes.append(mcp.path)
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
            asked = wire.read_parameters(GetFile, _parameters(request)).export(format)
            made = await unless_left(request, self._answering.file(asked))
            if made is None:
                return Response(status_code=LEFT)
            found, sent = made
            return Large(found.text.encode(), sent, found.media_type, found.name)

        answer.__name__ = f"get_set_{format}"
        return answer

    async def page(self, request: Request) -> Response:
        """The image of a page of a document."""
        asked = wire.read_parameters(GetPage, _parameters(request))

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
        kind, asked = (
            request.headers.get("content-type", ""),
            wire.read_parameters(PutDocument, _parameters(request)),
        )
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
        asked = wire.read_parameters(GetDocuments, _parameters(request))

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
    return wire.read_parameters(route.request, _parameters(request))


def _parameters(request: Request) -> dict[str, str]:
    given = dict(request.query_params.multi_items())
    if len(given) < len(request.query_params.multi_items()):
        raise QuestionError("The request cannot be read: a parameter stands twice.", "Give it once.")
    return given


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
