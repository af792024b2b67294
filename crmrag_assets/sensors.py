"""Sensors: one that watches the source of each data set that wants it, one that tells of failures, one of what is stale."""

import time

import dagster as dg

from crmrag_assets.automation import build_request, busy, names_of
from crmrag_assets.build.marks import confirm
from crmrag_assets.failures import failure_message
from crmrag_assets.freshness import freshness_sensor
from crmrag_assets.jobs import build_job
from crmrag_assets.lost import lost_runs_sensor
from crmrag_assets.operations.declared import Declared, read_declared
from crmrag_assets.operations.notify import faults, tell
from crmrag_assets.operations.watch import watch
from crmrag_assets.resources import BuildResource
from crmrag_query.config import DatasetConfig
from crmrag_query.config.operations import Watching
from crmrag_query.errors import BuildError, ConfigError

TELLING = "tell_of_failures"


def sensors_of(declared: Declared) -> list[dg.SensorDefinition]:
    """All sensors that a configuration asks for; they run from the start, as that is what declaring them means."""
    watched = {name: one for name, one in declared.datasets.items() if one.rebuild.watch}
    watching = declared.operations.watching
    found = [
        _watch_sensor(watched[dataset], name, watching)
        for dataset, name in names_of(watched, "watch").items()
    ]
    if declared.ages:
        found.append(freshness_sensor(watching.freshness_seconds))
    if declared.operations.notify:
        found.append(failure_sensor())
    found.append(lost_runs_sensor())
    return found


def _watch_sensor(dataset: DatasetConfig, name: str, limits: Watching) -> dg.SensorDefinition:
    settings = dataset.rebuild

    @dg.sensor(
        name=name,
        job_name=build_job.name,
        minimum_interval_seconds=settings.every_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=f"Looks whether the source of '{dataset.name}' has changed, and builds it when a change has stayed "
        f"as it is for {settings.settle_seconds} s. What the last look found is told in its tick.",
    )
    def sensor(context: dg.SensorEvaluationContext, build: BuildResource) -> dg.SensorResult:
        return look(context, build, dataset.name, limits, time.time())

    return sensor


def look(
    context: dg.SensorEvaluationContext, build: BuildResource, dataset: str, limits: Watching, now: float
) -> dg.SensorResult:
    """One tick of a watch; what it remembers is the sensor's cursor."""
    try:
        opened = build.opened(dataset)
    except (BuildError, ConfigError) as error:
        return dg.SensorResult(skip_reason=f"{error} Then reload the code location.", cursor=context.cursor)
    if reason := busy(opened, context.instance):
        return dg.SensorResult(
            skip_reason=f"{reason} Its source is looked at again then.", cursor=context.cursor
        )
    found = watch(opened, context.cursor, limits, now)
    if found.confirmed:
        confirm(opened.store.root)
    memory = found.state.dumped()
    if not found.change:
        return dg.SensorResult(skip_reason=found.says, cursor=memory)
    context.log.info(found.says)
    request = build_request(opened, f"{dataset}:{found.change}", "its source changed")
    return dg.SensorResult(run_requests=[request], cursor=memory)


def failure_sensor() -> dg.SensorDefinition:
    """Tells every hook of operations.yaml of each build, evaluation and layer that fails, once."""

    @dg.run_failure_sensor(
        name=TELLING,
        monitor_all_code_locations=True,  # layers run in their build's process, of which Dagster knows no location
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Sends a message to every hook of operations.yaml when a build or an evaluation fails. "
        "Try the hooks: `crmrag notify --test`.",
    )
    def sensor(context: dg.RunFailureSensorContext, build: BuildResource) -> None:
        operations = read_declared(build.config_folder).operations
        message = failure_message(context, operations.ui)
        if message is None:
            return
        for fault in faults(tell(operations, message)):
            context.log.error(fault)

    return sensor
