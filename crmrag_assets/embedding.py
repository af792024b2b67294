"""Vectors as they come: encoding what a release lacks, the most important documents first, and publishing a better release
at each share. The command line, the UI and the sensor all start this, the latter two by the job `embed`.

Encoding holds no lock of the data set, so that it can be built meanwhile; what is published then is gone on from. Only to
publish it waits for its turn.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
from dagster import DagsterInstance
from pydantic import Field

from crmrag_assets.build.context import choose_share
from crmrag_assets.build.locks import BeingBuilt, dataset_lock, embedding_lock, is_locked
from crmrag_assets.build.reporting import LineReporter, Reporter, current_reporter, reporting_to
from crmrag_assets.build.step import LAYERS, BuildContext, chunks_to_make, version_of
from crmrag_assets.build.store import Published
from crmrag_assets.indexes.embed import SHARES
from crmrag_assets.launch import (
    LOOK_SECONDS,
    LOST_TAGS,
    PATIENCE_SECONDS,
    WITH_VECTORS,
    BuildResult,
    faults_told,
    log_found,
    make_layers,
    run_tags,
    told_to_dagster,
)
from crmrag_assets.operations.freshness import is_open, opening
from crmrag_assets.partitions import BuildResource
from crmrag_assets.runs import EMBEDS_TAG, PARENT_TAG, hold_run_lock
from crmrag_assets.steps.encoding import encode_ahead, left_of, pace_of
from crmrag_assets.steps.indexes import price_of, require_within_ceiling, tokens_of
from crmrag_assets.steps.registry import STEPS
from crmrag_query.artifacts.manifest import dataset_folder, pointer
from crmrag_query.errors import BuildError

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
    share = max(left.within(PATIENCE_SECONDS, pace), next(one for one in SHARES if one > there))
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
    progress = reporter.progress("embeddings")
    for batch in encode_ahead(goal):
        result.encoded += len(batch.windows)
        _count_cost(goal, batch.windows, result)
        progress.advance(batch.texts, texts, "texts")
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
