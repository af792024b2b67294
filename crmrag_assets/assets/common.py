"""What the declarations of assets share."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Any

import dagster as dg

from crmrag_assets.build.step import Step
from crmrag_assets.build.steps import STEPS
from crmrag_assets.partitions import by_dataset, dataset_chunk_partitions, dataset_partitions
from crmrag_assets.quiet import known_betas

Body = Callable[..., Any]

CHUNKS_NOTE = (
    "Partitions: of the 256 chunks on offer, a data set uses the first 1, 2, 4 … 256, as its size asks for "
    "(see the asset `entities`). Chunks that it does not use stay grey and are not missing."
)


def dataset_asset(**spec: Any) -> Callable[[Body], dg.AssetsDefinition]:
    """An asset of a whole data set."""
    declare: Callable[[Body], dg.AssetsDefinition] = dg.asset(partitions_def=dataset_partitions, **spec)
    return declare


def chunk_asset(**spec: Any) -> Callable[[Body], dg.AssetsDefinition]:
    """An asset of a data set's chunks: one run for a range of them.

    Chunks are recorded as they end (see ``materialise.build_chunks``), so the asset itself has no output.
    """

    def declare(body: Body) -> dg.AssetsDefinition:
        with known_betas():
            asset: dg.AssetsDefinition = dg.asset(
                partitions_def=dataset_chunk_partitions,
                backfill_policy=dg.BackfillPolicy.single_run(),
                output_required=False,
                description=f"{cleandoc(body.__doc__ or '')}\n\n{CHUNKS_NOTE}",
                **spec,
            )(body)
        return asset

    return declare


def made_from(step: Step) -> list[dg.AssetDep]:
    """What an asset depends on: between chunks and data set on all chunks of it, or on the data set of the chunk."""
    across = {need: STEPS[need].chunked != step.chunked for need in step.needs}
    return [
        dg.AssetDep(need, partition_mapping=by_dataset if other else None) for need, other in across.items()
    ]
