"""Everything that Dagster loads, and what it does by itself: schedules and sensors. Builds at their times and where a source
changed, unless the data set is being built; messages of failures and of what is stale.

Dagster's own freshness policies speak of an asset as a whole, so that one fresh data set would hide twenty stale ones; and a
build that finds nothing to do materialises nothing. So a check on the asset `release` has the ages of all data sets, and a
sensor keeps it true between builds.
"""

import hashlib
import json
import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
from dagster import DagsterInstance

from crmrag_assets.build.step import BuildContext, is_embedding, is_locked
from crmrag_assets.build.store import Published, confirm
from crmrag_assets.instance import LOST, explained, run_error
from crmrag_assets.launch import (
    build_config,
    build_job,
    catalogued,
    embed_config,
    embed_job,
    embed_vectors,
    layer_definitions,
    release_of,
)
from crmrag_assets.metadata import evaluation_metadata, markdown_table, plotted
from crmrag_assets.metadata import evaluation_version as data_version_of
from crmrag_assets.operations.freshness import (
    Age,
    Declared,
    age,
    is_open,
    opening,
    read_declared,
    rows,
    sentence,
)
from crmrag_assets.operations.notify import Message, faults, tell
from crmrag_assets.operations.watch import watch
from crmrag_assets.partitions import DATASET, RANGE_START, BuildResource, dataset_partitions, from_environment
from crmrag_assets.runs import (
    BEFORE_LOCK,
    BUILDS_TAG,
    DATASET_TAG,
    EMBEDS_TAG,
    LAYER_TAG,
    PARENT_TAG,
    UNDER_WAY,
    WAITS_TAG,
    begun,
    hold_run_lock,
    is_ours,
    lost_runs_sensor,
)
from crmrag_query.artifacts.manifest import evaluations_folder
from crmrag_query.artifacts.release import Opener, open_release
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.operations import Watching
from crmrag_query.errors import BuildError, ConfigError
from crmrag_query.evaluation.evaluate import Plan, evaluate_file, parse_stages
from crmrag_query.evaluation.report import write_report
from crmrag_query.llm.model import LiteLLM

RELEASE = dg.AssetKey("release")


def names_of(datasets: Iterable[str], prefix: str) -> dict[str, str]:
    """A name for Dagster, which takes no hyphens, for each data set; distinct where `a-b` and `a_b` are both there."""
    found: dict[str, str] = {}
    for dataset in sorted(datasets):
        name = f"{prefix}_{dataset.replace('-', '_')}"
        if name in found.values():
            name = f"{name}_{hashlib.sha256(dataset.encode()).hexdigest()[:6]}"
        found[dataset] = name
    return found


def build_request(
    context: BuildContext, instance: DagsterInstance, key: str | None, why: str, refresh: bool
) -> dg.RunRequest:
    """A run of the job `build` for a data set; ``refresh``: what was asked for before is asked for again."""
    instance.add_dynamic_partitions(DATASET, [context.name])
    return dg.RunRequest(key, build_config(refresh), {"crmrag/why": why}, partition_key=context.name)


def dataset_of(run: dg.DagsterRun) -> str:
    """The data set that a run of the job `build` or `embed` is of, "" where it does not say."""
    for tag in (BUILDS_TAG, EMBEDS_TAG, PARTITION):
        if tag in run.tags:
            return run.tags[tag]
    config: Any = run.run_config
    for key in ("ops", embed_vectors.name, "config", "dataset"):
        config = config.get(key) if isinstance(config, dict) else None
    return str(config or "")


def busy(context: BuildContext, instance: DagsterInstance, now: float | None = None) -> str:
    """Why a data set cannot be built at this moment, "" where it can: it is being built, or a run waits to."""
    root = context.store.root
    if is_locked(root) and not is_embedding(root):  # for what publishes vectors a build waits
        return f"'{context.name}' is being built."
    for record in _under_way(context.name, build_job.name, instance):
        run = record.dagster_run
        since = (time.time() if now is None else now) - max(begun(record), float(run.tags.get(WAITS_TAG, 0)))
        if run.status == dg.DagsterRunStatus.QUEUED or since < BEFORE_LOCK:
            return (
                f"'{context.name}' is about to be built by run {run.run_id[:8]} ({run.status.value.lower()})."
            )
    return ""


def _under_way(dataset: str, job: str, instance: DagsterInstance) -> list[dg.RunRecord]:
    """The runs of a job for a data set that wait or are under way."""
    statuses = [dg.DagsterRunStatus.QUEUED, *UNDER_WAY]
    records = instance.get_run_records(dg.RunsFilter(job_name=job, statuses=statuses))
    return [record for record in records if dataset_of(record.dagster_run) == dataset]


MARKED = "This run has been marked as failed"  # by Dagster's code server, whose process of it is gone
WILL_RETRY = "dagster/will_retry"
PARTITION = "dagster/partition"


def failure_message(context: dg.RunFailureSensorContext, ui: str | None) -> Message | None:
    """What to tell of a failed run; None of one that is not ours or that somebody stopped, of a layer whose build
    tells of it itself, and of a lost run that Dagster starts again."""
    run = context.dagster_run
    if not is_ours(run) or PARENT_TAG in run.tags or run.tags.get(WILL_RETRY) == "true":
        return None
    errors = [error for event in context.get_step_failure_events() if (error := run_error(event))]
    if any(error.interrupted for error in errors):
        return None
    partition = run.tags.get(PARTITION) or run.tags.get(RANGE_START, "")
    dataset = run.tags.get(DATASET_TAG) or dataset_of(run) or partition.rpartition("|")[2]
    works = {evaluate_job.name: "evaluation", embed_job.name: "making of vectors"}
    work = works.get(run.job_name, "build")
    what = f"The {work} of '{dataset}' failed" if dataset else f"The {work} failed"
    if work == "build" and (layer := run.tags.get(LAYER_TAG)):
        what = f"{what} in its layer '{layer}'"
    reason = context.failure_event.message or "Dagster gives no reason."  # of a run of which no step failed
    if reason.startswith(MARKED):
        reason = LOST
    return Message(
        kind="failure",
        what=what,
        why="\n".join(dict.fromkeys(error.text for error in errors)) or reason,
        dataset=dataset,
        job=run.job_name,
        run=run.run_id,
        link=f"{ui}/runs/{run.run_id}" if ui else "",
        at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    )


NAME, CHECK = "freshness", "releases_are_fresh"
DAY = 24 * 3600


def ages_of(build: BuildResource, now: datetime) -> list[Age]:
    """The ages of all data sets with `fresh_hours`."""
    return [age(build.opened(name), now) for name in read_declared(build.config_folder).ages]


def _result(ages: Sequence[Age]) -> dict[str, Any]:
    """The check's result, which it has by itself or from the sensor."""
    return {
        "passed": all(one.fresh for one in ages),
        "severity": dg.AssetCheckSeverity.WARN,
        "description": sentence(ages),
        "metadata": {
            "stale": sum(not one.fresh for one in ages),
            "oldest_hours": round(max((one.hours for one in ages), default=0.0), 2),
            "ages": dg.MetadataValue.md(markdown_table(rows(ages))),
        },
    }


@dg.asset_check(
    asset=RELEASE,
    name=CHECK,
    description="No data set is older than its `fresh_hours`: it was built, or found unchanged, within so many hours.",
)
def releases_are_fresh(context: dg.AssetCheckExecutionContext, build: BuildResource) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(**_result(ages_of(build, datetime.now(UTC))))


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
        return check_freshness(context, build, datetime.now(UTC))

    return sensor


def check_freshness(
    context: dg.SensorEvaluationContext, build: BuildResource, now: datetime
) -> dg.SensorResult:
    """One tick: the check's result is recorded when a data set becomes stale or fresh, and once a day."""
    ages = ages_of(build, now)
    stale = {one.dataset: one for one in ages if not one.fresh}
    try:  # what was stale, and when the check's result was recorded
        kept = json.loads(context.cursor or "")
        before, recorded = set(map(str, kept["stale"])), float(kept["told"])
    except (ValueError, TypeError, KeyError):
        before, recorded = set(), 0.0
    operations = read_declared(build.config_folder).operations
    for dataset in sorted(stale.keys() - before):
        message = Message(
            kind="stale",
            what=f"The release of '{dataset}' is stale",
            why=sentence([stale[dataset]]),
            dataset=dataset,
            link=f"{operations.ui}/assets/release" if operations.ui else "",
            at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        )
        for fault in faults(tell(operations, message)):
            context.log.error(fault)
    due = stale.keys() != before or now.timestamp() - recorded >= DAY
    cursor = json.dumps({"stale": sorted(stale), "told": now.timestamp() if due else recorded})
    result = dg.AssetCheckEvaluation(asset_key=RELEASE, check_name=CHECK, **_result(ages)) if due else None
    return dg.SensorResult(skip_reason=sentence(ages), cursor=cursor, asset_events=[result] if result else [])


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
        + (
            f"asking its {' and '.join(dataset.refreshable)} again."
            if dataset.refreshable
            else "from its files as they are then."
        ),
    )
    def schedule(
        context: dg.ScheduleEvaluationContext, build: BuildResource
    ) -> dg.RunRequest | dg.SkipReason:
        opened = build.opened(dataset.name)
        if reason := busy(opened, context.instance):
            return dg.SkipReason(f"{reason} It is built again at the next time.")
        refresh = bool(opened.config.refreshable)
        return build_request(opened, context.instance, None, f"schedule {when}", refresh)

    return schedule


EMBEDDING = "embed_vectors"


def vectors_sensor(datasets: Sequence[str]) -> dg.SensorDefinition:
    """Starts the job `embed` for data sets whose release lacks vectors, in their hours."""

    @dg.sensor(
        name=EMBEDDING,
        job_name=embed_job.name,
        minimum_interval_seconds=60,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Starts the job `embed` where a release was published before all of its documents had vectors: at once, "
        "or in the data set's `embed_hours`. One that failed is not started again before a build, or the next day.",
    )
    def sensor(context: dg.SensorEvaluationContext, build: BuildResource) -> Any:
        return vectors_wanted(datasets, build, context.instance, datetime.now(UTC))

    return sensor


def vectors_wanted(
    datasets: Sequence[str], build: BuildResource, instance: DagsterInstance, now: datetime
) -> list[dg.RunRequest] | dg.SkipReason:
    """One tick: a run of `embed` for each data set whose release lacks vectors, but one that waits or is under way."""
    requests, says = [], []
    for name in datasets:
        try:
            opened = build.opened(name)
            if Published.read(opened.store.root) is None or (found := release_of(opened)).share == 100:
                continue
        except (BuildError, ConfigError) as error:  # it was gone back from, say
            says.append(error.what if isinstance(error, BuildError) else str(error))
            continue
        begins = opening(opened.config.rebuild, now)
        if not is_open(opened.config.rebuild, now):
            says.append(f"'{name}' is gone on with at {begins:%H:%M}.")
        elif is_embedding(opened.store.root) or _under_way(name, embed_job.name, instance):
            says.append(f"'{name}' is being encoded; its release has vectors of {found.share} %.")
        else:
            key = f"{name}:{found.release}:{begins.isoformat()}"
            requests.append(
                dg.RunRequest(run_key=key, run_config=embed_config(name), tags={EMBEDS_TAG: name})
            )
    return requests or dg.SkipReason(" ".join(says) or "Every release has the vectors of all its documents.")


TELLING = "tell_of_failures"


def sensors_of(declared: Declared) -> list[dg.SensorDefinition]:
    """All sensors that a configuration asks for; they run from the start, as that is what declaring them means."""
    watched = {name: one for name, one in declared.datasets.items() if one.rebuild.watch}
    watching, names = declared.operations.watching, names_of(watched, "watch")
    found = [_watch_sensor(watched[dataset], name, watching) for dataset, name in names.items()]
    if encoded := [name for name, one in declared.datasets.items() if one.rebuild.embed]:
        found.append(vectors_sensor(encoded))
    if declared.ages:
        found.append(freshness_sensor(watching.freshness_seconds))
    if declared.operations.notify:
        found.append(failure_sensor())
    return [*found, lost_runs_sensor(), declared_sensor()]


def declared_sensor() -> dg.SensorDefinition:
    """Has Dagster know every declared data set, so that those never built show, as missing, and can be chosen."""

    @dg.sensor(
        name="show_declared",
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Has the data sets of datasets.yaml show as partitions of the job `build` and of the assets before they "
        "are built.",
    )
    def sensor(context: dg.SensorEvaluationContext, build: BuildResource) -> dg.SensorResult:
        known = context.instance.get_dynamic_partitions(DATASET)
        new = [name for name in read_declared(build.config_folder).datasets if name not in known]
        requests = [dataset_partitions.build_add_request(new)] if new else []
        says = f"New: {', '.join(new)}." if new else "Every declared data set shows."
        return dg.SensorResult(skip_reason=says, dynamic_partitions_requests=requests)

    return sensor


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
    key = f"{dataset}:{found.change}"
    request = build_request(opened, context.instance, key, "its source changed", found.refresh)
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


NO_QUESTIONS = (
    "Nothing was evaluated: datasets.yaml declares no questions for '{}'. Add `questions: FILE` to its entry; "
    "docs/evaluation.md has the format."
)


class EvaluationRun(dg.Config):
    """What is measured; ``stages``: names with commas, all or none.

    ``answers``: answer each question too, by the litellm model ``model``, extractively without one.
    """

    stages: str = "all"
    answers: bool = True
    model: str = ""


def _evaluate(
    context: dg.AssetExecutionContext, config: EvaluationRun, build: BuildResource
) -> Iterator[dg.MaterializeResult[Any]]:
    """What each stage of retrieval is worth and how questions are answered, by the data set's questions with known answers.

    Not part of a build or a release: run the job `evaluate` for it. Without `questions` in datasets.yaml nothing is made.
    """
    hold_run_lock(Path(build.data), context.run)
    with explained("evaluation"):
        opened = build.opened(context.partition_key)
        file = opened.config.questions_file()
        if file is None:
            context.log.warning(NO_QUESTIONS.format(opened.name))
            return
        model = LiteLLM(config.model) if config.model else None
        release = open_release(opened.name, opened.data, Opener.here(config=build.config_folder))
        outcome = evaluate_file(release, file, Plan(parse_stages(config.stages), config.answers, model))
        folder = evaluations_folder(opened.data, opened.name)
        command = f"crmrag evaluate {opened.name} --stages {config.stages}" + " --answers" * config.answers
        write_report(outcome, opened.method.evaluation, command, folder)
        yield dg.MaterializeResult(
            metadata=plotted(
                evaluation_metadata(outcome.evaluation, opened.method.evaluation, folder), opened.name
            ),
            data_version=dg.DataVersion(data_version_of(outcome.evaluation)),
        )


evaluation: dg.AssetsDefinition = dg.asset(
    name="evaluation",
    group_name="evaluation",
    kinds={"markdown"},
    deps=["release"],
    output_required=False,
    partitions_def=dataset_partitions,
    **catalogued("evaluation", _evaluate),
)(_evaluate)


evaluate_job = dg.define_asset_job(
    "evaluate",
    selection=["evaluation"],
    description="Measure a data set's release by its questions with known answers, as `crmrag evaluate` does.",
    executor_def=dg.in_process_executor,
)


declared = read_declared(from_environment().config_folder)
for mistake in declared.mistakes:
    logging.getLogger(__name__).error("%s\nNeither watch nor schedule counts until it is mended.", mistake)

defs = dg.Definitions.merge(
    layer_definitions,
    dg.Definitions(
        assets=[evaluation],
        asset_checks=[releases_are_fresh] if declared.ages else [],
        jobs=[build_job, embed_job, evaluate_job],
        sensors=sensors_of(declared),
        schedules=schedules_of(declared.datasets),
    ),
)
