"""The regulation, built once with what the scripted model reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.builds import Project
from tests.support.regulation import build_regulation
from tests.support.shared import made_once


@pytest.fixture(scope="session")
def regulation(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Only read."""
    return Project(made_once(tmp_path_factory, "regulation", build_regulation))


@pytest.fixture
def regulation_copy(regulation: Project, tmp_path: Path) -> Project:
    shutil.copytree(regulation.root, tmp_path / "project")
    return Project(tmp_path / "project")
