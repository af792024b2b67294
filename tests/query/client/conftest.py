"""The sample data set in a data folder of its own, encoded by the stand-in; clients of every kind over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from crmrag_query import AsyncClient, Client
from crmrag_query.client.local import open_engine
from tests.support.api_server import api_server
from tests.support.builds import Project, build_all
from tests.support.shared import TROODOS, made_once


def build(root: Path, source: Path, name: str = "sample") -> Path:
    """Build a data set in the project at ``root``; gives its data folder."""
    (root / "config").mkdir(parents=True, exist_ok=True)
    entry = {
        "title": "Painted churches", "rdf": [str(source)], "languages": ["en", "el"], "embedding": {"model": "hash"},
        "token_vectors": True,
        "licence": "CC0 1.0", "attribution": "Us", "examples": ["When was Asinou painted?"], "write_markdown": False,
    }  # fmt: skip
    text = yaml.safe_dump({"datasets": {name: entry}}, allow_unicode=True)
    (root / "config" / "datasets.yaml").write_text(text, encoding="utf-8")
    project = Project(root, name)
    build_all(project.context())
    return project.data


def sample_data(factory: pytest.TempPathFactory) -> Path:
    """The data folder of the sample, shared by all tests that only read it."""
    return made_once(factory, "client", lambda root: build(root, TROODOS)) / "data"


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_data(tmp_path_factory)


@pytest.fixture(scope="session")
def service(data: Path) -> Iterator[str]:
    """The address of a service over the data folder."""
    with api_server(open_engine(str(data))) as address:
        yield address


@pytest.fixture(scope="session")
def local(data: Path) -> Iterator[Client]:
    with Client(data) as client:
        yield client


Calling = Callable[..., Any]
"""``call("ask", question, …)``: the result of a client's method, a list for ``stream``."""

KINDS = ("local", "async http")
OTHERS = ("http", "async local")


def called(client: Client) -> Calling:
    """Calls methods of an open client that blocks."""

    def call(name: str, *arguments: Any, **named: Any) -> Any:
        result = getattr(client, name)(*arguments, **named)
        return list(result) if name == "stream" else result

    return call


def calling(target: str, asynchronous: bool, **options: Any) -> Calling:
    """Calls methods of a client that is opened for the call."""

    def call(name: str, *arguments: Any, **named: Any) -> Any:
        if not asynchronous:
            with Client(target, **options) as client:
                return called(client)(name, *arguments, **named)

        async def run() -> Any:
            async with AsyncClient(target, **options) as client:
                result = getattr(client, name)(*arguments, **named)
                return [event async for event in result] if name == "stream" else await result

        return anyio.run(run)

    return call


@pytest.fixture(scope="session")
def other(data: Path) -> Iterator[Client]:
    """A second client of the folder: making it ready takes seconds, so that it is not opened for every call."""
    with Client(data) as client:
        yield client


@pytest.fixture(params=[*KINDS, *(pytest.param(kind, marks=pytest.mark.slow) for kind in OTHERS)])
def call(request: pytest.FixtureRequest, data: Path, service: str) -> Calling:
    """A client of each kind over the same data."""
    return _of_kind(request, data, service)


@pytest.fixture(
    params=["async http", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("local", *OTHERS))]
)
def compared(request: pytest.FixtureRequest, data: Path, service: str) -> Calling:
    """The same, for tests that compare what it gives with what a client of the folder gives."""
    return _of_kind(request, data, service)


def _of_kind(request: pytest.FixtureRequest, data: Path, service: str) -> Calling:
    kind: str = request.param
    if kind == "local":
        client: Client = request.getfixturevalue("other")
        return called(client)
    return calling(str(data) if "local" in kind else service, "async" in kind)
