"""Running steps as Dagster assets: the lock, the report, and the events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg

from crmrag_assets.build.locks import dataset_lock
from crmrag_assets.build.step import Step, chunks_of
from crmrag_assets.instance import explained
from crmrag_assets.metadata import chunk_materialized, glance, materialized
from crmrag_assets.partitions import BuildResource, chunk_key, datasets_of, offer_chunks
from crmrag_assets.runs import BUILD_TAG, hold_run_lock
from crmrag_assets.steps.registry import STEPS, run_chunks, run_or_await

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
    """Make the chunks in the run's range that the data set has; each is recorded as it ends.

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
                existing = chunks_of(opened)
                opened.store.keep_only(step.artifact, existing)
                chosen = [chunk for chunk in existing if chunk in asked]
                if beyond := sorted(asked - {*existing}):
                    context.log.warning(_BEYOND.format(", ".join(beyond), dataset, ", ".join(existing)))
                reporter.started(step.artifact, len(chosen))
                for outcome in run_chunks(step, opened, chosen):
                    partition = chunk_key(dataset, outcome.chunk or "")
                    if not outcome.reused or str(partition) not in known:  # an event costs about 10 ms
                        seen = glance(step.artifact, opened, outcome.chunk)
                        context.log_event(chunk_materialized(key, partition, outcome, seen))
                    reporter.finished(outcome)
