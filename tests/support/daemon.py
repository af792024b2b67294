"""Dagster's daemon as a process of its own, and builds that are put into its queue."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from dagster import DagsterInstance
from dagster._core.remote_origin import (
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

from crmrag_assets.definitions import defs
from crmrag_assets.instance import dagster_home
from crmrag_assets.launch import build_config
from crmrag_assets.partitions import DATASET
from crmrag_assets.runs import BUILDS_TAG
from tests.conftest import ROOT
from tests.support.builds import Project

DAEMON = Path(sys.executable).with_name("dagster-daemon")
LOCATION = RemoteRepositoryOrigin(
    ManagedGrpcPythonEnvCodeLocationOrigin(
        LoadableTargetOrigin(executable_path=sys.executable, module_name="crmrag_assets.definitions"),
        location_name="crmrag",
    ),
    "__repository__",
)
"""Where the daemon finds the definitions."""


@contextmanager
def daemon(project: Project) -> Iterator[subprocess.Popen[bytes]]:
    """The daemon of a project's data folder, with its code location, as `crmrag ui` starts it."""
    folders = {
        "DAGSTER_HOME": str(dagster_home(project.data)),
        "CRMRAG_DATA": str(project.data),
        "CRMRAG_CONFIG": str(project.config),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
    }
    process = subprocess.Popen(
        [str(DAEMON), "run", "-w", str(ROOT / "workspace.yaml")],
        cwd=ROOT, env=os.environ | folders, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # with the code location and all runs
        process.wait()


def queue(instance: DagsterInstance, dataset: str, **tags: str) -> str:
    """Put a build into the queue, as the launchpad of the UI does; its run's id."""
    job = defs.resolve_job_def("build")
    instance.add_dynamic_partitions(DATASET, [dataset])
    run = instance.create_run_for_job(
        job,
        run_config=build_config(),
        tags={**job.tags, BUILDS_TAG: dataset, "dagster/partition": dataset, **tags},
        status=dg.DagsterRunStatus.QUEUED,
        remote_job_origin=RemoteJobOrigin(LOCATION, job.name),
    )
    return str(run.run_id)


def until(found: Callable[[], object], seconds: float = 240) -> None:
    """Wait until something is found."""
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.1)
