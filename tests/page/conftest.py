"""The page in a real browser over a real `crmrag serve`: the sample, a museum of hostile labels, and one of places and dates.

Chromium is found at ``CHROMIUM`` or where Debian puts it; without it the tests are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from tests.page.atlas import atlas_turtle
from tests.page.museum import hostile_turtle
from tests.support.builds import Project, build_all
from tests.support.service import Process, process
from tests.support.shared import TROODOS, made_once

AXE = Path(__file__).parent / "axe.min.js"
PATIENCE = 60_000  # milliseconds, which tell what hangs from what is only slow on a busy machine
OFFLINE = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"  # images of other hosts are asked for in vain
)
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

Axe = Callable[[], None]
Asked = Callable[[str], None]


@pytest.fixture(scope="session")
def chromium() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        pytest.skip("Chromium is not at hand (install Debian's chromium, or set CHROMIUM to its path)")
    return found


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the sample and the two museums, encoded by the stand-in."""
    return made_once(tmp_path_factory, "page", _build) / "data"


def _build(root: Path) -> None:
    (root / "config").mkdir(parents=True)
    (root / "unkind.ttl").write_text(hostile_turtle(), encoding="utf-8")
    (root / "atlas.ttl").write_text(atlas_turtle(), encoding="utf-8")
    common = {"embedding": {"model": "hash"}, "write_markdown": False}
    sets = {
        "sample": {
            "title": "Painted churches", "rdf": [str(TROODOS)], "languages": ["en", "el"],
            "licence": "https://creativecommons.org/publicdomain/zero/1.0/", "attribution": "Us",
            "examples": ["When was Asinou painted?", "How many churches are in the Troodos mountains?"],
            "token_vectors": True,
        },
        "unkind": {"title": "<b>Hostile</b>", "rdf": [str(root / "unkind.ttl")], "languages": ["en"]},
        "atlas": {"title": "Vases", "rdf": [str(root / "atlas.ttl")], "languages": ["en", "de"]},
    }  # fmt: skip
    text = yaml.safe_dump({"datasets": {name: common | entry for name, entry in sets.items()}})
    (root / "config" / "datasets.yaml").write_text(text, encoding="utf-8")
    for name in sets:
        build_all(Project(root, name).context())
    _evaluate(root / "data" / "evaluations" / "sample")


def _evaluate(folder: Path) -> None:
    """Two evaluations, as `crmrag evaluate` leaves them; the first one was made a year before."""
    for at, (name, worth) in enumerate({"first": 0.5, "second": 0.875}.items()):
        told = {
            "file": f"/anywhere/{name}.json", "asked": {"q1": "Who?", "q2": "When?"},
            "retrieval": {"pipeline": {"nDCG@10": {"q1": worth, "q2": worth}, "RR": {"q1": 1.0, "q2": 1.0}}},
        }  # fmt: skip
        file = folder / name / "evaluation.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(told), encoding="utf-8")
        os.utime(file, (1_700_000_000 + at * 31_536_000,) * 2)


@pytest.fixture(scope="session")
def running(
    chromium: str, data: Path, forked: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Process]:  # without a browser nothing is served
    state = str(tmp_path_factory.mktemp("state"))
    with process(data, "--state", state, "--dataset", "sample", forked=forked) as found:
        yield found


@pytest.fixture(scope="session")
def service(running: Process) -> str:
    """The address of the service, without a slash at its end."""
    return running.address


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    # Of this folder: while a browser is held, an event loop runs, which other tests would find.
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", OFFLINE]
        )
        yield found
        found.close()


@pytest.fixture
def viewport() -> dict[str, int]:
    """Width and height; a test with another size parametrizes it."""
    return {"width": 1280, "height": 900}


@pytest.fixture
def faults() -> list[str]:
    """What the page did wrong so far: errors of scripts, breaches of its policy, requests to other hosts."""
    return []


@pytest.fixture(scope="package")
def contexts(browser: Browser, service: str) -> dict[str, BrowserContext]:
    """The contexts of all visitors, by size of the page: what was loaded once need not be loaded again."""
    return {}


@pytest.fixture
def page(
    browser: Browser, service: str, viewport: Any, faults: list[str], contexts: dict[str, BrowserContext]
) -> Iterator[Page]:
    """A page of a new visitor. At the end there must be no fault; images of other hosts are asked for in vain."""
    if (size := str(viewport)) not in contexts:
        contexts[size] = browser.new_context(
            viewport=viewport,
            locale="en-GB",
            base_url=service,
            reduced_motion="reduce",
            accept_downloads=True,
        )
        contexts[size].grant_permissions(["clipboard-read", "clipboard-write"])
    context, origins = contexts[size], {service}
    context.set_default_timeout(PATIENCE)
    found = context.new_page()
    watch(found, faults)
    found.on("request", lambda request: _asked(request, origins, faults))
    yield found
    _forget(context, origins)
    assert not faults


def _asked(request: Request, origins: set[str], faults: list[str]) -> None:
    address = urlsplit(request.url)
    if address.hostname == "127.0.0.1":
        origins.add(f"{address.scheme}://{address.netloc}")
    elif request.resource_type != "image":
        faults.append(f"another host was asked: {request.url}")


def _forget(context: BrowserContext, origins: set[str]) -> None:
    """Close the pages; nothing that they kept is left for the next visitor but what was loaded."""
    blank = context.new_page()
    for page in context.pages:
        if page != blank:
            page.close()
    session = context.new_cdp_session(blank)
    for origin in origins:
        kept = {
            "origin": origin,
            "storageTypes": "cookies,local_storage,indexeddb,service_workers,cache_storage",
        }
        session.send("Storage.clearDataForOrigin", kept)
    blank.close()


def watch(page: Page, faults: list[str]) -> None:
    """Note what the page does wrong."""
    page.on("pageerror", lambda error: faults.append(f"a script failed: {error}"))
    page.on("dialog", lambda dialog: (faults.append(f"a dialog opened: {dialog.message}"), dialog.dismiss()))
    page.on("console", lambda said: _console(said.type, said.text, faults))


def _console(kind: str, text: str, faults: list[str]) -> None:
    # That something could not be loaded is told by the page itself, where it matters.
    if kind in ("error", "warning") and "Failed to load resource" not in text:
        faults.append(f"console: {text}")


@pytest.fixture
def axe(page: Page) -> Axe:
    """Checks what shows now: no violation of WCAG 2.2 AA, nor of axe's best practices."""

    def check() -> None:
        # At the end of the page nothing lies below the box for the next question, as it does on the way there.
        page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        page.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')}\n }}")
        found = page.evaluate(
            "rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})", RULES
        )
        told = [
            {"rule": one["id"], "what": one["help"], "where": [node["html"] for node in one["nodes"]][:3]}
            for one in found["violations"]
        ]
        assert not told, json.dumps(told, indent=1, ensure_ascii=False)

    return check


@pytest.fixture
def asked(page: Page) -> Asked:
    """Asks a question on the first page and waits for the whole answer."""

    def ask(question: str) -> None:
        page.goto("/?dataset=sample")
        page.get_by_role("combobox", name="Your question").fill(question)
        page.get_by_role("button", name="Ask", exact=True).click()
        answered(page)

    return ask


def answered(page: Page) -> None:
    """Wait until the last answer is whole."""
    expect(page.locator("article.turn[aria-busy=false] .about").last).to_be_visible()
    expect(page.locator("article.turn[aria-busy=true]")).to_have_count(0)
