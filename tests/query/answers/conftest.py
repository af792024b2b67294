"""The sample data set, built once with the stand-in encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store

from crmrag_query.artifacts.release import Release, open_release
from tests.conftest import ROOT
from tests.support.builds import build_all, make_project
from tests.support.set_world import build_set_world
from tests.support.small_world import small_world

SAMPLE = ROOT / "data" / "sample" / "troodos.ttl"


def built(folder: Path, source: str) -> Release:
    project = make_project(folder, source, write_markdown=False)
    build_all(project.context())
    return open_release(project.dataset, project.data)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return built(tmp_path_factory.mktemp("sample") / "project", SAMPLE.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def store() -> Store:
    found = Store()
    found.bulk_load(path=str(SAMPLE), format=RdfFormat.TURTLE)
    return found


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Churches, painters and villages to talk about."""
    return built(tmp_path_factory.mktemp("small") / "project", small_world())


@pytest.fixture(scope="session")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Seven paintings with makers, years, materials and places, in two named graphs."""
    return build_set_world(tmp_path_factory.mktemp("museum") / "project")
