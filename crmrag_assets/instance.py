"""Dagster's own folder below the data folder, and its errors as a person should read them: in the same words in its log, at
the command line and in messages.

Its database holds the history of runs alone. Artifacts and releases do not depend on it, so that a build goes on once it
answers.
"""

from __future__ import annotations

import logging
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg
from dagster import BetaWarning, DagsterInstance, PreviewWarning
from dagster._core.instance.ref import InstanceRef
from filelock import FileLock
from sqlalchemy.exc import DBAPIError

from crmrag_assets.build.step import current_reporter
from crmrag_assets.build.store import BROKEN, FULL, causes, disk_trouble, explained_by, is_memory
from crmrag_query.artifacts.manifest import dataset_folder, pointer, write_text
from crmrag_query.config.operations import Database
from crmrag_query.errors import (
    BuildError,
    BuildFault,
    ConfigError,
    CrmRagError,
    DatabaseUnreachable,
    in_a_line,
)

# Beta parts that the build uses; Dagster's minor version is pinned, and tests cover them.
KNOWN = (
    "Class `MultiToSingleDimensionPartitionMapping` is currently in beta",
    "Parameter `backfill_policy` of .* is currently in beta",
    "Specifying a partitions_def on an AssetCheckSpec",
    "Class `(LocalFileCodeReference|CodeReferencesMetadataValue)` is currently in beta",
)


@contextmanager
def known_betas() -> Iterator[None]:
    """Within the block, the known warnings are not shown."""
    with warnings.catch_warnings():
        for message in KNOWN:
            for kind in (BetaWarning, PreviewWarning):
                warnings.filterwarnings("ignore", message=message, category=kind)
        yield


Result = TypeVar("Result")
DAMAGED = re.compile(r"malformed|not a database|no such table|no such column|does not exist", re.IGNORECASE)
CLOSED = re.compile(r"unable to open database|readonly database", re.IGNORECASE)
NO_CONNECTION = (
    "DagsterPostgresException"  # what dagster-postgres makes of a server that refuses several times
)
# What may pass: the third where two builds write the same at once.
PASSING = ("OperationalError", "InterfaceError", "IntegrityError", NO_CONNECTION)
# How Dagster tells an error of a database in words: its class, that of the driver, and what the database said.
_IN_WORDS = re.compile(
    r"(?:sqlalchemy\.exc\.(?P<kind>\w+): \((?:sqlite3|psycopg|pymysql|MySQLdb)[\w.]*\)|dagster_postgres\.\w+\.\w+:)"
    r" *(?P<text>.*)"
)
_LOST = "only the history of runs is lost, artifacts and releases are not in it."


def database_explained() -> AbstractContextManager[None]:
    """Within the block, an error of Dagster's database says what to do. Raises DatabaseUnreachable, BuildError."""
    return explained_by(database_trouble)


def database_trouble(error: BaseException) -> BuildError | None:
    """What the error, or what caused it, says of Dagster's database; None of any other, and of a full or failing disk."""
    for one in causes(error):
        if isinstance(one, DBAPIError):
            return _trouble(str(one.orig), type(one).__name__)
        if type(one).__name__ == NO_CONNECTION:
            return _trouble(str(one), NO_CONNECTION)
    return None


def trouble_in_words(message: str) -> BuildError | None:
    """The same of an error that is known by its message alone, as in Dagster's events."""
    found = _IN_WORDS.match(message.strip())
    return _trouble(found["text"], found["kind"] or NO_CONNECTION) if found else None


def _trouble(text: str, kind: str) -> BuildError | None:
    line = (text.strip().splitlines() or ["it does not say why"])[0].rstrip(".")
    if FULL.search(text) or BROKEN.search(text):
        return None
    if DAMAGED.search(text):
        return BuildError(
            f"Dagster's database is damaged ({line}).",
            "Move the folder `dagster/history` of the data folder away (restore one elsewhere), then run the build again: "
            + _LOST,
        )
    if CLOSED.search(text):
        return BuildError(
            f"Dagster's database, in the folder `dagster` of the data folder, may not be read or written ({line}).",
            f"Was it removed? Run the build again: {_LOST} Else give the user who builds the right to, then run it again.",
        )
    if kind not in PASSING:
        return BuildError(
            f"Dagster's database refuses what is asked of it ({line}).",
            "Look at `storage` in `dagster/dagster.yaml`: without it a build uses a database of its own in that folder.",
        )
    return DatabaseUnreachable(
        f"Dagster's database does not answer ({line}).",
        "What is finished is kept: run the build again when it does. `dagster/dagster.yaml` says where it is.",
    )


def retry(work: Callable[[], Result], again: Callable[[], object], patience: Database) -> Result:
    """Do ``work``, and once more where the database did not answer, after ``again``, which may meet it as well.

    Raises DatabaseUnreachable when patience is at its end.
    """
    for attempt in range(patience.retries + 1):
        try:
            with database_explained():
                if attempt:
                    again()
                return work()
        except DatabaseUnreachable as error:
            if attempt == patience.retries:
                raise
            wait = patience.wait_seconds * 2.0**attempt
            current_reporter().remark(f"{error.what} Tried again in {wait:g} s; what is finished is kept.")
            time.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


KIND = "error"  # the key of a failure's metadata under which the class of the error stands
FAULT = "That is a fault of crmrag, not of your data: report it with this message and the traceback."
NO_MEMORY = "Memory or threads ran out. Build with fewer processes (--threads 1), or allow it more."
LOST = (
    "The process of this run ended before the run did: it was killed, mostly for memory, or the machine was restarted. "
    "What is finished is kept, and the next build goes on from there."
)
ELSEWHERE = "Its events tell more: crmrag ui."
INTERRUPTED = "DagsterExecutionInterruptedError"  # what Dagster makes of Ctrl-C within a step
# How Dagster puts the class before the message.
_OWN_CLASS = re.compile(r"crmrag_\w+(?:\.\w+)*\.(?P<kind>\w+): ")


class StepFailed(dg.Failure):
    """A failed step, told for people: Dagster shows this before all else that it knows of the error."""


@dataclass(frozen=True)
class RunError:
    """What a failed step says, and the traceback of its error.

    ``kind``: the class of an error of ours without its package; "" for one that nobody foresaw.
    """

    kind: str
    text: str
    trace: str = ""

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped the run."""
        return self.kind == INTERRUPTED


@contextmanager
def explained(step: str, data: Path | None = None, dataset: str = "") -> Iterator[None]:
    """Within the block, every error is one that Dagster shows as told: our own with its remedy, another as our fault.

    With ``data`` and ``dataset`` it ends with what became of the data set's release. Raises StepFailed.
    """
    try:
        yield
    except dg.Failure:
        raise
    except Exception as met:
        error = database_trouble(met) or met
        after = f"\n{afterwards(data, dataset)}" if data is not None else ""
        text = f"'{step}' failed. {reason(error)}{after}"
        foreseen = isinstance(error, CrmRagError) or is_memory(error)
        kind = {KIND: type(error).__name__} if foreseen else {}
        raise StepFailed(text, kind, allow_retries=False) from met


def as_run_error(error: CrmRagError) -> StepFailed:
    """An error that says itself what failed and what became of the release."""
    metadata: dict[str, Any] = {KIND: type(error).__name__}
    if isinstance(error, BuildFault):
        metadata["traceback"] = dg.MetadataValue.md(f"```\n{error.trace}\n```")
    return StepFailed(str(error), metadata, allow_retries=False)


def reason(error: BaseException) -> str:
    """An error in words for a person, with what to do."""
    if isinstance(error, CrmRagError):
        return str(error)
    if is_memory(error):
        return NO_MEMORY
    return f"{type(error).__name__}: {in_a_line(error)}. {FAULT}"


def afterwards(data: Path, dataset: str) -> str:
    """What a failed build has left."""
    current = pointer(dataset_folder(data, dataset))
    release = "The current release stays as it was." if current else "There is no release of it yet."
    return f"What is finished is kept, and the next build goes on from there. {release}"


def run_error(event: dg.DagsterEvent) -> RunError | None:
    """What the event of a failed step says; None of any other event, and of one without an error."""
    data = event.step_failure_data if event.is_step_failure else None
    if data is None or data.error is None:
        return None
    chain = [data.error]  # the error, and what caused it
    while (cause := chain[-1].cause) is not None:
        chain.append(cause)
    innermost = chain[-1]
    if any(INTERRUPTED in error.message for error in chain):
        return RunError(INTERRUPTED, "The run was stopped.")
    own = data.user_failure_data
    if own is not None and own.description:
        kind = str(own.metadata[KIND].value) if KIND in own.metadata else ""
        return RunError(kind, own.description, innermost.to_string())
    failed = f"'{event.step_key}' failed."
    # nothing explained it: our own words where one of the chain is ours, else the innermost message
    for error in chain:
        message = error.message.strip()
        if found := _OWN_CLASS.match(message):
            return RunError(found["kind"], f"{failed} {message[found.end() :]}", error.to_string())
        if (trouble := trouble_in_words(message)) is not None:
            return RunError(type(trouble).__name__, f"{failed} {trouble}", error.to_string())
    return RunError(
        "", f"{failed} {innermost.message.strip().rstrip('.')}. {ELSEWHERE}", innermost.to_string()
    )


SETTINGS = """\
# Written once by crmrag; yours to change.
telemetry:
  enabled: false
nux:
  enabled: false
concurrency:
  runs:
    max_concurrent_runs: 5  # two builds, each a run, and one for the layer that it is at; and one that makes vectors
    tag_concurrency_limits:  # the others wait in the queue, where they keep no place from builds of other sources
      - key: crmrag/embeds
        limit: 1
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
    # Several builds that begin at once would make all databases at the same time.
    with database_explained(), FileLock(home / OPENING):
        try:
            opened = DagsterInstance.from_ref(InstanceRef.from_dir(str(home), overrides=NO_CAPTURE))
            for storage in (opened.run_storage, opened.event_log_storage, opened.schedule_storage):
                assert storage is not None
        except (
            Exception
        ) as error:  # a mistake shows as an error of YAML, of Dagster or of a module that it names
            if disk_trouble(error, home) or database_trouble(error) or isinstance(error, OSError):
                raise
            raise ConfigError.single(
                home / "dagster.yaml", "", in_a_line(error),
                remedy="Mend it, or move it away: the next command then writes one with our settings.",
            ) from error  # fmt: skip
    with opened as instance:
        yield instance


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
