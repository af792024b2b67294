"""When requests start: never sooner after one another than the pause, and for nobody within a back-off."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from crmrag_assets.sources.endpoint.client import OwnClock, Pace


class Hands:
    """A clock that goes on only where somebody sleeps."""

    def __init__(self) -> None:
        self.due = self.now = 0.0

    def moved(self, move: Callable[[float, float], float]) -> tuple[float, float]:
        before, self.due = self.due, move(self.due, self.now)
        return before, self.now


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    made = Hands()
    monkeypatch.setattr(time, "sleep", lambda seconds: setattr(made, "now", made.now + seconds))
    return made


def starts(pace: Pace, hands: Hands, number: int) -> list[float]:
    found = []
    for _ in range(number):
        pace.turn()
        found.append(hands.now)
    return found


def test_starts_keep_the_pause_and_the_seconds_waited_are_told_once(hands: Hands) -> None:
    pace = Pace(0.25, hands)
    assert starts(pace, hands, 4) == [0, 0.25, 0.5, 0.75]
    assert (pace.taken(), pace.taken()) == (0.75, 0)
    assert starts(Pace(0, hands), hands, 9) == [1.0] * 9


def test_a_shorter_back_off_takes_nothing_from_a_longer_one(hands: Hands) -> None:
    pace = Pace(0, hands)
    for seconds in (1, 0.5, 0):
        pace.back_off(seconds)
    assert starts(pace, hands, 3) == [1, 1, 1]


@pytest.mark.parametrize("threads", [1, 4])
def test_a_back_off_holds_for_all_threads_also_for_those_that_wait_already(threads: int) -> None:
    pace, start = Pace(0.05, OwnClock()), time.monotonic()
    pace.turn()

    def turn(_: int) -> float:
        pace.turn()
        return time.monotonic() - start

    with ThreadPoolExecutor(threads) as pool:
        ends = [pool.submit(turn, n) for n in range(threads)]
        pace.back_off(0.2)
        found = sorted(end.result() for end in ends)
    assert all(at >= 0.2 + 0.05 * number for number, at in enumerate(found))
