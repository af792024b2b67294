"""The museum of ``parse_world`` and the sample data set, each built once."""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release
from tests.support.parse_world import Museum, build_museum
from tests.support.shared import sample_release, shared_release


@pytest.fixture(scope="session")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return Museum(shared_release(tmp_path_factory, "gallery", build_museum))


@pytest.fixture(scope="session")
def churches(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The sample data set."""
    return sample_release(tmp_path_factory)
