"""Warnings of Dagster that we know and accept, silenced where they arise; every other warning is shown."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from dagster import BetaWarning, PreviewWarning

# Beta parts that the build uses; Dagster's minor version is pinned, and our tests cover them.
KNOWN = (
    "Class `MultiToSingleDimensionPartitionMapping` is currently in beta",
    "Parameter `backfill_policy` of .* is currently in beta",
    "Specifying a partitions_def on an AssetCheckSpec",
    "Class `(LocalFileCodeReference|CodeReferencesMetadataValue)` is currently in beta",
)


@contextmanager
def known_betas() -> Iterator[None]:
    """Within the block, the known warnings are not shown."""
    with warnings.catch_warnings():
        for message in KNOWN:
            for kind in (BetaWarning, PreviewWarning):
                warnings.filterwarnings("ignore", message=message, category=kind)
        yield
