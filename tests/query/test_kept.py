"""What is kept for a while: so much, so long, made once; and how often it was there."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query import timing as keeping
from crmrag_query.timing import TALLIES, Kept, Stopped, warn_seldom, while_wanted


@given(st.lists(st.integers(0, 6), max_size=60), st.integers(1, 5))
@settings(max_examples=100)
def test_the_latest_are_kept_and_counted(asked: list[int], most: int) -> None:
    name = uuid4().hex
    kept, there, made = Kept[int, int](most, name=name), OrderedDict[int, None](), list[int]()
    hits = 0

    def make(key: int) -> int:
        made.append(key)
        return 10 * key

    expected = []
    for key in asked:
        assert kept.get(key, lambda key=key: make(key)) == 10 * key  # type: ignore[misc]
        hits += key in there
        if key not in there:
            expected.append(key)
        there[key] = None
        there.move_to_end(key)
        if len(there) > most:
            there.popitem(last=False)
    assert made == expected
    assert (TALLIES[name].hits, TALLIES[name].misses) == (hits, len(made))


def test_after_its_time_a_value_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    kept = Kept[str, int](5, seconds=300)
    kept.put("one", 1)
    now = 299.9
    assert kept.find("one") == 1
    now = 300.0
    assert kept.find("one") is None
    assert kept.get("one", lambda: 2) == 2


def test_several_who_ask_at_the_same_time_have_it_made_once() -> None:
    kept, begun, go_on, made = Kept[str, int](5), threading.Event(), threading.Event(), []

    def make() -> int:
        begun.set()
        assert go_on.wait(10)
        made.append(1)
        return 7

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(kept.get("one", make))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert begun.wait(10)
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert (found, made) == ([7] * 4, [1])


def test_what_fails_is_raised_to_who_made_it_and_tried_again_by_others() -> None:
    kept = Kept[str, int](5)

    def fail() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        kept.get("one", fail)
    assert kept.get("one", lambda: 3) == 3


def test_who_is_not_waited_for_does_not_wait_for_what_another_makes() -> None:
    kept, begun, go_on, gone = Kept[str, int](5), threading.Event(), threading.Event(), threading.Event()

    def make() -> int:
        begun.set()
        assert go_on.wait(10)
        return 7

    maker = threading.Thread(target=lambda: kept.get("one", make))
    maker.start()
    assert begun.wait(10)
    gone.set()
    waited = True
    with while_wanted(gone):
        kept.get("one", lambda: 8)
        waited = False
    assert waited
    go_on.set()
    maker.join(10)
    assert kept.find("one") == 7
    assert issubclass(Stopped, BaseException)


def test_the_same_is_warned_of_once_in_a_while(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(keeping, "WARNED", Kept(2, 0.2))
    for text in ("away", "away", "100 % away", "away"):
        warn_seldom(logging.getLogger("kept"), text)
    assert caplog.messages == ["away", "100 % away"]
    time.sleep(0.3)
    warn_seldom(logging.getLogger("kept"), "away")
    assert caplog.messages[2:] == ["away"]
