"""All steps by the name of their artifact."""

from __future__ import annotations

from crmrag_assets.build.documents import DOCUMENTS, ENTITY_DOCUMENTS, FR_DOCUMENTS
from crmrag_assets.build.graph import EDGES, GRAPH, TRIPLES_INDEX
from crmrag_assets.build.harvest import HARVEST_REPORT
from crmrag_assets.build.indexes import (
    AGGREGATION_INDEX,
    BM25_INDEX,
    DATE_INDEX,
    EMBEDDINGS,
    ENCODER,
    FAISS_INDEX,
    NAME_INDEX,
    PROFILE,
)
from crmrag_assets.build.layers import Layer, chunks_of
from crmrag_assets.build.release import RELEASE, VALIDATION_REPORT
from crmrag_assets.build.source import ENTITIES, PREFETCH
from crmrag_assets.build.step import BuildContext, Outcome, current_outcome

STEPS = {
    step.artifact: step
    for step in (
        ENTITIES, PREFETCH, HARVEST_REPORT, GRAPH, EDGES, TRIPLES_INDEX, FR_DOCUMENTS, DOCUMENTS, ENTITY_DOCUMENTS,
        ENCODER, EMBEDDINGS, FAISS_INDEX, BM25_INDEX, AGGREGATION_INDEX, DATE_INDEX, NAME_INDEX, PROFILE,
        VALIDATION_REPORT, RELEASE,
    )
}  # fmt: skip


def finished_layer(layer: Layer, context: BuildContext) -> list[Outcome] | None:
    """The outcomes of a layer of which nothing has to be made again; None as soon as something has to."""
    found = []
    for artifact in layer.assets:
        step = STEPS[artifact]
        for chunk in chunks_of(context) if step.chunked else [None]:
            outcome = current_outcome(step, context, chunk)
            if outcome is None:
                return None
            found.append(outcome)
    return found
