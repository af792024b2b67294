"""Builds that take up what was sent to the service: one at a time for each data set, and none is missed."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from crmrag_assets.operations import uploads
from tests.support.service import until


def test_what_comes_while_a_build_runs_is_taken_up_by_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    started, go_on = list[list[str]](), threading.Semaphore(0)

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        started.append(command)
        go_on.acquire()
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(uploads.subprocess, "run", run)
    data = Path("a data folder")
    uploads.build(data, "letters")
    until(lambda: len(started) == 1)
    for _ in range(3):
        uploads.build(data, "letters")
    uploads.build(data, "charters")  # another data set waits for none
    until(lambda: len(started) == 2)
    for _ in range(3):
        go_on.release()
    until(lambda: not uploads._RUNNING)
    assert [command[-3:] for command in started] == [
        [name, "--data", "a data folder"] for name in ("letters", "charters", "letters")
    ]
