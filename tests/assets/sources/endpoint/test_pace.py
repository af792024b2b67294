"""When requests start: never sooner after one another than the pause, and for nobody within a back-off."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from crmrag_assets.sources.endpoint.pace import Pace


def turns(pace: Pace, number: int, threads: int) -> list[float]:
    """When each of so many turns came, in seconds from now."""
    start = time.monotonic()

    def turn(_: int) -> float:
        pace.turn()
        return time.monotonic() - start

    with ThreadPoolExecutor(threads) as pool:
        return sorted(pool.map(turn, range(number)))


@pytest.mark.parametrize("threads", [1, 4])
def test_starts_keep_the_pause_whoever_asks(threads: int) -> None:
    found = turns(Pace(0.03), 6, threads)
    assert all(at >= 0.03 * number for number, at in enumerate(found))


def test_no_pause_waits_for_nothing() -> None:
    pace = Pace(0)
    assert len(turns(pace, 200, 4)) == 200
    assert pace.taken() == 0


def test_a_back_off_holds_for_all_threads() -> None:
    pace = Pace(0)
    pace.back_off(0.1)
    assert turns(pace, 4, 4)[0] >= 0.095


def test_a_back_off_holds_also_for_who_waits_already() -> None:
    pace = Pace(0.05)
    pace.turn()
    with ThreadPoolExecutor(3) as pool:
        start = time.monotonic()
        ends = [pool.submit(lambda: (pace.turn(), time.monotonic() - start)[1]) for _ in range(3)]
        time.sleep(0.02)
        pace.back_off(0.2)
        assert min(end.result() for end in ends) >= 0.215


def test_a_shorter_back_off_takes_nothing_from_a_longer_one() -> None:
    pace = Pace(0)
    pace.back_off(0.1)
    pace.back_off(0.01)
    pace.back_off(0)
    assert turns(pace, 1, 1)[0] >= 0.095


def test_seconds_waited_are_told_once() -> None:
    pace = Pace(0.05)
    turns(pace, 3, 1)
    assert pace.taken() == pytest.approx(0.1, abs=0.03)
    assert pace.taken() == 0
