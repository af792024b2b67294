"""What a failed run says of itself, as a person should read it."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from crmrag_assets.automation import dataset_of
from crmrag_assets.build.layers import ARTIFACTS
from crmrag_assets.jobs import build_job, evaluate_job, layer_jobs
from crmrag_assets.launch import DATASET_TAG, LAYER_TAG, PARENT_TAG
from crmrag_assets.operations.message import Message
from crmrag_assets.partitions import RANGE_START

FROM_ASSETS = "__ASSET_JOB"  # what Dagster calls a run that was started from the asset graph
PARTITION = "dagster/partition"
JOBS = {build_job.name, evaluate_job.name, *(job.name for job in layer_jobs)}
ASSETS = {dg.AssetKey(name) for name in (*ARTIFACTS, "evaluation")}
_OWN_CLASS = re.compile(r"crmrag_\w+(?:\.\w+)*: ")  # how Dagster puts the class before the message


def failure_message(context: dg.RunFailureSensorContext, ui: str | None) -> Message | None:
    """What to tell of a failed run; None of one that is not ours, and of a layer whose build tells of it itself."""
    run = context.dagster_run
    if not _is_ours(run) or PARENT_TAG in run.tags:
        return None
    errors = [_error(event) for event in context.get_step_failure_events()]
    reasons = [_reason(error) for error in errors if error is not None]
    dataset = _dataset(run)
    return Message(
        kind="failure",
        what=_what(run, dataset),
        why="\n".join(dict.fromkeys(reasons))
        or (context.failure_event.message or "Dagster gives no reason."),
        dataset=dataset,
        job=run.job_name,
        run=run.run_id,
        link=f"{ui}/runs/{run.run_id}" if ui else "",
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def _is_ours(run: dg.DagsterRun) -> bool:
    """Whether a run, of whatever code location, is of our jobs or of our assets alone."""
    if run.job_name != FROM_ASSETS:
        return run.job_name in JOBS
    checked = {key.asset_key for key in run.asset_check_selection or ()}
    return bool(chosen := checked | set(run.asset_selection or ())) and chosen <= ASSETS


def _what(run: dg.DagsterRun, dataset: str) -> str:
    of = f" of '{dataset}'" if dataset else ""
    if run.job_name == evaluate_job.name:
        return f"The evaluation{of} failed"
    if layer := run.tags.get(LAYER_TAG):
        return f"The build{of} failed in its layer '{layer}'"
    return f"The build{of} failed"


def _dataset(run: dg.DagsterRun) -> str:
    """The data set that a run is about."""
    partition = run.tags.get(PARTITION) or run.tags.get(RANGE_START, "")
    return run.tags.get(DATASET_TAG) or dataset_of(run) or partition.rpartition("|")[2]


def _error(event: dg.DagsterEvent) -> Any:
    return event.step_failure_data.error


def _reason(error: Any) -> str:
    """Our own words where the error or a cause of it is ours, else the innermost message."""
    messages = list(_messages(error))
    for message in messages:
        if own := _OWN_CLASS.match(message):
            return message[own.end() :]
    return messages[-1]


def _messages(error: Any) -> Iterator[str]:
    while error is not None:
        yield error.message.strip()
        error = error.cause
