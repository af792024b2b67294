"""Running steps as Dagster assets: the lock, the report, and the events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dagster as dg

from crmrag_assets.build.ahead import run_or_await
from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.locks import dataset_lock
from crmrag_assets.build.step import BuildContext, Outcome, Step
from crmrag_assets.build.workers import run_chunks
from crmrag_assets.glances import glance
from crmrag_assets.metadata import chunk_materialized, materialized
from crmrag_assets.partitions import chunk_key, datasets_of
from crmrag_assets.resources import BuildResource


def build_artifact(
    context: dg.AssetExecutionContext, build: BuildResource, step: Step
) -> dg.MaterializeResult[Any]:
    """Make one artifact of the run's data set."""
    reporter = build.reporter(context)
    opened = build.context(context.partition_key, step.artifact, reporter)
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
    known = context.instance.get_materialized_partitions(context.asset_key)
    for dataset, asked in sorted(datasets_of(context.partition_keys).items()):
        reporter = build.reporter(context)
        opened = build.context(dataset, step.artifact, reporter)
        with dataset_lock(opened.store.root, dataset):
            existing = chunks_of(opened)
            opened.store.keep_only(step.artifact, existing)
            chosen = [chunk for chunk in existing if chunk in asked]
            reporter.started(step.artifact, len(chosen))
            for outcome in run_chunks(step, opened, chosen):
                _record(context, opened, outcome, known)
                reporter.finished(outcome)


def _record(
    context: dg.AssetExecutionContext, opened: BuildContext, outcome: Outcome, known: set[str]
) -> None:
    """Log a chunk that was made, or that this instance has not seen (an event costs about 10 ms)."""
    key = chunk_key(opened.name, outcome.chunk or "")
    if not outcome.reused or str(key) not in known:
        seen = glance(outcome.record.artifact, opened, outcome.chunk)
        context.log_event(chunk_materialized(context.asset_key, key, outcome, seen))
