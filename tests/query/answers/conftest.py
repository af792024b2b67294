"""Releases to ask, built once with the stand-in encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store

from crmrag_query.artifacts.release import Release, open_release
from tests.support.builds import build_all, make_project
from tests.support.set_world import set_museum
from tests.support.shared import TROODOS, sample_release
from tests.support.small_world import small_release


def built(folder: Path, source: str) -> Release:
    project = make_project(folder, source, write_markdown=False)
    build_all(project.context())
    return open_release(project.dataset, project.data)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return sample_release(tmp_path_factory)


@pytest.fixture(scope="session")
def store() -> Store:
    found = Store()
    found.bulk_load(path=str(TROODOS), format=RdfFormat.TURTLE)
    return found


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Churches, painters and villages to talk about."""
    return small_release(tmp_path_factory)


@pytest.fixture(scope="session")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Seven paintings with makers, years, materials and places, in two named graphs."""
    return set_museum(tmp_path_factory)
