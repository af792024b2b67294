"""What a failed run says of itself, as a person should read it."""

from datetime import UTC, datetime

import dagster as dg

from crmrag_assets.automation import dataset_of
from crmrag_assets.jobs import evaluate_job
from crmrag_assets.launch import PARENT_TAG
from crmrag_assets.lost import DATASET_TAG, LAYER_TAG, is_ours
from crmrag_assets.operations.message import Message
from crmrag_assets.partitions import RANGE_START
from crmrag_assets.told import LOST, told_of

MARKED = "This run has been marked as failed"  # by Dagster's code server, whose process of it is gone
WILL_RETRY = "dagster/will_retry"
PARTITION = "dagster/partition"


def failure_message(context: dg.RunFailureSensorContext, ui: str | None) -> Message | None:
    """What to tell of a failed run; None of one that is not ours or that somebody stopped, of a layer whose build
    tells of it itself, and of a lost run that Dagster starts again."""
    run = context.dagster_run
    if not is_ours(run) or PARENT_TAG in run.tags or run.tags.get(WILL_RETRY) == "true":
        return None
    told = [one for event in context.get_step_failure_events() if (one := told_of(event))]
    if any(one.interrupted for one in told):
        return None
    reasons = [one.text for one in told]
    dataset = _dataset(run)
    return Message(
        kind="failure",
        what=_what(run, dataset),
        why="\n".join(dict.fromkeys(reasons)) or _why(context.failure_event.message),
        dataset=dataset,
        job=run.job_name,
        run=run.run_id,
        link=f"{ui}/runs/{run.run_id}" if ui else "",
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def _why(message: str | None) -> str:
    """Why a run failed of which no step did."""
    if message is None:
        return "Dagster gives no reason."
    return LOST if message.startswith(MARKED) else message


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
