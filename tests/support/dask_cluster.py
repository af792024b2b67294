"""A Dask cluster on this machine: a scheduler and workers, each a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from crmrag_assets.build.step import BuildContext
from tests.conftest import ROOT
from tests.support.service import until

WORKERS = 3


@dataclass
class Cluster:
    """``address`` of the scheduler; ``workers``: processes in the order of their start."""

    address: str
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)


@contextmanager
def cluster(folder: Path, *failing: str) -> Iterator[Cluster]:
    """A cluster whose first workers have these fail-points, one each."""
    from distributed import Client

    told, log = folder / "scheduler.json", (folder / "dask.log").open("wb")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__WORKER__DAEMON": "False"}
    words = [sys.executable, "-m", "dask"]
    scheduler = [
        "scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(told),
    ]
    worker = ["worker", "--scheduler-file", str(told), "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    with ExitStack() as stack:
        stack.callback(log.close)

        def start(*options: str, **more: str) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(
                [*words, *options], cwd=folder, env=environment | more, stdout=log, stderr=log
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        start(*scheduler)
        until(told.exists)
        points = [*failing, *[""] * (WORKERS - len(failing))]
        running = [start(*worker, **({"CRMRAG_FAILPOINT": point} if point else {})) for point in points]
        with Client(scheduler_file=str(told), set_as_default=False) as client:
            client.wait_for_workers(WORKERS, timeout=120)
            yield Cluster(client.scheduler.address, running)


def where(context: BuildContext, item: int) -> int:
    """Work that tells which process does it."""
    return os.getpid()
