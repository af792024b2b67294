"""Everything that Dagster loads."""

from __future__ import annotations

import dagster as dg

from crmrag_assets.assets import documents, evaluation, graph, indexes, release, source
from crmrag_assets.checks import checks
from crmrag_assets.jobs import build_job, evaluate_job, layer_jobs
from crmrag_assets.resources import from_environment

defs = dg.Definitions(
    assets=dg.load_assets_from_modules([source, graph, documents, indexes, release, evaluation]),
    asset_checks=checks,
    jobs=[build_job, evaluate_job, *layer_jobs],
    resources={"build": from_environment()},
)
