"""Dagster's database in the way of a build: locked, removed, damaged. The build waits or says what to do, and goes on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
import pytest
from sqlalchemy.exc import OperationalError, ProgrammingError

from crmrag_assets.build.step import Reporter
from crmrag_assets.instance import database_trouble, open_instance, trouble_in_words
from crmrag_assets.launch import BuildResult
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import BuildError, DatabaseUnreachable
from tests.support import runs
from tests.support.builds import Project, make_project, turtle

EVENTS = "dagster._core.storage.event_log.sqlite.sqlite_event_log"
LOCK = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
time.sleep(float(sys.argv[2]))
"""


@dataclass
class Injury(Reporter):
    """Does harm when work on the graph begins, once."""

    harm: Callable[[], object]
    done: bool = False
    heard: list[str] = field(default_factory=list)

    def started(self, artifact: str, chunks: int) -> None:
        if artifact == "graph" and not self.done:
            self.done = True
            self.harm()

    def remark(self, text: str) -> None:
        self.heard.append(text)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "project", turtle(4), write_markdown=False)
    (project.config / "operations.yaml").write_text("database: {retries: 6, wait_seconds: 0.2}\n", "utf-8")
    return project


def build(project: Project, harm: Callable[[], object] = lambda: None) -> tuple[BuildResult, Injury]:
    """A whole build, which meets the harm in the middle."""
    reporter = Injury(harm)
    return runs.build(project, reporter=reporter), reporter


def history(project: Project) -> Path:
    return project.data / "dagster" / "history"


@contextmanager
def locked(file: Path, seconds: float) -> Iterator[None]:
    """Another process has the database for itself for a while."""
    command = [sys.executable, "-c", LOCK, str(file), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline().strip() == b"locked"
        yield


@pytest.mark.slow
def test_a_database_that_another_process_holds_is_waited_for(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{EVENTS}.SQLITE_BUSY_TIMEOUT_SECONDS", 0.1)  # Dagster's own patience is 30 s
    with ExitStack() as stack:
        file = history(project) / "runs" / "index.db"
        result, reporter = build(project, lambda: stack.enter_context(locked(file, 1.5)))
    assert reporter.heard and all("Dagster's database does not answer" in text for text in reporter.heard)
    open_release("churches", project.data).verify()
    with open_instance(project.data) as instance:
        left = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED]))
        assert not left and len(result.runs) == 7


@pytest.mark.slow
def test_a_database_that_was_removed_is_told_and_the_next_build_goes_on(project: Project) -> None:
    with pytest.raises(BuildError, match=r"Was it removed\? Run the build again: only the history"):
        build(project, lambda: shutil.rmtree(history(project)))
    result, _ = build(project)
    made = {outcome.record.artifact: outcome.reused for outcome in result.outcomes}
    assert made["entities"] and made["prefetch"] and not made["documents"]
    open_release("churches", project.data).verify()


@pytest.mark.slow
def test_a_damaged_database_is_told_and_without_it_the_build_goes_on(project: Project) -> None:
    def damage() -> None:
        for file in [*history(project).glob("runs.db*"), *history(project).glob("runs/index.db*")]:
            file.write_bytes(b"\xff" * 20_000)

    for harm in (damage, lambda: None):  # in the midst of a build, and found by the next one
        with pytest.raises(BuildError, match=r"database is damaged .*Move the folder `dagster/history`"):
            build(project, harm)
    history(project).rename(project.root / "aside")
    build(project)
    open_release("churches", project.data).verify()


# What is told of what.


def operational(said: str) -> OperationalError:
    return OperationalError("SELECT 1", {}, Exception(said))


def test_an_outage_may_pass_and_a_refusal_does_not() -> None:
    outage = 'connection to server at "db", port 5432 failed: Connection refused\n\tIs the server running?'
    told = database_trouble(operational(outage))
    assert isinstance(told, DatabaseUnreachable)
    assert "(connection to server" in told.what and "Is the server running" not in told.what
    refused = database_trouble(ProgrammingError("SELECT $1", {}, Exception('syntax error at or near "$1"')))
    assert isinstance(refused, BuildError) and not isinstance(refused, DatabaseUnreachable)
    assert "`storage` in `dagster/dagster.yaml`" in refused.remedy


def test_what_caused_an_error_counts_and_a_full_disk_is_told_as_such_elsewhere() -> None:
    outer = RuntimeError("the run failed")
    outer.__cause__ = operational("database is locked")
    assert isinstance(database_trouble(outer), DatabaseUnreachable)
    assert database_trouble(operational("database or disk is full")) is None
    assert database_trouble(ValueError("database is locked")) is None


@pytest.mark.parametrize(
    "message",
    [
        "sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) database is locked\n[SQL: …]",
        "sqlalchemy.exc.OperationalError: (psycopg2.errors.AdminShutdown) terminating connection\n",
        "dagster_postgres.utils.DagsterPostgresException: too many retries for DB connection\n",
    ],
)
def test_the_same_is_known_by_what_dagster_tells_of_it(message: str) -> None:
    assert isinstance(trouble_in_words(message), DatabaseUnreachable)
    assert trouble_in_words(f"RuntimeError: {message}") is None
