"""A SPARQL 1.1 endpoint on localhost that reads an Oxigraph store, as strict, poor or faulty as a test wants it.

`/sparql` answers SELECT and is where faults strike; `/moved` answers them always; `/login` is a page for
people; `/loop/302` and `/loop/307` redirect to themselves. Whatever would write is refused, and found in `updates`.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyoxigraph as ox

from tests.support.sparql_answers import LOGIN_PAGE, Answer, Refused, redirect, writes
from tests.support.sparql_exchange import Endpoint, Exchange, Graphs, Options, Plan, Record
from tests.support.tls import self_signed

_QUERY_PATHS = ("/sparql", "/moved")


@contextmanager
def serving(
    data: ox.Store | Iterable[ox.Quad] = (), faults: Sequence[Plan] = (), **options: Any
) -> Iterator[Endpoint]:
    """Serve ``data`` (a store, which is not copied, or quads) at ``endpoint.url``; ``options`` are those of Options."""
    endpoint = Endpoint(_store(data), Options(**options), faults)
    server = _Server(("127.0.0.1", 0), _handler(endpoint))
    server.endpoint = endpoint
    with ExitStack() as stack:
        if endpoint.options.tls:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            endpoint.certificate = _secure(server, folder)
        scheme = "https" if endpoint.options.tls else "http"
        endpoint.url = f"{scheme}://127.0.0.1:{server.server_port}/sparql"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield endpoint
        finally:
            endpoint.stopping.set()
            server.shutdown()
            server.server_close()
            thread.join()


def _store(data: ox.Store | Iterable[ox.Quad]) -> ox.Store:
    if isinstance(data, ox.Store):
        return data
    store = ox.Store()
    store.extend(data)
    return store


def _secure(server: ThreadingHTTPServer, folder: Path) -> Path:
    """Speak TLS with a key of the server's own; gives its certificate, which a client may trust."""
    context, certificate = self_signed(folder)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return certificate


class _Server(ThreadingHTTPServer):
    endpoint: Endpoint
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up, or trust no such certificate, are part of the game; all else is a failure of the server."""
        error = sys.exception() if sys.version_info >= (3, 12) else sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            self.endpoint.failures.append(error)


def _handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            self.close_connection = True
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            _Request(endpoint, self, body).answer()

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _serve

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


class _Request:
    """One HTTP request, taken apart."""

    def __init__(self, endpoint: Endpoint, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self.endpoint = endpoint
        self.handler = handler
        self.method = handler.command
        self.target = handler.path
        self.path = urlsplit(handler.path).path
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.fields = parse_qs(urlsplit(handler.path).query, keep_blank_values=True)
        self.text = self._read(body)

    def _read(self, body: bytes) -> str:
        """The query or update; fields of a form join those of the address."""
        if self.kind == "application/x-www-form-urlencoded":
            for name, values in parse_qs(body.decode(), keep_blank_values=True).items():
                self.fields.setdefault(name, []).extend(values)
        elif body:
            return body.decode()
        return "\n".join(self.fields.get("query", []) + self.fields.get("update", []))

    def answer(self) -> None:
        started = time.monotonic()
        number, nth = self.endpoint.begin(self.text)
        try:
            record = Record(number, started, self.method, self.path, self.text, self._update(), self.headers)
            graphs = Graphs(self._graphs("default-graph-uri"), self._graphs("named-graph-uri"))
            exchange = Exchange(self.endpoint, self.handler, record, nth, graphs)
            self._answer(exchange, record)
        finally:
            self.endpoint.end(number)

    def _answer(self, exchange: Exchange, record: Record) -> None:
        if page := self._page(record):
            exchange.send(page)
            return
        self.endpoint.stopping.wait(self.endpoint.options.latency)
        fault = self.endpoint.choose(record.query) if self.path == "/sparql" else None
        if fault:
            exchange.fails(fault.name)
            try:
                fault.act(exchange)
            except Refused as refused:
                exchange.fails("")
                exchange.send(refused.answer)
        else:
            exchange.send(self._compressed(exchange.answer()))

    def _page(self, record: Record) -> Answer | None:
        """What is said where no query is answered."""
        if self.path == "/login":
            return LOGIN_PAGE
        if self.path.startswith("/loop/"):
            return redirect(int(self.path.removeprefix("/loop/")), self.endpoint.url_of(self.path))
        if self.path not in _QUERY_PATHS:
            return Answer(b"Not found", status=404)
        auth = self.endpoint.options.auth
        if auth and not auth.admits(self.headers, self.method, self.target):
            return Answer(b"Sign in", status=401, headers={"WWW-Authenticate": auth.challenge()})
        if record.update:
            return Answer(b"This endpoint is read only", status=400)
        if not self.text:
            return Answer(b"No query", status=400)
        return None

    def _update(self) -> bool:
        direct = self.kind == "application/sparql-update" or "update" in self.fields
        return direct or self.method in ("PUT", "DELETE", "PATCH") or writes(self.text)

    def _graphs(self, field: str) -> tuple[ox.NamedNode, ...]:
        return tuple(ox.NamedNode(iri) for iri in self.fields.get(field, []))

    def _compressed(self, answer: Answer) -> Answer:
        if self.endpoint.options.compress and "gzip" in self.headers.get("accept-encoding", ""):
            headers = {**answer.headers, "Content-Encoding": "gzip"}
            return Answer(gzip.compress(answer.body), answer.kind, answer.status, headers)
        return answer
