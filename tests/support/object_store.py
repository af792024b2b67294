"""A real S3 server, moto's in a process of its own, behind a proxy through which everything goes that a test asks, and which
does what networks and stores do at their worst."""

from __future__ import annotations

import http.client
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx
import pytest

SECONDS = 60  # until the server answers, on a busy machine


@dataclass(frozen=True)
class Asked:
    """A request at the proxy: its method, the object's key, and the names in its query (`uploadId`, `partNumber` …)."""

    method: str
    key: str
    query: frozenset[str]

    @property
    def is_part(self) -> bool:
        """Of a large file."""
        return self.method == "PUT" and "partNumber" in self.query

    @property
    def is_listing(self) -> bool:
        return "list-type" in self.query


Fault = Callable[["Exchange"], bool]
"""Does what goes wrong with an exchange; whether it is at an end with that."""


@dataclass
class Exchange:
    """One request that is passed on to the server, unless something goes wrong."""

    handler: BaseHTTPRequestHandler
    asked: Asked
    server: str

    def reset(self) -> bool:
        """Have the connection lost, as when a router forgets it."""
        connection = self.handler.connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        self.handler.close_connection = True
        return True

    def body(self) -> bytes:
        return self.handler.rfile.read(int(self.handler.headers.get("Content-Length", 0)))

    def pass_on(self) -> tuple[int, list[tuple[str, str]], bytes]:
        headers = {k: v for k, v in self.handler.headers.items() if k.lower() != "expect"}
        with closing(http.client.HTTPConnection(self.server, timeout=SECONDS)) as connection:
            connection.request(self.asked.method, self.handler.path, self.body(), headers)
            got = connection.getresponse()
            return got.status, got.getheaders(), got.read()

    def answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        handler = self.handler
        handler.send_response_only(status)
        left_out = {"transfer-encoding", "connection"}
        length = next((v for k, v in headers if k.lower() == "content-length"), str(len(body)))
        for name, value in headers:
            if name.lower() not in left_out | {"content-length"}:
                handler.send_header(name, value)
        # what HEAD tells of has no body
        handler.send_header("Content-Length", length if handler.command == "HEAD" else str(len(body)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)


def refused(exchange: Exchange) -> bool:
    """As a store does that has too much to do."""
    exchange.body()
    text = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
    exchange.answer(503, [("Content-Type", "application/xml")], text)
    return True


def denied(exchange: Exchange) -> bool:
    exchange.body()
    text = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
    exchange.answer(403, [("Content-Type", "application/xml")], text)
    return True


def cut_while_sending(exchange: Exchange) -> bool:
    """The connection is lost in the midst of what is sent."""
    exchange.handler.rfile.read(int(exchange.handler.headers.get("Content-Length", 0)) // 2)
    return exchange.reset()


def done_but_unheard(exchange: Exchange) -> bool:
    """The server does what it is asked, and its answer is lost."""
    exchange.pass_on()
    return exchange.reset()


def cut_while_answering(exchange: Exchange) -> bool:
    """The connection is lost in the midst of the answer."""
    status, headers, body = exchange.pass_on()
    exchange.handler.send_response_only(status)
    for name, value in headers:
        exchange.handler.send_header(name, value)
    exchange.handler.end_headers()
    exchange.handler.wfile.write(body[: len(body) // 2])
    exchange.handler.wfile.flush()
    return exchange.reset()


def slowed(seconds: float) -> Fault:
    def act(exchange: Exchange) -> bool:
        time.sleep(seconds)
        return False

    return act


def lagging(listings: dict[str, tuple[int, list[tuple[str, str]], bytes]]) -> Fault:
    """A listing tells for ever what it told at first."""

    def act(exchange: Exchange) -> bool:
        path = exchange.handler.path
        if path not in listings:
            listings[path] = exchange.pass_on()
        exchange.answer(*listings[path])
        return True

    return act


@dataclass
class Proxy:
    """``faults``: asked of each request in turn, what goes wrong with it; ``heard``: every request."""

    address: str
    server: str
    faults: list[Callable[[Asked], Fault | None]] = field(default_factory=list)
    heard: list[Asked] = field(default_factory=list)

    def fails(
        self, fault: Fault, when: Callable[[Asked], bool] = lambda asked: True, times: int = 1_000_000
    ) -> None:
        """Have the next so many requests that are meant go wrong."""
        left = [times]

        def chosen(asked: Asked) -> Fault | None:
            if not left[0] or not when(asked):
                return None
            left[0] -= 1
            return fault

        self.faults.append(chosen)

    def sent(self, part: str) -> list[Asked]:
        """Requests that sent an object with this in its key."""
        return [asked for asked in self.heard if asked.method == "PUT" and part in asked.key]

    def keys(self, bucket: str) -> dict[str, int]:
        """What the server itself holds, key and size."""
        import xml.etree.ElementTree as ET

        tree = ET.fromstring(httpx.get(f"http://{self.server}/{bucket}?list-type=2").text)
        found = {}
        for one in tree.iter("{http://s3.amazonaws.com/doc/2006-03-01/}Contents"):
            texts = {child.tag.rpartition("}")[2]: child.text for child in one}
            found[str(texts["Key"])] = int(str(texts["Size"]))
        return found


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            with suppress(OSError):
                super().handle_one_request()
                return
            self.close_connection = True

        def parse_request(self) -> bool:
            if not super().parse_request():
                return False
            parts = urlsplit(self.path)
            query = frozenset(parse_qs(parts.query, keep_blank_values=True))
            asked = Asked(self.command, parts.path.lstrip("/").partition("/")[2], query)
            proxy.heard.append(asked)
            exchange = Exchange(self, asked, proxy.server)
            for chosen in proxy.faults:
                fault = chosen(asked)
                if fault is not None and fault(exchange):
                    return False
            exchange.answer(*exchange.pass_on())
            return False

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


@contextmanager
def s3_server() -> Iterator[str]:
    """Host and port of an S3 server in a process of its own."""
    pytest.importorskip("moto", reason="pip install 'moto[s3,server]'")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            with suppress(httpx.HTTPError):
                httpx.get(f"http://127.0.0.1:{port}/moto-api/", timeout=5)
                break
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@contextmanager
def bucket_behind_proxy(server: str) -> Iterator[tuple[str, Proxy]]:
    """A new bucket's address, and the proxy by which the environment reaches it."""
    bucket = f"bucket-{uuid4().hex[:12]}"
    httpx.put(f"http://{server}/{bucket}").raise_for_status()
    proxy = Proxy("", server)
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), _handler(proxy)) as listening,
        pytest.MonkeyPatch.context() as patch,
    ):
        listening.daemon_threads = True
        proxy.address = f"http://127.0.0.1:{listening.server_address[1]}"
        for name, value in environment(proxy).items():
            patch.setenv(name, value)
        Thread(target=listening.serve_forever, daemon=True).start()
        yield f"s3://{bucket}/museum", proxy
        listening.shutdown()


def environment(proxy: Proxy) -> dict[str, str]:
    """By which any process reaches the store through the proxy."""
    return {
        "AWS_ENDPOINT_URL": proxy.address, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1", "NO_PROXY": "127.0.0.1",
    }  # fmt: skip
