"""The assets and their checks, and one job for each layer of a build: what `launch` runs."""

import dagster as dg

from crmrag_assets.assets import artifacts, evaluation
from crmrag_assets.build.step import LAYERS, Layer
from crmrag_assets.checks import checks
from crmrag_assets.partitions import from_environment


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


definitions = dg.Definitions(
    assets=[*artifacts, evaluation],
    asset_checks=checks,
    jobs=layer_jobs,
    resources={"build": from_environment()},
    # A run from the asset graph is one process, as those of the jobs are: it holds the run's lock to its end, and artifacts
    # that are made side by side would wait for the lock of their data set.
    executor=dg.in_process_executor,
)
