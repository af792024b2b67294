"""One build a data set at a time; a dead process holds nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crmrag_assets.build.locks import dataset_lock, is_locked
from crmrag_query.errors import BuildError
from tests.conftest import ROOT

HOLD = (
    "import sys, time, pathlib; from crmrag_assets.build.locks import dataset_lock\n"
    "with dataset_lock(pathlib.Path(sys.argv[1]), 'x'): print('held', flush=True); time.sleep(60)"
)


def test_a_second_process_is_refused_until_the_first_one_dies(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, cwd=ROOT
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline().strip() == b"held"
        with (
            pytest.raises(BuildError, match=rf"another process \(id {holder.pid}\)"),
            dataset_lock(tmp_path, "x"),
        ):
            pass
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    with dataset_lock(tmp_path, "x"):
        pass


def test_a_lock_is_seen_and_to_look_at_it_changes_nothing(tmp_path: Path) -> None:
    assert not is_locked(tmp_path) and list(tmp_path.iterdir()) == []
    with dataset_lock(tmp_path, "x"):
        assert is_locked(tmp_path) and is_locked(tmp_path)
        with dataset_lock(tmp_path, "x"):
            pass
    assert not is_locked(tmp_path)


def test_one_process_may_take_its_lock_again(tmp_path: Path) -> None:
    with dataset_lock(tmp_path, "x"), dataset_lock(tmp_path, "x"):
        pass
    with dataset_lock(tmp_path, "x"):
        pass
