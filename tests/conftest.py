"""Fixtures shared by all tests."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from filelock import FileLock
from hypothesis import settings

# Tests run side by side: libraries that start a thread a core would only be in one another's way.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(_name, "1")

# Machines differ in speed: how long an example takes is no promise that a test checks.
THOROUGH = "thorough"
"""The profile of `make test-all`, in which a property is tried with every example that its test asks for."""
settings.register_profile("crmrag", deadline=None)
settings.register_profile(THOROUGH, deadline=None)
settings.load_profile("crmrag")
SHARE, LEAST = 5, 10
"""Elsewhere with one example of so many, but with at least so many where the test asks for them."""

ROOT = Path(__file__).resolve().parent.parent

_UNQUOTED = "words that no reading says are not always quoted where lines are told beside an unsure set"
_SAINTS = "a word for a kind of person is read as the kind of their pictures where the data has only that"
_UNREAD = "the reader does not find this reading, or not first"
KNOWN_FAULTS = {
    "answers/test_exact_answers.py::test_a_question_with_a_word_that_is_not_understood_is_no_exact_set": _UNQUOTED,
    "answers/test_exact_answers.py::test_what_is_not_understood_is_listed_with_the_set_that_leaves_it_out": _UNQUOTED,
    "answers/test_refusal.py::test_a_name_that_the_data_lacks_is_refused_and_not_counted_as_none": _UNQUOTED,
    "answers/test_refusal.py::test_words_that_are_not_understood_are_quoted": _UNQUOTED,
    "answers/test_misreadings.py::test_nothing_is_told_as_exact_that_is_not[pictures of persons": _SAINTS,
    "answers/test_misreadings.py::test_what_is_clear_is_still_read[Which churches were built during the Norman": _UNREAD,
    "answers/test_exact_answers.py::test_sorted_by_date_the_set_is_the_same_in_another_order": _UNREAD,
    "answers/test_facts.py::test_a_fact_is_told_in_a_sentence[Who is The Last Ship by?": _UNREAD,
    "reading/test_parse_negation.py::test_what_is_not_so_or_is_lacking_is_found[Which works have no place": _UNREAD,
    "reading/test_parse_yes_no.py::test_yes_or_no_is_what_sparql_finds[Did Jan Verhoeck make sculptures": _UNREAD,
    "reading/test_parse_languages.py::test_a_list_has_the_same_members_in_every_language[maker-de": _UNREAD,
    "reading/test_parse_compositions.py::test_most_are_told_as_exact": "8 of 15 are told as exact, 9 are meant to be",
}
"""Faults that are known and still to be mended, by the tests that show them; none may be added for a new one."""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """The first worker reads the tests alone: the others then load the bytecode that it has written."""
    if "PYTEST_XDIST_WORKER" not in os.environ or sys.dont_write_bytecode:
        return (yield)
    read = Path(session.config.getoption("basetemp")).parent / "read"
    with FileLock(f"{read}.lock"):
        if not read.exists():
            collected = yield
            read.touch()
            return collected
    return (yield)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files whose tests start processes come first, so that at the end no worker waits for another's long one."""
    items.sort(key=lambda item: ROOT / "tests" / "query" in item.path.parents)
    for item in items:
        for name, why in KNOWN_FAULTS.items():
            if item.nodeid.startswith(f"tests/query/{name}"):
                item.add_marker(pytest.mark.xfail(reason=why, strict=False))
    if config.getoption("--hypothesis-profile") != THOROUGH:
        for tried in {item.function for item in items if isinstance(item, pytest.Function)}:
            _with_fewer_examples(tried)


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
def forked() -> Iterator[Path]:
    """Where commands run that need not load everything first (`tests.support.forked`)."""
    from tests.support.forked import forking

    with (
        TemporaryDirectory() as folder,
        forking(Path(folder)) as listening,
    ):  # a socket's path has to be short
        yield listening


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
