"""Asset checks: what `crmrag_assets.quality` finds, shown in the catalogue; those that block stop the run."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from crmrag_assets.lost import attend
from crmrag_assets.metadata import markdown_table
from crmrag_assets.partitions import dataset_partitions
from crmrag_assets.quality.checks import CHECKS
from crmrag_assets.quality.finding import Check, Finding
from crmrag_assets.quality.recorded import judge, refusal
from crmrag_assets.quiet import known_betas
from crmrag_assets.resources import BuildResource
from crmrag_assets.told import afterwards, explained, told_as_is
from crmrag_query.errors import BuildError

REMEDY, DATASET = "what_to_do", "dataset"  # keys of a result's metadata
SEVERITY = {
    "blocks": dg.AssetCheckSeverity.ERROR,
    "fails": dg.AssetCheckSeverity.ERROR,
    "warns": dg.AssetCheckSeverity.WARN,
}
Result = dg.AssetCheckResult | dg.AssetCheckEvaluation
CONSEQUENCE = {
    "blocks": "Stops the build: the current release stays.",
    "fails": "An error that stops nothing.",
    "warns": "A warning: the build goes on.",
}


def declared(asset: str, guards: Sequence[Check]) -> dg.AssetChecksDefinition:
    """The checks of an asset as Dagster knows them: one step for all, of each data set."""
    of = {check.name: check for check in guards}
    with known_betas():
        specs = [
            dg.AssetCheckSpec(
                check.name,
                asset=asset,
                blocking=check.blocks,
                description=f"{check.about}\n\n{CONSEQUENCE[check.weight]}",
                partitions_def=dataset_partitions,
            )
            for check in guards
        ]

    name = f"checks_of_{asset}"

    @dg.multi_asset_check(name=name, specs=specs, can_subset=True)
    def run(context: dg.AssetCheckExecutionContext, build: BuildResource) -> Iterator[Result]:
        refused = None
        with explained(name):
            attend(Path(build.data), context.run)
            dataset = dataset_of(context, asset)
            opened = build.opened(dataset)
            for key in sorted(context.selected_asset_check_keys, key=lambda key: [*of].index(key.name)):
                check, finding = of[key.name], judge(of[key.name], opened)
                found = result(check, dataset, finding)
                yield found if context.has_partition_key else _by_itself(found, check, dataset)
                if check.blocks and not finding.holds:
                    refused = refused or refusal(asset, check.name, finding.says, finding.remedy)
        if refused is not None:
            ending = f"{refused.remedy}\n{afterwards(opened.data, dataset)}"
            raise told_as_is(BuildError(refused.what, ending))

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


def _by_itself(found: dg.AssetCheckResult, check: Check, dataset: str) -> dg.AssetCheckEvaluation:
    """The same, of a run that has no data set of its own: Dagster could not tell of which it is."""
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(check.asset),
        check_name=check.name,
        passed=found.passed,
        severity=found.severity,
        description=found.description,
        metadata=found.metadata,
        blocking=check.blocks,
        partition=dataset,
    )


checks = [
    declared(asset, [check for check in CHECKS if check.asset == asset])
    for asset in dict.fromkeys(check.asset for check in CHECKS)
]
