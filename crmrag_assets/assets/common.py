"""What the declarations of assets share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import cleandoc
from typing import Any

import dagster as dg

from crmrag_assets.assets.columns import columns_of
from crmrag_assets.build.layers import LAYERS
from crmrag_assets.build.step import Step
from crmrag_assets.build.steps import STEPS
from crmrag_assets.partitions import by_dataset, dataset_chunk_partitions, dataset_partitions
from crmrag_assets.quiet import known_betas
from crmrag_assets.release.contents import PLACES
from crmrag_assets.settings import owners

Body = Callable[..., Any]
LAYER, RELEASED = "crmrag/layer", "crmrag/released"  # keys of tags
HARVEST, ENCODING = "harvest", "encoding"  # pools: unlimited unless an operator limits them in the UI
CODE = "dagster/code_references"  # by this the UI finds the code of an asset

CHUNKS_NOTE = (
    "Partitions: a data set has the first 1, 2, 4 … 256 of the chunks, as its size asks for (see the asset `entities`). "
    "As many are listed as the largest data set has; those that a smaller one does not use count as missing, and are not."
)


def dataset_asset(**spec: Any) -> Callable[[Body], dg.AssetsDefinition]:
    """An asset of a whole data set."""

    def declare(body: Body) -> dg.AssetsDefinition:
        asset: dg.AssetsDefinition = dg.asset(partitions_def=dataset_partitions, **_catalogued(body), **spec)(
            body
        )
        return asset

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
                **_catalogued(body),
                **spec,
            )(body)
        return asset

    return declare


def _catalogued(body: Body) -> dict[str, Any]:
    """What the catalogue tells of every asset: whose it is, which run makes it, whether a release holds it, columns, code."""
    name = body.__name__
    layer = next((layer.name for layer in LAYERS if name in layer.assets), "")
    tags = {LAYER: layer} if layer else {}
    return {
        "owners": list(owners()),
        "tags": tags | {RELEASED: "yes" if name in PLACES else "no"},
        "metadata": columns_of(name) | _code(body),
    }


def _code(body: Body) -> dict[str, Any]:
    """Where to read how the artifact is made: the function that fills its folder, and the asset itself."""
    step = STEPS.get(body.__name__)
    places = [("how it is made", step.write)] if step else []
    with known_betas():
        references = [
            dg.LocalFileCodeReference(
                file_path=str(inspect.getsourcefile(function)),
                line_number=inspect.getsourcelines(function)[1],
                label=label,
            )
            for label, function in [*places, ("the asset", body)]
        ]
        return {CODE: dg.CodeReferencesMetadataValue(code_references=list(references))}


def made_from(step: Step) -> list[dg.AssetDep]:
    """What an asset depends on: between chunks and data set on all chunks of it, or on the data set of the chunk."""
    across = {need: STEPS[need].chunked != step.chunked for need in step.needs}
    return [
        dg.AssetDep(need, partition_mapping=by_dataset if other else None) for need, other in across.items()
    ]
