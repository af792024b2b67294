"""The real service over a client's engine, and an HTTP server that answers as a test says; both on localhost."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from crmrag_query.client.local import Engine
from tests.support.service import application, served

Answering = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def api_server(engine: Engine, key: str | None = None) -> Iterator[str]:
    """The address of the real service over ``engine``, which keeps nothing; with ``key`` it wants that key."""
    with served(application(engine, keys=() if key is None else (key,))) as address:
        yield address


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
def answering(answer: Answering, protocol: str = "HTTP/1.1") -> Iterator[str]:
    """The address of a server whose every request is answered by ``answer``; with HTTP/1.0 each has its own connection."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = protocol
        timeout = 10

        def do_GET(self) -> None:
            try:
                answer(self)
            except (BrokenPipeError, ConnectionResetError):  # the client has left, as some tests want
                self.close_connection = True

        do_POST = do_HEAD = do_PUT = do_GET

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
