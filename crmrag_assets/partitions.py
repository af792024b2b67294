"""Partitions: a data set, and its chunks. A data set uses the chunks that its size calls for, out of 256.

Dagster is told of a chunk when a data set first needs it, so that what it shows as missing is mostly to be made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import dagster as dg
from dagster import DagsterInstance
from sqlalchemy.exc import IntegrityError

from crmrag_assets.quiet import known_betas

DATASET, CHUNK = "dataset", "chunk"

CHUNK_BITS = 8


def chunk_order(bits: int = CHUNK_BITS) -> list[str]:
    """All chunk keys, each doubling after the one before: 00, 80, 40, c0, 20 …

    The 2^b chunks of a data set are then the first 2^b keys for every b, so that a range holds them and no others:
    Dagster writes an event for each key of a range, whether the data set has that chunk or not.
    """
    return [f"{int(f'{number:0{bits}b}'[::-1], 2):02x}" for number in range(1 << bits)]


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
        with suppress(
            IntegrityError
        ):  # another build offered one of them between Dagster's look and its writing
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
