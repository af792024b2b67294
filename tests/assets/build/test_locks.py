"""One build a data set at a time; a dead process holds nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from crmrag_assets.build.step import dataset_lock, is_locked
from crmrag_query.errors import BuildError
from tests.support.runs import locked_elsewhere


def test_a_second_process_is_refused_until_the_first_one_dies(tmp_path: Path) -> None:
    with locked_elsewhere(tmp_path, "x") as holder:
        refused = pytest.raises(BuildError, match=rf"another process \(id {holder.pid}\)")
        with refused, dataset_lock(tmp_path, "x"):
            pass
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    with dataset_lock(tmp_path, "x"):
        pass


def test_a_lock_is_seen_and_to_look_at_it_changes_nothing(tmp_path: Path) -> None:
    assert not is_locked(tmp_path) and list(tmp_path.iterdir()) == []
    with dataset_lock(tmp_path, "x"):
        assert is_locked(tmp_path) and is_locked(tmp_path)
        with dataset_lock(tmp_path, "x"):  # one process may take its lock again
            pass
    assert not is_locked(tmp_path)
