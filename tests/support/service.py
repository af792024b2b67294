"""The real service for tests: its application in a thread on a free port, or `crmrag serve` as a process."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import httpx
import uvicorn
from fastapi import FastAPI

from crmrag_query.answers.ask import Ask
from crmrag_query.client.local import Engine
from crmrag_query.config.service import ServiceConfig, load_service
from crmrag_query.llm.model import Model
from crmrag_query.service.answering import Desk
from crmrag_query.service.app import Patient, create_app
from crmrag_query.service.guard import Access
from crmrag_query.service.store import Store
from tests.conftest import ROOT
from tests.support.forked import command as forking

if TYPE_CHECKING:
    from openai import OpenAI

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds that tell what hangs from what is only slow on a busy machine."""


def configured(**parts: dict[str, Any] | Any) -> ServiceConfig:
    """The configuration as shipped, with other values: of a part as a dict, else the value itself."""
    config = load_service()
    changed = {
        name: getattr(config, name).model_copy(update=value) if isinstance(value, dict) else value
        for name, value in parts.items()
    }
    return config.model_copy(update=changed)


def application(
    engine: Engine,
    *,
    keys: tuple[str, ...] = (),
    state: Path | None = None,
    hosts: tuple[str, ...] | None = None,
    uploading: tuple[str, ...] = (),
    **parts: Any,
) -> FastAPI:
    """The application over an engine; ``hosts`` as for ``Access``, ``parts`` as for ``configured``."""
    config = configured(**parts)
    store = None if state is None else Store(state, config.kept)
    return create_app(Desk(engine, config, store), Access.of(keys, hosts, uploading))


def beside(engine: Engine, model: Model | None = None) -> Engine:
    """Another engine over the releases that one has made ready, which takes seconds; with a language model if any."""
    return Engine(engine.releases, Ask(model))


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The address of an application in a thread."""
    listening = socket.create_server(("127.0.0.1", 0))  # what comes before the server is ready waits here
    config = uvicorn.Config(
        app, log_config=None, access_log=False, http=Patient, ws="none", timeout_graceful_shutdown=1,
        server_header=False, proxy_headers=True,
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()
        assert not thread.is_alive()


def until(condition: Callable[[], T]) -> T:
    """The first value that is true of what becomes so a moment after a response has come, such as a line of the log."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)
    return found


def openai_client(address: str) -> OpenAI:
    """The official client of OpenAI at a service; it takes a second to load, in each process of the tests that needs it."""
    from openai import OpenAI

    return OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=PATIENCE)


def await_sparql(address: str) -> None:
    """Wait until SPARQL is ready: its process starts with the first query, on a busy machine later than one waits for it."""
    url, query = f"{address}/api/v1/sparql", {"query": "ASK {}"}
    until(lambda: httpx.post(url, json=query, timeout=PATIENCE).status_code == 200)


@dataclass
class Process:
    """A `crmrag serve`; what it writes is in ``lines`` as it comes, ``None`` at the end."""

    popen: subprocess.Popen[str]
    lines: queue.Queue[str | None] = field(default_factory=queue.Queue)
    seen: list[str] = field(default_factory=list)
    address: str = ""

    def wait_for(self, wanted: Callable[[str], bool]) -> str:
        """The next line that is wanted; AssertionError with everything that was said where it never comes."""
        while True:
            try:
                line = self.lines.get(timeout=PATIENCE)
            except queue.Empty:
                line = None
            assert line is not None, "\n".join(self.seen)
            self.seen.append(line)
            if wanted(line):
                return line

    def logged(self, event: str, **values: Any) -> dict[str, Any]:
        """The next log line of that event with these values."""

        def wanted(line: str) -> bool:
            found = json.loads(line) if line.startswith("{") else {}
            return found.get("event") == event and all(
                found.get(key) == value for key, value in values.items()
            )

        found: dict[str, Any] = json.loads(self.wait_for(wanted))
        return found

    def end(self, how: signal.Signals = signal.SIGTERM) -> str:
        """Tell it to end, and give all that it wrote."""
        if self.popen.poll() is None:
            self.popen.send_signal(how)
        self.popen.wait(PATIENCE)
        while (line := self.lines.get(timeout=PATIENCE)) is not None:
            self.seen.append(line)
        return "\n".join(self.seen)


def command(data: Path | str, *options: str, forked: Path | None = None) -> list[str]:
    """The command line of `crmrag serve` on any free port; with ``forked`` that of one that `tests.support.forked` starts."""
    words = ("serve", "--data", str(data), "--port", "0", *options)
    if forked is not None:
        return forking(forked, "service", *words)
    return [sys.executable, "-c", "from crmrag_query.cli.main import main; main()", *words]


@contextmanager
def process(
    data: Path | str, *options: str, forked: Path | None = None, **environment: str
) -> Iterator[Process]:
    """A running `crmrag serve`, ready to answer; with ``forked`` no process id of its own is known."""
    popen = subprocess.Popen(
        command(data, *options, forked=forked), env=os.environ | environment, cwd=ROOT, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, text=True, encoding="utf-8",
    )  # fmt: skip
    running = Process(popen)
    reader = threading.Thread(target=_read, args=(running,), daemon=True)
    reader.start()
    try:
        line = running.wait_for(lambda line: " at http://" in line)
        running.address = line.partition(" at ")[2].partition(" ")[0]
        httpx.get(f"{running.address}/health", timeout=PATIENCE).raise_for_status()
        yield running
    finally:
        popen.terminate()
        try:
            popen.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            popen.kill()
        reader.join(PATIENCE)
        if popen.stderr is not None:
            popen.stderr.close()


def _read(running: Process) -> None:
    assert running.popen.stderr is not None
    for line in running.popen.stderr:
        running.lines.put(line.rstrip("\n"))
    running.lines.put(None)


def failing_command(data: Path, *options: str, forked: Path, **environment: str) -> tuple[int, str]:
    """Status and words of a `crmrag serve` that does not start."""
    done = subprocess.run(
        command(data, *options, forked=forked), env=os.environ | environment, cwd=ROOT, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr
