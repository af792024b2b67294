"""The museum of ``parse_world``, built once."""

from __future__ import annotations

import pytest

from tests.support.parse_world import Museum, build_museum
from tests.support.shared import shared_release


@pytest.fixture(scope="session")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return Museum(shared_release(tmp_path_factory, "gallery", build_museum))
