"""Freshness: a check on the asset `release`, and a sensor that keeps it true between builds.

Dagster's own freshness policies speak of an asset as a whole, so that one fresh data set would hide twenty stale ones; and
a build that finds nothing to do materialises nothing. So the ages are our own.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import dagster as dg

from crmrag_assets.assets.release import release
from crmrag_assets.metadata import markdown_table
from crmrag_assets.operations.declared import read_declared
from crmrag_assets.operations.freshness import Age, age, rows, sentence
from crmrag_assets.operations.message import Message
from crmrag_assets.operations.notify import faults, tell
from crmrag_assets.resources import BuildResource

NAME, CHECK = "freshness", "releases_are_fresh"
DAY = 24 * 3600


def ages_of(build: BuildResource, now: datetime) -> list[Age]:
    """The ages of all data sets with `fresh_hours`."""
    return [age(build.opened(name), now) for name in read_declared(build.config_folder).ages]


def _metadata(ages: Sequence[Age]) -> dict[str, dg.MetadataValue | int | float]:
    return {
        "stale": sum(not one.fresh for one in ages),
        "oldest_hours": round(max((one.hours for one in ages), default=0.0), 2),
        "ages": dg.MetadataValue.md(markdown_table(rows(ages))),
    }


@dg.asset_check(
    asset=release,
    name=CHECK,
    description="No data set is older than its `fresh_hours`: it was built, or found unchanged, within so many hours.",
)
def releases_are_fresh(context: dg.AssetCheckExecutionContext, build: BuildResource) -> dg.AssetCheckResult:
    ages = ages_of(build, datetime.now(UTC))
    return dg.AssetCheckResult(
        passed=all(one.fresh for one in ages),
        severity=dg.AssetCheckSeverity.WARN,
        description=sentence(ages),
        metadata=_metadata(ages),
    )


def freshness_sensor(seconds: int) -> dg.SensorDefinition:
    """Looks at all ages; what changed is recorded as the check's result, and told where a data set becomes stale."""

    @dg.sensor(
        name=NAME,
        minimum_interval_seconds=seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Looks whether what is published is older than its data set's `fresh_hours`, keeps the check "
        f"`{CHECK}` of the asset `release`, and tells the hooks of operations.yaml when a data set becomes stale.",
    )
    def sensor(context: dg.SensorEvaluationContext, build: BuildResource) -> dg.SensorResult:
        return look(context, build, datetime.now(UTC))

    return sensor


def look(context: dg.SensorEvaluationContext, build: BuildResource, now: datetime) -> dg.SensorResult:
    """One tick: the check's result is recorded when a data set becomes stale or fresh, and once a day."""
    ages = ages_of(build, now)
    stale = sorted(one.dataset for one in ages if not one.fresh)
    before, told = _remembered(context.cursor)
    for dataset in set(stale) - set(before):
        _tell(context, build, next(one for one in ages if one.dataset == dataset))
    due = stale != before or now.timestamp() - told >= DAY
    cursor = json.dumps({"stale": stale, "told": now.timestamp() if due else told})
    return dg.SensorResult(
        skip_reason=sentence(ages), cursor=cursor, asset_events=[_evaluation(ages)] if due else []
    )


def _evaluation(ages: Sequence[Age]) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=release.key,
        check_name=CHECK,
        passed=all(one.fresh for one in ages),
        severity=dg.AssetCheckSeverity.WARN,
        description=sentence(ages),
        metadata=_metadata(ages),
    )


def _tell(context: dg.SensorEvaluationContext, build: BuildResource, stale: Age) -> None:
    operations = read_declared(build.config_folder).operations
    message = Message(
        kind="stale",
        what=f"The release of '{stale.dataset}' is stale",
        why=sentence([stale]),
        dataset=stale.dataset,
        link=f"{operations.ui}/assets/{'/'.join(release.key.path)}" if operations.ui else "",
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    for fault in faults(tell(operations, message)):
        context.log.error(fault)


def _remembered(cursor: str | None) -> tuple[list[str], float]:
    """The data sets that were stale, and when the check's result was recorded."""
    try:
        raw = json.loads(cursor or "")
        return sorted(map(str, raw["stale"])), float(raw["told"])
    except (ValueError, TypeError, KeyError):
        return [], 0.0
