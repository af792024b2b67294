"""The timeline of a set: counts by period, a stretch chosen by mouse and keys, bars, years before Christ, open ends."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page import atlas
from tests.page.conftest import Axe
from tests.page.sets import VASES, open_set


@pytest.fixture
def line(page: Page) -> Locator:
    """The timeline of the vases."""
    open_set(page, "atlas", VASES, "time")
    line = page.locator(".timeline")
    expect(line.locator(".periods svg")).to_be_visible()
    return line


def told(line: Locator) -> Locator:
    return line.locator(".timeline-told")


def test_every_dated_member_is_counted_and_a_hostile_label_is_text(
    line: Locator, page: Page, axe: Axe
) -> None:
    expect(told(line)).to_contain_text(f"{atlas.DATED} dated")
    expect(line.locator("figcaption")).to_contain_text(f"{atlas.VASES - atlas.DATED} have no date")
    expect(line.locator(".time-bars li")).to_have_count(30)
    line.get_by_role("button", name=re.compile("^Show \\d+ more")).click()
    expect(line.locator(".time-bars li")).to_have_count(atlas.DATED)
    expect(line.get_by_role("link", name=atlas.SCRIPT)).to_be_visible()
    assert page.evaluate("window.harmed") is None
    axe()


@pytest.mark.slow
def test_years_before_christ_and_open_ends(line: Locator) -> None:
    expect(told(line)).to_contain_text("BC")
    until = line.locator(".time-bars li").filter(has_text="until 480 BC")
    expect(until.locator(".time-bar")).to_have_class(re.compile("open-left"))
    line.get_by_role("button", name=re.compile("^Show \\d+ more")).click()
    since = line.locator(".time-bars li").filter(has_text="since 150")
    expect(since.locator(".time-bar")).to_have_class(re.compile("open-right"))


@pytest.mark.slow
def test_dragging_chooses_a_stretch(line: Locator, page: Page, axe: Axe) -> None:
    box = line.locator(".periods svg").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 20, steps=4)
    page.mouse.up()
    expect(told(line)).to_contain_text("may be of")
    shown = int(re.match(r"\d+", told(line).inner_text())[0])  # type: ignore[index]
    assert 0 < shown < atlas.DATED
    expect(line.locator(".time-bars li")).to_have_count(shown)
    axe()
    line.get_by_role("button", name="All years").click()
    expect(told(line)).to_contain_text(f"{atlas.DATED} dated")


@pytest.mark.slow
def test_keys_choose_a_stretch(line: Locator, page: Page) -> None:
    first, last = line.get_by_role("slider", name="First year"), line.get_by_role("slider", name="Last year")
    first.focus()
    begin = first.get_attribute("aria-valuenow")
    page.keyboard.press("ArrowRight")
    expect(first).not_to_have_attribute("aria-valuenow", begin or "")
    expect(told(line)).to_contain_text("may be of")
    page.keyboard.press("Tab")
    expect(last).to_be_focused()
    page.keyboard.press("Home")
    expect(last).to_have_attribute("aria-valuetext", re.compile("BC$"))
    assert int(last.get_attribute("aria-valuenow") or 0) > int(first.get_attribute("aria-valuenow") or 0)
    page.keyboard.press("Escape")
    expect(told(line)).to_contain_text(f"{atlas.DATED} dated")


@pytest.mark.slow
def test_what_is_shown_may_be_of_the_chosen_years(line: Locator, page: Page) -> None:
    line.get_by_role("slider", name="Last year").focus()
    for _ in range(5):
        page.keyboard.press("PageDown")
    years = told(line).inner_text()
    assert "BC" in years
    texts = line.locator(".bar-text").all_inner_texts()
    assert "until 480 BC" in texts
    assert "since 150" not in texts


@pytest.mark.slow
def test_a_bar_leads_to_its_entity(line: Locator, page: Page) -> None:
    link = line.locator(".time-bars a").filter(has_text="Vase 2").first
    link.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Vase 2")


@pytest.mark.slow
@pytest.mark.parametrize("viewport", [{"width": 320, "height": 640}])
def test_the_timeline_fits_a_phone(line: Locator, page: Page, axe: Axe) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    axe()


@pytest.mark.slow
def test_a_set_without_dates_says_so(page: Page) -> None:
    open_set(page, "unkind", {"target": {"classes": ["E21"]}}, "time")
    expect(page.get_by_text("None of the members has a date")).to_be_visible()


@pytest.mark.slow
def test_a_stretch_stays_when_the_window_changes(line: Locator, page: Page) -> None:
    line.get_by_role("slider", name="First year").focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
    expect(told(line)).to_contain_text("may be of")
    page.set_viewport_size({"width": 400, "height": 800})
    expect(line.locator(".time-bars")).to_have_class(re.compile("narrow"))
    expect(told(line)).to_contain_text("may be of")
