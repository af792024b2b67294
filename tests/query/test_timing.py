"""Milliseconds by stage."""

from __future__ import annotations

import pytest

from crmrag_query.timing import Clock


def test_stages_are_kept_apart_and_repeated_ones_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0.0, 0.5, 1.0, 1.25, 2.0, 2.5])
    monkeypatch.setattr("time.perf_counter", lambda: next(seconds))
    clock = Clock()
    for stage in ("dense", "sparse", "dense"):
        with clock(stage):
            pass
    assert clock.spent == {"dense": 1000.0, "sparse": 250.0}


def test_a_stage_that_fails_is_timed_too() -> None:
    clock = Clock()
    with pytest.raises(ValueError, match="no"), clock("dense"):
        raise ValueError("no")
    assert clock.spent["dense"] >= 0


def test_stages_may_lie_in_each_other() -> None:
    clock = Clock()
    with clock("all"), clock("part"):
        pass
    assert clock.spent["all"] >= clock.spent["part"] >= 0
