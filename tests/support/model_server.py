"""A scripted OpenAI-compatible server: real HTTP on localhost, replies and faults given beforehand."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from tests.support.api_server import answering, send

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
    "no schema",
]
"""How a reply goes wrong: ``silent`` says nothing, ``drip`` sends comments for ever, ``held`` is an answer that ends
not before ``script.released`` is set, ``cut`` closes after a few words,
``cut chunk`` within HTTP's chunked encoding, ``not json`` is a page of HTML, ``bad event`` an event that is no JSON,
``refusal`` and ``filter`` as OpenAI tells them, ``length`` ends at the limit of tokens, ``empty`` ends at once,
``no schema`` refuses requests with a schema alone."""


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
    with answering(partial(_answer, script)) as address:
        script.address = f"{address}/v1"
        try:
            yield script
        finally:
            script.ended.set()


def reply_to(request: dict[str, Any], said: str) -> tuple[str, str]:
    """The content type and the body of a reply, in one piece or streamed a word at a time, as ``request`` wants it."""
    if request.get("stream"):
        return "text/event-stream", _stream(
            said, (request.get("stream_options") or {}).get("include_usage", False)
        )
    return "application/json", json.dumps(_completion(_choice(said)))


def _answer(script: Script, handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    request = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
    script.requests.append(request)
    headers = {"Connection": "close", **script.headers}
    schemaless = script.fault == "no schema"
    if script.status != 200 or (schemaless and "response_format" in request):
        body = json.dumps({"error": {"message": "scripted failure"}})
        status = 400 if schemaless else script.status
        send(handler, status, "application/json", body.encode(), headers)
    elif script.fault and not schemaless and (script.fault != "held" or _answers(request)):
        _fail(script, handler)
    else:
        reply = script.replies.pop(0) if len(script.replies) > 1 else script.replies[0]
        kind, body = reply_to(request, reply)
        send(handler, 200, kind, body.encode(), headers)


def _fail(script: Script, handler: BaseHTTPRequestHandler) -> None:
    said, fault = script.replies[0], script.fault
    if fault == "silent":
        script.ended.wait(30)
        return
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html" if fault == "not json" else "text/event-stream")
    handler.send_header("Connection", "close")
    if fault == "cut chunk":
        handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for part in _parts(script, fault, said):
        handler.wfile.write(part)
        handler.wfile.flush()


def _parts(script: Script, fault: Fault, said: str) -> Iterator[bytes]:
    """What is sent where a reply goes wrong, piece by piece."""
    match fault:
        case "drip":
            while not script.ended.wait(0.05):
                yield b": still here\n\n"
        case "held":
            yield _faulty("cut", said).encode()
            script.released.wait(30)
            yield _faulty("length", "").encode()
        case "cut chunk":
            event = _event({"delta": {"role": "assistant", "content": said}}).encode()
            yield b"%x\r\n%s\r\n" % (len(event), event)
        case "not json":
            yield b"<html><body>Welcome to the proxy</body></html>"
        case _:
            yield _faulty(fault, said).encode()


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


PROMPT_TOKENS, REPLY_TOKENS = 7, 3
"""What the server says that each call took."""
_USAGE = {
    "prompt_tokens": PROMPT_TOKENS, "completion_tokens": REPLY_TOKENS, "total_tokens": PROMPT_TOKENS + REPLY_TOKENS,
}  # fmt: skip


def _completion(choice: dict[str, Any], kind: str = "chat.completion") -> dict[str, Any]:
    told = {"id": "1", "object": kind, "created": 0, "model": "scripted", "choices": [{"index": 0, **choice}]}
    return told | ({"usage": _USAGE} if kind == "chat.completion" else {})


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


def _stream(reply: str, usage: bool) -> str:
    """Server-sent events, a word at a time; at the end what it took, where that is wanted."""
    words = reply.replace(" ", " \0").split("\0")
    parts: list[dict[str, Any]] = [{"delta": {"role": "assistant", "content": word}} for word in words]
    parts.append({"delta": {}, "finish_reason": "stop"})
    used = _completion({}, "chat.completion.chunk") | {"choices": [], "usage": _USAGE}
    took = f"data: {json.dumps(used)}\n\n" if usage else ""
    return "".join(map(_event, parts)) + took + "data: [DONE]\n\n"
