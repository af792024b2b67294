"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Machines differ in speed: how long an example takes is no promise that a test checks.
settings.register_profile("crmrag", deadline=None)
settings.load_profile("crmrag")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets: ``data`` below ``CRMRAG_SHARED`` or ``../shared``; the test is skipped without."""
    folder = Path(os.environ.get("CRMRAG_SHARED", str(ROOT.parent / "shared"))) / "data"
    if not folder.is_dir():
        pytest.skip("real data sets are not at hand (set CRMRAG_SHARED)")
    return folder
