"""The graph of an answer and of an entity: nodes, expanding, the chosen one, keys, the table of the same."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page import museum
from tests.page.conftest import Asked, Axe

ASINOU = "https://example.org/troodos/church/asinou"
ARAKOS = "https://example.org/troodos/church/arakos"
QUESTION = "Which churches were built before 1200?"


@pytest.fixture
def graph(page: Page, asked: Asked) -> Locator:
    """The graph of an answer, its categories known."""
    asked(QUESTION)
    page.get_by_role("button", name="How these are connected").click()
    graph = page.get_by_role("group", name=re.compile(r"^Graph of \d+ entities"))
    expect(graph.locator(".node.kind-event").first).to_be_visible()
    return graph


def test_the_answer_is_drawn_with_its_paths(graph: Locator, page: Page, axe: Axe) -> None:
    nodes = graph.get_by_role("button")
    expect(nodes.filter(has_text="Panagia tou Arakos").first).to_be_visible()
    assert nodes.count() == 12
    assert graph.locator(".edge-of").count() == 8
    expect(page.get_by_role("list", name="Signs")).to_contain_text("Event")
    axe()


@pytest.mark.slow
def test_nodes_have_a_shape_and_a_colour_by_category(graph: Locator) -> None:
    read = "one => [one.getAttribute('d'), getComputedStyle(one).stroke]"
    kinds = ("thing", "event", "time")
    looks = [graph.locator(f".node.kind-{kind} .outline").first.evaluate(read) for kind in kinds]
    assert len({shape for shape, _ in looks}) == 3
    assert len({colour for _, colour in looks}) == 3


@pytest.mark.slow
def test_a_click_chooses_and_a_second_expands(graph: Locator, page: Page, axe: Axe) -> None:
    node = graph.get_by_role("button", name=re.compile("^Building of Panagia Phorbiotissa"))
    before = graph.get_by_role("button").count()
    node.click()
    picked = page.get_by_role("region", name="The chosen entity")
    expect(picked).to_contain_text("Building of Panagia Phorbiotissa (Asinou)")
    expect(picked).to_contain_text("has produced")
    expect(graph.locator(".edge-name").first).to_be_visible()
    assert graph.get_by_role("button").count() == before
    node.click()
    expect(graph.get_by_role("button", name=re.compile("^Nikitari"))).to_be_visible()
    expect(node).to_have_attribute("aria-expanded", "true")
    axe()
    picked.get_by_role("button", name="Show less").click()
    expect(graph.get_by_role("button")).to_have_count(before)


@pytest.mark.slow
def test_the_graph_is_used_by_keys_alone(graph: Locator, page: Page) -> None:
    before = graph.get_by_role("button").count()
    graph.get_by_role("button").first.focus()
    names = set()
    for _ in range(3):
        names.add(page.evaluate("document.activeElement.getAttribute('aria-label')"))
        page.keyboard.press("Tab")
    assert len(names) == 3
    node = graph.get_by_role("button", name=re.compile("^Building of Panagia tou Arakos"))
    node.focus()
    expect(page.get_by_role("region", name="The chosen entity")).to_contain_text(
        "Building of Panagia tou Arakos"
    )
    page.keyboard.press("Enter")
    expect(node).to_have_attribute("aria-expanded", "true")
    assert graph.get_by_role("button").count() > before
    page.keyboard.press("Escape")
    expect(node).to_have_attribute("aria-expanded", "false")
    expect(graph.get_by_role("button")).to_have_count(before)
    shape = node.locator(".halo")
    where = shape.get_attribute("cx")
    page.keyboard.press("ArrowLeft")
    expect(shape).not_to_have_attribute("cx", where or "")


@pytest.mark.slow
def test_the_table_says_the_same(graph: Locator, page: Page, axe: Axe) -> None:
    page.get_by_role("button", name="As a table").click()
    table = page.get_by_role("table", name="What the graph shows, as statements")
    expect(table.get_by_role("row").filter(has_text="has time-span").first).to_be_visible()
    assert table.get_by_role("row").count() == 1 + 8
    axe()
    table.get_by_role("link", name="Building of Panagia tou Arakos").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Building of Panagia tou Arakos")


@pytest.mark.slow
def test_the_chosen_one_has_a_page(graph: Locator, page: Page) -> None:
    graph.get_by_role("button", name=re.compile("^Panagia tou Arakos")).first.click()
    page.get_by_role("link", name="Open its page").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Panagia tou Arakos")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_contain_text(QUESTION)


@pytest.mark.slow
def test_zooming_in_spreads_the_nodes(page: Page) -> None:
    page.goto(f"/e?iri={quote(ASINOU, safe='')}&dataset=sample")
    graph = page.get_by_role("group", name=re.compile("^Graph of"))
    expect(graph.locator(".label").first).to_be_visible()
    before = spread(graph)
    page.get_by_role("group", name="Graph tools").get_by_role("button", name="Zoom in").click()
    assert spread(graph) > 1.4 * before


def spread(graph: Locator) -> float:
    """Pixels between the leftmost and the rightmost node."""
    places = graph.locator(".halo").evaluate_all("all => all.map(one => one.cx.baseVal.value)")
    return float(max(places) - min(places))


@pytest.mark.slow
def test_an_entity_that_is_gone_is_a_problem_not_a_crash(graph: Locator, page: Page) -> None:
    page.route(
        "**/api/v1/neighbours?*",
        lambda route: route.fulfill(
            status=404,
            content_type="application/problem+json",
            body='{"status": 404, "title": "Unknown entity", "detail": "There is no such entity."}',
        ),
    )
    node = graph.get_by_role("button").first
    node.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("There is no such entity.")
    expect(graph).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("viewport", [{"width": 320, "height": 640}])
def test_the_graph_fits_a_phone(graph: Locator, page: Page, axe: Axe) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    axe()


@pytest.mark.slow
def test_hostile_labels_are_text(page: Page, axe: Axe) -> None:
    page.goto(f"/e?iri={quote(museum.BASE + 'pottery', safe='')}&dataset=unkind")
    graph = page.get_by_role("group", name=re.compile("^Graph of"))
    for name in museum.NAMES:
        label = " ".join(name.split())
        expect(graph.locator(".node title", has_text=label).first).to_be_attached()
    graph.get_by_role("button", name=re.compile("^Amphora")).click()
    expect(page.get_by_role("region", name="The chosen entity")).to_contain_text("AmphoraAmphora")
    assert page.evaluate("window.harmed") is None
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    axe()
