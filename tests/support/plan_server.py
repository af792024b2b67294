"""A scripted model that writes plans: real HTTP, one plan for each question, as an ideal model would reply."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from crmrag_query.plans.records import Plan, read_plan
from tests.support.api_server import answering, send
from tests.support.model_server import reply_to

MODEL = "openai/scripted"
"""The name by which litellm asks such a server; a key must be in the environment, any will do."""


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

    def answer(handler: BaseHTTPRequestHandler) -> None:
        request = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        planner.requests.append(request)
        kind, body = reply_to(request, _reply(planner.plans, request))
        send(handler, 200, kind, body.encode())

    with answering(answer, "HTTP/1.0") as address:
        planner.address = f"{address}/v1"
        yield planner


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
