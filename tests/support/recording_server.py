"""A server on this machine that keeps every request, and answers as an embedding API does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from crmrag_query.retrieval.encoder import hash_vectors


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

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            recording.heard.append(f"{self.requestline}\n{self.headers}\n{body.decode()}")
            texts = json.loads(body)["input"] if body else []
            vectors = hash_vectors(texts, recording.dimension)
            rows = [
                {"object": "embedding", "index": n, "embedding": v.tolist()} for n, v in enumerate(vectors)
            ]
            answer = {"object": "list", "data": rows, "model": "recorded", "usage": {"total_tokens": 1}}
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        do_GET = do_HEAD = do_PUT = do_POST

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    recording.host = f"127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield recording
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
