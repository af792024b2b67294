"""The page of an entity: names, text, images, map, relationships and their sets, statements, links out, questions."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page import atlas, museum
from tests.page.conftest import Axe, answered

ASINOU = "https://example.org/troodos/church/asinou"
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><rect width="300" height="200"/></svg>'
)


def visit(page: Page, iri: str, dataset: str) -> None:
    page.goto(f"/e?iri={quote(iri, safe='')}&dataset={dataset}")
    expect(page.locator("article.entity")).to_be_visible()


def test_it_says_what_it_is(page: Page, axe: Axe) -> None:
    visit(page, ASINOU, "sample")
    expect(page.get_by_role("heading", level=1)).to_have_text("Panagia Phorbiotissa (Asinou)")
    expect(page.locator(".entity-head")).to_contain_text("Thing")
    expect(page.locator(".entity-head")).to_contain_text("Human-Made Object")
    expect(page.locator(".entity-head")).to_contain_text("1099–1105")
    expect(page).to_have_title(re.compile("^Panagia Phorbiotissa"))
    expect(page.locator("blockquote")).to_contain_text("Small vaulted church")
    expect(page.locator("article.entity .node").first).to_be_visible()
    axe()


@pytest.mark.slow
def test_names_have_their_language_and_are_no_descriptions(page: Page) -> None:
    visit(page, ASINOU, "sample")
    names = page.locator(".name-list")
    expect(names.locator("[lang=el]").first).to_have_text("Παναγία Φορβιώτισσα (Ασίνου)")
    expect(names).to_contain_text("Notre-Dame d'Asinou")
    expect(names).not_to_contain_text("Small vaulted church")


def test_identifiers_stand_apart_from_names_and_a_long_text_is_folded_and_whole(page: Page, axe: Axe) -> None:
    visit(page, f"{atlas.BASE}vase3", "atlas")
    facts = page.locator(".fact")
    expect(facts.filter(has=page.get_by_text("Numbers and codes", exact=True))).to_contain_text(atlas.NUMBER)
    expect(facts.filter(has=page.get_by_text("Names", exact=True))).not_to_contain_text(atlas.NUMBER)
    text = page.locator(".note-text blockquote")
    folded = text.bounding_box()
    expect(text).to_contain_text(atlas.LONG_TEXT)  # all of it is there, to be searched
    axe()
    text.get_by_role("button", name="Show the whole text").click()
    whole = text.bounding_box()
    assert folded and whole and folded["height"] < whole["height"] / 2
    expect(text.get_by_role("button", name="Show less")).to_be_visible()


@pytest.mark.slow
def test_the_text_is_in_the_language_of_the_page(page: Page) -> None:
    visit(page, ASINOU, "sample")
    page.get_by_label("Language").select_option("el")
    expect(page.locator("blockquote")).to_contain_text("Μικρός καμαροσκέπαστος ναός")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Παναγία Φορβιώτισσα")
    expect(page.get_by_role("heading", name="Σχέσεις")).to_be_visible()


@pytest.mark.slow
def test_a_relationship_opens_its_whole_set(page: Page) -> None:
    visit(page, ASINOU, "sample")
    link = page.get_by_role("link", name=re.compile(r"^All \d+: .*has part"))
    total = re.match(r"All (\d+)", link.get_attribute("aria-label") or "")
    assert total
    link.click()
    expect(page.locator(".set-head .figure")).to_have_text(total[1])


@pytest.mark.slow
def test_relationships_with_the_same_targets_stand_together(page: Page) -> None:
    visit(page, ASINOU, "sample")
    places = page.get_by_role("region", name="Place").locator(".relation")
    told = places.locator("dd ul").all_inner_texts()
    assert len(told) == len(set(told))
    expect(places.filter(has_text="created in").locator("dt")).to_contain_text("is/was located in")


@pytest.mark.slow
def test_related_entities_are_links(page: Page) -> None:
    visit(page, ASINOU, "sample")
    page.locator(".relations").get_by_role("link", name="Nikitari").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Nikitari")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Panagia Phorbiotissa (Asinou)")


@pytest.mark.slow
def test_statements_page_by_page(page: Page, axe: Axe) -> None:
    visit(page, ASINOU, "sample")
    page.get_by_role("tab", name="Table").click()
    rows = page.get_by_role("table", name="Statements").locator("tbody tr")
    expect(rows).to_have_count(25)
    first = rows.first.inner_text()
    axe()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("26 to 50")
    expect(rows.first).not_to_have_text(first)


@pytest.mark.slow
def test_the_document_is_read_line_by_line(page: Page) -> None:
    visit(page, ASINOU, "sample")
    lines = page.locator(".document > div")
    expect(lines).to_have_count(8)
    page.get_by_role("button", name=re.compile("^Show the \\d+ other lines")).click()
    assert lines.count() > 20
    expect(lines.filter(has_text="was created at time")).to_contain_text("1099–1105")


@pytest.mark.slow
def test_a_question_about_it_is_asked(page: Page) -> None:
    visit(page, ASINOU, "sample")
    page.get_by_role("textbox", name=re.compile("^Your question about")).fill("When was Asinou painted?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("When was Asinou painted?")
    answered(page)
    page.go_back()
    page.get_by_role("link", name="Where is Panagia Phorbiotissa (Asinou)?").click()
    answered(page)
    expect(page.locator(".prose").first).to_contain_text("Nikitari")


@pytest.mark.slow
def test_where_it_is_on_a_small_map(page: Page, axe: Axe) -> None:
    visit(page, f"{atlas.BASE}vase2", "atlas")
    facts = page.get_by_role("complementary", name="In short")
    expect(facts.get_by_role("group", name=re.compile("^Map with 1 place"))).to_be_visible()
    expect(facts.get_by_role("link", name="Rhodes").first).to_be_visible()
    expect(facts).to_contain_text("36.4400° N, 28.2200° E")
    axe()


@pytest.mark.slow
def test_links_out_and_the_licence(page: Page) -> None:
    visit(page, f"{atlas.BASE}vase2", "atlas")
    link = page.get_by_role("link", name=re.compile("^Wikidata"))
    expect(link).to_have_attribute("href", "http://www.wikidata.org/entity/Q42")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(page.locator(".fact-list a[href*='publicdomain/zero']")).to_be_visible()


@pytest.fixture
def pictures(page: Page) -> list[str]:
    """Addresses of the images that were asked for; all of them are there."""
    asked: list[str] = []

    def give(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=200, content_type="image/svg+xml", body=PICTURE)

    page.route("http://127.0.0.1:9/**", give)
    return asked


@pytest.mark.slow
def test_images_open_in_a_box_and_are_seen_by_keys(page: Page, pictures: list[str], axe: Axe) -> None:
    visit(page, f"{atlas.BASE}vase2", "atlas")
    first = page.get_by_role("button", name="Enlarge image 1 of 2")
    expect(first.locator("img")).to_have_js_property("complete", True)
    axe()
    first.focus()
    page.keyboard.press("Enter")
    box = page.get_by_role("dialog")
    expect(box).to_contain_text("1 / 2")
    axe()
    page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("2 / 2")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    expect(first).to_be_focused()


@pytest.mark.slow
def test_a_iiif_image_is_asked_for_in_the_size_that_shows(page: Page, pictures: list[str]) -> None:
    visit(page, f"{atlas.BASE}vase2", "atlas")
    page.get_by_role("button", name="Enlarge image 2 of 2").scroll_into_view_if_needed()
    expect(page.get_by_role("button", name="Enlarge image 2 of 2").locator("img")).to_have_js_property(
        "complete", True
    )
    assert "http://127.0.0.1:9/iiif/a/full/160,/0/default.jpg" in pictures


@pytest.mark.slow
def test_images_that_cannot_be_had_leave_links(page: Page) -> None:
    page.route("http://127.0.0.1:9/**", lambda route: route.abort())
    visit(page, f"{atlas.BASE}vase2", "atlas")
    expect(page.locator(".gallery")).to_contain_text("2 images, which cannot be shown here")
    expect(page.locator(".gallery a").first).to_have_attribute("href", re.compile("^http://127.0.0.1:9/"))


@pytest.mark.slow
def test_the_link_to_it_is_copied(page: Page) -> None:
    visit(page, f"{atlas.BASE}vase2", "atlas")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    page.goto(page.evaluate("navigator.clipboard.readText()"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Vase 2")


@pytest.mark.slow
def test_an_unknown_entity_offers_those_that_may_be_meant(page: Page, axe: Axe) -> None:
    page.goto(f"/e?iri={quote('https://example.org/troodos/church/asino', safe='')}&dataset=sample")
    expect(page.get_by_role("alert")).to_contain_text("There is no entity")
    expect(page.locator(".entity-near-list a").first).to_be_visible()
    axe()
    page.locator(".entity-near-list a").first.click()
    expect(page.locator("article.entity")).to_be_visible()


@pytest.mark.slow
def test_without_an_entity_it_says_how_it_is_addressed(page: Page) -> None:
    page.goto("/e?dataset=sample")
    expect(page.get_by_text("No entity is named")).to_be_visible()


@pytest.mark.parametrize(
    "n", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, len(museum.NAMES)))]
)
def test_hostile_entities_are_only_text(page: Page, axe: Axe, n: int) -> None:
    visit(page, f"{museum.BASE}vase{n}", "unkind")
    expect(page.get_by_role("heading", level=1)).to_have_text(museum.NAMES[n], use_inner_text=False)
    expect(page.locator("article.entity .node").first).to_be_visible()
    assert page.evaluate("window.harmed") is None
    assert page.locator("a[href^='javascript:']").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    axe()


@pytest.mark.slow
@pytest.mark.parametrize("viewport", [{"width": 320, "height": 640}])
def test_it_fits_a_phone(page: Page, axe: Axe) -> None:
    visit(page, ASINOU, "sample")
    expect(page.locator("article.entity .node").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    visit(page, f"{museum.BASE}vase4", "unkind")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    axe()


@pytest.mark.slow
def test_in_the_dark(page: Page, axe: Axe) -> None:
    page.emulate_media(color_scheme="dark")
    visit(page, f"{atlas.BASE}vase2", "atlas")
    expect(page.locator("article.entity .node").first).to_be_visible()
    axe()
