"""Searches at the same time: what each gives, what fails, what hangs, and when nobody waits."""

from __future__ import annotations

import threading
import time

import pytest

from crmrag_query.errors import TookTooLong
from crmrag_query.retrieval.pipeline import at_once
from crmrag_query.timing import Stopped, check, while_wanted, within


def test_each_gives_its_own_in_the_order_in_which_they_were_given() -> None:
    met = threading.Barrier(3)  # which three pass only at the same time

    def wait(number: int) -> int:
        met.wait(10)
        return number

    found = at_once({name: lambda at=at: wait(at) for at, name in enumerate("cab")}, workers=3)  # type: ignore[misc]
    assert [*found.items()] == [("c", 0), ("a", 1), ("b", 2)]


def test_no_more_run_at_the_same_time_than_there_are_workers() -> None:
    lock, running, most = threading.Lock(), [0], [0]

    def work() -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.02)
        with lock:
            running[0] -= 1

    at_once(dict.fromkeys("abcdef", work), workers=2)
    assert most == [2]


def test_what_one_fails_with_stands_in_its_place() -> None:
    def fail() -> int:
        raise KeyError("gone")

    found = at_once({"good": lambda: 1, "bad": fail})
    assert found["good"] == 1 and isinstance(found["bad"], KeyError)


def test_one_that_hangs_is_given_up_and_holds_up_no_other() -> None:
    forever = threading.Event()
    started = time.monotonic()
    found = at_once(
        {"hangs": lambda: forever.wait(60), "too": lambda: forever.wait(60), "good": lambda: 1},
        seconds=0.3,
        workers=2,
    )
    assert time.monotonic() - started < 5
    forever.set()
    assert found["good"] == 1
    assert isinstance(found["hangs"], TookTooLong) and isinstance(found["too"], TookTooLong)
    assert "'hangs' took longer than 0.3 seconds" in str(found["hangs"])


def test_one_that_looks_at_its_time_ends_by_itself() -> None:
    ended = threading.Event()

    def work() -> None:
        try:
            while True:
                check()
                time.sleep(0.005)
        finally:
            ended.set()

    assert isinstance(at_once({"slow": work}, seconds=0.1)["slow"], TookTooLong)
    assert ended.wait(5)


def test_all_ends_where_nobody_waits_any_more_or_time_around_it_is_over() -> None:
    gone, forever, returned = threading.Event(), threading.Event(), False
    threading.Timer(0.1, gone.set).start()
    with while_wanted(gone):
        at_once({"hangs": lambda: forever.wait(60)})
        returned = True
    assert not returned
    with pytest.raises(TookTooLong, match="All of it"), within(0.1, "All of it", "Ask for less."):
        at_once({"hangs": lambda: forever.wait(60)})
    forever.set()
    assert issubclass(Stopped, BaseException)
