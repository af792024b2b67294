"""A real HTTP server on localhost that serves a client's engine in the wire format, and one that answers as a test says."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from crmrag_query.client import wire
from crmrag_query.client.codec import to_json
from crmrag_query.client.local import Engine
from crmrag_query.client.problems import Problem, to_problem
from crmrag_query.errors import CrmRagError

Answering = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def api_server(engine: Engine, key: str | None = None) -> Iterator[str]:
    """The address of a service that answers from ``engine``; with ``key`` it wants that key."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        length = int(handler.headers.get("Content-Length") or 0)
        body = handler.rfile.read(length)
        if key is not None and handler.headers.get("Authorization") != f"Bearer {key}":
            send(handler, 401, wire.PROBLEM, to_json(Problem(401, "No such key.", "Unauthorised")).encode())
            return
        route = wire.route_of(handler.command, parts.path)
        if route is None:
            send(handler, 404, wire.PROBLEM, to_json(Problem(404, "No such path.", "Not found")).encode())
            return
        try:
            if route.method == "GET":
                request = wire.read_parameters(
                    route.request, dict(parse_qsl(parts.query, keep_blank_values=True))
                )
            else:
                request = wire.read_body(route.request, body)
            if wire.EVENTS in handler.headers.get("Accept", ""):
                _stream(handler, engine, request)
                return
            send(handler, 200, wire.JSON, to_json(engine.handle(route, request)).encode())
        except CrmRagError as error:
            problem = to_problem(error)
            send(handler, problem.status, wire.PROBLEM, to_json(problem).encode())

    with answering(answer) as address:
        yield address


def _stream(handler: BaseHTTPRequestHandler, engine: Engine, request: wire.Ask) -> None:
    """Events as they come; an error after the first is an event too."""
    begun = False
    try:
        for event in engine.stream(request):
            if not begun:
                handler.send_response(200)
                handler.send_header("Content-Type", f"{wire.EVENTS}; charset=utf-8")
                handler.send_header("Connection", "close")
                handler.end_headers()
                begun = True
            handler.wfile.write(wire.write_event(event).encode())
            handler.wfile.flush()
    except CrmRagError as error:
        if not begun:
            raise
        handler.wfile.write(wire.write_event(error).encode())


def send(
    handler: BaseHTTPRequestHandler,
    status: int,
    kind: str,
    body: bytes,
    headers: dict[str, str] | None = None,
) -> None:
    """A whole response."""
    handler.send_response(status)
    for name, value in ({"Content-Type": kind, "Content-Length": str(len(body))} | (headers or {})).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the midst of a response is what some tests want; other errors are told."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def answering(answer: Answering) -> Iterator[str]:
    """The address of a server whose every request is answered by ``answer``."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10

        def do_GET(self) -> None:
            try:
                answer(self)
            except (BrokenPipeError, ConnectionResetError):  # the client has left, as some tests want
                self.close_connection = True

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
