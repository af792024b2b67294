"""Dagster's storage in a real PostgreSQL server, as for several machines: builds go through it, and one is held up while it
is away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import dagster as dg
import pytest
import yaml

from crmrag_assets.instance import dagster_home, open_instance
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import BuildHeldUp
from tests.conftest import ROOT
from tests.support import runs
from tests.support.builds import Project, make_project, turtle
from tests.support.postgres import own_database

pytest.importorskip("dagster_postgres", reason="pip install 'crmrag[cluster]'")
EXAMPLE = ROOT / "deploy" / "kubernetes" / "dagster.yaml"


@pytest.fixture
def database(postgres_server: str) -> Iterator[str]:
    with own_database(postgres_server) as address:
        yield address


def reach(address: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Set the variables that the example names; gives the folder of a server's socket, which has no place among them."""
    parts = urlsplit(address)
    values = {
        "HOST": parts.hostname or "", "USER": parts.username or "postgres", "NAME": parts.path.strip("/"),
        "PASSWORD": unquote(parts.password or "") or "none",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(f"DAGSTER_DB_{name}", value)
    return {} if parts.hostname else {"host": parse_qs(parts.query)["host"][0]}


def make(root: Path, socket: dict[str, str]) -> Project:
    """A project whose Dagster has the storage of the example."""
    project = make_project(root, turtle(3), write_markdown=False)
    (project.config / "operations.yaml").write_text("database: {retries: 0, wait_seconds: 0}\n", "utf-8")
    settings = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    settings["storage"]["postgres"]["postgres_db"]["params"] = socket
    home = dagster_home(project.data)
    own = yaml.safe_load((home / "dagster.yaml").read_text(encoding="utf-8"))
    (home / "dagster.yaml").write_text(yaml.safe_dump(own | {"storage": settings["storage"]}), "utf-8")
    return project


def test_a_build_is_recorded_in_postgresql_and_a_second_process_sees_it(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make(tmp_path / "project", reach(database, monkeypatch))
    result = runs.build(project)
    assert len(result.runs) == 7
    with open_instance(project.data) as instance:
        assert type(instance.run_storage).__module__.startswith("dagster_postgres")
        assert {run.status for run in instance.get_runs()} == {dg.DagsterRunStatus.SUCCESS}
        known = instance.get_materialized_partitions(dg.AssetKey("release"))
        assert known == {"churches"} and not (project.data / "dagster" / "history" / "runs.db").exists()
    assert not runs.build(project).runs  # nothing has to be made, as these records tell
    open_release("churches", project.data).verify()


def test_a_server_that_does_not_answer_holds_a_build_up_and_is_named(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(database, monkeypatch)
    project = make(tmp_path / "project", {"host": str(tmp_path / "nowhere")})
    monkeypatch.setattr("dagster_postgres.utils.time.sleep", lambda seconds: None)
    with pytest.raises(BuildHeldUp, match=r"Dagster's database does not answer.*run the build again"):
        runs.build(project)
