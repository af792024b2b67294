"""A server on this machine that keeps every request, and answers as an embedding API does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from crmrag_query.retrieval.encoder import hash_vectors
from tests.support.api_server import answering, send


@dataclass
class Recording:
    """``host`` with its port; ``heard``: each request's line, headers and body as text."""

    dimension: int
    host: str = ""
    heard: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://{self.host}/v1"


@contextmanager
def recording_server(dimension: int) -> Iterator[Recording]:
    """``dimension`` of the vectors that it answers with: the stand-in's."""
    recording = Recording(dimension)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        recording.heard.append(f"{handler.requestline}\n{handler.headers}\n{body.decode()}")
        vectors = hash_vectors(json.loads(body)["input"] if body else [], recording.dimension)
        rows = [{"object": "embedding", "index": n, "embedding": v.tolist()} for n, v in enumerate(vectors)]
        told = {"object": "list", "data": rows, "model": "recorded", "usage": {"total_tokens": 1}}
        send(handler, 200, "application/json", json.dumps(told).encode())

    with answering(answer, "HTTP/1.0") as address:
        recording.host = address.removeprefix("http://")
        yield recording
