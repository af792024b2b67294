"""A schedule for each data set that has one: the job `build` at its times, unless the data set is being built."""

from collections.abc import Mapping

import dagster as dg

from crmrag_assets.automation import build_request, busy, names_of
from crmrag_assets.jobs import build_job
from crmrag_assets.resources import BuildResource
from crmrag_query.config import DatasetConfig


def schedules_of(datasets: Mapping[str, DatasetConfig]) -> list[dg.ScheduleDefinition]:
    """One for each data set with `rebuild: schedule`; it runs from the start, as that is what declaring it means."""
    chosen = {name: one for name, one in datasets.items() if one.rebuild.schedule}
    return [_schedule(chosen[dataset], name) for dataset, name in names_of(chosen, "rebuild").items()]


def _schedule(dataset: DatasetConfig, name: str) -> dg.ScheduleDefinition:
    when = f"{dataset.rebuild.schedule} ({dataset.rebuild.timezone})"

    @dg.schedule(
        name=name,
        job_name=build_job.name,
        cron_schedule=dataset.rebuild.schedule,
        execution_timezone=dataset.rebuild.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=f"Build '{dataset.name}' at {when}, "
        + ("asking its endpoint again." if dataset.endpoint else "from its files as they are then."),
    )
    def schedule(
        context: dg.ScheduleEvaluationContext, build: BuildResource
    ) -> dg.RunRequest | dg.SkipReason:
        opened = build.opened(dataset.name)
        if reason := busy(opened, context.instance):
            return dg.SkipReason(f"{reason} It is built again at the next time.")
        return build_request(opened, None, f"schedule {when}")

    return schedule
