"""Years in the browser: dates as the service writes them are read back, and counted by periods without loss."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page

from crmrag_query.dates import Interval, civil, describe, year_interval

READ = """async texts => {
  const { yearsOf } = await import("/static/js/parts/years.js");
  return texts.map(yearsOf);
}"""
COUNT = """async ([items, most]) => {
  const { binsOf } = await import("/static/js/parts/bins.js");
  return binsOf(items, most);
}"""


def intervals() -> list[Interval]:
    """Intervals of all forms that are written: years, months, days, open ends, before and after Christ, about."""
    chance = random.Random(6)
    found = []
    for _ in range(300):
        first = chance.randint(-1200, 2000)
        span = year_interval(first), year_interval(first + chance.choice([0, 0, 1, 5, 99, 700]))
        begin, end = span[0].begin, span[1].end
        assert begin is not None and end is not None
        if chance.random() < 0.3:
            begin, end = begin + chance.randint(0, 360), end - chance.randint(0, 3)
        opened = chance.random()
        found.append(
            Interval(
                None if opened < 0.1 else begin,
                None if 0.1 <= opened < 0.2 else max(begin, end),
                opened > 0.8,
            )
        )
    return found


@pytest.mark.parametrize("language", ["en", "fr", "de", "el"])
def test_dates_are_read_as_they_are_written(page: Page, language: str) -> None:
    page.goto("/d/sample")
    spans = intervals()
    read = page.evaluate(READ, [describe(one, language) for one in spans])
    for span, found in zip(spans, read, strict=True):
        expected = {"begin": year(span.begin), "end": year(span.end)}
        assert found == expected, describe(span, language)


def year(day: int | None) -> int | None:
    return None if day is None else civil(day)[0]


def test_texts_without_a_year_are_no_dates(page: Page) -> None:
    page.goto("/d/sample")
    assert page.evaluate(READ, ["", "unknown", "a – b – c", "<b>", "1200–1100"]) == [None] * 5


@pytest.mark.parametrize("most", [4, 12, 60])
def test_periods_hold_every_item(page: Page, most: int) -> None:
    page.goto("/d/sample")
    chance = random.Random(most)
    begins = [chance.randint(-3000, 2000) for _ in range(200)]
    items: list[dict[str, Any]] = [{"begin": one, "end": one + chance.choice([0, 3, 400])} for one in begins]
    items += [{"begin": None, "end": 100}, {"begin": 1500, "end": None}]
    bins = page.evaluate(COUNT, [items, most])
    assert len(bins) <= most
    assert all(after["begin"] == before["end"] + 1 for before, after in pairwise(bins))
    for one in bins:
        touching = [item for item in items if overlaps(item, one["begin"], one["end"])]
        assert one["sure"] + one["maybe"] == len(touching)
    assert any((one["begin"] - 1) % 100 == 0 for one in bins)  # as centuries begin


def overlaps(item: dict[str, Any], begin: int, end: int) -> bool:
    first, last = item["begin"], item["end"]
    return (first is None or first <= end) and (last is None or last >= begin)
