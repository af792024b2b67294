"""Everything that Dagster loads."""

from __future__ import annotations

import logging

import dagster as dg

from crmrag_assets.automation import releases_are_fresh, schedules_of, sensors_of
from crmrag_assets.launch import build_job, embed_job, evaluate_job, layer_definitions
from crmrag_assets.operations.freshness import read_declared
from crmrag_assets.partitions import from_environment

declared = read_declared(from_environment().config_folder)
for mistake in declared.mistakes:
    logging.getLogger(__name__).error("%s\nNeither watch nor schedule counts until it is mended.", mistake)

defs = dg.Definitions.merge(
    layer_definitions,
    dg.Definitions(
        asset_checks=[releases_are_fresh] if declared.ages else [],
        jobs=[build_job, embed_job, evaluate_job],
        sensors=sensors_of(declared),
        schedules=schedules_of(declared.datasets),
    ),
)
