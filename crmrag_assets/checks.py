"""Asset checks: what `crmrag_assets.quality` finds, shown in the catalogue; those that block stop the run."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from crmrag_assets.instance import afterwards, as_run_error, explained, known_betas
from crmrag_assets.metadata import markdown_table
from crmrag_assets.partitions import BuildResource, dataset_partitions
from crmrag_assets.quality.checks import CHECKS
from crmrag_assets.quality.finding import BuildCheck, judge, refusal
from crmrag_assets.runs import hold_run_lock
from crmrag_query.errors import BuildError
from crmrag_query.verify.check import Finding

REMEDY, DATASET = "what_to_do", "dataset"  # keys of a result's metadata
CONSEQUENCE = {
    "blocks": (dg.AssetCheckSeverity.ERROR, "Stops the build: the current release stays."),
    "fails": (dg.AssetCheckSeverity.ERROR, "An error that stops nothing."),
    "warns": (dg.AssetCheckSeverity.WARN, "A warning: the build goes on."),
}


def declared(asset: str, guards: Sequence[BuildCheck]) -> dg.AssetChecksDefinition:
    """The checks of an asset as Dagster knows them: one step for all, of each data set."""
    with known_betas():
        specs = [
            dg.AssetCheckSpec(
                check.name,
                asset=asset,
                blocking=check.blocks,
                description=f"{check.about}\n\n{CONSEQUENCE[check.weight][1]}",
                partitions_def=dataset_partitions,
            )
            for check in guards
        ]
    name = f"checks_of_{asset}"

    @dg.multi_asset_check(name=name, specs=specs, can_subset=True)
    def run(
        context: dg.AssetCheckExecutionContext, build: BuildResource
    ) -> Iterator[dg.AssetCheckResult | dg.AssetCheckEvaluation]:
        refused = None
        with explained(name):
            hold_run_lock(Path(build.data), context.run)
            dataset = dataset_of(context, asset)
            opened = build.opened(dataset)
            chosen = {key.name for key in context.selected_asset_check_keys}
            for check in guards:
                if check.name not in chosen:
                    continue
                finding = judge(check, opened)
                if context.has_partition_key:
                    yield dg.AssetCheckResult(asset_key=asset, **result(check, dataset, finding))
                else:  # a run that has no data set of its own: Dagster could not tell of which this is
                    yield dg.AssetCheckEvaluation(
                        asset_key=dg.AssetKey(asset),
                        blocking=check.blocks,
                        partition=dataset,
                        **result(check, dataset, finding),
                    )
                if check.blocks and not finding.holds:
                    refused = refused or refusal(check, finding.says, finding.remedy)
        if refused is not None:
            ending = f"{refused.remedy}\n{afterwards(opened.data, dataset)}"
            raise as_run_error(BuildError(refused.what, ending))

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


def result(check: BuildCheck, dataset: str, finding: Finding) -> dict[str, Any]:
    """What the catalogue shows: the sentence, the numbers, samples as tables, and what to do where it does not hold."""
    shown: dict[str, Any] = {DATASET: dataset, **finding.counts}
    if not finding.holds and finding.remedy:
        shown[REMEDY] = dg.MetadataValue.text(finding.remedy)
    shown |= {
        name: dg.MetadataValue.md(markdown_table(rows)) for name, rows in finding.tables.items() if rows
    }
    return {
        "check_name": check.name,
        "passed": finding.holds,
        "severity": CONSEQUENCE[check.weight][0],
        "description": f"{dataset}: {finding.says}",
        "metadata": shown,
    }


checks = [
    declared(asset, [check for check in CHECKS if check.of == asset])
    for asset in dict.fromkeys(check.of for check in CHECKS)
]
