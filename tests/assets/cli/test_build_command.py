"""`crmrag build` as a person meets it: summary, errors, kills, interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pyoxigraph as ox
import pytest

from crmrag_assets.cli import commands
from crmrag_assets.cli.options import size_text
from crmrag_assets.definitions import failure_message
from crmrag_assets.instance import open_instance
from crmrag_assets.operations.notify import Message
from crmrag_query.artifacts.release import open_release
from crmrag_query.cli.main import BUILD_COMMANDS
from tests.conftest import ROOT
from tests.support.builds import Project, build_all, make_project, start_build, turtle
from tests.support.sparql_exchange import Endpoint
from tests.support.sparql_server import serving


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def test_three_kills_and_the_fourth_build_gives_the_release_of_an_undisturbed_one(
    project: Project, forked: Path, tmp_path: Path
) -> None:
    undisturbed = make_project(tmp_path / "undisturbed")
    build_all(undisturbed.context())
    for point in ("prefetch:during=kill", "embeddings:after=kill", "publish:during=kill"):
        killed = start_build(forked, project, "--quiet", CRMRAG_FAILPOINT=point)
        _, told = killed.communicate(timeout=120)
        assert killed.returncode == 128 + signal.SIGKILL, told
    done = start_build(forked, project, CRMRAG_FAILPOINT="")
    printed, told = done.communicate(timeout=120)
    assert done.returncode == 0, told
    expected = open_release("churches", undisturbed.data).id
    assert f"Release {expected}" in printed
    assert "unchanged" in told and "documents" in told
    open_release("churches", project.data).verify()


@pytest.mark.slow
def test_an_interrupted_build_says_how_to_go_on(project: Project) -> None:
    (project.root / "churches.ttl").write_text(turtle(3000), encoding="utf-8")
    code = "import sys; from crmrag_assets.cli.build import build; build(sys.argv[1:])"
    in_background = ["sh", "-c", 'trap "" INT; exec "$0" "$@"']  # as a shell starts it that is a script's
    folders = ["--data", str(project.data), "--config", str(project.config)]
    command = [*in_background, sys.executable, "-c", code, "churches", *folders]
    with subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        until = time.monotonic() + 60
        while not (project.data / "work" / "churches" / "fr_documents").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "`crmrag build churches` goes on from here" in told and "Traceback" not in told
    assert messages_of(project) == [None], "who stopped it need not be told"


def messages_of(project: Project) -> list[Message | None]:
    """What is sent of each run that failed."""
    with open_instance(project.data) as instance:
        runs = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
        ends = [
            instance.all_logs(run.run_id, dg.DagsterEventType.RUN_FAILURE)[0].dagster_event for run in runs
        ]
        return [
            failure_message(
                dg.build_run_status_sensor_context("told", end, instance, run).for_run_failure(), None
            )
            for run, end in zip(runs, ends, strict=True)
            if end is not None
        ]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving(ox.parse(turtle(), format=ox.RdfFormat.TURTLE)) as opened:
        yield opened


@pytest.fixture
def remote(tmp_path: Path, endpoint: Endpoint) -> Project:
    """The same churches behind HTTP."""
    declared = {"url": endpoint.url, "requests": {"pause_seconds": 0}}
    return make_project(tmp_path / "remote", rdf=None, endpoint=declared)


def test_an_endpoint_gives_the_release_of_the_files_and_the_next_build_says_how_to_ask_again(
    project: Project, remote: Project, endpoint: Endpoint, forked: Path
) -> None:
    build_all(project.context())
    release = open_release("churches", project.data).id
    first = start_build(forked, remote)
    printed, told = first.communicate(timeout=120)
    assert first.returncode == 0 and f"Release {release}" in printed, told
    asked = len(endpoint.log)
    _, told_again = start_build(forked, remote).communicate(timeout=120)
    assert len(endpoint.log) == asked and "--refresh" not in told
    assert "Ask the endpoint again: crmrag build churches --refresh" in told_again


@pytest.mark.slow
def test_an_interrupted_refresh_says_that_it_goes_on_without_asking_again(
    remote: Project, endpoint: Endpoint
) -> None:
    process: subprocess.Popen[str] | None = None
    endpoint.before(8, lambda: process.send_signal(signal.SIGINT) if process else None)
    code = "import sys; from crmrag_assets.cli.build import build; build(sys.argv[1:])"
    folders = ["--data", str(remote.data), "--config", str(remote.config)]
    command = [sys.executable, "-c", code, "churches", *folders, "--refresh"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "`crmrag build churches` goes on from here (with --refresh it would ask" in told
    assert "Traceback" not in told


def test_the_commands_are_those_that_the_main_group_names() -> None:
    assert sorted(str(command.name) for command in commands) == sorted(BUILD_COMMANDS)


def test_importing_the_commands_loads_neither_dagster_nor_torch() -> None:
    code = "import sys, crmrag_assets.cli; print([m for m in ('dagster', 'torch', 'polars') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=os.environ
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_340_000, "2.3 MB")]
)
def test_sizes_are_short(size: int, text: str) -> None:
    assert size_text(size) == text
