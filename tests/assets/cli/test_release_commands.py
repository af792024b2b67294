"""`crmrag verify`, `rollback`, `releases list`: what an operator types at night, and what is told."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from crmrag_assets.build.step import dataset_lock
from crmrag_query.artifacts.manifest import switch
from crmrag_query.cli.main import group
from tests.support.shared import own_two_releases

PROGRAM = "from crmrag_query.cli.main import main; main()"


@dataclass(frozen=True)
class Kept:
    """A data folder with two releases of ``churches``; the newer one is current."""

    data: Path
    old: str
    new: str

    def folder(self, release: str) -> Path:
        return self.data / "releases" / "churches" / release

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(group, [*arguments, "--data", str(self.data)])

    def current(self) -> str:
        return (self.folder("current")).read_text().strip()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(*own_two_releases(tmp_path_factory, tmp_path_factory.mktemp("kept")))


@pytest.fixture
def kept(built: Kept) -> Kept:
    switch(built.folder(""), built.old)
    switch(built.folder(""), built.new)
    return built


@contextmanager
def flipped(path: Path) -> Iterator[None]:
    """The last byte of a file is another one meanwhile."""
    before = path.read_bytes()
    path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    try:
        yield
    finally:
        path.write_bytes(before)


def test_a_whole_release_is_told_check_by_check(kept: Kept) -> None:
    done = kept.run("verify", "churches")
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0].startswith("ok      files") and lines[0].endswith(" files")
    assert all(line.startswith("ok ") for line in lines[:-1]) and len(lines) > 25
    assert lines[-1] == (
        f"Release {kept.new} of data set 'churches' is what was built, and its parts fit each other."
    )


@pytest.mark.parametrize("way", ["--release", "@previous", "@id", "id", "folder"])
def test_any_release_is_verified_by_any_of_its_names(kept: Kept, way: str) -> None:
    asked = {
        "--release": ("churches", "--release", kept.old),
        "@previous": ("churches@previous",),
        "@id": (f"churches@{kept.old}",),
        "id": (kept.old,),
        "folder": (str(kept.folder(kept.old)),),
    }[way]
    assert f"Release {kept.old} " in kept.run("verify", *asked).output


def test_a_damaged_current_release_is_told_with_the_way_back(kept: Kept) -> None:
    with flipped(kept.folder(kept.new) / "sparse" / "indices.csc.index.npy"):
        done = kept.run("verify", "churches")
    assert done.exit_code == 1
    assert "FAULTY  files" in done.output and "SKIPPED postings" in done.output
    assert "sparse/indices.csc.index.npy: its content was altered (checksum differs)" in done.output
    assert "cannot be trusted: 1 of " in done.output
    assert "Go back to the release before (crmrag rollback churches), then build again" in done.output


def test_damage_is_told_as_json_too(kept: Kept) -> None:
    assert json.loads(kept.run("verify", "churches", "--json").output)["holds"] is True
    with flipped(kept.folder(kept.new) / "graph" / "flags.npy"):
        done = kept.run("verify", "churches", "--json")
    told = json.loads(done.output)
    assert done.exit_code == 1 and told["holds"] is False and told["release"] == kept.new
    assert told["checked"][0]["faults"] == ["graph/flags.npy: its content was altered (checksum differs)"]


def test_a_damaged_copy_and_a_damaged_older_release_have_other_remedies(kept: Kept, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(kept.folder(kept.new), copy)
    (copy / "config.json").unlink()
    assert "copy it again" in kept.run("verify", str(copy)).output
    with flipped(kept.folder(kept.old) / "graph" / "flags.npy"):
        assert "Do not go back to it" in kept.run("verify", "churches@previous").output


def test_of_a_file_that_does_not_belong_there_only_that_is_told(kept: Kept) -> None:
    stray = kept.folder(kept.new) / "graph" / "notes.txt"
    stray.touch()
    told = kept.run("verify", "churches")
    stray.unlink()
    assert told.exit_code == 1 and "graph/notes.txt: not pinned by the manifest" in told.output
    assert "SKIPPED" not in told.output and told.output.endswith("what was built: remove the others.\n")


def test_verify_works_as_a_program_and_says_what_there_is_not(kept: Kept) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "verify", "palaces", "--data", str(kept.data)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "Data set 'palaces' has no release" in done.stderr


def test_rollback_tells_both_releases_and_returns(kept: Kept) -> None:
    there = kept.run("rollback", "churches")
    assert there.exit_code == 0 and kept.current() == kept.old
    assert (
        there.output.startswith(f"Release {kept.old} (built 2")
        and f"before it was {kept.new}" in there.output
    )
    assert "The next build makes its own release current again." in there.output
    back = kept.run("rollback", "churches")
    assert f"Release {kept.new}" in back.output and kept.current() == kept.new


def test_rollback_goes_to_a_release_by_its_id(kept: Kept) -> None:
    assert kept.run("rollback", "churches", "--to", kept.old).exit_code == 0 and kept.current() == kept.old
    again = kept.run("rollback", "churches", "--to", kept.old)
    assert "is current already" in str(again.exception)


def test_rollback_to_a_damaged_release_changes_nothing(kept: Kept) -> None:
    with flipped(kept.folder(kept.old) / "graph" / "flags.npy"):
        refused = kept.run("rollback", "churches")
    assert refused.exit_code == 1 and kept.current() == kept.new
    assert "graph/flags.npy: its content was altered" in str(refused.exception)
    assert f"So it was not made current; {kept.new} is." in str(refused.exception)


def test_rollback_beside_a_build_says_what_the_build_will_do(kept: Kept) -> None:
    with dataset_lock(kept.data / "work" / "churches", "churches"):
        told = kept.run("rollback", "churches").output
    assert "A build of it is running and will make its own release current when it ends" in told


def test_the_list_marks_the_current_and_the_previous_release(kept: Kept) -> None:
    lines = kept.run("releases", "list", "churches").output.splitlines()
    marked = {line.split()[1]: line for line in lines}
    assert marked[kept.new].endswith("* current") and marked[kept.old].endswith("previous")


def test_a_damaged_pointer_of_one_data_set_keeps_no_other_from_the_list(kept: Kept) -> None:
    damaged = kept.data / "releases" / "broken" / "current"
    damaged.parent.mkdir()
    damaged.write_text("nothing that is an id")
    try:
        done = kept.run("releases", "list")
    finally:
        damaged.unlink()
        damaged.parent.rmdir()
    assert done.exit_code == 1 and "* current" in done.output
    assert "broken: " in done.output and "does not name a release" in done.output


def test_the_commands_that_these_replace_are_gone(kept: Kept) -> None:
    for old in ("verify", "rollback"):
        assert "No such command" in kept.run("releases", old, "churches").output
