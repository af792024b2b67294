"""A language model is asked alike by whoever asks us: in process, over HTTP, as OpenAI's client, by MCP, on the command line.

Each asks a server on this machine that keeps every request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from crmrag_query import Client, Done
from crmrag_query.answers.records import Used
from crmrag_query.cli.ask import ask as ask_command
from crmrag_query.client.local import Engine
from crmrag_query.llm.model import LiteLLM
from tests.query.mcp.conftest import hosted
from tests.support.model_server import PROMPT_TOKENS, REPLY_TOKENS
from tests.support.plan_server import MODEL, Planner, plan_server
from tests.support.service import application, beside, openai_client, served

pytestmark = pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")

QUESTION = "Which churches were built before 1200?"
CALLS = 3  # what kind of question it is, its plan, its answer
Asked = tuple[str, int]
"""The text of an answer, and the tokens that are told of it: 0 where a caller is told none."""


def streamed(client: Client) -> Asked:
    events = list(client.stream(QUESTION))
    [used], [done] = ([one for one in events if isinstance(one, kind)] for kind in (Used, Done))
    assert isinstance(used, Used) and isinstance(done, Done)
    return done.answer.text, used.prompt_tokens + used.completion_tokens


@contextmanager
def service(engine: Engine, server: Planner) -> Iterator[str]:
    with served(application(beside(engine, LiteLLM(MODEL, server.address)))) as address:
        yield address


def by_client(data: Path, engine: Engine, server: Planner) -> Asked:
    with Client(data, model=MODEL, api_base=server.address) as client:
        return streamed(client)


def over_http(data: Path, engine: Engine, server: Planner) -> Asked:
    with service(engine, server) as address, Client(address) as client:
        return streamed(client)


def by_openai(data: Path, engine: Engine, server: Planner) -> Asked:
    with (
        service(engine, server) as address,
        openai_client(address) as chat,
    ):
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        reply = chat.chat.completions.create(model="sample", messages=messages)
    assert reply.usage is not None
    return str(reply.choices[0].message.content), reply.usage.total_tokens


def by_mcp(data: Path, engine: Engine, server: Planner) -> Asked:
    with service(engine, server) as address, hosted(f"{address}/mcp") as host:
        return str(host.found("ask", question=QUESTION)["text"]), 0


def by_command(data: Path, engine: Engine, server: Planner) -> Asked:
    options = ["--data", str(data), "--model", MODEL, "--api-base", server.address, "--json"]
    told = CliRunner().invoke(ask_command, ["sample", QUESTION, *options])
    assert told.exit_code == 0, told.output
    return str(json.loads(told.stdout)["text"]), 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ask", [by_client, over_http, by_openai, by_mcp, by_command])
def test_every_caller_gets_structured_output_and_what_it_took(
    data: Path, engine: Engine, ask: Callable[[Path, Engine, Planner], Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with plan_server({}) as server:
        text, tokens = ask(data, engine, server)
    kinds = [request.get("response_format", {}).get("type") for request in server.requests]
    assert kinds == ["json_schema", "json_schema", None]
    schemas = [request["response_format"]["json_schema"] for request in server.requests[:2]]
    assert all(schema["strict"] and schema["schema"]["properties"] for schema in schemas)
    assert "The set is as the list says." in text
    assert tokens in (0, CALLS * (PROMPT_TOKENS + REPLY_TOKENS))
    assert tokens or ask in (by_mcp, by_command)
