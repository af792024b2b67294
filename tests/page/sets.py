"""Sets by their address, as the page packs it."""

from __future__ import annotations

import base64
import json
from typing import Any

from playwright.sync_api import Page

from tests.page import atlas

VASES: dict[str, Any] = {"target": {"types": [f"{atlas.BASE}vase"]}}


def open_set(page: Page, dataset: str, plan: dict[str, Any], tab: str = "") -> None:
    """Open the page of a plan's set, with a tab: ``map``, ``time``, ``graph``, else the table."""
    state = json.dumps({"plan": plan, "tab": tab}).encode()
    page.goto(f"/s?dataset={dataset}#{base64.urlsafe_b64encode(state).decode().rstrip('=')}")
