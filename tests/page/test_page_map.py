"""The map of a set: places, clusters and their lists, moving, keys; no other host is asked."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page import atlas
from tests.page.conftest import Axe
from tests.page.sets import VASES, open_set


@pytest.fixture
def chart(page: Page) -> Locator:
    """The map of the vases."""
    open_set(page, "atlas", VASES, "map")
    chart = page.get_by_role("group", name=re.compile(r"^Map with \d+ places"))
    expect(chart).to_be_visible()
    expect(page.locator(".map-land")).to_have_attribute("d", re.compile("^M"))
    return chart


def counted(chart: Locator) -> int:
    """Members that the marks in sight stand for."""
    names = chart.get_by_role("button").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    numbers = [re.match(r"(\d+) here", name) for name in names]
    return sum(int(found[1]) if found else 1 for found in numbers)


def test_every_member_with_a_place_is_on_the_map_and_a_hostile_label_is_text(
    chart: Locator, page: Page, axe: Axe
) -> None:
    assert counted(chart) == atlas.PLACED
    missing = atlas.VASES - atlas.PLACED
    expect(page.locator(".set-map figcaption")).to_contain_text(f"{missing} have no coordinates")
    expect(page.locator(".map-list-title")).to_have_text(f"{atlas.PLACED} on the map")
    axe()
    page.get_by_role("button", name=re.compile("^Show \\d+ more")).click()
    expect(page.get_by_role("link", name=atlas.SCRIPT)).to_be_visible()
    assert page.evaluate("window.harmed") is None


@pytest.mark.slow
def test_a_mark_lists_what_is_there(chart: Locator, page: Page, axe: Axe) -> None:
    mark = chart.get_by_role("button", name=re.compile("Ai-Khanoum"))
    count = int(re.match(r"(\d+) here", mark.get_attribute("aria-label") or "")[1])  # type: ignore[index]
    mark.click()
    expect(mark).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".map-list-title")).to_have_text(f"{count} here · Ai-Khanoum")
    expect(page.locator(".map-list li")).to_have_count(count)
    axe()
    page.locator(".map-list a").first.click()
    expect(page).to_have_url(re.compile("/e\\?"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Vase")


@pytest.mark.slow
def test_a_cluster_opens_into_its_places(chart: Locator) -> None:
    clusters = chart.get_by_role("button").filter(has_text=re.compile(r"\d"))
    before = chart.get_by_role("button").count()
    cluster = clusters.filter(has=chart.page.locator("title", has_text=",")).first
    name = cluster.get_attribute("aria-label") or ""
    assert "," in name
    cluster.click()
    expect(chart.get_by_role("button", name=name, exact=True)).to_have_count(0)
    assert chart.get_by_role("button").count() > 0
    chart.page.get_by_role("button", name="Show everything").click()
    expect(chart.get_by_role("button")).to_have_count(before)
    assert counted(chart) == atlas.PLACED


@pytest.mark.slow
def test_the_map_is_used_by_keys_alone(chart: Locator, page: Page) -> None:
    mark = chart.get_by_role("button", name=re.compile("Rhodes")).first
    where = place(mark)
    chart.focus()
    page.keyboard.press("ArrowRight")
    assert place(mark, other_than=where) == pytest.approx((where[0] - 60, where[1]), abs=1)
    page.keyboard.press("0")
    expect(mark).to_have_attribute("transform", f"translate({where[0]:g} {where[1]:g})")
    page.keyboard.press("ArrowUp")
    assert place(mark, other_than=where) == pytest.approx((where[0], where[1] + 60), abs=1)
    page.keyboard.press("0")
    page.keyboard.press("Tab")
    expect(chart.get_by_role("button").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".map-list-title")).to_contain_text("here")


def place(mark: Locator, other_than: tuple[float, float] | None = None) -> tuple[float, float]:
    """Where a mark is, in pixels; after a movement, once it is elsewhere than before."""
    if other_than:
        expect(mark).not_to_have_attribute("transform", f"translate({other_than[0]:g} {other_than[1]:g})")
    x, y = re.findall(r"-?[\d.]+", mark.get_attribute("transform") or "")
    return float(x), float(y)


@pytest.mark.slow
def test_the_wheel_scrolls_the_page_unless_ctrl_is_held(chart: Locator, page: Page) -> None:
    mark = chart.get_by_role("button", name=re.compile("Rhodes")).first
    chart.hover()
    where = place(mark)
    page.mouse.wheel(0, -120)
    expect(page.locator(".draw-hint")).to_be_visible()
    assert place(mark) == where
    page.keyboard.down("Control")
    page.mouse.wheel(0, -240)
    page.keyboard.up("Control")
    assert place(mark, other_than=where) != where


@pytest.mark.slow
def test_dragging_moves_the_map(chart: Locator, page: Page) -> None:
    mark = chart.get_by_role("button", name=re.compile("Rhodes")).first
    box = chart.bounding_box()
    assert box
    where = place(mark)
    x, y = box["x"] + 40, box["y"] + box["height"] - 40
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 30)
    page.mouse.up()
    assert place(mark, other_than=where) == pytest.approx((where[0] + 60, where[1] - 30), abs=1)


@pytest.mark.slow
@pytest.mark.parametrize("viewport", [{"width": 320, "height": 640}])
def test_the_map_fits_a_phone(chart: Locator, page: Page, axe: Axe) -> None:
    assert counted(chart) == atlas.PLACED
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    axe()


@pytest.mark.slow
def test_a_set_without_places_says_so(page: Page) -> None:
    open_set(page, "unkind", {"target": {"classes": ["E21"]}}, "map")
    expect(page.get_by_text("None of the members has a place")).to_be_visible()
