"""The page of a data set: what is in it, coverage, freshness, the report as text, questions to begin with."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page.conftest import Axe, answered

REPORT = """# Report <script>window.harmed='report'</script>

Some *words*, **strong ones**, `code` and [a link](javascript:window.harmed=1).

- one
  - within
- two with <img src=x onerror="window.harmed='image'">

| what | count |
| --- | ---: |
| a \\| b | 1,204 |

```
<b>as it is</b>
```
"""


def test_it_tells_what_is_in_it(page: Page, axe: Axe) -> None:
    page.goto("/d/sample")
    expect(page.get_by_role("heading", level=1)).to_have_text("Painted churches")
    expect(page.locator(".counts")).to_contain_text("triples")
    categories = page.get_by_role("table").filter(has_text="Category")
    expect(categories).to_contain_text("Thing")
    shares = [
        float(one.removesuffix("%"))
        for one in categories.locator("tbody td:nth-of-type(2)").all_inner_texts()
    ]
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert shares == sorted(shares, reverse=True)
    expect(page.locator(".coverage meter").first).to_be_visible()
    expect(page.get_by_text("Everything that the source had was fetched.")).to_be_visible()
    axe()


@pytest.mark.slow
def test_a_category_and_a_class_open_their_sets(page: Page) -> None:
    page.goto("/d/sample")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="Actor"))
    count = row.get_by_role("cell").first.inner_text()
    row.get_by_role("link").click()
    expect(page.locator(".set-head .figure")).to_have_text(count)
    page.go_back()
    classes = page.get_by_role("region", name="Classes", exact=True)
    classes.get_by_role("button", name=re.compile("^Show all")).click()
    person = classes.get_by_role("row").filter(has=page.get_by_role("link", name="Person", exact=True))
    count = person.get_by_role("cell").first.inner_text()
    person.get_by_role("link").click()
    expect(page.locator(".set-head .figure")).to_have_text(count)


@pytest.mark.slow
def test_evaluations_show_each_measure_over_time_and_are_hidden_where_there_are_none(
    page: Page, axe: Axe
) -> None:
    page.goto("/d/sample")
    region = page.get_by_role("region", name="How well it answers")
    expect(region.get_by_role("columnheader")).to_have_text(
        ["Measure", re.compile("^Nov 14, 2023.*first"), re.compile("^Nov 13, 2024.*second")]
    )
    expect(region.get_by_role("row", name=re.compile("^nDCG@10"))).to_contain_text("0.500.88")
    axe()
    page.goto("/d/atlas")
    expect(page.get_by_role("heading", name="Most connected")).to_be_visible()
    expect(region).to_have_count(0)


@pytest.mark.slow
def test_a_data_set_without_questions_begins_with_what_is_in_it(page: Page, axe: Axe) -> None:
    page.goto("/?dataset=atlas")
    within = page.get_by_role("region", name="What is in it")
    place = within.get_by_role("listitem").filter(has_text="Place")
    count = place.inner_text().split()[-1]
    axe()
    place.get_by_role("link").click()
    expect(page.locator(".set-head .figure")).to_have_text(count)


@pytest.mark.slow
def test_the_most_connected_are_filtered_by_category(page: Page, axe: Axe) -> None:
    page.goto("/d/sample")
    top = page.get_by_role("region", name="Most connected")
    expect(top.get_by_role("listitem")).to_have_count(10)
    top.get_by_role("button", name="Place").click()
    expect(top.get_by_role("link", name="Cyprus")).to_be_visible()
    expect(top.locator("li .sign.kind-place")).to_have_count(10)
    axe()
    top.get_by_role("link", name="Cyprus").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cyprus")


@pytest.mark.slow
def test_long_tables_are_shown_in_full_on_demand(page: Page) -> None:
    page.goto("/d/sample")
    rows = page.get_by_role("table").filter(has_text="Relationship").locator("tbody tr")
    expect(rows).to_have_count(10)
    page.get_by_role("button", name=re.compile("^Show all")).last.click()
    assert rows.count() > 30


@pytest.mark.slow
def test_an_example_question_is_asked(page: Page) -> None:
    page.goto("/d/sample")
    page.get_by_role("link", name="When was Asinou painted?").click()
    answered(page)


@pytest.mark.slow
def test_the_report_is_read_in_place(page: Page, axe: Axe) -> None:
    page.goto("/d/sample")
    page.get_by_text("Read the report").click()
    report = page.locator(".markdown")
    expect(report.get_by_role("heading").first).to_be_visible()
    expect(report.get_by_role("table").first).to_be_visible()
    assert "\\_" not in report.inner_text()
    axe()


def test_a_hostile_report_is_text(page: Page) -> None:
    def planted(route: Route) -> None:
        told = route.fetch()
        detail = told.json() | {
            "report": REPORT,
            "source": ["javascript:window.harmed=2"],
            "concerns": ["<b>concern</b>"],
        }
        route.fulfill(response=told, body=json.dumps(detail))

    page.route("**/api/v1/dataset?*", planted)
    page.goto("/d/sample")
    page.get_by_text("Read the report").click()
    report = page.locator(".markdown")
    expect(report.get_by_role("heading")).to_have_text("Report <script>window.harmed='report'</script>")
    expect(report.locator("em")).to_have_text("words")
    expect(report.locator("strong")).to_have_text("strong ones")
    expect(report.locator("li li")).to_have_text("within")
    expect(report.locator("td").first).to_have_text("a | b")
    expect(report.locator("pre")).to_have_text("<b>as it is</b>")
    assert report.locator("a, img, script").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0
    assert page.evaluate("window.harmed") is None


@pytest.mark.slow
def test_a_hostile_title_is_text(page: Page, axe: Axe) -> None:
    page.goto("/d/unkind")
    expect(page.get_by_role("heading", level=1)).to_have_text("<b>Hostile</b>")
    assert page.evaluate("window.harmed") is None
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    axe()


@pytest.mark.slow
def test_an_unknown_data_set_is_a_problem_with_a_remedy(page: Page, axe: Axe) -> None:
    page.goto("/d/nothing")
    expect(page.get_by_role("alert")).to_contain_text("nothing")
    axe()


@pytest.mark.slow
@pytest.mark.parametrize("language", ["fr", "de", "el", "it", "es"])
def test_in_every_language(page: Page, axe: Axe, language: str) -> None:
    page.goto("/d/sample")
    page.get_by_label("Language").select_option(language)
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator(".coverage meter").first).to_be_visible()
    assert "data." not in page.locator("main").inner_text()
    axe()


@pytest.mark.slow
@pytest.mark.parametrize("viewport", [{"width": 320, "height": 640}])
def test_it_fits_a_phone_in_the_dark(page: Page, axe: Axe) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto("/d/sample")
    expect(page.locator(".coverage meter").first).to_be_visible()
    page.get_by_text("Read the report").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    axe()


def test_a_map_of_themes_leads_to_each_and_from_its_members_back(page: Page, axe: Axe) -> None:
    page.goto("/d/sample")
    themes = page.get_by_role("region", name="Themes", exact=True)
    fields = themes.locator(".theme-map a")
    expect(fields.first).to_contain_text("entries")
    boxes = [box for one in fields.all() if (box := one.bounding_box())]
    areas = [box["width"] * box["height"] for box in boxes]
    assert len(areas) > 5 and areas[0] == max(areas) > 2 * areas[-1], "larger themes, larger fields"
    outermost = fields.first.inner_text()
    themes.get_by_role("button", name="Level 0").click()
    expect(fields.first).not_to_have_text(outermost)
    themes.get_by_role("button", name="Outermost").click()
    expect(fields.first).to_have_text(re.compile(re.escape(outermost.split("\n")[0])))
    fields.first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(outermost.split("\n")[0])
    within = page.get_by_role("region", name="Themes within it")
    expect(within.get_by_role("link").first).to_be_visible()
    axe()
    page.get_by_role("region", name="Most central members").get_by_role("link").first.click()
    back = page.get_by_role("region", name="Themes", exact=True)
    expect(back.get_by_role("link").last).to_have_text(outermost.split("\n")[0])


@pytest.mark.slow
def test_an_answer_by_themes_shows_them_as_sources_that_lead_to_their_pages(page: Page) -> None:
    page.goto("/?dataset=sample&q=What+are+the+main+topics+of+the+collection%3F")
    first = page.locator(".source").first
    expect(first.locator(".source-kind")).to_have_text("theme")
    expect(first).to_contain_text("belong together")
    expect(first).to_contain_text("Rests on")
    title = first.get_by_role("heading").inner_text()
    first.get_by_role("heading").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
