"""A small data set, built once, and copies of it in which something may be broken."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from crmrag_assets.build.step import BuildContext
from tests.support.builds import Project
from tests.support.shared import own_churches

SIZE = 16  # entities a chunk, which makes four chunks


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Twelve churches, built to a release."""
    return own_churches(
        tmp_path_factory, tmp_path_factory.mktemp("quality") / "project", SIZE, write_markdown=False
    )


@pytest.fixture
def sound(built: Project) -> BuildContext:
    """The data set as it was built; not to be changed."""
    return built.context(SIZE)


@pytest.fixture
def copied(built: Project, tmp_path: Path) -> BuildContext:
    """The data set in a folder of its own."""
    shutil.copytree(built.root, tmp_path / "project")
    return Project(tmp_path / "project").context(SIZE)
