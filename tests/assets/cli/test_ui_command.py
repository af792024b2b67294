"""`crmrag ui` says what keeps it from opening before anything is started."""

from __future__ import annotations

import socket
from pathlib import Path

from click.testing import CliRunner

from crmrag_assets.cli.ui import ui
from crmrag_assets.instance import open_instance
from crmrag_query.errors import BuildError, ServiceError


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(ui, ["--data", str(tmp_path), "--port", str(port)])
    assert isinstance(done.exception, ServiceError)
    assert f"127.0.0.1:{port} cannot be listened on" in str(done.exception) and "--port" in str(
        done.exception
    )


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    with open_instance(tmp_path):
        pass
    for file in (tmp_path / "dagster" / "history").rglob("*.db"):
        file.write_bytes(b"this is no database, it is a text " * 100)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    done = CliRunner().invoke(ui, ["--data", str(tmp_path), "--port", str(port)])
    assert isinstance(done.exception, BuildError)
    assert "Dagster's database is damaged" in str(done.exception) and "dagster/history" in str(done.exception)
