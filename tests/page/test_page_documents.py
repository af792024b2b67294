"""Documents of pages: an answer shows the page that it is from, says what a machine read, and can be asked for without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.conftest import PATIENCE, answered
from tests.support.regulation import build_regulation
from tests.support.service import process
from tests.support.shared import made_once


@pytest.fixture(scope="module")
def regulation(tmp_path_factory: pytest.TempPathFactory, forked: Path) -> Iterator[str]:
    data = made_once(tmp_path_factory, "regulation", build_regulation) / "data"
    with process(data, forked=forked) as running:
        yield running.address


def test_an_answer_shows_its_page_and_what_a_machine_read_can_be_left_out(
    browser: Browser, regulation: str
) -> None:
    page: Page = browser.new_page(base_url=regulation)
    page.set_default_timeout(PATIENCE)
    try:
        page.goto("/?dataset=churches")
        page.get_by_role("combobox", name="Your question").fill("What does 12/1987 amend?")
        page.get_by_role("button", name="Ask", exact=True).click()
        card = page.locator(".source", has_text="12/1987").first
        answered(page)
        expect(card).to_contain_text("read by a machine", timeout=PATIENCE)
        card.get_by_role("button", name="regulation, p. 1").click()
        image = card.get_by_role("img", name="Image of regulation, p. 1")
        expect(image).to_be_visible()
        assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1240
        page.get_by_role("checkbox", name="Also what a machine read from pages").uncheck()
        page.get_by_role("combobox", name="Your next question").fill("What does 12/1987 amend?")
        page.get_by_role("button", name="Ask", exact=True).click()
        last = page.locator(".turn").last
        expect(last.locator(".source").first).to_be_visible(timeout=PATIENCE)
        expect(last).not_to_contain_text("read by a machine")
    finally:
        page.close()
