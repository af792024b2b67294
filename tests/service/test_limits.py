"""One request takes no more of the service than it may; work for who has left ends; exports hold up exports alone."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from crmrag_query import Client, errors
from crmrag_query.answers import ask as answering
from crmrag_query.client import local as engine_module
from crmrag_query.client import wire
from crmrag_query.client.local import Engine
from crmrag_query.config.service import Work
from crmrag_query.service import answering as running
from crmrag_query.service import app as connection
from crmrag_query.service.answering import Workers
from crmrag_query.timing import Stopped, check
from tests.service.test_api import problem_of
from tests.support.service import PATIENCE, application, served, until

API = wire.PREFIX
THINGS: dict[str, Any] = {"target": {"categories": ["Thing"]}}
LARGE = 20_000_000
"""Characters that no connection takes before somebody reads."""


@dataclass
class Endless:
    """Work without end, step by step; tells when it is begun and when it has ended."""

    begun: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def __call__(self, *_: Any, **__: Any) -> Any:
        self.begun.set()
        try:
            while True:
                check()
                time.sleep(0.001)
        except Stopped:
            self.ended.set()
            raise


@contextmanager
def asked(
    address: str, path: str, body: object, method: str = "POST", accept: str = wire.JSON
) -> Iterator[socket.socket]:
    """A connection on which a request was sent and of whose answer nothing is read."""
    parts, text = urlsplit(address), b"" if body is None else json.dumps(body).encode()
    head = f"{method} {API}{path} HTTP/1.1\r\nHost: a\r\nContent-Type: {wire.JSON}\r\nAccept: {accept}\r\n"
    with socket.socket() as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        found.settimeout(PATIENCE)
        found.connect((str(parts.hostname), parts.port))
        found.sendall(f"{head}Content-Length: {len(text)}\r\n\r\n".encode() + text)
        yield found


# one small request


def test_a_request_of_thousands_of_conditions_is_refused_with_the_limit(http: httpx.Client) -> None:
    either = {"kind": "either", "of": [{"kind": "texted", "texts": ["a"]}] * 2000}
    for path in ("/set", "/facets", "/set/marks", "/plan/edit", "/export"):
        body = {"plan": {**THINGS, "where": [either]}} | ({"format": "csv"} if path == "/export" else {})
        told = problem_of(http.post(API + path, json=body))
        assert told.status == 400 and "2,001 conditions" in told.detail and "At most 64" in told.remedy


def test_a_request_may_take_only_so_long(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Endless()
    monkeypatch.setattr(engine_module, "answer_set", work)
    monkeypatch.setattr(answering, "find_exact", work)
    with served(application(engine, work={"seconds": 0.1})) as address, Client(address) as client:
        told = problem_of(httpx.post(f"{address}{API}/set", json={"plan": THINGS}, timeout=PATIENCE))
        assert told.status == 400 and "longer than 0.1 seconds" in told.detail and told.remedy
        with pytest.raises(errors.TookTooLong, match="longer than"):
            client.ask("When was the church of Asinou built?")
        with pytest.raises(errors.TookTooLong, match="longer than"):
            list(client.stream("When was the church of Asinou built?"))


# who leaves


@pytest.mark.parametrize(
    ("name", "method", "path", "body"),
    [
        ("answer_set", "POST", "/set", {"plan": THINGS}),
        ("facets", "POST", "/facets", {"plan": THINGS}),
        ("export", "POST", "/export", {"plan": THINGS, "format": "csv"}),
        ("search_entities", "GET", "/search?text=Asinou", None),
        ("prepare", "POST", "/retrieve", {"question": "Where is Asinou?"}),
    ],
)
def test_work_ends_where_its_caller_has_left(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, name: str, method: str, path: str, body: object
) -> None:
    work = Endless()
    monkeypatch.setattr(engine_module, name, work)
    with served(application(engine)) as address:
        with asked(address, path, body, method):
            assert work.begun.wait(PATIENCE) and not work.ended.is_set()
        assert work.ended.wait(PATIENCE)


@pytest.mark.parametrize("accept", [wire.JSON, wire.EVENTS])
def test_so_does_the_answer_to_a_question(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, accept: str
) -> None:
    work = Endless()
    monkeypatch.setattr(answering, "find_exact", work)
    with served(application(engine, heartbeat_seconds=0.05)) as address:
        with asked(address, "/ask", {"question": "Where is Asinou?"}, accept=accept):
            assert work.begun.wait(PATIENCE) and not work.ended.is_set()
        assert work.ended.wait(PATIENCE)


def test_work_that_was_left_keeps_its_place_until_it_has_ended() -> None:
    async def run() -> None:
        limits = Work(reading=1, asking=1, exporting=1, querying=1, seconds=PATIENCE)
        workers, go, begun = Workers(limits), threading.Event(), threading.Event()
        told: list[str] = []

        def work() -> None:
            begun.set()
            go.wait(PATIENCE)
            told.append("first")

        first = asyncio.ensure_future(workers.read(work))
        await asyncio.to_thread(begun.wait, PATIENCE)
        first.cancel()
        second = asyncio.ensure_future(workers.read(lambda: told.append("second")))
        left = asyncio.ensure_future(workers.read(lambda: told.append("never")))
        await asyncio.sleep(0)
        left.cancel()
        go.set()
        await second
        await workers.read(lambda: None)
        assert told == ["first", "second"]

    asyncio.run(run())


# exports


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        engine_module, "export", lambda *_, **__: iter(["x" * 1_000_000] * (LARGE // 1_000_000))
    )


EXPORT = {"plan": THINGS, "format": "csv"}


def test_exports_that_nobody_reads_hold_up_nothing_but_exports(
    engine: Engine, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "EXPORT_WAIT", 0.05)
    app = application(engine, work={"exporting": 1, "reading": 1})
    with served(app) as address, ExitStack() as stuck:
        readers = [stuck.enter_context(asked(address, "/export", EXPORT)) for _ in range(60)]
        assert httpx.get(f"{address}{API}/search?text=Asinou", timeout=PATIENCE).status_code == 200
        statuses = {reader.recv(12)[-3:] for reader in readers}
        assert statuses == {b"200", b"503"}
        told = problem_of(httpx.post(f"{address}{API}/export", json=EXPORT, timeout=PATIENCE))
        assert told.status == 503 and "too many exports" in told.detail
        assert httpx.get(f"{address}{API}/search?text=Asinou", timeout=PATIENCE).status_code == 200


def test_who_takes_nothing_for_a_while_is_cut_off(
    engine: Engine, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its place is another's."""
    monkeypatch.setattr(running, "EXPORT_WAIT", PATIENCE)
    times = connection.connections().model_copy(update={"write_seconds": 0.2})
    monkeypatch.setattr(connection, "connections", lambda: times)
    app = application(engine, work={"exporting": 1})
    with served(app) as address, asked(address, "/export", EXPORT) as stuck:
        stuck.recv(12)
        made = httpx.post(f"{address}{API}/export", json=EXPORT, timeout=PATIENCE).json()
        assert len(made["text"]) == LARGE

        def rest() -> int:
            found = 0
            try:
                while piece := stuck.recv(2**20):
                    found += len(piece)
            except ConnectionError:
                pass
            return found

        assert rest() < LARGE


def test_who_reads_slowly_is_not_cut_off(
    engine: Engine, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = connection.connections().model_copy(update={"write_seconds": 1.0})
    monkeypatch.setattr(connection, "connections", lambda: times)
    with (
        served(application(engine)) as address,
        httpx.stream("POST", f"{address}{API}/export", json=EXPORT, timeout=PATIENCE) as response,
    ):
        found = 0
        for piece in response.iter_raw(LARGE // 20):
            found += len(piece)
            time.sleep(0.08)
    assert found > LARGE


def test_an_export_has_a_bound(engine: Engine) -> None:
    with served(application(engine, bounds={"export_characters": 1000})) as address:
        told = problem_of(httpx.post(f"{address}{API}/export", json=EXPORT, timeout=PATIENCE))
        assert told.status == 400 and "more than 1,000 characters" in told.detail and told.remedy
    assert len(engine.export(wire.GetExport(THINGS, "csv")).text) > 1000, "where the data is there is none"


def test_a_reader_that_left_gives_its_place_back(engine: Engine, large: None) -> None:
    with served(application(engine, work={"exporting": 1})) as address:
        for _ in range(3):
            with asked(address, "/export", EXPORT) as reader:
                reader.recv(12)
        assert until(lambda: httpx.post(f"{address}{API}/export", json=EXPORT, timeout=PATIENCE).is_success)
