"""Renaming and removing a data set, with real builds: what is built is kept, or gone, and nobody else's is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crmrag_assets.build.locks import dataset_lock
from crmrag_assets.home import open_instance
from crmrag_assets.operations.dataset_folders import folders, removing, renaming
from crmrag_assets.partitions import DATASET
from crmrag_query.artifacts.release import open_release
from crmrag_query.config import load_datasets
from crmrag_query.errors import BuildError
from tests.conftest import ROOT
from tests.support.builds import Project, make_project, run_build_command, turtle


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("datasets") / "project", turtle(4), write_markdown=False)
    assert run_build_command(project).returncode == 0
    return project


def command(project: Project, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    code = "from crmrag_query.cli.main import main; main()"
    own = ("--data", str(project.data), "--file", str(project.config / "datasets.yaml"))
    return subprocess.run(
        [sys.executable, "-c", code, "datasets", *arguments, *own],
        input=given, env=os.environ.copy(), cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def partitions(project: Project) -> list[str]:
    with open_instance(project.data) as instance:
        return sorted(instance.get_dynamic_partitions(DATASET))


def test_a_data_set_is_renamed_built_on_and_removed(project: Project) -> None:
    first = open_release("churches", project.data)
    renamed = command(project, "rename", "churches", "chapels")
    assert renamed.returncode == 0, renamed.stderr
    assert "crmrag build chapels" in renamed.stdout and "crmrag datasets remove churches" in renamed.stdout
    assert list(load_datasets(project.config / "datasets.yaml")) == partitions(project) == ["chapels"]

    after = Project(project.root, "chapels")
    built = run_build_command(after)
    assert built.returncode == 0, built.stderr
    assert "documents          " in built.stderr and "unchanged" in built.stderr
    second = open_release("chapels", project.data)
    assert second.documents.text(0) == first.documents.text(0)

    asked = command(project, "remove", "churches", given="n\n")
    assert asked.returncode == 1 and folders(project.data, "churches")
    gone = command(project, "remove", "churches", "--yes")
    assert gone.returncode == 0, gone.stderr
    assert not folders(project.data, "churches") and open_release("chapels", project.data).id == second.id

    gone = command(project, "remove", "chapels", "--yes")
    assert gone.returncode == 0 and "does not declare it any more" in gone.stdout
    assert partitions(project) == [] == list(load_datasets(project.config / "datasets.yaml"))
    assert not folders(project.data, "chapels")
    again = command(project, "remove", "chapels", "--yes")
    assert again.returncode == 1 and "no such data set" in again.stderr


def test_what_is_being_built_or_would_be_hidden_is_left_alone(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "work" / name).mkdir(parents=True)
    (tmp_path / "releases" / "three").mkdir(parents=True)
    done: list[str] = []
    for to in ("two", "three"):
        with pytest.raises(BuildError, match="Choose another name"), renaming(tmp_path, "one", to):
            done.append(to)
    hold = "import sys; from pathlib import Path; from crmrag_assets.build.locks import dataset_lock\n"
    hold += "with dataset_lock(Path(sys.argv[1]), 'one'): print('held', flush=True); sys.stdin.read()"
    holder = [sys.executable, "-c", hold, str(tmp_path / "work" / "one")]
    with subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        for change in (renaming(tmp_path, "one", "four"), removing(tmp_path, "one")):
            with pytest.raises(BuildError, match="is being built by another process"), change:
                done.append("while built")
        other.communicate()
    assert not done and folders(tmp_path, "one")


def test_a_failure_of_the_block_leaves_the_folders(tmp_path: Path) -> None:
    (tmp_path / "work" / "one").mkdir(parents=True)
    for change in (renaming(tmp_path, "one", "two"), removing(tmp_path, "one")):
        with pytest.raises(ValueError, match="no"), change:
            raise ValueError("no")
    assert folders(tmp_path, "one")
    with dataset_lock(tmp_path / "work" / "one", "one"), removing(tmp_path, "one"):
        pass
    assert not folders(tmp_path, "one")
