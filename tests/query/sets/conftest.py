"""The small museum of ``set_world``, built once."""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release
from tests.support.set_world import build_set_world


@pytest.fixture(scope="session")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_set_world(tmp_path_factory.mktemp("museum") / "project")
