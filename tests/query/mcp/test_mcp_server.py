"""Targets and transports of the server, what it writes where, and the commands of its page."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mcp.client.stdio import stdio_client
from starlette.applications import Starlette

from crmrag_query.cli.main import group
from crmrag_query.client import AsyncClient
from crmrag_query.client.local import open_engine
from tests.conftest import ROOT
from tests.query.mcp.conftest import Hosted, command, hosted
from tests.support.api_server import api_server
from tests.support.forked import command as forking
from tests.support.service import served, until

CHURCHES = "How many churches are in the Troodos mountains?"
PAGE = ROOT / "docs" / "mcp.md"


@pytest.fixture(scope="module")
def service(data: Path) -> Iterator[str]:
    with api_server(open_engine(str(data)), key="open sesame") as address:
        yield address


def ready(server: Hosted, query: dict[str, str]) -> bool:
    """Whether SPARQL answers: its process starts with the first query, on a busy machine later than one waits for it."""
    return not server("sparql", **query).is_error


@pytest.mark.parametrize(
    "target",
    [
        "release",
        pytest.param("data set", marks=pytest.mark.slow),
        pytest.param("service", marks=pytest.mark.slow),
    ],
)
def test_every_target_answers_alike(
    target: str, data: Path, host: Hosted, forked: Path, request: pytest.FixtureRequest
) -> None:
    releases = data / "releases" / "sample"
    current = (releases / "current").read_text(encoding="utf-8").strip()
    if target == "service":
        address = request.getfixturevalue("service")
        where = command(forked, address, "--dataset", "sample", CRMRAG_API_KEY="open sesame")
    else:
        where = command(forked, str(releases / current if target == "release" else releases))
    with hosted(stdio_client(where)) as other:
        assert other.text("ask", question=CHURCHES) == host.text("ask", question=CHURCHES)
        query = {"query": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"}
        for one in (other, host):
            until(partial(ready, one, query))
        assert other.text("sparql", **query) == host.text("sparql", **query)
        assert "no entity" in other.error("get_entity", iri="urn:none")


@pytest.mark.slow
def test_where_there_are_several_data_sets_one_must_be_named(data: Path, forked: Path) -> None:
    with hosted(stdio_client(command(forked, str(data)))) as several:
        assert "hostile, sample" in several.error("ask", question=CHURCHES)
        assert "23" in several.text("ask", question=CHURCHES, dataset="sample")


def test_nothing_but_the_protocol_reaches_standard_output(data: Path, forked: Path) -> None:
    hello = {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"},
    }  # fmt: skip
    calls = [
        ("ask", {"question": CHURCHES}),
        ("sparql", {"query": "DROP ALL"}),
        ("sparql", {"query": "ASK {}"}),
    ]
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    with subprocess.Popen(
        forking(forked, "service", "mcp", str(data), "--dataset", "sample", "--verbose"),
        cwd=ROOT, text=True, encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout and process.stderr
        lines = []
        for message in messages:
            print(json.dumps(message), file=process.stdin, flush=True)
        lines.append(process.stdout.readline())
        for number, (tool, arguments) in enumerate(calls, 1):
            call = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
            told = call | {"params": {"name": tool, "arguments": arguments}}
            print(json.dumps(told), file=process.stdin, flush=True)
            lines.append(process.stdout.readline())
        process.stdin.close()
        rest, log = process.stdout.read(), process.stderr.read()
    answers = [json.loads(line) for line in lines]
    assert [one["id"] for one in answers] == [0, 1, 2, 3]
    assert [one["result"].get("isError") for one in answers[1:]] == [False, True, False]
    assert rest == "" and "Traceback" not in log
    assert process.returncode == 0


def test_a_target_that_cannot_be_opened_is_told(tmp_path: Path, forked: Path) -> None:
    mcp = forking(forked, "service", "mcp", str(tmp_path))
    done = subprocess.run(mcp, cwd=ROOT, capture_output=True, text=True, input="", check=False)
    assert done.returncode == 1 and done.stdout == ""
    assert "holds no releases" in done.stderr and "Traceback" not in done.stderr


def test_without_the_sdk_it_says_what_to_install(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        one for one in sys.modules if one.startswith("crmrag_query.mcp") or one.split(".")[0] == "mcp"
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    done = CliRunner().invoke(group, ["mcp", str(data)])
    assert done.exit_code == 1 and "pip install 'crmrag[mcp]'" in f"{done.output}{done.exception}"


def test_over_http_it_gives_the_same_and_the_client_stays_open(data: Path, host: Hosted) -> None:
    from crmrag_query.mcp.server import http_app

    client = AsyncClient(data, dataset="sample")
    with served(http_app(client, hosts=["127.0.0.1:*"])) as address:  # type: ignore[arg-type]
        for _ in range(2):
            with hosted(f"{address}/mcp") as other:
                assert other.text("ask", question=CHURCHES) == host.text("ask", question=CHURCHES)


def test_it_can_be_mounted(data: Path, host: Hosted) -> None:
    from contextlib import asynccontextmanager

    from starlette.routing import Mount

    from crmrag_query.mcp.server import http_app

    inner = http_app(AsyncClient(data, dataset="sample"))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        async with inner.router.lifespan_context(inner):
            yield

    outer = Starlette(routes=[Mount("/", inner)], lifespan=lifespan)
    with served(outer) as address, hosted(f"{address}/mcp") as other:  # type: ignore[arg-type]
        assert other.text("list_datasets") == host.text("list_datasets")


def test_other_hosts_are_refused(data: Path) -> None:
    import httpx

    from crmrag_query.mcp.server import http_app

    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    with served(http_app(AsyncClient(data), hosts=["127.0.0.1:*"])) as address:  # type: ignore[arg-type]
        for header in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            answer = httpx.post(f"{address}/mcp", json=body, headers=accept | header)
            assert answer.status_code in (403, 421)


def test_the_page_names_every_tool_and_option() -> None:
    from crmrag_query.cli.serve import mcp
    from crmrag_query.mcp.server import TITLES

    text = PAGE.read_text(encoding="utf-8")
    options = [option for one in mcp.params for option in one.opts if option.startswith("--")]
    assert [one for one in [*options, *TITLES] if one not in text] == []
