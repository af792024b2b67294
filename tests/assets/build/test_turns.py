"""Turns at a server: so many requests at once over all processes, and one clock for their pauses."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from crmrag_assets.build.step import SharedClock, Turns, api_turns, server_turns, turns_at
from crmrag_assets.indexes.encoder import LiteLLMEncoder
from crmrag_assets.opened import encoder_of
from crmrag_query.config.datasets import EmbeddingConfig
from crmrag_query.config.operations import Limits
from crmrag_query.errors import SourceUnreachable
from crmrag_query.llm.loading import load_litellm
from crmrag_query.retrieval.encoder import EmbeddingApi
from tests.support.api_server import answering, send
from tests.support.builds import Project, make_project
from tests.support.runs import held_elsewhere


def test_a_turn_that_another_process_has_is_waited_for_until_it_dies(tmp_path: Path) -> None:
    turns = turns_at(tmp_path, "museum.example", 1)
    others = f"turns_at(Path({str(tmp_path)!r}), 'museum.example', 1)"
    with held_elsewhere(f"{others}.reading('other_museum'), {others}.turn()") as other:
        impatient = replace(turns, patience=0.1)
        told = pytest.raises(SourceUnreachable, match=r"museum\.example has been asked by other builds")
        with told, impatient.turn():
            pass
        with turns.reading("museum") as others:
            assert others == ("other_museum",)
        os.kill(other.pid, signal.SIGKILL)
        with turns.turn():
            assert other.wait() == -signal.SIGKILL
    with turns.reading("museum") as others:
        assert others == ()


def test_threads_of_one_process_take_turns_too_and_who_may_ask_more_leaves_room(tmp_path: Path) -> None:
    many, few = turns_at(tmp_path, "museum.example", 3), turns_at(tmp_path, "museum.example", 3).at_most(1)
    with many.turn(), many.turn(), few.turn():
        for turns in (many, few):
            with pytest.raises(SourceUnreachable), replace(turns, patience=0.05).turn():
                pass


def test_a_clock_holds_for_all_and_nonsense_in_it_stops_nobody(tmp_path: Path) -> None:
    file = tmp_path / "clock"
    one, other = SharedClock(file), SharedClock(file)
    _, now = one.moved(lambda due, now: now + 5)
    assert other.moved(lambda due, now: due)[0] == pytest.approx(now + 5, abs=0.001)
    for nonsense in ("", "soon", "nan", f"{time.time() + 1e6}"):
        file.write_text(nonsense, encoding="ascii")
        before, now = other.moved(lambda due, now: due)
        assert before <= now


# Whose turns are whose.


def test_turns_are_those_of_the_host_and_of_the_provider(tmp_path: Path) -> None:
    made = {
        url: server_turns(make_project(tmp_path / str(n), rdf=None, endpoint=url).context())
        for n, url in enumerate(
            ("https://museum.example/sparql", "https://Museum.example/other", "http://museum.example:8890/")
        )
    }
    folders = [one.folder.name for turns in made.values() for one in turns.values()]
    assert folders == ["museum.example", "museum.example", "museum.example_8890"]
    assert server_turns(make_project(tmp_path / "files").context()) == {}


@pytest.fixture
def paid(tmp_path: Path) -> Project:
    embedding = {"provider": "litellm", "model": "openai/small", "dimension": 8}
    project = make_project(tmp_path / "paid", embedding=embedding)
    (project.config / "operations.yaml").write_text("limits: {api_requests: 1}\n", encoding="utf-8")
    return project


def test_limits_are_configured(paid: Project) -> None:
    context = paid.context()
    assert context.operations.limits == Limits(api_requests=1)
    turns, encoder = api_turns(context), encoder_of(context)
    assert turns == Turns(paid.data / "turns" / "openai", "openai", 1)
    assert isinstance(encoder, LiteLLMEncoder) and encoder.turns == turns
    (paid.config / "operations.yaml").write_text("limits: {api_requests: 0}\n", encoding="utf-8")
    assert paid.context().operations.limits == Limits()  # the mistake is told where Dagster loads the file


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # litellm's and its dependencies' own
def test_an_api_is_asked_no_more_at_once_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    load_litellm("A test")
    lock, busy, busiest, asked = threading.Lock(), 0, 0, 0

    def answer(request: BaseHTTPRequestHandler) -> None:
        nonlocal busy, busiest, asked
        request.rfile.read(int(request.headers["Content-Length"]))
        with lock:
            busy, asked = busy + 1, asked + 1
            busiest = max(busiest, busy)
        time.sleep(0.05)
        with lock:
            busy -= 1
        body = b'{"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": [1, 0]}]}'
        send(request, 200, "application/json", body)

    with answering(answer) as address:
        api = EmbeddingApi("openai/small", api_base=f"{address}/v1")
        encoders = [LiteLLMEncoder(api, EmbeddingConfig(), turns_at(tmp_path, "openai", 1)) for _ in range(8)]
        with ThreadPoolExecutor(4) as pool:  # locks of files part threads as they part processes
            assert [found.shape for found in pool.map(lambda one: one.encode(["a"]), encoders)] == [
                (1, 2)
            ] * 8
    assert asked >= 8 and busiest == 1
