"""Years in the browser: dates are counted by periods without loss."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.slow

COUNT = """async ([items, most]) => {
  const { binsOf } = await import("/static/js/parts/bins.js");
  return binsOf(items, most);
}"""


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
