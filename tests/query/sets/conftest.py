"""The small museum of ``set_world``, and the sample, each built once."""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release, open_release
from tests.conftest import ROOT
from tests.support.builds import build_all, make_project
from tests.support.set_world import build_set_world


@pytest.fixture(scope="session")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_set_world(tmp_path_factory.mktemp("museum") / "project")


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The sample data set, encoded by the stand-in."""
    root = tmp_path_factory.mktemp("sample") / "project"
    rdf = str(ROOT / "data" / "sample" / "troodos.ttl")
    project = make_project(root, rdf=[rdf], write_markdown=False)
    build_all(project.context())
    return open_release(project.dataset, project.data)
