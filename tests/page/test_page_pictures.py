"""The pictures of the documentation, taken of the page as it is; ``CRMRAG_PICTURES=1`` puts them in their place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

KEPT = bool(os.environ.get("CRMRAG_PICTURES"))
IMAGES = ROOT / "docs" / "images"
ASINOU = "https%3A%2F%2Fexample.org%2Ftroodos%2Fchurch%2Fasinou"
VIEWS = {
    "page-answer": "/?dataset=sample&q=Which%20churches%20were%20built%20before%201200%3F",
    "page-entity": f"/e?dataset=sample&iri={ASINOU}",
    "page-dataset": "/d/sample",
}


@pytest.mark.parametrize("viewport", [{"width": 1200, "height": 1000}])
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_pictured(page: Page, name: str, tmp_path: Path) -> None:
    page.goto(VIEWS[name])
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("main").get_by_role("heading", level=1)).to_be_visible()
    path = (IMAGES if KEPT else tmp_path) / f"{name}.png"
    page.screenshot(path=path)
    assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 20_000
    assert all(
        f"images/{one}.png" in (ROOT / "docs" / "curators.md").read_text(encoding="utf-8") for one in VIEWS
    )
