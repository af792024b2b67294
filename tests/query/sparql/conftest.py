"""Bounds for tests, a museum in two named graphs, and a desk that asks it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.config.service import SparqlConfig
from crmrag_query.sparql.desk import SparqlDesk
from tests.support.set_world import set_museum

BOUNDS = SparqlConfig(
    seconds=60, rows=1000, characters=20_000, depth=64, result_characters=1_000_000, processes=1,
    memory_bytes=1 << 28, in_memory_triples=100_000, stores=2,
)  # fmt: skip


@pytest.fixture(scope="session")
def bounds() -> SparqlConfig:
    return BOUNDS


@pytest.fixture(scope="session")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return set_museum(tmp_path_factory)


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparqlDesk]:
    with SparqlDesk(BOUNDS, tmp_path_factory.mktemp("stores")) as opened:
        yield opened
