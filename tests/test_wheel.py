"""The wheel answers from a copied release, with the configuration that it carries."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from crmrag_query.artifacts.release import open_release
from tests.conftest import ROOT
from tests.support.builds import build_all, make_project


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contents of the wheel, as they would lie in site-packages."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    installed = folder / "site-packages"
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        archive.extractall(installed)
    return installed


def run(wheel: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from crmrag_query.cli.main import main; sys.argv[0] = 'crmrag'; main()"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CRMRAG")}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env=environment | {"PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_carries_every_configuration_file(wheel: Path) -> None:
    ours = {path.relative_to(ROOT / "config") for path in (ROOT / "config").rglob("*") if path.is_file()}
    carried = wheel / "crmrag_query" / "_config"
    assert ours == {path.relative_to(carried) for path in carried.rglob("*") if path.is_file()}


def test_a_copied_release_answers_where_there_is_nothing_but_the_wheel(wheel: Path, tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    build_all(project.context())
    release = open_release(project.dataset, project.data)
    copied = tmp_path / "elsewhere" / "copied"
    shutil.copytree(release.folder, copied)
    shutil.rmtree(project.root)
    done = run(wheel, copied.parent, "ask", "copied", "Who painted Mural 3?", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["release"] == release.id
    assert "Painter 1" in answer["text"]


def test_an_unknown_data_set_is_told_with_the_remedy(wheel: Path, tmp_path: Path) -> None:
    done = run(wheel, tmp_path, "ask", "nowhere", "Who?")
    assert done.returncode == 1
    assert "nowhere" in done.stderr and "crmrag build" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_wheel_carries_the_licences_of_what_is_in_it(wheel: Path) -> None:
    (licences,) = wheel.glob("crmrag-*.dist-info/licenses")
    assert (licences / "NOTICE.md").read_bytes() == (ROOT / "NOTICE.md").read_bytes()
    assert next(licences.rglob("LICENCES.txt")).stat().st_size
