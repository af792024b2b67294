"""Everything that Dagster loads."""

from __future__ import annotations

import logging

import dagster as dg

from crmrag_assets.assets import documents, evaluation, graph, indexes, release, source
from crmrag_assets.checks import checks
from crmrag_assets.freshness import releases_are_fresh
from crmrag_assets.jobs import build_job, evaluate_job, layer_jobs
from crmrag_assets.operations.declared import read_declared
from crmrag_assets.resources import from_environment
from crmrag_assets.schedules import schedules_of
from crmrag_assets.sensors import sensors_of

build = from_environment()
declared = read_declared(build.config_folder)
for mistake in declared.mistakes:
    logging.getLogger(__name__).error("%s\nNeither watch nor schedule counts until it is mended.", mistake)

defs = dg.Definitions(
    assets=dg.load_assets_from_modules([source, graph, documents, indexes, release, evaluation]),
    asset_checks=[*checks, *([releases_are_fresh] if declared.ages else [])],
    jobs=[build_job, evaluate_job, *layer_jobs],
    sensors=sensors_of(declared),
    schedules=schedules_of(declared.datasets),
    resources={"build": build},
    # A run from the asset graph is one process, as those of our jobs are: it holds the run's lock to its end, and artifacts
    # that are made side by side would wait for the lock of their data set.
    executor=dg.in_process_executor,
)
