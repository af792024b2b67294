"""Partitions: a data set, and its chunks. A data set uses the chunks that its size calls for, out of 256.

Dagster is told of a chunk when a data set first needs it, so that what it shows as missing is mostly to be made. Runs are
given where builds read their configuration and write their data as the resource `build`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import dagster as dg
from dagster import DagsterInstance
from sqlalchemy.exc import IntegrityError

from crmrag_assets.build.context import open_context
from crmrag_assets.build.step import (
    MOST_BITS,
    BuildContext,
    LineReporter,
    Reporter,
    StepProgress,
    current_reporter,
)
from crmrag_assets.instance import known_betas
from crmrag_query.artifacts.manifest import BUCKETS


class BuildResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Folders of a build; ``config`` empty means the configuration that ``crmrag`` finds by itself."""

    data: str = "data"
    config: str = ""
    threads: int = 0

    def reporter(self, context: dg.AssetExecutionContext) -> Reporter:
        """Who is told of progress: the command line where it runs the build, else Dagster's log."""
        return current_reporter(LineReporter(context.log.info))

    def settings(self) -> dict[str, str | int]:
        """The same folders as run configuration."""
        return {"data": self.data, "config": self.config, "threads": self.threads}

    @property
    def config_folder(self) -> Path | None:
        """The folder of the configuration; None for the one that is found by itself."""
        return Path(self.config) if self.config else None

    def opened(self, dataset: str) -> BuildContext:
        """The build context of a data set."""
        return open_context(dataset, Path(self.data), self.config_folder, self.threads or None)

    def context(self, dataset: str, artifact: str, reporter: Reporter) -> BuildContext:
        """The build context of a data set, which reports as ``artifact``."""
        return replace(self.opened(dataset), progress=StepProgress(reporter, artifact))


def from_environment() -> BuildResource:
    """Folders as CRMRAG_DATA and CRMRAG_CONFIG name them: what the Dagster UI uses."""
    return BuildResource(
        data=os.environ.get("CRMRAG_DATA", "data"), config=os.environ.get("CRMRAG_CONFIG", "")
    )


DATASET, CHUNK = "dataset", "chunk"


def chunk_order() -> list[str]:
    """All chunk keys, each doubling after the one before: 00, 80, 40, c0, 20 …

    The 2^b chunks of a data set are then the first 2^b keys for every b, so that a range holds them and no others:
    Dagster writes an event for each key of a range, whether the data set has that chunk or not.
    """
    return [f"{int(f'{number:0{MOST_BITS}b}'[::-1], 2):02x}" for number in range(BUCKETS)]


dataset_partitions = dg.DynamicPartitionsDefinition(name=DATASET)
chunk_partitions = dg.DynamicPartitionsDefinition(name=CHUNK)
dataset_chunk_partitions = dg.MultiPartitionsDefinition(
    {CHUNK: chunk_partitions, DATASET: dataset_partitions}
)
# Between an asset of a data set and an asset of its chunks, either way.
with known_betas():
    by_dataset = dg.MultiToSingleDimensionPartitionMapping(partition_dimension_name=DATASET)
RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"


def offer_chunks(instance: DagsterInstance, chunks: Sequence[str]) -> None:
    """Have Dagster know the chunks of a data set, in the order that makes them a range."""
    keys = chunk_order()[: len(chunks)]
    while keys and set(keys) - set(instance.get_dynamic_partitions(CHUNK)):
        with suppress(IntegrityError):  # another build offered one between Dagster's look and its writing
            instance.add_dynamic_partitions(CHUNK, keys)


def chunk_key(dataset: str, chunk: str) -> dg.MultiPartitionKey:
    return dg.MultiPartitionKey({CHUNK: chunk, DATASET: dataset})


def range_tags(dataset: str, chunks: Sequence[str]) -> dict[str, str]:
    """Run tags that make one run of all chunks of a data set.

    Dagster takes the product of both dimensions' ranges, so a range from one data set to the same one is its chunks.
    """
    ends = chunk_order()[0], chunk_order()[len(chunks) - 1]
    return {
        tag: str(chunk_key(dataset, end)) for tag, end in zip((RANGE_START, RANGE_END), ends, strict=True)
    }


def datasets_of(keys: Sequence[str]) -> Mapping[str, set[str]]:
    """Data set -> chunks asked for, from partition keys ``chunk|dataset``."""
    found: dict[str, set[str]] = {}
    for key in keys:
        chunk, dataset = str(key).split("|")
        found.setdefault(dataset, set()).add(chunk)
    return found
