"""Work ends at its next step once its time is over or nobody waits for it; no step takes that for an error of its own."""

from __future__ import annotations

import threading
import time

import pytest

from crmrag_query.errors import CrmRagError, TookTooLong
from crmrag_query.timing import BUSY, Stopped, check, while_wanted, within, working


def steps() -> None:
    """Work without end, whose steps go on after any error."""
    while True:
        try:
            check()
        except Exception:
            continue


def test_time_that_is_over_ends_work_and_says_what_took_it() -> None:
    with pytest.raises(TookTooLong) as told, within(0.01, "The plan", "Ask for less."):
        steps()
    assert (
        told.value.what == "The plan took longer than 0.01 seconds." and told.value.remedy == "Ask for less."
    )
    check()


def test_work_within_its_time_is_let_alone() -> None:
    with within(60, "The plan", ""):
        check()
    check()


def test_of_times_within_each_other_the_one_that_is_over_is_told() -> None:
    """What goes on without an inner part goes on; it does not where its own time is over."""
    with within(60, "The outer", ""):
        with pytest.raises(TookTooLong, match="The inner"), within(0.01, "The inner", ""):
            steps()
        check()
    with pytest.raises(TookTooLong, match="The outer"), within(0.01, "The outer", ""):
        try:
            with within(60, "The inner", ""):
                steps()
        except CrmRagError:
            pytest.fail("the inner part has time left")


def test_work_is_measured_by_the_processor_that_it_takes() -> None:
    """Others may slow it: what it waits is not its work, up to a limit by the clock."""
    with working(0.05, "The plan", ""):
        time.sleep(2 * 0.05)
        check()
    with (
        pytest.raises(TookTooLong, match=r"The plan took longer than 0\.05 s"),
        working(0.05, "The plan", ""),
    ):
        steps()
    with pytest.raises(TookTooLong), working(0.01, "The plan", ""):
        time.sleep(2 * BUSY * 0.01)
        check()
    outer, inner = working(0.01, "The outer", ""), working(60, "The inner", "")
    with pytest.raises(TookTooLong, match="The outer"), outer, inner:
        steps()


def test_work_that_nobody_waits_for_ends_quietly() -> None:
    gone = threading.Event()
    with while_wanted(gone):
        check()
        gone.set()
        with within(60, "The plan", ""):
            steps()
    check()


def test_who_has_left_is_not_told_of_the_time() -> None:
    gone = threading.Event()
    gone.set()
    with while_wanted(gone), within(0, "The plan", ""):
        check()
    with pytest.raises(Stopped), while_wanted(threading.Event()):
        raise Stopped
