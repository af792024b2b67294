"""The three tools over one data set, reached in every way that there is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from crmrag_query import Client
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.client.local import open_engine
from crmrag_query.codec import from_plain
from crmrag_query.stores.opened import VARIABLE, open_store
from crmrag_query.stores.records import GraphCommunities, GraphContext, GraphFound, SearchStore
from crmrag_query.stores.tools import StoreTools, run_tool
from tests.query.client.conftest import Calling, called, calling
from tests.query.mcp.conftest import Hosted, hosted
from tests.query.mcp.conftest import data as data
from tests.support.api_server import api_server
from tests.support.postgres import connect, own_database

RESULTS: dict[str, Any] = {
    "graph_search": GraphFound, "graph_context": GraphContext, "graph_communities": GraphCommunities,
}  # fmt: skip


@pytest.fixture(scope="session")
def release(data: Path) -> Release:
    return open_release("sample", data)


@pytest.fixture(scope="session")
def published(release: Release, postgres_server: str) -> Iterator[Release]:
    """The release, published in a database that the environment names."""
    from crmrag_assets.release.postgres import publish

    with own_database(postgres_server) as address, connect(address) as connection:
        publish(connection, release)
        yield release


STORES = ("release", "postgres")


@pytest.fixture(params=STORES, scope="module")
def store(request: pytest.FixtureRequest, release: Release) -> Iterator[SearchStore]:
    """Each store over the same release; the environment chooses it for all that search."""
    if request.param == "postgres":
        request.getfixturevalue("published")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, request.param)
        yield open_store(release)


@pytest.fixture(scope="session")
def address(data: Path) -> Iterator[str]:
    """Of a service over the data folder, which speaks HTTP and MCP."""
    with api_server(open_engine(str(data))) as address:
        yield address


@dataclass(frozen=True)
class Called:
    """The tools as a model calls them: by name, with arguments that are checked against what the tools say of themselves."""

    tools: object

    def __call__(self, name: str, **arguments: Any) -> Any:
        reply = run_tool(self.tools, name, arguments)
        assert reply.result is not None, reply.text
        return reply.result


@dataclass(frozen=True)
class OverMcp:
    host: Hosted

    def __call__(self, name: str, **arguments: Any) -> Any:
        return from_plain(RESULTS[name], self.host.found(name, dataset="sample", **arguments))


@pytest.fixture(scope="session")
def over_mcp(address: str) -> Iterator[Hosted]:
    with hosted(f"{address}/mcp") as host:
        yield host


@pytest.fixture(scope="module")
def local(data: Path, store: SearchStore) -> Iterator[Client]:
    """A client of the folder for each store: making it ready takes seconds, so that it is not opened for every call."""
    with Client(data, dataset="sample") as opened:
        yield opened


WAYS = ("a model", "local", "http", "async http", "mcp")


@pytest.fixture(params=WAYS)
def call(request: pytest.FixtureRequest, store: SearchStore, address: str) -> Calling:
    """``call("graph_search", query=…)``: the result of a tool, by each way to it."""
    way: str = request.param
    if way == "a model":
        return Called(StoreTools(store, "sample"))
    if way == "mcp":
        return OverMcp(request.getfixturevalue("over_mcp"))
    if way == "local":
        return called(request.getfixturevalue("local"))
    return calling(address, "async" in way, dataset="sample")
