"""Fixtures shared by all tests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings

# Tests run side by side: libraries that start a thread a core would only be in one another's way.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(_name, "1")

# Machines differ in speed: how long an example takes is no promise that a test checks.
settings.register_profile("crmrag", deadline=None)
settings.load_profile("crmrag")

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests start processes come first, so that at the end no worker waits for another's long one."""
    items.sort(key=lambda item: ROOT / "tests" / "query" in item.path.parents)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets: ``data`` below ``CRMRAG_SHARED`` or ``../shared``; the test is skipped without."""
    folder = Path(os.environ.get("CRMRAG_SHARED", str(ROOT.parent / "shared"))) / "data"
    if not folder.is_dir():
        pytest.skip("real data sets are not at hand (set CRMRAG_SHARED)")
    return folder


@pytest.fixture(scope="session")
def forked() -> Iterator[Path]:
    """Where commands run that need not load everything first (`tests.support.forked`)."""
    from tests.support.forked import forking

    with (
        TemporaryDirectory() as folder,
        forking(Path(folder)) as listening,
    ):  # a socket's path has to be short
        yield listening


@pytest.fixture(autouse=True)
def no_event_loop_is_left_open() -> Iterator[None]:
    """Close the event loop that litellm sets for the thread and leaves: its end would be a warning in another test."""
    yield
    held = getattr(asyncio.get_event_loop_policy(), "_local", None)
    loop = getattr(held, "_loop", None)
    if loop is not None and not loop.is_running():
        loop.close()
        asyncio.set_event_loop(None)
