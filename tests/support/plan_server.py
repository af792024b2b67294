"""A scripted model that writes plans: real HTTP, one plan for each question, as an ideal model would reply."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from crmrag_query.plans.records import Plan, read_plan

MODEL = "openai/scripted"
"""The name by which litellm asks such a server; a key must be in the environment, any will do."""


PROMPT_TOKENS, REPLY_TOKENS = 7, 3
"""What the server says that each call took."""
_USAGE = {
    "prompt_tokens": PROMPT_TOKENS,
    "completion_tokens": REPLY_TOKENS,
    "total_tokens": PROMPT_TOKENS + REPLY_TOKENS,
}


@dataclass
class Planner:
    """What the server was asked, question by question; ``address`` is an OpenAI-compatible one."""

    plans: Mapping[str, Plan]
    requests: list[dict[str, Any]] = field(default_factory=list)
    address: str = ""


def reply_with(
    plan: Plan | Mapping[str, Any] | None, unmapped: tuple[str, ...] = (), cannot: str = ""
) -> str:
    """A model's reply that gives ``plan``."""
    from crmrag_query.reading.plan_json import for_model

    told = for_model(plan) if isinstance(plan, Plan) else plan
    return json.dumps({"plan": told, "unmapped": list(unmapped), "cannot": cannot}, ensure_ascii=False)


def read_ideal(text: str | bytes) -> dict[str, Plan]:
    """Plans by the id of their question, as benchmarks/ideal has them: ``{id: plan}``, or rows with ``id`` and ``plan``."""
    told = json.loads(text)
    rows = told.items() if isinstance(told, dict) else ((one["id"], one["plan"]) for one in told)
    return {id: read_plan(plan) for id, plan in rows if plan is not None}


@contextmanager
def plan_server(plans: Mapping[str, Plan]) -> Iterator[Planner]:
    """Serve the plan of each question (its text) at ``planner.address``; of any other question that it cannot be planned.

    Other calls of the pipeline (a reading, a rewriting, an answer) get the question back or a short text.
    """
    planner = Planner(plans)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(planner))
    server.daemon_threads = True
    planner.address = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield planner
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(planner: Planner) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            planner.requests.append(request)
            said = _reply(planner.plans, request)
            if request.get("stream"):
                body = _events(said)
                kind = "text/event-stream"
            else:
                message = {"role": "assistant", "content": said}
                body = json.dumps(_completion({"message": message, "finish_reason": "stop"}))
                kind = "application/json"
            data = body.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _reply(plans: Mapping[str, Plan], request: dict[str, Any]) -> str:
    told = next(one["content"] for one in request["messages"] if one["role"] == "user")
    try:
        data = json.loads(told)
    except ValueError:
        return "The set is as the list says."
    question = data["question"]
    if "earlier" in data and isinstance(next(iter(data["earlier"]), None), str):
        return str(question)  # a rewriting: the question stands by itself
    schema = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if "query_type" in schema.get("properties", {}):
        return json.dumps(
            {"query_type": "enumeration", "target_categories": ["Thing"], "context_categories": []}
        )
    plan = plans.get(question)
    return reply_with(plan) if plan else reply_with(None, cannot="This question is not in the script.")


def _completion(choice: dict[str, Any], kind: str = "chat.completion") -> dict[str, Any]:
    told = {"id": "1", "object": kind, "created": 0, "model": "scripted", "choices": [{"index": 0, **choice}]}
    return told | ({"usage": _USAGE} if kind == "chat.completion" else {})


def _events(said: str) -> str:
    parts: list[dict[str, Any]] = [
        {"delta": {"role": "assistant", "content": said}},
        {"delta": {}, "finish_reason": "stop"},
    ]
    events = (f"data: {json.dumps(_completion(part, 'chat.completion.chunk'))}\n\n" for part in parts)
    used = _completion({}, "chat.completion.chunk") | {"choices": [], "usage": _USAGE}
    return f"{''.join(events)}data: {json.dumps(used)}\n\ndata: [DONE]\n\n"
