"""The parts of a plan as chips: opened, changed, turned round and added, by pointer and by keys alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.page import atlas
from tests.page.conftest import Axe
from tests.page.sets import VASES, open_set

MADE = {"relationships": ["thing_time_a_created"]}
DATED = VASES | {"where": [{"kind": "dated", "way": MADE, "begin": -182_621, "end": 0}]}  # 500 BC to 1 BC
ATHENS = {"kind": "related", "way": {"paths": [["P55"]]}, "to": {"iris": [f"{atlas.BASE}Athens"]}}


def chip(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=re.compile(f"^Change: .*{name}"))


def offered(page: Page) -> Locator:
    """What the field at hand offers."""
    return page.locator(".pickbox").get_by_role("option")


def figure(page: Page) -> Locator:
    return page.locator(".set-head .figure")


def vases(when: object) -> int:
    """How many vases are dated so: ``when`` is asked of their first and last years, as XSD writes them."""
    return sum(1 for n in range(2, atlas.DATED) if when(*map(int, atlas.year(n))))  # type: ignore[operator]


@pytest.fixture
def dated(page: Page) -> Page:
    """The set of the vases of the last five centuries before Christ."""
    open_set(page, "atlas", DATED)
    expect(figure(page)).to_have_text(str(vases(lambda first, last: first >= -499 and last <= 0)))
    return page


@pytest.mark.slow
def test_years_are_changed_by_keys_alone_and_the_focus_comes_back(dated: Page, axe: Axe) -> None:
    before = dated.url
    chip(dated, "created").focus()
    dated.keyboard.press("Enter")
    dialog = dated.get_by_role("dialog", name=re.compile("500–1 BC"))
    first = dialog.get_by_role("spinbutton", name="From the year")
    expect(first).to_be_focused()
    expect(first).to_have_value("500")
    axe()
    dated.keyboard.press("ControlOrMeta+A")
    dated.keyboard.type("300")
    dated.keyboard.press("Enter")
    expect(figure(dated)).to_have_text(str(vases(lambda first, last: first >= -299 and last <= 0)))
    expect(dialog).to_have_count(0)
    expect(chip(dated, "300–1 BC")).to_be_focused()
    expect(dated).to_have_title(re.compile("300"))
    assert dated.url != before
    dated.go_back()
    expect(chip(dated, "500")).to_be_visible()


@pytest.mark.slow
def test_an_era_and_an_open_end(dated: Page) -> None:
    chip(dated, "created").click()
    dialog = dated.get_by_role("dialog")
    dialog.get_by_role("spinbutton", name="From the year").fill("")
    dialog.get_by_role("combobox", name="Era of the last year").select_option("AD")
    dialog.get_by_role("spinbutton", name="To the year").fill("100")
    dialog.get_by_role("button", name="Apply").click()
    expect(chip(dated, "until 100")).to_be_visible()
    # One vase is of before 480 BC: its begin is open.
    expect(figure(dated)).to_have_text(str(vases(lambda first, last: last <= 100) + 1))


@pytest.mark.slow
def test_escape_closes_and_gives_the_focus_back(dated: Page) -> None:
    chip(dated, "created").click()
    dialog = dated.get_by_role("dialog")
    expect(dialog).to_be_visible()
    dated.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(chip(dated, "created")).to_be_focused()
    chip(dated, "created").click()
    dated.get_by_role("heading", level=1).click()
    expect(dialog).to_have_count(0)


@pytest.mark.slow
def test_an_entity_is_found_by_its_name_and_a_condition_turned_round(page: Page, axe: Axe) -> None:
    open_set(page, "atlas", VASES | {"where": [ATHENS]})
    chip(page, "Athens").click()
    box = page.get_by_role("combobox", name="Which")
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    options = offered(page)
    expect(options.first).to_contain_text("·")  # how many members each has
    axe()
    box.press_sequentially("cori")
    expect(options).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="Chosen: Which")).to_have_text(re.compile("^Corinth"))
    page.get_by_role("button", name="Apply").click()
    corinth = chip(page, "Corinth")
    expect(corinth).to_be_focused()
    count = int(figure(page).inner_text())
    assert 0 < count < atlas.PLACED
    page.keyboard.press("Enter")
    page.get_by_role("checkbox", name="Leave these out").check()
    page.get_by_role("button", name="Apply").click()
    expect(figure(page)).to_have_text(str(atlas.VASES - count))
    expect(page.locator(".chip.negated")).to_contain_text("Corinth")


@pytest.mark.slow
def test_what_is_asked_for_is_changed(page: Page) -> None:
    open_set(page, "atlas", VASES)
    chip(page, "vase").click()
    page.get_by_role("combobox", name="Kind").fill("place")
    offered(page).filter(has_text="category").click()
    page.get_by_role("button", name="Apply").click()
    expect(figure(page)).to_have_text(str(len(atlas.SITES) + 1))


@pytest.mark.slow
def test_a_condition_is_added_and_opens(page: Page, axe: Axe) -> None:
    open_set(page, "atlas", VASES)
    page.get_by_role("button", name="Add a condition").click()
    axe()
    page.get_by_role("combobox", name="They are related by").fill("located")
    offered(page).filter(has_text="located in").click()
    dialog = page.get_by_role("dialog", name=re.compile("located in: any"))
    expect(dialog).to_be_visible()
    dialog.get_by_role("combobox", name="Which").fill("Rhodes")
    offered(page).first.click()
    dialog.get_by_role("button", name="Apply").click()
    expect(chip(page, "located in: Rhodes")).to_be_visible()
    expect(figure(page)).not_to_have_text(str(atlas.VASES))
    page.get_by_role("button", name="Add a condition").click()
    page.get_by_role("textbox", name="Or their name holds").fill("Vase 2")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(chip(page, "name contains")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Take away: .*Rhodes")).click()
    expect(page.locator(".chip")).to_have_count(2)


@pytest.mark.slow
def test_what_the_service_refuses_is_told_in_the_dialog(dated: Page, axe: Axe) -> None:
    chip(dated, "created").click()
    dialog = dated.get_by_role("dialog")
    dialog.get_by_role("spinbutton", name="From the year").fill("1")
    dialog.get_by_role("combobox", name="Era of the first year").select_option("AD")
    dialog.get_by_role("button", name="Apply").click()
    expect(dialog.get_by_role("alert")).to_contain_text("before they begin")
    axe()
    dated.route("**/api/v1/plan/edit", lambda route: _busy(route))
    dialog.get_by_role("button", name="Take away").click()
    expect(dialog.get_by_role("alert")).to_contain_text("too much to do")


def _busy(route: Route) -> None:
    body = '{"status": 503, "title": "Busy", "detail": "There is too much to do.", "remedy": "Ask again."}'
    route.fulfill(status=503, content_type="application/problem+json", body=body)


@pytest.mark.slow
@pytest.mark.parametrize("viewport", [{"width": 320, "height": 640}])
def test_the_dialog_fits_a_phone_and_hostile_names_are_text(page: Page, axe: Axe) -> None:
    open_set(page, "unkind", {"target": {"classes": ["E22"]}})
    page.get_by_role("button", name="Add a condition").click()
    page.get_by_role("combobox", name="They are related by").fill("created by")
    offered(page).first.click()
    page.get_by_role("combobox", name="Which").click()
    expect(offered(page).first).to_contain_text("onload")
    axe()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.evaluate("window.harmed") is None
