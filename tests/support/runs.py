"""Builds by Dagster, as the command line and as the UI start them, and locks that other processes hold."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg

from crmrag_assets.build.step import Reporter
from crmrag_assets.definitions import defs
from crmrag_assets.instance import open_instance
from crmrag_assets.launch import BuildRequest, BuildResult, run_build
from crmrag_assets.partitions import DATASET, BuildResource
from tests.conftest import ROOT
from tests.support.builds import Project


def folders(project: Project) -> BuildResource:
    return BuildResource(data=str(project.data), config=str(project.config))


def build(
    project: Project,
    instance: dg.DagsterInstance | None = None,
    reporter: Reporter | None = None,
    **options: Any,
) -> BuildResult:
    """A build as `crmrag build` does it, in the project's own instance if none is given."""
    with ExitStack() as stack:
        opened = instance or stack.enter_context(open_instance(project.data))
        return run_build(BuildRequest(project.dataset, folders(project), **options), opened, reporter)


def run_job(
    project: Project,
    instance: dg.DagsterInstance | None = None,
    job: str = "build",
    ops: dict[str, Any] | None = None,
    **options: Any,
) -> dg.ExecuteInProcessResult:
    """A run of a job as the UI launches it; ``options``: of `execute_in_process`."""
    if job == "build":
        options = {"partition_key": project.dataset} | options
    config = {"ops": ops or {}, "resources": {"build": {"config": folders(project).settings()}}}
    with ExitStack() as stack:
        opened = instance or stack.enter_context(open_instance(project.data))
        opened.add_dynamic_partitions(DATASET, [project.dataset])
        made = defs.resolve_job_def(job)
        return made.execute_in_process(config, instance=opened, **{"raise_on_error": False, **options})


@contextmanager
def held_elsewhere(context: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another process within a context manager of `crmrag_assets.build.step`, named as it is called: ``root`` a path."""
    code = (
        "import sys, time; from pathlib import Path; from crmrag_assets.build.step import *\n"
        f"with {context}: print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None and process.stdout.readline().strip() == b"held"
        try:
            yield process
        finally:
            process.kill()


def locked_elsewhere(root: Path, dataset: str) -> Any:
    """Another process holds the lock of a data set's working folder."""
    return held_elsewhere(f"dataset_lock(Path({str(root)!r}), {dataset!r})")
