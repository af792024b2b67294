"""MCP over HTTP: the service's own releases, bounds, keys, metrics and log, asked by the official client."""

from __future__ import annotations

import builtins
import json
import logging
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

from crmrag_query import Client
from crmrag_query.client import wire
from crmrag_query.client.local import Engine
from crmrag_query.mcp.server import TITLES
from tests.query.mcp.conftest import Hosted, hosted
from tests.service.test_api import problem_of
from tests.service.test_observe import metrics, value
from tests.service.test_running import Hanging
from tests.support.service import PATIENCE, application, await_sparql, beside, served, until

API = wire.PREFIX
QUESTION = "Which churches were built before 1200?"
ACCEPT = {"Accept": f"{wire.JSON}, {wire.EVENTS}"}
KEY = "open-sesame"


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """A call of a tool as it is sent."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@contextmanager
def host(address: str, **headers: str) -> Iterator[Hosted]:
    """The official client, connected to a service."""

    @asynccontextmanager
    async def transport() -> AsyncIterator[Any]:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as client,
            streamable_http_client(f"{address}/mcp", http_client=client) as streams,
        ):
            yield streams

    with hosted(transport()) as found:
        yield found


@pytest.fixture(scope="module")
def tools(address: str) -> Iterator[Hosted]:
    with host(address) as found:
        yield found


def test_every_tool_answers_over_http_as_the_client_does(tools: Hosted, address: str, local: Client) -> None:
    await_sparql(address)
    assert {one.name for one in tools.run(tools.client.list_tools).tools} == TITLES.keys()
    answer = local.ask(QUESTION)
    asked = tools.found("ask", question=QUESTION)
    assert (asked["text"], asked["release"], asked["set"]["size"]) == (answer.text, answer.release, 4)
    listed = tools.found("answer_set", plan=asked["set"]["plan"], limit=2)
    assert [one["iri"] for one in listed["members"]] == [
        one.iri for one in local.set(answer, limit=2).members
    ]
    found = tools.found("search_entities", text="Asinou", limit=1)["entities"][0]["iri"]
    assert tools.found("get_entity", iri=found)["label"] == local.entity(found).label
    assert tools.found("neighbours", iri=found)["total"] == local.neighbours(found).total
    counted = tools.found("facets", plan=asked["set"]["plan"])
    assert counted["size"] == 4 and counted["facets"]
    rows = tools.found("sparql", query="SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")["rows"]
    assert int(rows[0][0]) == local.datasets()["sample"].counts["triples"]


def test_it_asks_the_service_s_own_releases(engine: Engine, tmp_path: Path) -> None:
    """No second engine: what the service has open is what the tools see, and their answers are kept with the others."""
    with served(application(engine, state=tmp_path)) as address, host(address) as tools:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(engine), "search", lambda *_: 1 / 0)
            told = tools.error("search_entities", text="a")
            assert "log has the details" in told and "division" not in told
        seen: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            own = type(engine).entity
            patch.setattr(
                type(engine), "entity", lambda self, asked: seen.append(asked.iri) or own(self, asked)
            )
            tools("get_entity", iri="urn:seen")
        assert seen == ["urn:seen"]


def test_questions_are_counted_logged_and_kept_like_all_others(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.INFO, "crmrag.service"),
        served(application(engine, state=tmp_path)) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as http,
    ):
        with host(address) as tools:
            tools.found("ask", question=QUESTION)
        [line] = [one.told for one in caplog.records if one.msg == "answer"]  # type: ignore[attr-defined]
        assert (line["question"], line["set_size"]) == (QUESTION, 4)
        kept = http.get(f"{API}/answers", params={"id": line["answer"]}).json()
        assert kept["answer"]["question"] == QUESTION
        found = metrics(http)
        assert value(found, "crmrag_answers_total", dataset="sample") == 1
        assert value(found, "crmrag_requests_total", method="POST", path="/mcp", status="200") >= 1


def test_the_version_tells_that_it_is_there(http: httpx.Client) -> None:
    assert http.get("/version").json()["mcp"] is True


def test_without_the_sdk_the_rest_is_served(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    plain = builtins.__import__

    def without(name: str, *given: Any, **named: Any) -> Any:
        if name == "crmrag_query.mcp.server":
            raise ImportError("No module named 'mcp'", name="mcp")
        return plain(name, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", without)
        app = application(engine)
    with served(app) as address:
        told = problem_of(httpx.post(f"{address}/mcp", json=call("list_datasets"), headers=ACCEPT))
        assert told.status == 404
        assert httpx.get(f"{address}/version").json()["mcp"] is False
        assert httpx.get(f"{address}{API}/datasets").is_success
    assert "pip install 'crmrag[mcp]'" in caplog.text


# What stands before it


def test_it_wants_a_key_where_the_api_does(engine: Engine) -> None:
    with served(application(engine, keys=(KEY,))) as address:
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            answer = httpx.post(f"{address}/mcp", json=call("list_datasets"), headers=ACCEPT | headers)
            assert problem_of(answer).status == 401 and "sample" not in answer.text
        with host(address, Authorization=f"Bearer {KEY}") as tools:
            assert "sample" in tools.text("list_datasets")


def test_its_rates_and_bodies_are_bounded(engine: Engine) -> None:
    bounds = {"per_minute": 1, "burst": 2, "body_bytes": 2000}
    with served(application(engine, bounds=bounds)) as address:
        large = httpx.post(f"{address}/mcp", json=call("ask", question="x" * 3000), headers=ACCEPT)
        assert problem_of(large).status == 413
        found = [httpx.post(f"{address}/mcp", json=call("list_datasets"), headers=ACCEPT) for _ in range(2)]
        assert [one.status_code for one in found] == [200, 429]
        assert int(found[1].headers["retry-after"]) > 0


def test_it_answers_for_the_service_s_hosts_alone(engine: Engine) -> None:
    with served(application(engine, hosts=("museum.example",))) as address:
        for name, status in (("museum.example", 200), ("127.0.0.1", 200), ("evil.example", 421)):
            headers = ACCEPT | {"Host": name}
            answer = httpx.post(f"{address}/mcp", json=call("list_datasets"), headers=headers)
            assert answer.status_code == status
            if status == 421:
                assert "evil.example" in problem_of(answer).detail


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT"])
def test_it_keeps_no_sessions(address: str, method: str) -> None:
    answer = httpx.request(method, f"{address}/mcp", headers=ACCEPT)
    assert answer.status_code == 405 and "POST" in answer.headers["allow"]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"null", b"[" * 100_000, b'{"jsonrpc": "2.0"}', b'{"jsonrpc":"2.0","method":1,"id":1}']
)  # fmt: skip
def test_what_is_no_message_is_refused(address: str, body: bytes) -> None:
    answer = httpx.post(f"{address}/mcp", content=body, headers=ACCEPT | {"Content-Type": wire.JSON})
    assert answer.status_code == 400 and answer.json()["error"]["message"]


# A language model that hangs


def test_places_for_questions_bound_it_too_and_who_leaves_ends_the_work(engine: Engine) -> None:
    model = Hanging()
    with (
        served(application(beside(engine, model), work={"asking": 1})) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as http,
        host(address) as tools,
        ThreadPoolExecutor(1) as pool,
    ):
        try:
            leave(address, model)
            until(lambda: value(metrics(http), "crmrag_requests_total", path="/mcp", status="499"))
            assert "too many questions at once" in tools.error("ask", question=QUESTION)
            assert "sample" in tools.text("list_datasets")
            model.go.set()
            until(lambda: not tools("ask", question=QUESTION).is_error)
            model.go.clear()
            while model.asked.acquire(blocking=False):
                pass
            waiting = pool.submit(tools.found, "ask", question=QUESTION)
            assert model.asked.acquire(timeout=PATIENCE)
            assert problem_of(http.post(f"{API}/ask", json={"question": QUESTION})).status == 503
            model.go.set()
            assert waiting.result(PATIENCE)["text"]
        finally:
            model.go.set()


def leave(address: str, model: Hanging) -> None:
    """Ask as a client of the older protocol does, wait until the model is asked, and hang up."""
    parts, body = urlsplit(address), json.dumps(call("ask", question=QUESTION)).encode()
    head = f"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: {wire.JSON}\r\nAccept: {ACCEPT['Accept']}\r\n"
    with socket.create_connection((str(parts.hostname), parts.port or 80)) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert model.asked.acquire(timeout=PATIENCE)


def test_no_thread_is_left_of_what_was_served(engine: Engine) -> None:
    """The server's own tasks end with the service."""
    before = {one.name for one in threading.enumerate()}
    with served(application(engine)) as address, host(address) as tools:
        tools.text("list_datasets")
    assert not {name for name in {one.name for one in threading.enumerate()} - before if "mcp" in name}
