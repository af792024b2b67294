"""Asset checks: what `crmrag_assets.quality` finds, shown in the catalogue; those that block stop the run."""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from crmrag_assets.metadata import markdown_table
from crmrag_assets.quality.checks import CHECKS
from crmrag_assets.quality.finding import Check, Finding
from crmrag_assets.quality.recorded import judge
from crmrag_assets.resources import BuildResource
from crmrag_query.errors import BuildError

REMEDY, DATASET = "what_to_do", "dataset"  # keys of a result's metadata
SEVERITY = {
    "blocks": dg.AssetCheckSeverity.ERROR,
    "fails": dg.AssetCheckSeverity.ERROR,
    "warns": dg.AssetCheckSeverity.WARN,
}
CONSEQUENCE = {
    "blocks": "Stops the build: the current release stays.",
    "fails": "An error that stops nothing.",
    "warns": "A warning: the build goes on.",
}


def declared(asset: str, guards: Sequence[Check]) -> dg.AssetChecksDefinition:
    """The checks of an asset as Dagster knows them: one step for all, of which each can be executed alone."""
    of = {check.name: check for check in guards}
    specs = [
        dg.AssetCheckSpec(
            check.name,
            asset=asset,
            blocking=check.blocks,
            description=f"{check.about}\n\n{CONSEQUENCE[check.weight]}",
        )
        for check in guards
    ]

    @dg.multi_asset_check(name=f"checks_of_{asset}", specs=specs, can_subset=True)
    def run(context: dg.AssetCheckExecutionContext, build: BuildResource) -> Iterator[dg.AssetCheckResult]:
        dataset = dataset_of(context, asset)
        opened = build.opened(dataset)
        for key in sorted(context.selected_asset_check_keys, key=lambda key: [*of].index(key.name)):
            yield result(of[key.name], dataset, judge(of[key.name], opened))

    return run


def dataset_of(context: dg.AssetCheckExecutionContext, asset: str) -> str:
    """The run's data set; of a check that is executed by itself, which has none, that of the latest materialisation."""
    if context.has_partition_key:
        return str(context.partition_key)
    event = context.instance.get_latest_materialization_event(dg.AssetKey(asset))
    made = event.asset_materialization if event is not None else None
    if made is None or made.partition is None:
        raise BuildError(
            f"'{asset}' was never made, so there is nothing to check.", "Build a data set first."
        )
    return str(made.partition)


def result(check: Check, dataset: str, finding: Finding) -> dg.AssetCheckResult:
    """What the catalogue shows: the sentence, the numbers, samples as tables, and what to do where it does not hold."""
    shown: dict[str, Any] = {DATASET: dataset, **finding.counts}
    if not finding.holds and finding.remedy:
        shown[REMEDY] = dg.MetadataValue.text(finding.remedy)
    shown |= {name: dg.MetadataValue.md(markdown_table(rows)) for name, rows in finding.tables.items()}
    return dg.AssetCheckResult(
        asset_key=check.asset,
        check_name=check.name,
        passed=finding.holds,
        severity=SEVERITY[check.weight],
        description=f"{dataset}: {finding.says}",
        metadata=shown,
    )


checks = [
    declared(asset, [check for check in CHECKS if check.asset == asset])
    for asset in dict.fromkeys(check.asset for check in CHECKS)
]
