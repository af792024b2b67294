"""The small museum of ``set_world``, and the sample, each built once."""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release
from tests.support.set_world import set_museum
from tests.support.shared import sample_release


@pytest.fixture(scope="session")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return set_museum(tmp_path_factory)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return sample_release(tmp_path_factory)
