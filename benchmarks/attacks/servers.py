"""Servers that files, releases and requests name, and `crmrag serve` as it is met by others meanwhile."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from attacks.record import MEBIBYTES, SECONDS, resident
from tests.support.service import Process

KEY = "sk-a-key-that-nobody-may-get"
WAIT = 5.0  # seconds that others may wait while one attacks


@dataclass
class Server:
    """A server that notes what it is asked, and answers by ``answering``."""

    answering: Callable[[BaseHTTPRequestHandler], None]
    address: str = ""
    asked: list[str] = field(default_factory=list)

    def taken(self) -> list[str]:
        """What it was asked since it was last looked at."""
        taken, self.asked = self.asked, []
        return taken


@contextmanager
def listening(answering: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[Server]:
    server = Server(answering)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.said = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode(errors="replace")
            key = " with the key" if KEY in str(self.headers) else ""
            server.asked.append(f"{self.command} {self.path}{key} {self.said}")
            self.close_connection = True
            with suppress(OSError):  # it is not listened to any longer
                server.answering(self)

        do_GET = do_HEAD = do_PUT = do_CONNECT = do_POST

        def log_message(self, format: str, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads, http.block_on_close = True, False
    server.address = f"http://127.0.0.1:{http.server_port}/v1"
    threading.Thread(target=http.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


def recording(said: bytes = b"") -> Any:
    """A server that answers in a few words, as a model's does."""
    return listening(lambda handler: begin(handler, 200, reply(said.decode())))


def begin(handler: BaseHTTPRequestHandler, status: int, body: bytes = b"", **headers: str) -> None:
    handler.send_response(status)
    for name, value in ({"Content-Type": "application/json"} | headers).items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def reply(said: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    whole = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]}
    return json.dumps(whole).encode()


def event(said: str) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", "content": said}}
    part = {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "scripted",
        "choices": [choice],
    }
    return f"data: {json.dumps(part)}\n\n".encode()


@dataclass
class Reply:
    """What came of a request: the status (0: none), the body's bytes, seconds."""

    status: int
    body: bytes
    seconds: float
    said: str = ""


def send(address: str, method: str, path: str, seconds: float = 2 * SECONDS, **more: Any) -> Reply:
    """The whole of a reply, however long it takes within the seconds."""
    begun, body = time.monotonic(), b""
    try:
        with httpx.stream(method, address + path, timeout=seconds, **more) as response:
            for piece in response.iter_raw():
                body += piece
                if time.monotonic() - begun > seconds:
                    return Reply(0, body, time.monotonic() - begun, "it did not end")
            return Reply(response.status_code, body, time.monotonic() - begun)
    except httpx.HTTPError as error:
        return Reply(0, body, time.monotonic() - begun, type(error).__name__)


def tree(pid: int) -> float:
    """MiB that a process and its children hold."""
    children: list[str] = []
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return resident(pid) + sum(tree(int(child)) for child in children)


def data_of(release: Path) -> Path:
    """The data folder that `crmrag serve` is given for a release."""
    return release.parents[2]


class Watch:
    """How long others wait, and what the service grows by, while one attacks."""

    def __init__(self, running: Process) -> None:
        self.running, self.first = running, tree(running.popen.pid)
        self.most, self.waited, self.over = self.first, 0.0, threading.Event()
        self.thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()

    def _look(self) -> None:
        looked = 0.0
        while not self.over.wait(0.05):
            self.most = max(self.most, tree(self.running.popen.pid))
            if time.monotonic() - looked > 0.5:
                looked = time.monotonic()
                found = send(self.running.address, "GET", "/health", 3 * WAIT)
                self.waited = max(self.waited, found.seconds)

    @property
    def grown(self) -> float:
        return self.most - self.first

    @property
    def fault(self) -> str:
        if self.waited > WAIT:
            return f"others waited {self.waited:.0f} s"
        return f"it grew by {self.grown:.0f} MiB" if self.grown > MEBIBYTES else ""
