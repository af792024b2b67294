"""Jobs: one for each layer of a build, ``build``, which runs the layers in order, and ``evaluate``."""

import time

import dagster as dg

from crmrag_assets.build.layers import LAYERS, Layer
from crmrag_assets.build.reporting import LogReporter
from crmrag_assets.metadata import markdown_table, summary_rows
from crmrag_assets.resources import BuildResource
from crmrag_query.config.operations import load_operations
from crmrag_query.errors import BuildHeldUp

WAITS_TAG = "crmrag/waits_until"  # on a run of it that will try again: when, in seconds since 1970
BUILDS_TAG = "crmrag/builds"  # on runs of the job `build` that a sensor or a schedule asked for: the data set


def layer_job_name(layer: Layer) -> str:
    return f"layer_{layer.name}"


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
    """Which data set to build, as declared in datasets.yaml; ``sample``: only that many connected entities of it.

    ``refresh``: ask an endpoint again for what was harvested from it before.
    """

    dataset: str
    sample: int = 0
    refresh: bool = False


@dg.op
def build_layers(context: dg.OpExecutionContext, config: BuildConfig, build: BuildResource) -> None:
    """Run every layer of a build in order, as ``crmrag build`` does; the log tells how far it is."""
    from crmrag_assets.launch import BuildRequest, run_build

    request = BuildRequest(config.dataset, build, config.sample or None, config.refresh, context.run_id)
    try:
        result = run_build(request, context.instance, LogReporter(context.log.info))
    except BuildHeldUp as error:
        retrying = load_operations(build.config_folder).retrying
        context.log.warning(
            f"{error} Tried again in {retrying.minutes:g} minutes, {retrying.times} times at most."
        )
        until = time.time() + 60 * retrying.minutes
        context.instance.add_run_tags(context.run_id, {WAITS_TAG: f"{until:.0f}"})
        raise dg.RetryRequested(retrying.times, 60 * retrying.minutes) from error
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


# What the launchpad of the UI starts with: the bundled data set, to be changed for another one.
LAUNCHPAD = {"ops": {"build_layers": {"config": {"dataset": "sample", "sample": 0, "refresh": False}}}}


@dg.job(name="build", executor_def=dg.in_process_executor, config=LAUNCHPAD)
def build_job() -> None:
    """Build a data set from its source to a release. What is finished and unchanged is not made again.

    Set `dataset` to a name declared in `config/datasets.yaml`; `sample: 1000` builds only that many connected entities;
    `refresh: true` asks a SPARQL endpoint again.
    Each layer is a run of its own, listed under Runs with the tag `crmrag/build`.
    """
    build_layers()
