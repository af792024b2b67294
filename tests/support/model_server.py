"""A scripted OpenAI-compatible server: real HTTP on localhost, replies and faults given beforehand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Fault = Literal[
    "",
    "silent",
    "drip",
    "held",
    "cut",
    "cut chunk",
    "not json",
    "bad event",
    "refusal",
    "filter",
    "length",
    "empty",
]
"""How a reply goes wrong: ``silent`` says nothing, ``drip`` sends comments for ever, ``held`` is an answer that ends
not before ``script.released`` is set, ``cut`` closes after a few words,
``cut chunk`` within HTTP's chunked encoding, ``not json`` is a page of HTML, ``bad event`` an event that is no JSON,
``refusal`` and ``filter`` as OpenAI tells them, ``length`` ends at the limit of tokens, ``empty`` ends at once."""


@dataclass
class Script:
    """What the server says next, and what it was asked; ``status`` other than 200 makes every call fail."""

    replies: list[str]
    status: int = 200
    fault: Fault = ""
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    address: str = ""
    released: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)


@contextmanager
def model_server(
    *replies: str, status: int = 200, fault: Fault = "", headers: dict[str, str] | None = None
) -> Iterator[Script]:
    """Serve ``replies`` in turn (the last one again and again) at ``script.address`` + /v1, or the fault."""
    script = Script(list(replies), status, fault, headers or {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(script))
    server.daemon_threads = True
    script.address = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        script.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.close_connection = True
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            script.requests.append(request)
            if script.status != 200:
                body = json.dumps({"error": {"message": "scripted failure"}})
                self._send("application/json", body, script.status)
                return
            if script.fault and (script.fault != "held" or _answers(request)):
                self._fail(script.fault)
                return
            reply = script.replies.pop(0) if len(script.replies) > 1 else script.replies[0]
            if request.get("stream"):
                self._send("text/event-stream", _stream(reply))
            else:
                self._send("application/json", json.dumps(_completion(_choice(reply))))

        def _send(self, kind: str, body: str, status: int = 200) -> None:
            data = body.encode()
            self._begin(kind, status, {"Content-Length": str(len(data)), **script.headers})
            self.wfile.write(data)

        def _begin(self, kind: str, status: int = 200, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Connection", "close")
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()

        def _fail(self, fault: Fault) -> None:
            said = script.replies[0]
            if fault == "silent":
                script.ended.wait(30)
            elif fault == "drip":
                self._begin("text/event-stream")
                while not script.ended.is_set():
                    try:
                        self.wfile.write(b": still here\n\n")
                        self.wfile.flush()
                    except OSError:
                        return
                    time.sleep(0.05)
            elif fault == "held":
                self._begin("text/event-stream")
                self.wfile.write(_faulty("cut", said).encode())
                self.wfile.flush()
                script.released.wait(30)
                self.wfile.write(_faulty("length", "").encode())
            elif fault == "cut chunk":
                self._begin("text/event-stream", headers={"Transfer-Encoding": "chunked"})
                event = _event({"delta": {"role": "assistant", "content": said}}).encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            elif fault == "not json":
                self._begin("text/html")
                self.wfile.write(b"<html><body>Welcome to the proxy</body></html>")
            else:
                self._begin("text/event-stream")
                self.wfile.write(_faulty(fault, said).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


_CALLS = "calls of tools: "


def calls(**arguments: object) -> str:
    """A reply that calls tools, each by its name with these arguments: an object, or a text in place of its JSON."""
    return _CALLS + json.dumps(arguments)


def _choice(reply: str) -> dict[str, Any]:
    if not reply.startswith(_CALLS):
        return {"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
    told = json.loads(reply.removeprefix(_CALLS))
    called = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for number, (name, given) in enumerate(told.items())
    ]
    message = {"role": "assistant", "content": None, "tool_calls": called}
    return {"message": message, "finish_reason": "tool_calls"}


def _answers(request: dict[str, Any]) -> bool:
    """Whether the answer is asked for, and not what kind of question it is."""
    return "numbered sources" in request["messages"][0]["content"]


def _completion(choice: dict[str, Any], kind: str = "chat.completion") -> dict[str, Any]:
    whole = {
        "id": "1",
        "object": kind,
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, **choice}],
    }
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return whole | ({"usage": usage} if kind == "chat.completion" else {})


def _event(part: dict[str, Any]) -> str:
    return f"data: {json.dumps(_completion(part, 'chat.completion.chunk'))}\n\n"


def _faulty(fault: Fault, said: str) -> str:
    """The body of a stream that goes wrong after ``said``."""
    begun = _event({"delta": {"role": "assistant", "content": said}})
    end = "data: [DONE]\n\n"
    match fault:
        case "cut":
            return begun
        case "bad event":
            return f'{begun}data: {{"id": nonsense\n\n{end}'
        case "refusal":
            refused = _event({"delta": {"role": "assistant", "refusal": said}})
            return f"{refused}{_event({'delta': {}, 'finish_reason': 'stop'})}{end}"
        case "filter":
            return f"{begun}{_event({'delta': {}, 'finish_reason': 'content_filter'})}{end}"
        case "length":
            return f"{begun}{_event({'delta': {}, 'finish_reason': 'length'})}{end}"
        case _:
            return f"{_event({'delta': {}, 'finish_reason': 'stop'})}{end}"


def _stream(reply: str) -> str:
    """Server-sent events, a word at a time."""
    words = reply.replace(" ", " \0").split("\0")
    parts: list[dict[str, Any]] = [{"delta": {"role": "assistant", "content": word}} for word in words]
    parts.append({"delta": {}, "finish_reason": "stop"})
    return "".join(map(_event, parts)) + "data: [DONE]\n\n"
