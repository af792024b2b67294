"""Renaming and removing a data set, with real builds: what is built is kept, or gone, and nobody else's is touched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from crmrag_assets.build.locks import dataset_lock
from crmrag_assets.build.step import Outcome
from crmrag_assets.home import open_instance
from crmrag_assets.launch import BuildRequest, run_build
from crmrag_assets.operations.dataset_folders import folders, removing, renaming
from crmrag_assets.partitions import DATASET
from crmrag_assets.resources import BuildResource
from crmrag_query.artifacts.release import open_release
from crmrag_query.cli.main import group
from crmrag_query.config import load_datasets
from crmrag_query.errors import BuildError, ConfigError
from tests.conftest import ROOT
from tests.support.builds import Project, make_project, turtle


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("datasets") / "project", turtle(4), write_markdown=False)
    built(project)
    return project


def built(project: Project) -> list[Outcome]:
    folders = BuildResource(data=str(project.data), config=str(project.config))
    with open_instance(project.data) as instance:
        return run_build(BuildRequest(project.dataset, folders), instance).outcomes


def command(project: Project, *arguments: str, given: str = "") -> Result:
    own = ("--data", str(project.data), "--file", str(project.config / "datasets.yaml"))
    return CliRunner().invoke(group, ["datasets", *arguments, *own], input=given)


def partitions(project: Project) -> list[str]:
    with open_instance(project.data) as instance:
        return sorted(instance.get_dynamic_partitions(DATASET))


def test_a_data_set_is_renamed_built_on_and_removed(project: Project) -> None:
    first = open_release("churches", project.data)
    renamed = command(project, "rename", "churches", "chapels")
    assert renamed.exit_code == 0, renamed.output
    assert "crmrag build chapels" in renamed.output and "crmrag datasets remove churches" in renamed.output
    assert list(load_datasets(project.config / "datasets.yaml")) == partitions(project) == ["chapels"]

    made = [one.record.artifact for one in built(Project(project.root, "chapels")) if not one.reused]
    assert not {"entities", "prefetch", "graph", "documents", "embeddings"} & set(made)
    second = open_release("chapels", project.data)
    assert second.documents.text(0) == first.documents.text(0)

    asked = command(project, "remove", "churches", given="n\n")
    assert asked.exit_code == 1 and folders(project.data, "churches")
    gone = command(project, "remove", "churches", "--yes")
    assert gone.exit_code == 0, gone.output
    assert not folders(project.data, "churches") and open_release("chapels", project.data).id == second.id

    gone = command(project, "remove", "chapels", "--yes")
    assert gone.exit_code == 0 and "does not declare it any more" in gone.output
    assert partitions(project) == [] == list(load_datasets(project.config / "datasets.yaml"))
    assert not folders(project.data, "chapels")
    again = command(project, "remove", "chapels", "--yes")
    assert isinstance(again.exception, ConfigError) and "no such data set" in str(again.exception)


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
