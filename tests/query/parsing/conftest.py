"""The museum of ``parse_world``, built once."""

from __future__ import annotations

import pytest

from tests.support.parse_world import Museum, build_museum


@pytest.fixture(scope="session")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("gallery") / "project")
