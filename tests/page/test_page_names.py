"""Names on the page: formatting is left out of them, and those of one name are told apart."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.slow

READABLE = """async (text) => (await import("/static/js/readable.js")).readable(text)"""
HINTS = """async (list) => Object.fromEntries((await import("/static/js/alike.js")).hints(list))"""
ONCE = """async (list) => (await import("/static/js/alike.js")).oneOfEach(list)"""
BULK = """async (items) => (await import("/static/js/parts/bins.js")).bulkOf(items)"""
MUSEUMS = (
    "http://data.north.example/person/7",
    "http://www.south.example/people/x",
    "http://www.south.example/people/y",
)


@pytest.fixture
def there(page: Page) -> Page:
    page.goto("/d/sample")
    return page


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("<i>Self Portrait</i>, 1929", "Self Portrait, 1929"),
        ("<p>Painter.</p><p>Printer &amp; poet (1901&#8211;1970)</p>", "Painter. Printer & poet (1901–1970)"),
        ("a < b & c", "a < b & c"),
        ("<script>harm()</script>", "<script>harm()</script>"),
        ("<i onclick='harm()'>x</i>", "<i onclick='harm()'>x"),
        ("<b>", "<b>"),
        ("&#8238;&#0;&unknown;", "&#8238;&#0;&unknown;"),
        ("", ""),
    ],
)
def test_formatting_is_left_out_and_nothing_else(there: Page, text: str, read: str) -> None:
    assert there.evaluate(READABLE, text) == read


def test_those_of_one_name_are_told_apart_by_their_addresses(there: Page) -> None:
    people: list[dict[str, Any]] = [{"iri": iri, "label": "Ada Berg"} for iri in MUSEUMS]
    other = {"iri": "http://data.north.example/person/8", "label": "Bo Lind"}
    north, x, y = MUSEUMS
    assert there.evaluate(HINTS, [*people, other]) == {
        north: "north.example",
        x: "south.example · people/x",
        y: "south.example · people/y",
    }
    assert there.evaluate(HINTS, people[1:]) == {x: "people/x", y: "people/y"}
    assert there.evaluate(HINTS, [people[0], people[0], other]) == {}


def test_blanks_at_the_end_of_an_address_show(there: Page) -> None:
    twins = [{"iri": f"http://types.example/1{end}", "label": "print"} for end in ("", "%20")]
    assert list(there.evaluate(HINTS, twins).values()) == ["1", "1%20"]


def test_a_name_is_proposed_once(there: Page) -> None:
    names = [{"label": label} for label in ("New York", "new york ", "York")]
    assert [one["label"] for one in there.evaluate(ONCE, names)] == ["New York", "York"]


def test_dates_far_from_all_others_do_not_make_the_line_of_time(there: Page) -> None:
    items: list[dict[str, int | None]] = [
        {"begin": 1800 + n % 150, "end": 1801 + n % 150} for n in range(500)
    ]
    assert there.evaluate(BULK, items) is None
    far: list[dict[str, int | None]] = [{"begin": -5000, "end": -3000}, {"begin": None, "end": -2000}]
    bulk = there.evaluate(BULK, [*items, *far])
    assert 1800 <= bulk["first"] < bulk["last"] <= 1951
    assert there.evaluate(BULK, [*items[:20], *far]) is None


def test_an_address_without_a_page_says_so(page: Page) -> None:
    told = page.goto("/zzz")
    assert told is not None and told.status == 404
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
