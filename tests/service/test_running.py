"""A language model that hangs holds up nobody else; who leaves ends the work; who waits is told that it goes on."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from crmrag_query import Client, Done, errors
from crmrag_query.client import wire
from crmrag_query.client.local import Engine
from crmrag_query.config.service import Work
from crmrag_query.errors import Busy, ModelError, QuestionError
from crmrag_query.llm.model import LiteLLM, Message
from crmrag_query.service.answering import Workers
from crmrag_query.service.store import FILE
from tests.service.test_api import events_of, problem_of
from tests.support.model_server import model_server
from tests.support.service import PATIENCE, application, beside, openai_client, served, until

API = wire.PREFIX
QUESTION = "When was the church of Asinou built?"
ASKED = b'{"question": "When was the church of Asinou built?"}'
CHAT: dict[str, Any] = {"model": "sample", "messages": [{"role": "user", "content": QUESTION}]}
THINGS: dict[str, Any] = {"target": {"categories": ["Thing"]}}


@dataclass
class Hanging:
    """A language model that says nothing until it is let go, or only after some words; ``asked`` counts its calls."""

    first: str = ""
    go: threading.Event = field(default_factory=threading.Event)
    asked: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    name: str = "hanging"

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        self.asked.release()
        if self.first:
            yield self.first
        if not self.go.wait(PATIENCE):
            raise ModelError("The model never answered.", "Wait longer.")
        yield "It was built around 1100 [1]."


@contextmanager
def hanging(engine: Engine, model: Any, **parts: Any) -> Iterator[httpx.Client]:
    app = application(beside(engine, model), **parts)
    limits = httpx.Limits(max_connections=200)
    with served(app) as address, httpx.Client(base_url=address, timeout=PATIENCE, limits=limits) as http:
        try:
            yield http
        finally:
            if isinstance(model, Hanging):
                model.go.set()


def ask(http: httpx.Client, accept: str = wire.JSON) -> httpx.Response:
    return http.post(f"{API}/ask", json={"question": QUESTION}, headers={"Accept": accept})


def read_everything(http: httpx.Client) -> None:
    """One of each kind of request that no language model has a part in."""
    for response in (
        http.post(f"{API}/set", json={"plan": THINGS, "limit": 3}),
        http.post(f"{API}/facets", json={"plan": THINGS}),
        http.get(f"{API}/search?text=Asinou"),
        http.get(f"{API}/datasets"),
        http.get("/ready"),
        http.get("/metrics"),
        http.get("/"),
    ):
        assert response.status_code == 200


@pytest.mark.parametrize("accept", [wire.JSON, pytest.param(wire.EVENTS, marks=pytest.mark.slow)])
def test_others_are_not_held_up_while_all_places_hang_and_one_more_is_told(
    engine: Engine, accept: str
) -> None:
    model, places = Hanging(), 6
    with (
        hanging(engine, model, work={"asking": places, "reading": 2}) as http,
        ThreadPoolExecutor(places) as pool,
    ):
        waiting = [pool.submit(ask, http, accept) for _ in range(places)]
        for _ in range(places):
            assert model.asked.acquire(timeout=PATIENCE)
        read_everything(http)
        for refused in (ask(http), ask(http, wire.EVENTS)):
            told = problem_of(refused)
            assert told.status == 503 and "too many" in told.detail and "again" in told.remedy.lower()
            assert int(refused.headers["retry-after"]) > 0
        assert not any(one.done() for one in waiting)
        model.go.set()
        for response in (one.result(PATIENCE) for one in waiting):
            assert response.status_code == 200
        assert until(lambda: ask(http).status_code == 200), "places come back"


@pytest.mark.parametrize("path", ["/retrieve", "/plan", "/replay"])
def test_what_else_a_model_has_a_part_in_takes_a_place_and_not_a_reader(
    engine: Engine, tmp_path: Path, path: str
) -> None:
    model = Hanging()
    model.go.set()
    with hanging(engine, model, work={"asking": 3, "reading": 1}, state=tmp_path) as http:
        body = {"id": ask(http).json()["id"]} if path == "/replay" else {"question": QUESTION}
        model.go.clear()
        while model.asked.acquire(blocking=False):
            pass
        with ThreadPoolExecutor(3) as pool:
            waiting = [pool.submit(http.post, API + path, json=body) for _ in range(3)]
            for _ in range(3):
                assert model.asked.acquire(timeout=PATIENCE)
            read_everything(http)
            assert problem_of(http.post(API + path, json=body)).status == 503
            model.go.set()
            assert [one.result(PATIENCE).status_code for one in waiting] == [200] * 3


@pytest.mark.filterwarnings("ignore")  # litellm's own
def test_a_model_server_that_is_silent_holds_up_nobody(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same over the network, as it happens: the server takes the question and says nothing."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with model_server("x", fault="silent") as script:
        model = LiteLLM("openai/scripted", script.address, timeout=PATIENCE)
        with hanging(engine, model, work={"asking": 2, "reading": 2}) as http, ThreadPoolExecutor(2) as pool:
            waiting = [pool.submit(ask, http) for _ in range(2)]
            until(lambda: len(script.requests) == 2)
            read_everything(http)
            assert problem_of(ask(http)).status == 503
            script.ended.set()
            for response in (one.result(PATIENCE) for one in waiting):
                assert response.json()["written_by"] == "extractive" and response.json()["notes"]


def test_who_is_told_to_come_back_reads_it_in_the_one_kind_of_error(engine: Engine) -> None:
    model = Hanging()
    with hanging(engine, model, work={"asking": 1}) as http, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, http)
        assert model.asked.acquire(timeout=PATIENCE)
        with Client(str(http.base_url)) as client:
            for ask_ in (lambda: client.ask(QUESTION), lambda: list(client.stream(QUESTION))):
                with pytest.raises(errors.ServiceError, match=r"too many questions at once.*again"):
                    ask_()
            model.go.set()
            waiting.result(PATIENCE)
            events = until(lambda: _streamed(client))
            assert isinstance(events[-1], Done)


def _streamed(client: Client) -> list[Any]:
    try:
        return list(client.stream(QUESTION))
    except errors.ServiceError:
        return []


# who leaves


def leave(
    http: httpx.Client, accept: str, model: Hanging, path: str = f"{API}/ask", body: bytes = ASKED
) -> None:
    """Ask, wait until the model is asked, and hang up."""
    parts = urlsplit(str(http.base_url))
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: {wire.JSON}\r\nAccept: {accept}\r\n"
    with socket.create_connection((str(parts.hostname), parts.port or 80)) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert model.asked.acquire(timeout=PATIENCE)


@pytest.mark.parametrize("accept", [wire.JSON, wire.EVENTS])
def test_who_leaves_ends_the_work(
    engine: Engine, tmp_path: Path, accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is kept of an answer that nobody waited for, and its place is free once the model lets go."""
    model = Hanging()
    with hanging(engine, model, work={"asking": 1}, state=tmp_path, heartbeat_seconds=0.05) as http:
        left = value_of(http, "499")
        leave(http, accept, model)
        if accept == wire.JSON:
            until(lambda: value_of(http, "499") > left)
        else:
            until(lambda: value_of(http, "200") > 0)
        assert ask(http).status_code == 503, "a model that hangs keeps its place"
        model.go.set()
        found = until(lambda: _answered(ask(http)))
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        kept = [id for (id,) in db.execute("SELECT id FROM answers ORDER BY asked")]
    assert kept == [found["id"]]


def _answered(response: httpx.Response) -> dict[str, Any]:
    found: dict[str, Any] = response.json()
    return found if response.status_code == 200 else {}


def value_of(http: httpx.Client, status: str, path: str = f"{API}/ask") -> int:
    """How many requests of a path ended so."""
    wanted = f'path="{path}",status="{status}"'
    lines = http.get("/metrics").text.splitlines()
    return sum(
        int(float(line.split()[-1]))
        for line in lines
        if line.startswith("crmrag_requests_total") and wanted in line
    )


def test_who_leaves_in_the_midst_of_words_ends_them(engine: Engine) -> None:
    """The model goes on for ever; when its reader has gone, so has it."""
    stopped = threading.Event()

    class Endless:
        name = "endless"

        def complete(self, messages: Sequence[Message]) -> Iterator[str]:
            try:
                while True:
                    yield "word "
            finally:
                stopped.set()

    app = application(beside(engine, Endless()), work={"asking": 1})
    with served(app) as address, httpx.Client(base_url=address, timeout=PATIENCE) as http:
        body = {"question": QUESTION}
        stopped.clear()
        with http.stream("POST", f"{API}/ask", json=body, headers={"Accept": wire.EVENTS}) as response:
            for line in response.iter_lines():
                if line.startswith("event: token"):
                    break
        assert stopped.wait(PATIENCE)
        assert until(lambda: http.get(f"{API}/datasets").is_success)


# who waits


def test_a_silent_stream_says_that_it_lives(engine: Engine) -> None:
    """Before its first event, and between two."""
    model = Hanging()
    with hanging(engine, model, heartbeat_seconds=0.05) as http:
        body = {"question": QUESTION}
        with http.stream("POST", f"{API}/ask", json=body, headers={"Accept": wire.EVENTS}) as response:
            assert response.status_code == 200
            lines, beats = response.iter_lines(), 0
            for line in lines:
                beats += line == ": alive"
                if beats == 3:
                    break
            model.go.set()
            rest = list(lines)
        assert any(line == "event: done" for line in rest)


def test_a_silent_chat_says_that_it_lives_and_ends_as_openai_s_do(engine: Engine) -> None:
    """The official client passes over what is no event of its own."""
    model = Hanging()
    with hanging(engine, model, heartbeat_seconds=0.05) as http:
        asked = CHAT | {"stream": True}
        with http.stream("POST", "/v1/chat/completions", json=asked) as response:
            assert response.status_code == 200
            lines, beats = response.iter_lines(), 0
            for line in lines:
                beats += line == ": alive"
                if beats == 3:
                    break
            model.go.set()
            assert [line for line in lines if line][-1] == "data: [DONE]"
        model.go.clear()
        with (
            openai_client(str(http.base_url)) as chat,
            ThreadPoolExecutor(1) as pool,
        ):
            stream = chat.chat.completions.create(**asked)
            reading = pool.submit(lambda: [one.choices[0].delta.content or "" for one in stream])
            assert model.asked.acquire(timeout=PATIENCE) and model.asked.acquire(timeout=PATIENCE)
            model.go.set()
            assert "It was built around 1100" in "".join(reading.result(PATIENCE))


def test_who_leaves_a_chat_ends_the_work(engine: Engine, tmp_path: Path) -> None:
    """Whole or streamed: nothing is kept of a reply that nobody waited for, and its place is free again."""
    for streamed, status in ((False, "499"), (True, "200")):
        model = Hanging()
        state = tmp_path / status
        with hanging(engine, model, work={"asking": 1}, state=state, heartbeat_seconds=0.05) as http:
            body = json.dumps(CHAT | {"stream": streamed}).encode()
            leave(http, wire.JSON, model, "/v1/chat/completions", body)
            until(lambda http=http, status=status: value_of(http, status, "/v1/chat/completions"))  # type: ignore[misc]
            assert http.post("/v1/chat/completions", json=CHAT).status_code == 503
            model.go.set()
            until(lambda http=http: http.post("/v1/chat/completions", json=CHAT).is_success)  # type: ignore[misc]
        with closing(sqlite3.connect(state / FILE)) as db:
            assert db.execute("SELECT count(*) FROM answers").fetchone() == (1,)


def test_an_error_after_a_heartbeat_is_an_event(engine: Engine) -> None:
    class Late(Hanging):
        def complete(self, messages: Sequence[Message]) -> Iterator[str]:
            raise (
                QuestionError("Too late to say.", "Ask sooner.")
                if self.go.wait(0.3) is None
                else RuntimeError("mat")
            )
            yield ""

    with hanging(engine, Late(), heartbeat_seconds=0.01) as http:
        response = ask(http, wire.EVENTS)
        assert response.status_code == 200 and ": alive" in response.text
        name, value = events_of(response)[-1]
        assert name == "error" and value["status"] == 500 and "mat" not in response.text
        with Client(str(http.base_url)) as client, pytest.raises(errors.CrmRagError, match="failed at this"):
            list(client.stream(QUESTION))


# the workers themselves


def test_results_come_in_order_and_errors_last() -> None:
    async def run() -> list[Any]:
        workers, found = Workers(Work(reading=1, asking=1, exporting=1, querying=1, seconds=60)), []

        def work() -> Iterator[int]:
            yield from range(100)
            raise QuestionError("No more.", "Stop.")

        for _ in range(3):
            found.append([one async for one in workers.stream(work, with_model=True)])
        assert (
            await workers.read(lambda: 7)
            == await workers.query(lambda: 7)
            == await workers.ask(lambda: 7)
            == 7
        )
        with pytest.raises(QuestionError, match="No more"):
            await workers.ask(lambda: list(work()))
        return found

    for one in asyncio.run(run()):
        assert one[:-1] == list(range(100)) and isinstance(one[-1], QuestionError)


def test_places_are_as_many_as_configured() -> None:
    async def run() -> None:
        workers, go = (
            Workers(Work(reading=1, asking=2, exporting=1, querying=1, seconds=60)),
            threading.Event(),
        )
        waiting = [asyncio.ensure_future(workers.ask(lambda: go.wait(PATIENCE))) for _ in range(2)]
        await asyncio.sleep(0)
        for _ in range(5):
            with pytest.raises(Busy, match="too many"):
                await workers.ask(lambda: True)
        assert await workers.read(lambda: 1) == 1
        waiting[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting[0]
        with pytest.raises(Busy):
            await workers.ask(lambda: True)
        go.set()
        assert await waiting[1]
        while True:
            try:
                assert await workers.ask(lambda: True)
                break
            except Busy:
                await asyncio.sleep(0)

    asyncio.run(run())


def test_a_stream_that_is_left_stops_at_its_next_event() -> None:
    async def run() -> None:
        workers, ended = (
            Workers(Work(reading=1, asking=1, exporting=1, querying=1, seconds=60)),
            threading.Event(),
        )

        def work() -> Iterator[int]:
            try:
                yield from iter(int, 1)
            finally:
                ended.set()

        stream = workers.stream(work, with_model=True)
        assert await anext(stream) == 0
        await stream.aclose()
        assert await asyncio.to_thread(ended.wait, PATIENCE)

    asyncio.run(run())
