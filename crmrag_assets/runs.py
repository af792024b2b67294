"""Runs: their tags, their locks, and the end of those whose process is gone, killed or with the machine.

Dagster sees the end of a process only while the one that started it lives. So a run holds a lock that the operating system
frees with its process, however that ends; the run of a layer has that of its data set.
"""

import re
import time
from contextlib import suppress
from pathlib import Path

import dagster as dg
from dagster import DagsterInstance
from filelock import FileLock, Timeout

from crmrag_assets.build.step import ARTIFACTS, is_locked
from crmrag_assets.build.store import working_folder
from crmrag_assets.instance import LOST
from crmrag_assets.partitions import BuildResource

FOLDER = "running"  # in Dagster's folder: a lock for each run
LAYER_TAG, DATASET_TAG = "crmrag/layer", "crmrag/dataset"
BUILD_TAG = "crmrag/build"
PARENT_TAG = "crmrag/build_run"  # the run of the job `build` that a layer's run belongs to
WAITS_TAG = "crmrag/waits_until"  # on a run of it that will try again: when, in seconds since 1970
BUILDS_TAG = "crmrag/builds"  # on runs of the job `build`: the data set
EMBEDS_TAG = "crmrag/embeds"  # on runs of the job `embed`: the data set
ENDPOINT_TAG = (
    "crmrag/endpoint"  # by this the queue starts one build of an endpoint at a time: see dagster.yaml
)
FROM_ASSETS = "__ASSET_JOB"  # what Dagster calls a run that was started from the asset graph
JOBS = re.compile(r"build|embed|evaluate|layer_\d+_\w+")
ASSETS = {dg.AssetKey(name) for name in (*ARTIFACTS, "evaluation")}
BEFORE_LOCK = 600  # seconds in which a run that has left the queue starts and takes its lock, or is dead
STARTING = [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING]
UNDER_WAY = [*STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]
_HELD: dict[str, FileLock] = {}


def _lock(data: Path, run: str) -> FileLock:
    return FileLock(data / "dagster" / FOLDER / run, timeout=0, thread_local=False)


def hold_run_lock(data: Path, run: dg.DagsterRun) -> None:
    """Hold the lock of a run until this process ends; that of a layer's run is its data set's."""
    lock = _lock(data, run.run_id)
    if LAYER_TAG in run.tags or (run.run_id in _HELD and Path(lock.lock_file).exists()):
        return
    with suppress(Timeout):  # another process of the run holds it
        lock.acquire()
        _HELD[run.run_id] = lock


def end_lost_runs(instance: DagsterInstance, data: Path, now: float | None = None) -> list[dg.DagsterRun]:
    """End every run of a build or evaluation that is under way without a process; those that were ended.

    Cancelled where somebody asked for that, or where its build tells of it; else failed, so that it may begin again.
    """
    ended = []
    for record in instance.get_run_records(dg.RunsFilter(statuses=UNDER_WAY)):
        run, since = record.dagster_run, (time.time() if now is None else now) - begun(record)
        lost = is_ours(run) and _is_lost(data, run, since)
        # it may have ended between the two looks
        still = instance.get_run_by_id(run.run_id) if lost else None
        if still is None or still.status != run.status:
            continue
        if run.status == dg.DagsterRunStatus.CANCELING or LAYER_TAG in run.tags:
            instance.report_run_canceled(run, message=LOST)
        else:
            instance.report_run_failed(run, LOST)
        instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
        ended.append(run)
    for file in (data / "dagster" / FOLDER).glob("*"):
        known = instance.get_run_by_id(file.name)
        if known is None or known.is_finished:
            file.unlink(missing_ok=True)
    return ended


def begun(record: dg.RunRecord) -> float:
    """When a run started, or, of one that has not yet, left the queue; in seconds since 1970."""
    if record.dagster_run.status in STARTING:
        return record.update_timestamp.timestamp()
    return record.start_time or record.create_timestamp.timestamp()


def is_ours(run: dg.DagsterRun) -> bool:
    """Whether a run, of whatever code location, is of crmrag's jobs or of its assets alone."""
    if run.job_name != FROM_ASSETS:
        return JOBS.fullmatch(run.job_name) is not None
    checked = {key.asset_key for key in run.asset_check_selection or ()}
    return bool(chosen := checked | set(run.asset_selection or ())) and chosen <= ASSETS


def _is_lost(data: Path, run: dg.DagsterRun, seconds: float) -> bool:
    """Whether nobody holds the lock of a run that began so many seconds ago."""
    if LAYER_TAG in run.tags:
        return not is_locked(working_folder(data, run.tags.get(DATASET_TAG, "")))
    lock = _lock(data, run.run_id)
    if not Path(lock.lock_file).exists():
        return seconds > BEFORE_LOCK
    try:
        with lock:
            return True
    except Timeout:
        return False


def lost_runs_sensor() -> dg.SensorDefinition:
    """Ends runs whose process is gone, and says of each tick which."""

    @dg.sensor(
        name="end_lost_runs",
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Ends runs whose process was killed or went with the machine, so that they keep no place in the queue. "
        "A build is then started again by itself, as often as `retrying: lost` in operations.yaml says.",
    )
    def sensor(context: dg.SensorEvaluationContext, build: BuildResource) -> dg.SkipReason:
        ended = end_lost_runs(context.instance, Path(build.data))
        named = ", ".join(f"{run.run_id[:8]} ({run.job_name})" for run in ended)
        return dg.SkipReason(f"Ended as lost: {named}." if named else "Every run under way has its process.")

    return sensor
