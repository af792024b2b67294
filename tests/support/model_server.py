"""A scripted OpenAI-compatible server: real HTTP on localhost, replies given beforehand."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Script:
    """What the server says next, and what it was asked; ``status`` other than 200 makes every call fail."""

    replies: list[str]
    status: int = 200
    requests: list[dict[str, Any]] = field(default_factory=list)
    address: str = ""


@contextmanager
def model_server(*replies: str, status: int = 200) -> Iterator[Script]:
    """Serve ``replies`` in turn (the last one again and again) at ``script.address`` + /v1."""
    script = Script(list(replies), status)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(script))
    script.address = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            script.requests.append(request)
            if script.status != 200:
                self._send(
                    "application/json", json.dumps({"error": {"message": "scripted failure"}}), script.status
                )
                return
            reply = script.replies.pop(0) if len(script.replies) > 1 else script.replies[0]
            if request.get("stream"):
                self._send("text/event-stream", _stream(reply))
            else:
                message = {"role": "assistant", "content": reply}
                self._send(
                    "application/json", json.dumps(_completion({"message": message, "finish_reason": "stop"}))
                )

        def _send(self, kind: str, body: str, status: int = 200) -> None:
            data = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _completion(choice: dict[str, Any], kind: str = "chat.completion") -> dict[str, Any]:
    return {"id": "1", "object": kind, "created": 0, "model": "scripted", "choices": [{"index": 0, **choice}]}


def _stream(reply: str) -> str:
    """Server-sent events, a word at a time."""
    parts = [
        {"delta": {"role": "assistant", "content": word}} for word in reply.replace(" ", " \0").split("\0")
    ]
    parts.append({"delta": {}, "finish_reason": "stop"})
    events = [json.dumps(_completion(part, "chat.completion.chunk")) for part in parts]
    return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])
