"""Jobs: one for each layer of a build, ``build``, which runs the layers in order, and ``evaluate``."""

import time
from pathlib import Path

import dagster as dg
from pydantic import Field

from crmrag_assets.build.layers import LAYERS, Layer
from crmrag_assets.build.reporting import LogReporter
from crmrag_assets.lost import attend
from crmrag_assets.metadata import markdown_table, summary_rows
from crmrag_assets.resources import BuildResource
from crmrag_assets.settings import lost_retries
from crmrag_assets.told import told_as_is
from crmrag_query.config.operations import Retrying, load_operations
from crmrag_query.errors import BuildHeldUp, CrmRagError

WAITS_TAG = "crmrag/waits_until"  # on a run of it that will try again: when, in seconds since 1970
BUILDS_TAG = "crmrag/builds"  # on runs of the job `build`: the data set


def layer_job_name(layer: Layer) -> str:
    """With its number, by which the UI lists the layers in the order of a build."""
    return f"layer_{LAYERS.index(layer) + 1}_{layer.name}"


layer_jobs = [
    dg.define_asset_job(
        layer_job_name(layer),
        selection=list(layer.assets),
        description=f"Layer {number} of {len(LAYERS)} of a build: {', '.join(layer.assets)}.",
        executor_def=dg.in_process_executor,
    )
    for number, layer in enumerate(LAYERS, start=1)
]


evaluate_job = dg.define_asset_job(
    "evaluate",
    selection=["evaluation"],
    description="Measure a data set's release by its questions with known answers, as `crmrag evaluate` does.",
    executor_def=dg.in_process_executor,
)


class BuildConfig(dg.Config):
    """What to build."""

    dataset: str = Field(description="A data set that is declared in datasets.yaml.")
    sample: int = Field(0, description="Only that many connected entities of it, as NAME-sample; 0 for all.")
    refresh: bool = Field(False, description="Ask an endpoint again for what was harvested from it before.")


@dg.op
def build_layers(context: dg.OpExecutionContext, config: BuildConfig, build: BuildResource) -> None:
    """Run every layer of a build in order, as ``crmrag build`` does; the log tells how far it is."""
    from crmrag_assets.launch import BuildRequest, run_build

    attend(Path(build.data), context.run)
    context.instance.add_run_tags(
        context.run_id, {BUILDS_TAG: config.dataset}
    )  # so that a list of runs says which
    request = BuildRequest(config.dataset, build, config.sample or None, config.refresh, context.run_id)
    try:
        result = run_build(request, context.instance, LogReporter(context.log.info))
    except BuildHeldUp as error:
        raise _again(context, error, load_operations(build.config_folder).retrying) from told_as_is(error)
    except CrmRagError as error:  # where it arose stands with the layer's run: here it would hide what to do
        raise told_as_is(error) from None
    for remark in result.remarks:
        context.log.info(remark)
    for warning in result.warnings:
        context.log.warning(warning)
    opened = build.opened(result.dataset)
    context.add_output_metadata(
        {
            "release": str(opened.finished("release").stats["release"]),
            "layers_run": len(result.runs),
            "assets": dg.MetadataValue.md(markdown_table(summary_rows(result.outcomes))),
        }
    )


def _again(context: dg.OpExecutionContext, error: BuildHeldUp, retrying: Retrying) -> dg.RetryRequested:
    """A request to begin again later; the log says when, unless that was tried often enough."""
    if context.retry_number < retrying.times:
        left = retrying.times - context.retry_number
        times = "once more" if left == 1 else f"{left} times at most"
        context.log.warning(f"{error} Tried again in {retrying.minutes:g} minutes, {times}.")
    until = time.time() + 60 * retrying.minutes
    context.instance.add_run_tags(context.run_id, {WAITS_TAG: f"{until:.0f}"})
    return dg.RetryRequested(retrying.times, 60 * retrying.minutes)


# What the launchpad of the UI starts with: the bundled data set, to be changed for another one.
LAUNCHPAD = {"ops": {"build_layers": {"config": {"dataset": "sample", "sample": 0, "refresh": False}}}}


# Of a build whose process was lost: Dagster's daemon starts it again, from what is finished on.
LOST_TAGS = {"dagster/max_retries": str(lost_retries()), "dagster/retry_strategy": "ALL_STEPS"}


@dg.job(name="build", executor_def=dg.in_process_executor, config=LAUNCHPAD, tags=LOST_TAGS)
def build_job() -> None:
    """Build a data set from its source to a release. What is finished and unchanged is not made again.

    Set `dataset` to a name declared in `config/datasets.yaml`; `sample: 1000` builds only that many connected entities;
    `refresh: true` asks a SPARQL endpoint again.
    Each layer is a run of its own, listed under Runs with the tag `crmrag/build`.
    """
    build_layers()
