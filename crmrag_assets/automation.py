"""What sensors and schedules share: names, the run that they ask for, and whether a data set is being built."""

import hashlib
import time
from collections.abc import Iterable
from typing import Any

import dagster as dg
from dagster import DagsterInstance

from crmrag_assets.build.locks import is_locked
from crmrag_assets.build.sharing import endpoint_turns
from crmrag_assets.build.step import BuildContext
from crmrag_assets.jobs import BUILDS_TAG, WAITS_TAG, build_job
from crmrag_assets.lost import BEFORE_LOCK as BEFORE_LOCK
from crmrag_assets.lost import begun

ENDPOINT_TAG = (
    "crmrag/endpoint"  # by this the queue starts one build of an endpoint at a time: see dagster.yaml
)
UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def names_of(datasets: Iterable[str], prefix: str) -> dict[str, str]:
    """A name for Dagster, which takes no hyphens, for each data set; distinct where `a-b` and `a_b` are both there."""
    found: dict[str, str] = {}
    for dataset in sorted(datasets):
        name = f"{prefix}_{dataset.replace('-', '_')}"
        if name in found.values():
            name = f"{name}_{hashlib.sha256(dataset.encode()).hexdigest()[:6]}"
        found[dataset] = name
    return found


def build_request(context: BuildContext, key: str | None, why: str) -> dg.RunRequest:
    """A run of the job `build` for a data set; an endpoint is asked again."""
    tags = {BUILDS_TAG: context.name, "crmrag/why": why}
    if (turns := endpoint_turns(context)) is not None:
        tags[ENDPOINT_TAG] = turns.folder.name
    config = build_config(context.name, context.config.endpoint is not None)
    return dg.RunRequest(run_key=key, run_config=config, tags=tags)


def build_config(dataset: str, refresh: bool) -> dict[str, Any]:
    return {"ops": {"build_layers": {"config": {"dataset": dataset, "sample": 0, "refresh": refresh}}}}


def dataset_of(run: dg.DagsterRun) -> str:
    """The data set that a run of the job `build` builds, "" where its configuration does not say."""
    if BUILDS_TAG in run.tags:
        return run.tags[BUILDS_TAG]
    config: Any = run.run_config
    for key in ("ops", "build_layers", "config", "dataset"):
        config = config.get(key) if isinstance(config, dict) else None
    return str(config or "")


def busy(context: BuildContext, instance: DagsterInstance, now: float | None = None) -> str:
    """Why a data set cannot be built at this moment, "" where it can: it is being built, or a run waits to."""
    if is_locked(context.store.root):
        return f"'{context.name}' is being built."
    records = instance.get_run_records(dg.RunsFilter(job_name=build_job.name, statuses=UNFINISHED))
    for record in records:
        run = record.dagster_run
        if dataset_of(run) != context.name:
            continue
        since = (time.time() if now is None else now) - max(begun(record), float(run.tags.get(WAITS_TAG, 0)))
        if run.status == dg.DagsterRunStatus.QUEUED or since < BEFORE_LOCK:
            return (
                f"'{context.name}' is about to be built by run {run.run_id[:8]} ({run.status.value.lower()})."
            )
    return ""
