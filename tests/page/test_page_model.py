"""Answers that a language model writes: as they come, stopped, doubted, and when the model fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Axe, answered
from tests.support.model_server import Fault, Script, model_server
from tests.support.service import PATIENCE, process

QUESTION = "/?dataset=sample&q=" + quote("When was the church of Asinou painted?")


@dataclass
class Written:
    """A service whose language model says what it is told to."""

    address: str
    script: Script

    def show(self, page: Page, *replies: str, status: int = 200, fault: Fault = "") -> None:
        """Ask the question, with these replies of the model, or with such a fault."""
        self.script.replies[:] = replies
        self.script.status, self.script.fault = status, fault
        page.goto(self.address + QUESTION)


@pytest.fixture(scope="module")
def written(chromium: str, data: Path) -> Iterator[Written]:
    with model_server("") as script:
        model = ("--model", "openai/scripted", "--api-base", script.address)
        with process(data, "--no-history", *model, OPENAI_API_KEY="none") as running:
            # The first question waits until litellm is loaded, for long on a busy machine; that is not what is tested here.
            asked = {"question": "When was Asinou painted?", "dataset": "sample"}
            httpx.post(f"{running.address}/api/v1/ask", json=asked, timeout=PATIENCE).raise_for_status()
            yield Written(running.address, script)
            script.ended.set()  # a reply that drips keeps the service waiting


@pytest.mark.slow
def test_what_the_sources_do_not_bear_out_is_marked(page: Page, written: Written, axe: Axe) -> None:
    written.show(page, "Asinou was built in 1099–1105 [1]. 😀 **Napoleon** saw it in 1799 [1].")
    answered(page)
    doubts = page.locator(".prose .doubt")
    expect(doubts.filter(has_text="Napoleon")).to_have_count(1)
    expect(doubts.filter(has_text="not in its sources: 1799")).to_have_count(1)
    expect(page.locator(".prose .doubt").filter(has_text="Asinou was built")).to_have_count(0)
    expect(page.locator(".notes")).to_contain_text("do not bear it out")
    expect(page.locator(".facts")).to_contain_text("openai/scripted")
    expect(page.locator(".prose strong")).to_have_text("Napoleon")
    axe()


@pytest.mark.slow
def test_markup_of_a_model_is_text(page: Page, written: Written) -> None:
    reply = '<img src=x onerror="window.harmed=1"> [here](javascript:window.harmed=2) [1]'
    written.show(page, reply)
    answered(page)
    expect(page.locator(".prose")).to_contain_text("<img src=x")
    expect(page.locator(".prose img, .prose a")).to_have_count(0)
    assert page.evaluate("window.harmed") is None


@pytest.mark.slow
def test_a_model_that_hangs_can_be_stopped(page: Page, written: Written, axe: Axe) -> None:
    written.show(page, "never", fault="drip")
    expect(page.get_by_text("Reading the question")).to_be_visible()
    axe()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped before the answer was whole.")).to_be_visible()
    expect(page.get_by_role("button", name="Ask again")).to_be_visible()
    axe()


@pytest.mark.slow
def test_a_model_that_fails_leaves_an_answer_of_the_data_and_says_so(page: Page, written: Written) -> None:
    written.show(page, "never", status=500)
    answered(page)
    expect(page.locator(".facts")).to_contain_text("without a language model")
    expect(page.locator(".notes")).to_contain_text("model")


@pytest.mark.slow
def test_text_shows_while_it_is_written(page: Page, written: Written) -> None:
    written.show(page, "Painted in many layers.", fault="held")
    expect(page.locator(".writing")).to_contain_text("Painted in many layers.")
    written.script.released.set()
    answered(page)
    expect(page.locator(".writing")).to_have_count(0)
