"""`crmrag ui` as a process, and a browser before it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tools.operator.project import REPOSITORY, Project

STARTS = 120.0  # seconds that the UI may take to load the definitions on a busy machine
ENDS = 30.0
SIZE = (1440, 900)
LOADED = '{"query": "{repositoriesOrError {... on RepositoryConnection {nodes {name}}}}"}'


def chromium() -> str | None:
    """Where Chromium is: at ``CHROMIUM``, or where Debian puts it; None where it is not at hand."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def serving(project: Project) -> Iterator[str]:
    """The address of `crmrag ui` on the project, once it has loaded the definitions. RuntimeError where it does not."""
    port = _free_port()
    command = [
        sys.executable,
        "-c",
        "from crmrag_query.cli.main import main; main()",
        "ui",
        "--port",
        str(port),
    ]
    folders = ["--data", str(project.data), "--config", str(project.config)]
    log = project.root / "ui.log"
    with log.open("w") as told:
        process = subprocess.Popen(
            [*command, *folders], cwd=REPOSITORY, stdout=told, stderr=told, start_new_session=True
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _await(address, process, log)
        yield address
    finally:
        _end(process)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        return int(held.getsockname()[1])


def _await(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + STARTS
    while time.monotonic() < until and process.poll() is None:
        if _loaded(address):
            return
        time.sleep(0.25)
    raise RuntimeError(f"The UI did not start: {log.read_text(encoding='utf-8')[-2000:]}")


def _loaded(address: str) -> bool:
    asked = urllib.request.Request(
        f"{address}/graphql", LOADED.encode(), headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            found = json.load(answer)["data"]["repositoriesOrError"]
    except (OSError, urllib.error.URLError, ValueError):
        return False
    return bool(found.get("nodes"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End Dagster with all that it started, politely at first."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(ENDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(ENDS)


@contextmanager
def browsing(address: str) -> Iterator[Page]:
    """A page of a new visitor to the UI; RuntimeError where there is no Chromium."""
    found = chromium()
    if found is None:
        raise RuntimeError("Chromium is not at hand: install Debian's chromium, or set CHROMIUM to its path.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        context = browser.new_context(
            viewport={"width": SIZE[0], "height": SIZE[1]},
            base_url=address,
            locale="en-GB",
            timezone_id="UTC",
            reduced_motion="reduce",
        )
        yield context.new_page()
        browser.close()
