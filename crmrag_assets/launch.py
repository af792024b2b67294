"""The Dagster assets, each a thin wrapper over a step of `crmrag_assets.steps`, in the order of a build; and running a build:
its layers in order, each one Dagster run. The command line, the UI and schedules all start this, the latter by the job
``build``. Beside it stands the job ``embed``, which makes vectors as they come.

Vectors as they come: encoding what a release lacks, the most important documents first, and publishing a better release at
each share. Encoding holds no lock of the data set, so that it can be built meanwhile; what is published then is gone on from.
Only to publish it waits for its turn.
"""

import inspect
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import Any
from uuid import uuid4

import dagster as dg
from dagster import DagsterInstance
from pydantic import Field

from crmrag_assets.build.context import ask_again, base_of, choose_sample, choose_share, harvested_at
from crmrag_assets.build.step import (
    LAYERS,
    PLACES,
    BeingBuilt,
    BuildContext,
    Layer,
    LineReporter,
    Outcome,
    Reporter,
    Step,
    chunks_of,
    chunks_to_make,
    current_reporter,
    dataset_lock,
    duration,
    embedding_lock,
    is_embedding,
    is_locked,
    reporting_to,
    server_turns,
    version_of,
)
from crmrag_assets.build.store import Published, disk_explained
from crmrag_assets.build.workers import kept_processes
from crmrag_assets.checks import REMEDY, checks
from crmrag_assets.event_log import quicken, together
from crmrag_assets.indexes.encoder import SHARES
from crmrag_assets.instance import (
    ELSEWHERE,
    afterwards,
    as_run_error,
    database_explained,
    end_dead_runs,
    explained,
    known_betas,
    reason,
    retry,
    run_error,
)
from crmrag_assets.metadata import (
    chunk_materialized,
    columns_of,
    glance,
    markdown_table,
    materialized,
    operations,
    summary_rows,
)
from crmrag_assets.operations.freshness import is_open, opening
from crmrag_assets.partitions import (
    DATASET,
    BuildResource,
    by_dataset,
    chunk_key,
    dataset_chunk_partitions,
    dataset_partitions,
    datasets_of,
    from_environment,
    offer_chunks,
    range_tags,
)
from crmrag_assets.quality.checks import CHECKS
from crmrag_assets.quality.finding import held
from crmrag_assets.runs import (
    BUILD_TAG,
    BUILDS_TAG,
    DATASET_TAG,
    EMBEDS_TAG,
    ENDPOINT_TAG,
    LAYER_TAG,
    PARENT_TAG,
    WAITS_TAG,
    end_lost_runs,
    hold_run_lock,
)
from crmrag_assets.steps.encoding import encode_ahead, left_of, pace_of
from crmrag_assets.steps.indexes import price_of, require_within_ceiling, tokens_of
from crmrag_assets.steps.registry import STEPS, finished_layer, made_ahead, run_chunks, run_or_await
from crmrag_query.artifacts.manifest import dataset_folder, pointer
from crmrag_query.config.operations import Retrying, load_operations
from crmrag_query.errors import (
    BuildError,
    BuildFault,
    BuildHeldUp,
    ConfigError,
    CrmRagError,
    DatabaseUnreachable,
    ModelUnreachable,
    SourceUnreachable,
    StoreUnreachable,
)

_BEYOND = "There is no chunk {} of '{}', and nothing is made of it. Its chunks are {}."


def build_artifact(
    context: dg.AssetExecutionContext, build: BuildResource, step: Step
) -> dg.MaterializeResult[Any]:
    """Make one artifact of the run's data set."""
    dataset, reporter = context.partition_key, build.reporter(context)
    with explained(step.artifact, Path(build.data), dataset):
        hold_run_lock(Path(build.data), context.run)
        opened = build.context(dataset, step.artifact, reporter)
        with dataset_lock(opened.store.root, opened.name):
            reporter.started(step.artifact, 1)
            outcome = run_or_await(step, opened)
            reporter.finished(outcome)
        if step is STEPS["entities"]:
            offer_chunks(context.instance, chunks_of(opened))
        return materialized(outcome, glance(step.artifact, opened), opened.name)


def build_chunks(
    context: dg.AssetExecutionContext, build: BuildResource, step: Step
) -> Iterator[dg.MaterializeResult[Any]]:
    """Make the chunks in the run's range that the data set has; each is recorded within about a second of its end.

    Yields nothing: by yielding a result Dagster would record every key of the range, also chunks that do not exist.
    """
    yield from ()
    key = context.asset_key
    with explained(step.artifact):
        hold_run_lock(Path(build.data), context.run)
        # What need not be recorded again where it is unchanged; of a run that a person asked for, a backfill say, nothing.
        within = BUILD_TAG in context.run.tags
        known = context.instance.get_materialized_partitions(key) if within else set()
    for dataset, asked in sorted(datasets_of(context.partition_keys).items()):
        with explained(step.artifact, Path(build.data), dataset):
            reporter = build.reporter(context)
            opened = build.context(dataset, step.artifact, reporter)
            with dataset_lock(opened.store.root, dataset):
                existing = chunks_of(opened, step.artifact)
                opened.store.keep_only(step.artifact, existing)
                chosen = [chunk for chunk in existing if chunk in asked]
                if beyond := sorted(asked - {*existing}):
                    context.log.warning(_BEYOND.format(", ".join(beyond), dataset, ", ".join(existing)))
                reporter.started(step.artifact, len(chosen))
                with _recorded_soon(context) as record:
                    for outcome in run_chunks(step, opened, chosen):
                        partition = chunk_key(dataset, outcome.chunk or "")
                        if not outcome.reused or str(partition) not in known:
                            seen = glance(step.artifact, opened, outcome.chunk)
                            record(chunk_materialized(key, partition, outcome, seen))
                        reporter.finished(outcome)


SOON = 1.0  # seconds after which what has ended is recorded


@contextmanager
def _recorded_soon(context: dg.AssetExecutionContext) -> Iterator[Callable[[dg.AssetMaterialization], None]]:
    """Within the block, what is called with a materialisation has it recorded, those of about a second together: one by one
    each takes as long as making a small chunk. The rest is recorded at the end of the block, however it ends."""
    waiting: list[dg.AssetMaterialization] = []
    last = time.monotonic()

    def write() -> None:
        nonlocal last
        with together(context.instance):
            while waiting:
                context.log_event(waiting.pop(0))
        last = time.monotonic()

    def record(made: dg.AssetMaterialization) -> None:
        waiting.append(made)
        if time.monotonic() - last > SOON:
            write()

    try:
        yield record
    finally:
        write()


LAYER, RELEASED = "crmrag/layer", "crmrag/released"  # keys of tags
HARVEST, ENCODING = "harvest", "encoding"  # pools: unlimited unless an operator limits them in the UI
CODE = "dagster/code_references"  # by this the UI finds the code of an asset
CHUNKS_NOTE = (
    "Partitions: a data set has the first 1, 2, 4 … 256 of the chunks, as its size asks for (see the asset `entities`). "
    "As many are listed as the largest data set has; those that a smaller one does not use count as missing, and are not."
)


def _asset(artifact: str, group: str, kinds: set[str], pool: str | None = None) -> dg.AssetsDefinition:
    """The asset of an artifact, which runs its step: for a whole data set, or for a range of its chunks.

    Its description is what the step's ``write`` says. Chunks are recorded as they end (see ``build_chunks``), so
    their asset itself has no output.
    """
    step = STEPS[artifact]

    def whole(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
        return build_artifact(context, build, step)

    def in_chunks(
        context: dg.AssetExecutionContext, build: BuildResource
    ) -> Iterator[dg.MaterializeResult[Any]]:
        yield from build_chunks(context, build, step)

    about = cleandoc(step.write.__doc__ or "")
    own: dict[str, Any] = {"partitions_def": dataset_partitions, "description": about}
    if step.chunked:
        own = {
            "partitions_def": dataset_chunk_partitions,
            "description": f"{about}\n\n{CHUNKS_NOTE}",
            "backfill_policy": dg.BackfillPolicy.single_run(),
            "output_required": False,
        }
    # Between chunks and data set an asset depends on all chunks of the data set, or on the data set of the chunk.
    deps = [
        dg.AssetDep(need, partition_mapping=by_dataset if STEPS[need].chunked != step.chunked else None)
        for need in step.needs
    ]
    body: Callable[..., Any] = in_chunks if step.chunked else whole
    with known_betas():
        made: dg.AssetsDefinition = dg.asset(
            name=artifact,
            group_name=group,
            kinds=kinds,
            deps=deps,
            pool=pool,
            **catalogued(artifact, body),
            **own,
        )(body)
    return made


def catalogued(artifact: str, body: Callable[..., Any]) -> dict[str, Any]:
    """What the catalogue tells of every asset: whose it is, which run makes it, whether a release holds it, its columns, and
    where to read how it is made: the function that fills its folder, and the asset itself."""
    layer = next((layer.name for layer in LAYERS if artifact in layer.assets), "")
    places = {"how it is made": STEPS[artifact].write} if artifact in STEPS else {}
    with known_betas():
        code = dg.CodeReferencesMetadataValue(
            code_references=[
                dg.LocalFileCodeReference(
                    file_path=str(inspect.getsourcefile(function)),
                    line_number=inspect.getsourcelines(function)[1],
                    label=label,
                )
                for label, function in (places | {"the asset": body}).items()
            ]
        )
    return {
        "owners": list(operations().owners),
        "tags": ({LAYER: layer} if layer else {}) | {RELEASED: "yes" if artifact in PLACES else "no"},
        "metadata": columns_of(artifact) | {CODE: code},
    }


artifacts = [
    _asset("page_images", "source", {"image"}),
    _asset("page_extractions", "source", {"arrow"}),
    _asset("entities", "source", {"rdf"}, HARVEST),
    _asset("prefetch", "source", {"parquet"}, HARVEST),
    _asset("harvest_report", "source", {"json", "markdown"}),
    _asset("graph", "graph", {"arrow", "numpy"}),
    _asset("edges", "graph", {"parquet"}),
    _asset("triples_index", "indexes", {"numpy"}),
    _asset("fr_documents", "documents", {"arrow"}),
    _asset("documents", "documents", {"arrow"}),
    _asset("entity_documents", "documents", {"markdown"}),
    _asset("entity_graph", "graph", {"numpy"}),
    _asset("communities", "communities", {"numpy"}),
    _asset("community_summaries", "communities", {"arrow"}),
    _asset("community_index", "communities", {"numpy", "bm25s"}),
    _asset("page_candidates", "documents", {"arrow"}),
    _asset("graph_partitions", "partitions", {"numpy"}),
    _asset("partition_edges", "partitions", {"numpy"}),
    _asset("training_questions", "partitions", {"parquet"}, ENCODING),
    _asset("alignment_model", "partitions", {"numpy", "pytorch"}),
    _asset("alignment_evaluation", "partitions", {"json"}),
    _asset("encoder", "indexes", {"onnx"}),
    _asset("embeddings", "indexes", {"numpy"}, ENCODING),
    _asset("faiss_index", "indexes", {"faiss"}),
    _asset("token_vectors", "indexes", {"numpy"}),
    _asset("bm25_index", "indexes", {"bm25s"}),
    _asset("aggregation_index", "indexes", {"json"}),
    _asset("date_index", "indexes", {"numpy"}),
    _asset("name_index", "indexes", {"numpy", "arrow"}),
    _asset("lexicon", "indexes", {"numpy"}),
    _asset("profile", "indexes", {"json", "markdown"}),
    _asset("validation_report", "release", {"markdown"}),
    _asset("release", "release", {"json"}),
    _asset("postgres_graph", "release", {"postgres"}),
    _asset("pushed_release", "release", {"s3"}),
]


def layer_job_name(layer: Layer) -> str:
    """With its number, by which the UI lists the layers in the order of a build."""
    return f"layer_{LAYERS.index(layer) + 1}_{layer.name}"


layer_jobs = [
    dg.define_asset_job(
        layer_job_name(layer),
        selection=list(layer.assets),
        description=f"Layer {number} of {len(LAYERS)} of a build: {', '.join(layer.assets)}.",
        executor_def=dg.in_process_executor,
    )
    for number, layer in enumerate(LAYERS, start=1)
]


layer_definitions = dg.Definitions(
    assets=artifacts,
    asset_checks=checks,
    jobs=layer_jobs,
    resources={"build": from_environment()},
    # A run from the asset graph is one process, as those of the jobs are: it holds the run's lock to its end, and artifacts
    # that are made side by side would wait for the lock of their data set.
    executor=dg.in_process_executor,
)


# By this the UI finds the runs of a job; workspace.yaml names the location.
REPOSITORY_TAG, REPOSITORY = ".dagster/repository", "__repository__@crmrag"
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass(frozen=True)
class BuildRequest:
    """What to build and where; ``sample``: that many connected entities, as the data set ``NAME-sample``.

    ``refresh``: ask an endpoint again for what was harvested from it before; files are read anew when they change.
    ``wait``: publish nothing before every document has its vectors, however long that takes.
    ``tags``: of the runs of its layers, besides their own: of the job `build` that asks for it, and what launched that.
    """

    dataset: str
    build: BuildResource
    sample: int | None = None
    refresh: bool = False
    wait: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)


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
class _Recording(Reporter):
    """Keeps each outcome, and tells the reporter of it."""

    inner: Reporter
    result: BuildResult

    def started(self, artifact: str, chunks: int) -> None:
        self.inner.started(artifact, chunks)

    def within(self, artifact: str, done: int, total: int | None, note: str) -> None:
        self.inner.within(artifact, done, total, note)

    def finished(self, outcome: Outcome) -> None:
        self.result.outcomes.append(outcome)
        self.inner.finished(outcome)

    def remark(self, text: str) -> None:
        self.inner.remark(text)


def run_build(
    request: BuildRequest, instance: DagsterInstance, reporter: Reporter | None = None
) -> BuildResult:
    """Run all layers of a data set, skipping what is finished and unchanged.

    Raises BuildError when another process builds it or a run fails (BuildFault where nobody foresaw the reason), and
    CrmRagError for what is wrong before any run.
    """
    name = request.dataset
    opened = request.build.opened(name)
    with faults_told(opened, f"The build of '{name}' failed."):
        return _run(request, instance, opened, reporter)


@contextmanager
def faults_told(opened: BuildContext, failed: str) -> Iterator[None]:
    """Within the block, what nobody foresaw is a BuildFault that begins with ``failed``; what the disk and Dagster's database
    say is explained."""
    try:
        with disk_explained(opened.data), database_explained():
            yield
    except CrmRagError:
        raise
    except Exception as error:
        trace = "".join(traceback.format_exception(error))
        ending = afterwards(opened.data, opened.name)
        raise BuildFault(f"{failed} {reason(error)}", ending, trace=trace) from error


def _run(
    request: BuildRequest, instance: DagsterInstance, opened: BuildContext, reporter: Reporter | None
) -> BuildResult:
    name = request.dataset
    if request.sample:
        name = choose_sample(opened.data, name, request.sample)
        opened = request.build.opened(name)
    root = opened.store.root
    while is_embedding(root) and is_locked(root):  # a better release is being published, which takes a minute
        time.sleep(LOOK_SECONDS)
    result, started = BuildResult(name), datetime.now(UTC)
    reporting = reporting_to(_Recording(current_reporter(reporter), result))
    with dataset_lock(opened.store.root, name), reporting, kept_processes():
        opened.store.clean()
        if request.refresh and opened.config.refreshable:
            base = base_of(opened)
            with dataset_lock(base.store.root, base.name):
                opened = ask_again(opened)
        end_lost_runs(instance, opened.data)
        tags = run_tags(request.tags)
        make_layers(BEFORE_VECTORS, opened, request.build, instance, tags, result)
        opened = choose_share(opened, 100 if request.wait else share_at_once(opened, result))
        make_layers(WITH_VECTORS, opened, request.build, instance, tags, result)
    result.remarks.extend(_remarks(opened, request.refresh, started))
    try:
        load_operations(request.build.config_folder)
    except ConfigError as error:  # of operations.yaml, of which a build takes the limits
        result.warnings.append(f"{error}\nUntil that is mended, the defaults of operations.yaml hold.")
    return result


VECTORS = next(number for number, layer in enumerate(LAYERS) if layer.name == "embeddings")
BEFORE_VECTORS, WITH_VECTORS = LAYERS[:VECTORS], LAYERS[VECTORS:]
# For which a build waits for vectors.
PATIENCE_SECONDS = 120.0
BETWEEN_SECONDS = PATIENCE_SECONDS  # of encoding, from one release with more vectors to the next
LOOK_SECONDS = 1.0  # between looks whether another process still holds the data set


def share_at_once(opened: BuildContext, result: BuildResult) -> int:
    """Of which share of the documents the release gets vectors: all, where encoding the rest takes little time and is within
    the ceiling, else those that are there. The result is told what follows."""
    left = left_of(opened)
    if left.there == 100:
        return 100
    seconds = left.texts[100] * pace_of(opened)
    if seconds <= PATIENCE_SECONDS:
        try:
            require_within_ceiling(replace(opened, share=100))
        except BuildError as error:
            result.warnings.append(str(error))
            return left.there
        return 100
    result.remarks.append(
        f"{left.texts[100]:,} texts have no vector yet, which takes about {duration(seconds)}. The release is published with "
        f"vectors of {left.there} % of its documents; more of them follow by: crmrag embed {opened.name}"
    )
    return left.there


def run_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags that the runs of one build have in common: those of what asks for it, and which build they are of."""
    return {**tags, BUILD_TAG: uuid4().hex[:12]}


def make_layers(
    layers: Sequence[Layer],
    opened: BuildContext,
    build: BuildResource,
    instance: DagsterInstance,
    tags: dict[str, str],
    result: BuildResult,
) -> None:
    """Make layers in order; for the holder of the data set's lock. Raises BuildError where a run fails."""
    own = {DATASET_TAG: opened.name}
    quicken(instance)
    end_dead_runs(instance, own)
    instance.add_dynamic_partitions(DATASET, [opened.name])
    for layer in layers:
        retry(
            partial(_make, layer, opened, build, instance, own | tags, result),
            partial(end_dead_runs, instance, own),
            opened.operations.database,
        )


def _make(
    layer: Layer,
    opened: BuildContext,
    build: BuildResource,
    instance: DagsterInstance,
    tags: dict[str, str],
    result: BuildResult,
) -> None:
    """Make one layer by a run over the data set or the range of its chunks, or find it finished.

    Raises BuildError where its run fails.
    """
    name, chunks = opened.name, chunks_of(opened, layer.assets[0]) if layer.chunked else []
    if layer.chunked and not chunks:  # of a data set that has no pages, or none any more
        for artifact in layer.assets:
            opened.store.keep_only(artifact, ())
        return
    offer_chunks(instance, chunks)
    if _report_finished(layer, opened, instance):
        return
    own = tags | {LAYER_TAG: layer.name, REPOSITORY_TAG: REPOSITORY}
    with made_ahead(layer, opened):
        run = (
            layer_definitions.get_repository_def()
            .get_job(layer_job_name(layer))
            .execute_in_process(
                run_config={"resources": {"build": {"config": build.settings()}}} | QUIET,
                instance=instance,
                partition_key=None if chunks else name,
                tags=own | (range_tags(name, chunks) if chunks else {}),
                raise_on_error=False,
            )
        )
    evaluations = [event for event in run.get_asset_check_evaluations() if not event.passed]
    for event in evaluations:
        if not _stops(event):
            remedy = event.metadata.get(REMEDY)
            says = (event.description or "").partition(": ")[2]
            result.warnings.append(f"{event.check_name}: {says} {remedy.value if remedy else ''}".strip())
    if not run.success:
        raise _failure(run, layer, result.warnings if any(map(_stops, evaluations)) else ())
    result.runs.append(run.run_id)


def _stops(event: dg.AssetCheckEvaluation) -> bool:
    return bool(event.blocking) and event.severity == dg.AssetCheckSeverity.ERROR


def _report_finished(layer: Layer, opened: BuildContext, instance: DagsterInstance) -> bool:
    """True, and reported, when a layer is finished, unchanged, sound and in this instance's records: it needs no run."""
    outcomes = finished_layer(layer, opened)
    guards = (check for check in CHECKS if check.blocks and check.of in layer.assets)
    if outcomes is None or not all(held(check, opened) for check in guards):
        return False
    known = {asset: instance.get_materialized_partitions(dg.AssetKey(asset)) for asset in layer.assets}
    for outcome in outcomes:
        partition = str(chunk_key(opened.name, outcome.chunk)) if outcome.chunk else opened.name
        if partition not in known[outcome.record.artifact]:
            return False
    reporter = current_reporter()
    for artifact in layer.assets:
        made = [outcome for outcome in outcomes if outcome.record.artifact == artifact]
        reporter.started(artifact, len(made))
        STEPS[artifact].follow(opened)
        for outcome in made:
            reporter.finished(outcome)
    return True


def _remarks(opened: BuildContext, refresh: bool, started: datetime) -> Iterator[str]:
    """What a person should know of the data's age: that an old harvest was taken, or that files need no refresh."""
    base = base_of(opened)
    if not opened.config.refreshable:
        if refresh:
            yield f"'{base.name}' is made from files, whose changes every build notices: --refresh adds nothing."
        return
    kinds, published = " and ".join(opened.config.refreshable), Published.read(opened.store.root)
    harvested = harvested_at(opened)
    if published and published.sources and published.fetched:
        # of several sources what was asked for may be older than what was discovered last
        fetched = datetime.fromisoformat(published.fetched)
        harvested = fetched if fetched < started.replace(microsecond=0) else harvested
    if harvested is not None and harvested < started:
        sample = f" --sample {opened.sample}" if opened.sample else ""
        yield (
            f"The {kinds}'s data is as harvested on {harvested:%Y-%m-%d at %H:%M} UTC. "
            f"Ask the {kinds} again: crmrag build {base.name}{sample} --refresh"
        )


OTHERS = "Other checks found:"
HOLDING_UP = {
    BuildHeldUp.__name__: BuildHeldUp,
    SourceUnreachable.__name__: BuildHeldUp,
    ModelUnreachable.__name__: BuildHeldUp,
    StoreUnreachable.__name__: BuildHeldUp,
    DatabaseUnreachable.__name__: DatabaseUnreachable,
}


def _failure(run: dg.ExecuteInProcessResult, layer: Layer, others: Sequence[str]) -> BuildError:
    """The first failed step's error; where a check stopped the build, with what ``others`` found.

    Raises KeyboardInterrupt for a run that was interrupted.
    """
    for event in run.all_events:
        error = run_error(event)
        if error is None:
            continue
        if error.interrupted:
            raise KeyboardInterrupt
        if not error.kind:
            return BuildFault(error.text, trace=error.trace)
        text = "\n".join([error.text, *([OTHERS, *others] if others else [])])
        return HOLDING_UP.get(error.kind, BuildError)(text)
    return BuildError(f"Layer '{layer.name}' failed.", ELSEWHERE)


class BuildConfig(dg.Config):
    """How to build the data set of the run's partition."""

    sample: int = Field(0, description="Only that many connected entities of it, as NAME-sample; 0 for all.")
    refresh: bool = Field(False, description="Ask an endpoint again for what was harvested from it before.")
    wait: bool = Field(False, description="Publish nothing before every document has its vectors.")


def log_found(context: dg.OpExecutionContext, remarks: Iterable[str], warnings: Iterable[str]) -> None:
    """What a build or an encoding has to say, in the log of its run."""
    for remark in remarks:
        context.log.info(remark)
    for warning in warnings:
        context.log.warning(warning)


UNCHOSEN = "Choose one as the partition in the launchpad, or several under Partitions, Launch backfill."


@dg.op
def build_layers(context: dg.OpExecutionContext, config: BuildConfig, build: BuildResource) -> None:
    """Run every layer of a build in order, as ``crmrag build`` does; the log tells how far it is."""
    hold_run_lock(Path(build.data), context.run)
    if not context.has_partition_key:  # which the launchpad asks about, and lets pass
        raise as_run_error(BuildError("No data set is chosen.", UNCHOSEN))
    launched = {tag: value for tag, value in context.run.tags.items() if tag in LAUNCHED_BY}
    request = BuildRequest(
        context.partition_key,
        build,
        config.sample or None,
        config.refresh,
        config.wait,
        launched | {PARENT_TAG: context.run_id},
    )
    with told_to_dagster(context, build):
        result = run_build(request, context.instance, LineReporter(context.log.info))
    log_found(context, result.remarks, result.warnings)
    opened = build.opened(result.dataset)
    context.add_output_metadata(
        {
            "release": str(opened.finished("release").stats["release"]),
            "vectors": f"{opened.share} %",
            "layers_run": len(result.runs),
            "assets": dg.MetadataValue.md(markdown_table(summary_rows(result.outcomes))),
        }
    )


@contextmanager
def told_to_dagster(context: dg.OpExecutionContext, build: BuildResource) -> Iterator[None]:
    """Within the block, an error says in Dagster's words what it is, and one that may pass asks for another attempt."""
    try:
        yield
    except BuildHeldUp as error:
        raise _again(context, error, load_operations(build.config_folder).retrying) from as_run_error(error)
    except CrmRagError as error:  # where it arose stands with the layer's run: here it would hide what to do
        raise as_run_error(error) from None


def _again(context: dg.OpExecutionContext, error: BuildHeldUp, retrying: Retrying) -> dg.RetryRequested:
    """A request to begin again later; the log says when, unless that was tried often enough."""
    if context.retry_number < retrying.times:
        left = retrying.times - context.retry_number
        times = "once more" if left == 1 else f"{left} times at most"
        context.log.warning(f"{error} Tried again in {retrying.minutes:g} minutes, {times}.")
    until = time.time() + 60 * retrying.minutes
    context.instance.add_run_tags(context.run_id, {WAITS_TAG: f"{until:.0f}"})
    return dg.RetryRequested(retrying.times, 60 * retrying.minutes)


LAUNCHED_BY = ("dagster/schedule_name", "dagster/sensor_name")  # by these the UI tells what launched a run


def build_config(refresh: bool = False) -> dict[str, Any]:
    """The run configuration of the job `build`: what its launchpad starts with, and each run of a backfill has."""
    return {"ops": {"build_layers": {"config": {"sample": 0, "refresh": refresh, "wait": False}}}}


def build_tags(dataset: str, build: BuildResource | None = None) -> dict[str, str]:
    """Tags of a run of the job `build`: which data set, and the server of which the queue starts one build at a time."""
    tags = {BUILDS_TAG: dataset}
    with suppress(CrmRagError):  # not declared any more: the run will tell
        opened = (build or from_environment()).opened(dataset)
        first = next(iter(server_turns(opened).values()), None)  # requests take turns at the others, too
        if first is not None:
            tags[ENDPOINT_TAG] = first.folder.name
    return tags


# Of a build whose process was lost: Dagster's daemon starts it again, from what is finished on.
LOST_TAGS = {"dagster/max_retries": str(operations().retrying.lost), "dagster/retry_strategy": "ALL_STEPS"}


@dg.job(
    name="build",
    executor_def=dg.in_process_executor,
    partitions_def=dataset_partitions,
    config=dg.PartitionedConfig(
        dataset_partitions,
        run_config_for_partition_key_fn=lambda _: build_config(),
        tags_for_partition_key_fn=build_tags,
    ),
    tags=LOST_TAGS,
)
def build_job() -> None:
    """Build data sets from their sources to releases. What is finished and unchanged is not made again.

    Each data set that is declared in `config/datasets.yaml` is a partition: choose one in the launchpad, or several under
    Partitions, Launch backfill. `sample: 1000` builds only that many connected entities; `refresh: true` asks a SPARQL
    endpoint again. A release whose vectors would take long is published without them: they follow by the job `embed`, unless
    `wait: true`.
    Each layer is a run of its own, listed under Runs with its data set in the tag `crmrag/dataset`.
    """
    build_layers()


MADE_FROM = tuple(layer for layer in LAYERS if layer.name in ("graph", "relationships", "documents"))


@dataclass(frozen=True)
class EmbedRequest:
    """Whose vectors to make; ``now``: whatever the hour. ``parent``: the run of the job `embed`, "" without one."""

    dataset: str
    build: BuildResource
    now: bool = False
    parent: str = ""


@dataclass
class EmbedResult:
    """What came of it: the current release and of how many per cent of its documents it has vectors; how many windows were
    encoded, their tokens and US dollars where a price is known; each better release that was published, in order."""

    dataset: str
    release: str = ""
    share: int = 0
    encoded: int = 0
    tokens: int = 0
    usd: float | None = None
    published: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


Clock = Callable[[], datetime]


def run_embed(
    request: EmbedRequest,
    instance: DagsterInstance,
    reporter: Reporter | None = None,
    clock: Clock = lambda: datetime.now(UTC),
) -> EmbedResult:
    """Encode until every document has its vectors, or the hours end, and publish better releases on the way.

    Raises BuildError where there is no release to go on from, where the ceiling forbids to encode the rest, and what a build
    raises. Whatever ends it, what was encoded is kept.
    """
    name = request.dataset
    opened, result = request.build.opened(name), EmbedResult(name)
    with (
        faults_told(opened, f"Encoding '{name}' failed."),
        embedding_lock(opened.store.root, name),
        reporting_to(current_reporter(reporter)),
    ):
        while _one_share(request, instance, result, clock):
            pass
    found = release_of(request.build.opened(name))
    result.release, result.share = found.release, found.share
    return result


def release_of(opened: BuildContext) -> Published:
    """The release that lacks vectors, or has them all. BuildError where there is none, or another is current."""
    published = Published.read(opened.store.root)
    if published is None:
        raise BuildError(f"'{opened.name}' has no release yet.", f"Build it: crmrag build {opened.name}")
    current = pointer(dataset_folder(opened.data, opened.name))
    if current != published.release:
        raise BuildError(
            f"The current release of '{opened.name}' is {current}, and not the one that was built last.",
            f"If it was gone back to for good reason, mend what that is, and build again: crmrag build {opened.name}",
        )
    return published


def _one_share(request: EmbedRequest, instance: DagsterInstance, result: EmbedResult, clock: Clock) -> bool:
    """Encode as much as makes a better release, and publish it; whether there is more to do."""
    while is_locked(request.build.opened(request.dataset).store.root):  # it is being built
        time.sleep(LOOK_SECONDS)
    opened = request.build.opened(request.dataset)
    there = release_of(opened).share
    if there == 100:
        return False
    if not request.now and not is_open(opened.config.rebuild, clock()):
        begin = opening(opened.config.rebuild, clock())
        result.remarks.append(
            f"Encoding goes on at {begin:%H:%M} ({opened.config.rebuild.timezone}), as `embed_hours` of '{opened.name}' "
            f"say; at once: crmrag embed {opened.name} --now"
        )
        return False
    _require_finished(opened)
    require_within_ceiling(replace(opened, share=100))
    left = left_of(opened)
    pace = pace_of(opened) if left.texts[100] else 0.0
    share = max(left.within(BETWEEN_SECONDS, pace), next(one for one in SHARES if one > there))
    goal = replace(opened, share=share)
    return not _is_encoded(goal, left.texts[share], request, result, clock) or _publish(
        goal, request, instance, result
    )


def _is_encoded(
    goal: BuildContext, texts: int, request: EmbedRequest, result: EmbedResult, clock: Clock
) -> bool:
    """Encode what lacks a vector of the share, about so many texts: whether all is done; the end of the hours, and a build
    that found other documents, end it before."""
    made_from, rebuild = _identity(goal), goal.config.rebuild
    reporter = current_reporter()
    reporter.started("embeddings", 1)
    for batch in encode_ahead(goal):
        result.encoded += len(batch.windows)
        _count_cost(goal, batch.windows, result)
        reporter.within("embeddings", batch.texts, texts, "texts")
        if _identity(goal) != made_from or (not request.now and not is_open(rebuild, clock())):
            return False
    return True


def _count_cost(goal: BuildContext, windows: Sequence[str], result: EmbedResult) -> None:
    if (price := price_of(goal)) is not None:
        tokens = tokens_of(goal, windows)
        result.tokens += tokens
        result.usd = (result.usd or 0.0) + price * tokens


def _identity(opened: BuildContext) -> str:
    """Of the documents that are encoded: another one after a build that found changes; "" while there are none."""
    record = opened.store.record("documents")
    return record.version if record else ""


def _require_finished(opened: BuildContext) -> None:
    """BuildError unless all that vectors are made of is finished, by this version and this configuration."""
    for step in (STEPS[artifact] for layer in MADE_FROM for artifact in layer.assets):
        for chunk in chunks_to_make(step, opened):
            record = opened.store.record(step.artifact, chunk)
            if record is None or record.version != version_of(step, opened, chunk):
                raise BuildError(
                    f"The last build of '{opened.name}' did not end, or its configuration is another one by now.",
                    f"Build it again, which keeps all vectors: crmrag build {opened.name}",
                )


def _publish(
    goal: BuildContext, request: EmbedRequest, instance: DagsterInstance, result: EmbedResult
) -> bool:
    """Publish the release of a share whose vectors are there; where the data set was built meanwhile, nothing, so that it is
    begun again with what is there now. Whether there is more to do."""
    root, built = goal.store.root, BuildResult(goal.name)
    try:
        with dataset_lock(root, goal.name):
            opened = request.build.opened(goal.name)
            before = release_of(opened)
            if _identity(opened) != _identity(goal) or before.share >= goal.share:
                return True
            _require_finished(opened)
            opened.store.clean()
            opened = choose_share(opened, goal.share)
            tags = run_tags({PARENT_TAG: request.parent} if request.parent else {})
            make_layers(WITH_VECTORS, opened, request.build, instance, tags, built)
            after = release_of(opened)
            # Its data is as old as that of the release before.
            replace(after, at=before.at, source=before.source, fetched=before.fetched).write(root)
    except BeingBuilt:
        return True
    result.published.append(after.release)
    result.warnings = built.warnings
    current_reporter().remark(
        f"Release {after.release} has vectors of {goal.share} % of the documents of '{goal.name}'."
    )
    return goal.share < 100


class EmbedConfig(dg.Config):
    """Whose vectors to make."""

    dataset: str = Field(description="A data set that is declared in datasets.yaml, and was built.")
    now: bool = Field(False, description="Whatever the hour: not only in its `embed_hours`.")


@dg.op
def embed_vectors(context: dg.OpExecutionContext, config: EmbedConfig, build: BuildResource) -> None:
    """Encode what the release of a data set lacks, as ``crmrag embed`` does; the log tells how far it is."""
    hold_run_lock(Path(build.data), context.run)
    context.instance.add_run_tags(context.run_id, {EMBEDS_TAG: config.dataset})
    request = EmbedRequest(config.dataset, build, config.now, context.run_id)
    with told_to_dagster(context, build):
        result = run_embed(request, context.instance, LineReporter(context.log.info))
    log_found(context, result.remarks, result.warnings)
    told: dict[str, Any] = {
        "release": result.release,
        "vectors": f"{result.share} %",
        "encoded": result.encoded,
        "better_releases": len(result.published),
    }
    spent = {} if result.usd is None else {"tokens": result.tokens, "usd": round(result.usd, 6)}
    context.add_output_metadata(told | spent)


def embed_config(dataset: str) -> dict[str, Any]:
    """The run configuration of the job `embed`: what its launchpad starts with, and each run by the sensor has."""
    return {"ops": {embed_vectors.name: {"config": {"dataset": dataset, "now": False}}}}


@dg.job(name="embed", executor_def=dg.in_process_executor, config=embed_config("sample"), tags=LOST_TAGS)
def embed_job() -> None:
    """Make the vectors that the release of a data set lacks, those of the most important documents first, and publish better
    releases on the way: with vectors of 1, 5, 20, 50 and 100 per cent.

    What was encoded is kept when it is stopped. The data set can be built meanwhile.
    """
    embed_vectors()
