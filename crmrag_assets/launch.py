"""Running a build: its layers in order, each one Dagster run. The command line, the UI and schedules all start this."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import dagster as dg
from dagster import DagsterInstance

from crmrag_assets.build.ahead import made_ahead
from crmrag_assets.build.context import ask_again, base_of, choose_sample, harvested_at
from crmrag_assets.build.disks import disk_explained
from crmrag_assets.build.layers import LAYERS, Layer, chunks_of
from crmrag_assets.build.locks import dataset_lock
from crmrag_assets.build.reporting import Reporter, current_reporter, reporting_to
from crmrag_assets.build.step import BuildContext, Outcome
from crmrag_assets.build.steps import STEPS, finished_layer
from crmrag_assets.checks import REMEDY
from crmrag_assets.database import database_explained, persistently
from crmrag_assets.home import end_dead_runs
from crmrag_assets.lost import DATASET_TAG as DATASET_TAG
from crmrag_assets.lost import LAYER_TAG as LAYER_TAG
from crmrag_assets.lost import end_lost_runs
from crmrag_assets.partitions import DATASET, chunk_key, offer_chunks, range_tags
from crmrag_assets.quality.checks import CHECKS
from crmrag_assets.quality.recorded import held
from crmrag_assets.resources import BuildResource
from crmrag_assets.told import ELSEWHERE, afterwards, reason, told_of
from crmrag_query.config.operations import load_operations
from crmrag_query.errors import (
    BuildError,
    BuildFault,
    BuildHeldUp,
    ConfigError,
    CrmRagError,
    DatabaseUnreachable,
    ModelUnreachable,
    SourceUnreachable,
)

BUILD_TAG = "crmrag/build"
PARENT_TAG = "crmrag/build_run"  # the run of the job `build` that a layer's run belongs to
# By this the UI finds the runs of a job; workspace.yaml names the location.
REPOSITORY_TAG, REPOSITORY = ".dagster/repository", "__repository__@crmrag"
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass(frozen=True)
class BuildRequest:
    """What to build and where; ``sample``: that many connected entities, as the data set ``NAME-sample``.

    ``refresh``: ask an endpoint again for what was harvested from it before; files are read anew when they change.
    ``parent``: the run of the job `build` that asks for it, "" where it was asked for otherwise.
    """

    dataset: str
    build: BuildResource
    sample: int | None = None
    refresh: bool = False
    parent: str = ""


@dataclass
class BuildResult:
    """What a build did: the name of what was built, every artifact in order, remarks on how fresh its data is, and what
    checks found that a person should look at."""

    dataset: str
    outcomes: list[Outcome] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Recording:
    """Keeps each outcome, and tells the reporter of it."""

    inner: Reporter
    result: BuildResult

    def started(self, artifact: str, chunks: int) -> None:
        self.inner.started(artifact, chunks)

    def progress(self, artifact: str) -> Any:
        return self.inner.progress(artifact)

    def finished(self, outcome: Outcome) -> None:
        self.result.outcomes.append(outcome)
        self.inner.finished(outcome)

    def told(self, text: str) -> None:
        self.inner.told(text)


def run_build(
    request: BuildRequest, instance: DagsterInstance, reporter: Reporter | None = None
) -> BuildResult:
    """Run all layers of a data set, skipping what is finished and unchanged.

    Raises BuildError when another process builds it or a run fails (BuildFault where nobody foresaw the reason), and
    CrmRagError for what is wrong before any run.
    """
    opened = request.build.opened(request.dataset)
    try:
        with disk_explained(opened.data), database_explained():
            return _run(request, instance, opened, reporter)
    except CrmRagError:
        raise
    except Exception as error:
        what = f"The build of '{request.dataset}' failed. {reason(error)}"
        trace = "".join(traceback.format_exception(error))
        raise BuildFault(what, afterwards(opened.data, request.dataset), trace=trace) from error


def _run(
    request: BuildRequest, instance: DagsterInstance, opened: BuildContext, reporter: Reporter | None
) -> BuildResult:
    name = request.dataset
    if request.sample:
        name = choose_sample(opened.data, request.dataset, request.sample)
        opened = request.build.opened(name)
    result, started = BuildResult(name), datetime.now(UTC)
    with dataset_lock(opened.store.root, name), reporting_to(_Recording(current_reporter(reporter), result)):
        opened.store.clean()
        if request.refresh:
            opened = _refreshed(opened)
        tags = {DATASET_TAG: name}
        end_dead_runs(instance, tags)
        end_lost_runs(instance, opened.data)
        instance.add_dynamic_partitions(DATASET, [name])
        tags[BUILD_TAG] = uuid4().hex[:12]
        if request.parent:
            tags[PARENT_TAG] = request.parent
        for layer in LAYERS:
            persistently(
                partial(_make, layer, opened, request.build, instance, tags, result),
                partial(end_dead_runs, instance, {DATASET_TAG: name}),
                opened.operations.database,
            )
    result.remarks.extend(_remarks(opened, request.refresh, started))
    result.warnings.extend(_of_operations(request.build))
    return result


def _make(
    layer: Layer,
    opened: BuildContext,
    build: BuildResource,
    instance: DagsterInstance,
    tags: dict[str, str],
    result: BuildResult,
) -> None:
    """Make one layer, or find it finished. Raises BuildError where its run fails."""
    chunks = chunks_of(opened) if layer.chunked else []
    offer_chunks(instance, chunks)
    if _report_finished(layer, opened, instance):
        return
    with made_ahead(layer, opened):
        run = _run_layer(layer, opened.name, chunks, build, instance, tags)
        result.warnings.extend(_warnings(run))
        if not run.success:
            raise _failure(run, layer, result.warnings)
    result.runs.append(run.run_id)


def _refreshed(opened: BuildContext) -> BuildContext:
    """The context with its endpoint to be asked again; of files, as it was. BuildError while another process builds."""
    if opened.config.endpoint is None:
        return opened
    base = base_of(opened)
    with dataset_lock(base.store.root, base.name):
        return ask_again(opened)


def _of_operations(build: BuildResource) -> Iterator[str]:
    """What is wrong with operations.yaml, of which a build takes the limits."""
    try:
        load_operations(build.config_folder)
    except ConfigError as error:
        yield f"{error}\nUntil that is mended, the defaults of operations.yaml hold."


def _remarks(opened: BuildContext, refresh: bool, started: datetime) -> Iterator[str]:
    """What a person should know of the data's age: that an old harvest was taken, or that files need no refresh."""
    base = base_of(opened)
    if opened.config.endpoint is None:
        if refresh:
            yield f"'{base.name}' is made from files, whose changes every build notices: --refresh adds nothing."
        return
    harvested = harvested_at(opened)
    if harvested is not None and harvested < started:
        sample = f" --sample {opened.sample}" if opened.sample else ""
        yield (
            f"The endpoint's data is as harvested on {harvested:%Y-%m-%d at %H:%M} UTC. "
            f"Ask the endpoint again: crmrag build {base.name}{sample} --refresh"
        )


def _report_finished(layer: Layer, opened: BuildContext, instance: DagsterInstance) -> bool:
    """True, and reported, when a layer is finished, unchanged, sound and in this instance's records: it needs no run."""
    outcomes = finished_layer(layer, opened)
    if outcomes is None or not _is_sound(layer, opened):
        return False
    known = {asset: instance.get_materialized_partitions(dg.AssetKey(asset)) for asset in layer.assets}
    if not all(_partition(outcome, opened.name) in known[outcome.record.artifact] for outcome in outcomes):
        return False
    reporter = current_reporter()
    for artifact in layer.assets:
        own = [outcome for outcome in outcomes if outcome.record.artifact == artifact]
        reporter.started(artifact, len(own))
        if (after := STEPS[artifact].after) is not None:
            after(opened)
        for outcome in own:
            reporter.finished(outcome)
    return True


def _is_sound(layer: Layer, opened: BuildContext) -> bool:
    """Whether every check that may stop a build held for the layer's artifacts as they are."""
    return all(held(check, opened) for check in CHECKS if check.blocks and check.asset in layer.assets)


def _partition(outcome: Outcome, name: str) -> str:
    return str(chunk_key(name, outcome.chunk)) if outcome.chunk else name


def _run_layer(
    layer: Layer,
    name: str,
    chunks: list[str],
    build: BuildResource,
    instance: DagsterInstance,
    tags: dict[str, str],
) -> dg.ExecuteInProcessResult:
    """One run over the data set, or over the range of its chunks."""
    from crmrag_assets.definitions import defs
    from crmrag_assets.jobs import layer_job_name

    job = defs.get_repository_def().get_job(layer_job_name(layer))
    own = (
        tags
        | {LAYER_TAG: layer.name, REPOSITORY_TAG: REPOSITORY}
        | (range_tags(name, chunks) if chunks else {})
    )
    return job.execute_in_process(
        run_config={"resources": {"build": {"config": build.settings()}}} | QUIET,
        instance=instance,
        partition_key=None if chunks else name,
        tags=own,
        raise_on_error=False,
    )


OTHERS = "Other checks found:"
HOLDING_UP = {
    SourceUnreachable.__name__: BuildHeldUp,
    ModelUnreachable.__name__: BuildHeldUp,
    DatabaseUnreachable.__name__: DatabaseUnreachable,
}


def _failure(run: dg.ExecuteInProcessResult, layer: Layer, warnings: Sequence[str]) -> BuildError:
    """The first failed step's error; where a check stopped the build, with what others found.

    Raises KeyboardInterrupt for a run that was interrupted.
    """
    for event in run.all_events:
        told = told_of(event)
        if told is None:
            continue
        if told.interrupted:
            raise KeyboardInterrupt
        if not told.kind:
            return BuildFault(told.text, trace=told.trace)
        others = [OTHERS, *warnings] if warnings and _is_refused(run) else []
        return HOLDING_UP.get(told.kind, BuildError)("\n".join([told.text, *others]))
    return BuildError(f"Layer '{layer.name}' failed.", ELSEWHERE)


def _is_refused(run: dg.ExecuteInProcessResult) -> bool:
    """Whether a check stopped the run."""
    return any(_stops(event) for event in run.get_asset_check_evaluations())


def _stops(event: dg.AssetCheckEvaluation) -> bool:
    return bool(event.blocking) and not event.passed and event.severity == dg.AssetCheckSeverity.ERROR


def _warnings(run: dg.ExecuteInProcessResult) -> Iterator[str]:
    """What the run's checks found that does not stop it."""
    for event in run.get_asset_check_evaluations():
        if not event.passed and not _stops(event):
            told = event.metadata.get(REMEDY)
            says = (event.description or "").partition(": ")[2]
            yield f"{event.check_name}: {says} {told.value if told is not None else ''}".strip()
