"""Answers that a language model writes: as they come, stopped, doubted, and when the model fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.page.conftest import Axe, answered
from tests.support.model_server import Script, model_server
from tests.support.service import process

QUESTION = "/?dataset=sample&q=" + quote("When was the church of Asinou painted?")


@contextmanager
def written(data: Path, *replies: str, **faults: Any) -> Iterator[tuple[str, Script]]:
    """The address of a service whose model says these replies, or has these faults; and what it was asked."""
    with model_server(*replies, **faults) as script:
        model = ("--model", "openai/scripted", "--api-base", script.address)
        with process(data, "--no-history", *model, OPENAI_API_KEY="none") as running:
            yield running.address, script


def test_what_the_sources_do_not_bear_out_is_marked(page: Page, data: Path, axe: Axe) -> None:
    with written(data, "Asinou was built in 1099–1105 [1]. 😀 **Napoleon** saw it in 1799 [1].") as (
        address,
        _,
    ):
        page.goto(address + QUESTION)
        answered(page)
        doubts = page.locator(".prose .doubt")
        expect(doubts.filter(has_text="Napoleon")).to_have_count(1)
        expect(doubts.filter(has_text="not in its sources: 1799")).to_have_count(1)
        expect(page.locator(".prose .doubt").filter(has_text="Asinou was built")).to_have_count(0)
        expect(page.locator(".notes")).to_contain_text("do not bear it out")
        expect(page.locator(".facts")).to_contain_text("openai/scripted")
        expect(page.locator(".prose strong")).to_have_text("Napoleon")
        axe()


def test_markup_of_a_model_is_text(page: Page, data: Path) -> None:
    reply = '<img src=x onerror="window.harmed=1"> [here](javascript:window.harmed=2) [1]'
    with written(data, reply) as (address, _):
        page.goto(address + QUESTION)
        answered(page)
        expect(page.locator(".prose")).to_contain_text("<img src=x")
        expect(page.locator(".prose img, .prose a")).to_have_count(0)
        assert page.evaluate("window.harmed") is None


def test_a_model_that_hangs_can_be_stopped(page: Page, data: Path, axe: Axe) -> None:
    with written(data, "never", fault="drip") as (address, _):
        page.goto(address + QUESTION)
        expect(page.get_by_text("Reading the question")).to_be_visible()
        axe()
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("Stopped before the answer was whole.")).to_be_visible()
        expect(page.get_by_role("button", name="Ask again")).to_be_visible()
        axe()


def test_a_model_that_fails_leaves_an_answer_of_the_data_and_says_so(page: Page, data: Path) -> None:
    with written(data, "never", status=500) as (address, _):
        page.goto(address + QUESTION)
        answered(page)
        expect(page.locator(".facts")).to_contain_text("without a language model")
        expect(page.locator(".notes")).to_contain_text("model")


def test_text_shows_while_it_is_written(page: Page, data: Path) -> None:
    with written(data, "Painted in many layers.", fault="held") as (address, script):
        page.goto(address + QUESTION)
        expect(page.locator(".writing")).to_contain_text("Painted in many layers.")
        script.released.set()
        answered(page)
    expect(page.locator(".writing")).to_have_count(0)
