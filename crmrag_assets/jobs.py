"""Jobs: one for each layer of a build, and ``build``, which runs the layers in order."""

import dagster as dg

from crmrag_assets.build.layers import LAYERS, Layer
from crmrag_assets.resources import BuildResource


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


class BuildConfig(dg.Config):
    """Which data set to build, as declared in datasets.yaml; ``sample``: only that many connected entities of it."""

    dataset: str
    sample: int = 0


@dg.op
def build_layers(context: dg.OpExecutionContext, config: BuildConfig, build: BuildResource) -> None:
    """Run every layer of a build in order, as ``crmrag build`` does."""
    from crmrag_assets.launch import BuildRequest, run_build

    run_build(BuildRequest(config.dataset, build, config.sample or None), context.instance)


@dg.job(name="build", executor_def=dg.in_process_executor)
def build_job() -> None:
    """Build a data set from its source to a release. What is finished and unchanged is not made again."""
    build_layers()
