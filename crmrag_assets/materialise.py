"""Running steps as Dagster assets: the lock, the report, and the events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg

from crmrag_assets.build.ahead import run_or_await
from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.locks import dataset_lock
from crmrag_assets.build.step import BuildContext, Outcome, Step
from crmrag_assets.build.workers import run_chunks
from crmrag_assets.glances import glance
from crmrag_assets.launch import BUILD_TAG
from crmrag_assets.lost import attend
from crmrag_assets.metadata import chunk_materialized, materialized
from crmrag_assets.partitions import chunk_key, datasets_of
from crmrag_assets.resources import BuildResource
from crmrag_assets.told import explained

_BEYOND = "There is no chunk {} of '{}', and nothing is made of it. Its chunks are {}."


def build_artifact(
    context: dg.AssetExecutionContext, build: BuildResource, step: Step
) -> dg.MaterializeResult[Any]:
    """Make one artifact of the run's data set."""
    dataset, reporter = context.partition_key, build.reporter(context)
    with explained(step.artifact, Path(build.data), dataset):
        attend(Path(build.data), context.run)
        opened = build.context(dataset, step.artifact, reporter)
        with dataset_lock(opened.store.root, opened.name):
            reporter.started(step.artifact, 1)
            outcome = run_or_await(step, opened)
            reporter.finished(outcome)
        return materialized(outcome, glance(step.artifact, opened))


def build_chunks(
    context: dg.AssetExecutionContext, build: BuildResource, step: Step
) -> Iterator[dg.MaterializeResult[Any]]:
    """Make the chunks in the run's range that the data set has; each is recorded as it ends.

    Yields nothing: by yielding a result Dagster would record every key of the range, also chunks that do not exist.
    """
    yield from ()
    with explained(step.artifact):
        attend(Path(build.data), context.run)
        known = _known(context)
    for dataset, asked in sorted(datasets_of(context.partition_keys).items()):
        with explained(step.artifact, Path(build.data), dataset):
            reporter = build.reporter(context)
            opened = build.context(dataset, step.artifact, reporter)
            with dataset_lock(opened.store.root, dataset):
                existing = chunks_of(opened)
                opened.store.keep_only(step.artifact, existing)
                chosen = [chunk for chunk in existing if chunk in asked]
                if beyond := sorted(asked - {*existing}):
                    context.log.warning(_BEYOND.format(", ".join(beyond), dataset, ", ".join(existing)))
                reporter.started(step.artifact, len(chosen))
                for outcome in run_chunks(step, opened, chosen):
                    _record(context, opened, outcome, known)
                    reporter.finished(outcome)


def _known(context: dg.AssetExecutionContext) -> set[str]:
    """What need not be recorded again where it is unchanged; of a run that a person asked for, a backfill say, nothing."""
    return (
        context.instance.get_materialized_partitions(context.asset_key)
        if BUILD_TAG in context.run.tags
        else set()
    )


def _record(
    context: dg.AssetExecutionContext, opened: BuildContext, outcome: Outcome, known: set[str]
) -> None:
    """Log a chunk that was made, or that this instance has not seen (an event costs about 10 ms)."""
    key = chunk_key(opened.name, outcome.chunk or "")
    if not outcome.reused or str(key) not in known:
        seen = glance(outcome.record.artifact, opened, outcome.chunk)
        context.log_event(chunk_materialized(context.asset_key, key, outcome, seen))
