"""Fixtures shared by all tests."""

from __future__ import annotations

import asyncio
import gc
import os
import ssl
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import settings

# Tests run side by side: libraries that start a thread a core would only be in one another's way.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(_name, "1")

# No test outlives a loss of power, and a build would wait for the disk some two hundred times.
os.fsync = lambda handle: None

# Every HTTP client reads all authorities of the world, 20 ms long: a file of them is read once.
read_authorities = ssl.create_default_context
authorities_of = cache(lambda cafile: read_authorities(cafile=cafile))
ssl.create_default_context = lambda *given, **named: (
    authorities_of(**named) if not given and named.keys() == {"cafile"} else read_authorities(*given, **named)
)

# Machines differ in speed: how long an example takes is no promise that a test checks.
THOROUGH = "thorough"
"""The profile of `make test-all`, in which a property is tried with every example that its test asks for."""
settings.register_profile("crmrag", deadline=None)
settings.register_profile(THOROUGH, deadline=None)
settings.load_profile("crmrag")
SHARE, LEAST = 5, 10
"""Elsewhere with one example of so many, but with at least so many where the test asks for them."""

OBJECTS = 20_000
"""So many new objects before Python searches for those that are of no use any more; its own 700 took a tenth of all time."""

ROOT = Path(__file__).resolve().parent.parent


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """The first worker reads the tests alone: the others then load the bytecode that it has written."""
    gc.disable()  # what is loaded and collected stays to the end
    if "PYTEST_XDIST_WORKER" not in os.environ or sys.dont_write_bytecode:
        collected = yield
    else:
        read = Path(session.config.getoption("basetemp")).parent / "read"
        with FileLock(f"{read}.lock") as turn:
            if read.exists():
                turn.release()
            collected = yield
            read.touch()
    gc.freeze()
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])
    gc.enable()
    return collected


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that at the end no worker waits for another: folders that run in one process, then
    files whose tests start processes."""
    query = ROOT / "tests" / "query"
    items.sort(key=lambda item: (not _sharing(_folder(item.nodeid)), query in item.path.parents))
    if config.getoption("--hypothesis-profile") != THOROUGH:
        for tried in {item.function for item in items if isinstance(item, pytest.Function)}:
            _with_fewer_examples(tried)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `--dist loadfile`: a folder whose own conftest.py has fixtures of the session runs in one process, as files do."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _sharing(_folder(nodeid)) or nodeid.partition("::")[0]

    return Together(config, log) if config.getoption("dist") == "loadfile" else None


def _folder(nodeid: str) -> str:
    return nodeid.partition("::")[0].rpartition("/")[0]


@cache
def _sharing(folder: str) -> str:
    """The folder, where its tests share what is made for a session; else ""."""
    own = ROOT / folder / "conftest.py"
    shares = folder != "tests" and own.exists() and 'scope="session"' in own.read_text(encoding="utf-8")
    return folder if shares else ""


def _with_fewer_examples(tried: Callable[..., object]) -> None:
    """A test of a property is tried with its share of examples; other tests are left as they are."""
    name = "_hypothesis_internal_use_settings"
    if (asked := getattr(tried, name, None)) is not None:
        examples = min(asked.max_examples, max(LEAST, asked.max_examples // SHARE))
        setattr(tried, name, settings(asked, max_examples=examples))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets: ``data`` below ``CRMRAG_SHARED`` or ``../shared``; the test is skipped without."""
    folder = Path(os.environ.get("CRMRAG_SHARED", str(ROOT.parent / "shared"))) / "data"
    if not folder.is_dir():
        pytest.skip("real data sets are not at hand (set CRMRAG_SHARED)")
    return folder


@pytest.fixture(scope="session")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where commands run that need not load everything first (`tests.support.forked`); one for all workers."""
    from tests.support.forked import start_forking

    base, tests = tmp_path_factory.getbasetemp(), os.getpid()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base, tests = base.parent, os.getppid()  # those of the process that started this one
    told = base / "forked"
    with FileLock(f"{told}.lock"):
        if not told.exists():
            told.write_text(str(start_forking(tests)))
    return Path(told.read_text())


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL server with pgvector, one for all workers; tests are skipped without."""
    from tests.support.postgres import running

    base = tmp_path_factory.getbasetemp()
    with running(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) as address:
        yield address


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is remembered of releases goes away with them; models that were fetched are taken from where they are."""
    with pytest.MonkeyPatch.context() as patch:
        home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
        patch.setenv("HF_HOME", os.environ.get("HF_HOME") or f"{home}/huggingface")
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def no_event_loop_is_left_open() -> Iterator[None]:
    """Close the event loop that litellm sets for the thread and leaves: its end would be a warning in another test."""
    yield
    held = getattr(asyncio.get_event_loop_policy(), "_local", None)
    loop = getattr(held, "_loop", None)
    if loop is not None and not loop.is_running():
        loop.close()
        asyncio.set_event_loop(None)
