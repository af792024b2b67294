"""Renaming and removing a data set, with real builds: what is built is kept, or gone, and nobody else's is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from crmrag_assets.build.step import dataset_lock
from crmrag_assets.instance import open_instance
from crmrag_assets.operations.dataset_folders import folders, removing, renaming
from crmrag_assets.partitions import DATASET
from crmrag_query.artifacts.release import open_release
from crmrag_query.cli.main import group
from crmrag_query.config import load_datasets
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import BuildError, ConfigError
from tests.support.builds import Project, make_project, turtle
from tests.support.builds import made as made_of
from tests.support.runs import build, locked_elsewhere


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("datasets") / "project", turtle(4), write_markdown=False)
    build(project)
    return project


def command(project: Project, *arguments: str, given: str = "") -> Result:
    own = ("--data", str(project.data), "--file", str(project.config / "datasets.yaml"))
    return CliRunner().invoke(group, ["datasets", *arguments, *own], input=given)


def partitions(project: Project) -> list[str]:
    with open_instance(project.data) as instance:
        return sorted(instance.get_dynamic_partitions(DATASET))


@pytest.mark.slow
def test_a_data_set_is_renamed_built_on_and_removed(project: Project) -> None:
    first = open_release("churches", project.data)
    renamed = command(project, "rename", "churches", "chapels")
    assert renamed.exit_code == 0, renamed.output
    assert "crmrag build chapels" in renamed.output and "crmrag datasets remove churches" in renamed.output
    assert list(load_datasets(project.config / "datasets.yaml")) == partitions(project) == ["chapels"]

    made = made_of(build(Project(project.root, "chapels")).outcomes)
    assert not {"entities", "prefetch", "graph", "documents", "embeddings"} & set(made)
    second = open_release("chapels", project.data)
    assert second[Documents].text(0) == first[Documents].text(0)

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
    with locked_elsewhere(tmp_path / "work" / "one", "one"):
        for change in (renaming(tmp_path, "one", "four"), removing(tmp_path, "one")):
            with pytest.raises(BuildError, match="is being built by another process"), change:
                done.append("while built")
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
