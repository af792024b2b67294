"""Dagster's own folder below the data folder: event log in SQLite, no telemetry."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from dagster import DagsterInstance
from dagster._core.instance.ref import InstanceRef
from filelock import FileLock

from crmrag_assets.database import database_explained, database_trouble
from crmrag_assets.told import LOST
from crmrag_query.artifacts.files import write_text
from crmrag_query.errors import ConfigError, in_a_line

SETTINGS = """\
# Written once by crmrag; yours to change.
telemetry:
  enabled: false
nux:
  enabled: false
concurrency:
  runs:
    max_concurrent_runs: 4  # two builds: each is a run, and one for the layer that it is at
    tag_concurrency_limits:  # the others wait in the queue, where they keep no place from builds of other sources
      - key: crmrag/endpoint
        value: {applyLimitPerUniqueValue: true}
        limit: 1
run_retries:  # a build whose process was killed is started again, as often as operations.yaml says (retrying: lost)
  enabled: true
  retry_on_asset_or_op_failure: false
sensors:  # a slow endpoint does not keep other data sets from being looked at
  use_threads: true
  num_workers: 8
"""
OPENING = ".opening"
NO_CAPTURE = {
    "compute_logs": {
        "module": "dagster._core.storage.noop_compute_log_manager",
        "class": "NoOpComputeLogManager",
    }
}


def dagster_home(data: Path) -> Path:
    """The folder for DAGSTER_HOME, absolute, made with our settings when it is new."""
    home = (data / "dagster").resolve()
    if not (home / "dagster.yaml").exists():
        write_text(home / "dagster.yaml", SETTINGS)
    return home


@contextmanager
def open_instance(data: Path) -> Iterator[DagsterInstance]:
    """The instance that the UI shows; output to the terminal stays there instead of going to Dagster's log files."""
    home = dagster_home(data)
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    # An interruption is raised wherever the program is; within SQLAlchemy's closing of a connection it would be logged
    # there too, with its traceback, though it goes on to the caller.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
    with database_explained():
        opened = _opened(home)
    with opened as instance:
        yield instance


def _opened(home: Path) -> DagsterInstance:
    """The instance with its databases, which several builds that begin at once would make all at the same time."""
    with FileLock(home / OPENING):
        try:
            instance = DagsterInstance.from_ref(InstanceRef.from_dir(str(home), overrides=NO_CAPTURE))
            for storage in (instance.run_storage, instance.event_log_storage, instance.schedule_storage):
                assert storage is not None
        except (
            Exception
        ) as error:  # a mistake in it shows as an error of YAML, of Dagster or of a module that it names
            if isinstance(error, OSError) or database_trouble(error) is not None:
                raise
            raise ConfigError.single(
                home / "dagster.yaml", "", in_a_line(error),
                remedy="Mend it, or move it away: the next command then writes one with our settings.",
            ) from error  # fmt: skip
        return instance


def end_dead_runs(instance: DagsterInstance, tags: dict[str, str]) -> int:
    """Mark runs with these tags that a killed process left unfinished as cancelled; returns how many.

    Only for the holder of the data set's lock: no other process can be running them.
    """
    unfinished = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.NOT_STARTED]
    dead = instance.get_runs(filters=dg.RunsFilter(statuses=unfinished, tags=tags))
    for run in dead:
        instance.report_run_canceled(run, message=LOST)
        instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
    return len(dead)
