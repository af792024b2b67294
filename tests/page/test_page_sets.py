"""Sets: from an answer to all of it, editing the plan, facets, sorting, pages, what is left out, export."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Asked, Axe
from tests.page.sets import open_set

CHURCHES = "Which churches are in the Troodos mountains?"


@pytest.fixture
def churches(page: Page, asked: Asked) -> Page:
    """The page of the set of churches."""
    asked(CHURCHES)
    page.locator(".set-open a").click()
    expect(page.locator(".set-head .figure")).to_have_text("23")
    return page


def test_the_answer_shows_its_set_in_short_and_leads_to_all_of_it_with_plan_facets_and_reasons(
    page: Page, asked: Asked, axe: Axe
) -> None:
    asked(CHURCHES)
    short = page.locator(".set-summary")
    expect(short.locator(".figure")).to_have_text("23")
    assert short.locator(".chip").count() == 2
    assert short.locator(".first li").count() == 5
    axe()
    page.locator(".set-open a").click()
    expect(page.locator(".set-head .figure")).to_have_text("23")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Troodos Mountains")
    assert page.locator(".members tbody tr").count() == 23
    expect(page.get_by_role("complementary", name="Narrow down")).to_contain_text("16th century")
    page.locator(".members .why button").first.click()
    reasons = page.locator(".reasons")
    expect(reasons).to_contain_text("Troodos Mountains")
    expect(reasons).to_contain_text("has current location")
    axe()


@pytest.mark.slow
def test_the_address_of_a_set_brings_it_back(churches: Page) -> None:
    address = churches.url
    churches.goto("/")
    churches.goto(address)
    expect(churches.locator(".set-head .figure")).to_have_text("23")
    expect(churches.get_by_text(CHURCHES)).to_be_visible()


def test_a_facet_narrows_to_exactly_its_count(churches: Page) -> None:
    value = churches.locator("button.facet-value").filter(has_text="16th century")
    count = int(value.locator(".count").inner_text())
    assert 0 < count < 23
    value.click()
    expect(churches.locator(".set-head .figure")).to_have_text(str(count))
    assert churches.locator(".members tbody tr").count() == count
    churches.go_back()
    expect(churches.locator(".set-head .figure")).to_have_text("23")


@pytest.mark.slow
def test_a_part_of_the_plan_can_be_taken_away(churches: Page, axe: Axe) -> None:
    churches.get_by_role("button", name=re.compile("^Take away: .*Troodos")).click()
    expect(churches.locator(".chip")).to_have_count(1)
    expect(churches.locator(".set-head .figure")).not_to_have_text("23")
    assert int(churches.locator(".set-head .figure").inner_text().replace(",", "")) >= 23
    axe()


@pytest.mark.slow
def test_members_are_sorted_by_a_column(churches: Page) -> None:
    names = churches.locator(".member a")
    churches.get_by_role("button", name="Name").click()
    expect(churches.locator("th[aria-sort=ascending]")).to_contain_text("Name")
    upwards = names.all_inner_texts()
    churches.get_by_role("button", name="Name").click()
    expect(churches.locator("th[aria-sort=descending]")).to_contain_text("Name")
    expect(names.first).not_to_have_text(upwards[0])
    assert sorted(names.all_inner_texts()) == sorted(upwards)


@pytest.mark.slow
def test_the_page_is_filtered_by_words(churches: Page) -> None:
    churches.get_by_role("searchbox", name="Filter this page").fill("pelendri")
    expect(churches.locator(".members tbody tr")).to_have_count(2)
    expect(churches.get_by_text("2 of 23 on this page")).to_be_visible()


@pytest.mark.slow
def test_words_are_looked_for_in_the_whole_of_a_large_set(page: Page, axe: Axe) -> None:
    open_set(page, "sample", {"target": {"categories": ["Thing"]}})
    whole = int(page.locator(".set-head .figure").inner_text().replace(",", ""))
    page.get_by_role("searchbox", name="Filter this page").fill("Asinou")
    axe()
    page.get_by_role("button", name=f"Look for it in the names of all {whole:,}").click()
    expect(page.locator(".chip").filter(has_text="name contains “Asinou”")).to_be_visible()
    assert 0 < int(page.locator(".set-head .figure").inner_text()) < whole
    expect(page.get_by_role("searchbox", name="Filter this page")).to_have_value("")


@pytest.mark.slow
def test_where_all_members_show_they_are_filtered_alone(churches: Page) -> None:
    churches.get_by_role("searchbox", name="Filter this page").fill("pelendri")
    expect(churches.get_by_role("button", name=re.compile("Look for it"))).to_have_count(0)


@pytest.mark.slow
def test_a_query_is_fetched_when_it_is_looked_at(churches: Page) -> None:
    bodies: list[dict[str, Any]] = []
    churches.on("request", lambda one: one.url.endswith("/set") and bodies.append(one.post_data_json))
    churches.reload()
    expect(churches.locator(".set-head .figure")).to_have_text("23")
    churches.get_by_text("The query (SPARQL)").click()
    expect(churches.locator(".code-box")).to_contain_text("SELECT")
    assert [one.get("sparql", True) for one in bodies] == [False, True]


@pytest.mark.slow
def test_a_large_set_has_pages(churches: Page) -> None:
    churches.get_by_role("button", name=re.compile("^Take away: church")).click()
    expect(churches.locator(".set-head .figure")).not_to_have_text("23")
    total = int(churches.locator(".set-head .figure").inner_text().replace(",", ""))
    assert total > 25
    expect(churches.get_by_role("navigation", name="Pages")).to_contain_text(f"1 to 25 of {total}")
    first = churches.locator(".member a").first.inner_text()
    churches.get_by_role("button", name="Next").click()
    expect(churches.get_by_role("navigation", name="Pages")).to_contain_text("26 to")
    expect(churches.locator(".member a").first).not_to_have_text(first)
    churches.get_by_role("button", name="Before").click()
    expect(churches.locator(".member a").first).to_have_text(first)


@pytest.mark.parametrize(
    "format", ["CSV", *(pytest.param(one, marks=pytest.mark.slow) for one in ("JSON", "JSON-LD", "GeoJSON"))]
)
def test_the_whole_set_is_exported(churches: Page, axe: Axe, tmp_path: Path, format: str) -> None:
    churches.get_by_role("button", name="Export").click()
    axe()
    with churches.expect_download() as found:
        churches.get_by_role("button", name=re.compile(f"^{format} ")).click()
    path = tmp_path / found.value.suggested_filename
    found.value.save_as(path)
    text = path.read_text(encoding="utf-8")
    if format == "CSV":
        rows = list(csv.DictReader(io.StringIO(text)))
        assert sum(not row["left_out"] for row in rows) == 23
        assert {row["question"] for row in rows} == {CHURCHES}
    else:
        told = json.loads(text)
        members = (
            told.get("members") or told.get("features") or told.get("@graph") or told["without_coordinates"]
        )
        assert members


@pytest.mark.slow
def test_escape_closes_the_export_menu(churches: Page) -> None:
    button = churches.get_by_role("button", name="Export")
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    churches.keyboard.press("Tab")
    churches.keyboard.press("Escape")
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(button).to_be_focused()


@pytest.mark.slow
def test_the_query_can_be_copied(churches: Page) -> None:
    churches.get_by_text("The query (SPARQL)").click()
    churches.get_by_role("button", name="Copy the query").click()
    expect(churches.get_by_role("button", name="Copied")).to_be_visible()
    assert "SELECT" in churches.evaluate("navigator.clipboard.readText()")


@pytest.mark.slow
def test_tabs_follow_the_arrow_keys(churches: Page, axe: Axe) -> None:
    churches.get_by_role("tab", name="Table").focus()
    churches.keyboard.press("ArrowLeft")
    expect(churches.get_by_role("tab", name="Graph")).to_be_focused()
    expect(churches.locator("[role=tabpanel] svg").last).to_be_visible()
    churches.keyboard.press("Home")
    expect(churches.get_by_role("tab", name="Table")).to_have_attribute("aria-selected", "true")
    churches.get_by_role("tab", name="Timeline").click()
    expect(churches.get_by_role("tabpanel")).to_contain_text("dated")
    churches.reload()
    expect(churches.get_by_role("tab", name="Timeline")).to_have_attribute("aria-selected", "true")
    axe()


def test_what_a_lack_of_data_keeps_out_is_listed(page: Page, asked: Asked, axe: Axe) -> None:
    asked("Which churches were built before 1200?")
    page.locator(".set-open a").click()
    left = page.get_by_role("region", name="Left out")
    expect(left).to_be_visible()
    left.get_by_role("button", name=re.compile("^Show")).first.click()
    assert left.locator(".plain-list li").first.inner_text()
    axe()


@pytest.mark.slow
def test_a_count_opens_the_list_of_what_was_counted(page: Page, asked: Asked) -> None:
    asked("How many churches are in the Troodos mountains?")
    page.locator(".set-open a").click()
    expect(page.locator(".set-head .figure")).to_have_text("23")
    assert page.locator(".members tbody tr").count() == 23


@pytest.mark.slow
def test_an_address_without_a_set_says_so(page: Page, axe: Axe) -> None:
    page.goto("/s?dataset=sample#nonsense")
    expect(page.get_by_text("This address has no set")).to_be_visible()
    axe()
