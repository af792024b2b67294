"""The sample data set, encoded by the stand-in, and the real service over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from crmrag_query import Client
from crmrag_query.client.local import Engine, open_engine
from tests.query.client.conftest import sample_data
from tests.support.service import PATIENCE, application, beside, served


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_data(tmp_path_factory)


@pytest.fixture(scope="session")
def engine(data: Path) -> Iterator[Engine]:
    """The engine in this process, which the service's answers are compared with."""
    found = open_engine(str(data))
    yield found
    found.close()


@pytest.fixture(scope="session")
def address(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the service, which keeps answers."""
    app = application(beside(engine), state=tmp_path_factory.mktemp("state"))
    with served(app) as found:
        yield found


@pytest.fixture(scope="session")
def http(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=PATIENCE) as client:
        yield client


@pytest.fixture(scope="session")
def local(data: Path) -> Iterator[Client]:
    with Client(data) as client:
        yield client
