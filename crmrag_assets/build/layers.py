"""The order of a build: layers of assets with the same partitions, each one run (Dagster refuses mixed ones)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from crmrag_assets.build.step import BuildContext
from crmrag_assets.harvest.chunks import chunk_keys

DISCOVERY = "discovery.json"


@dataclass(frozen=True, slots=True)
class Layer:
    """Assets that one run materialises; ``chunked``: over the chunks of the data set."""

    name: str
    assets: tuple[str, ...]
    chunked: bool = False


LAYERS = (
    Layer("discovery", ("entities",)),
    Layer("harvest", ("prefetch",), chunked=True),
    Layer("graph", ("harvest_report", "graph", "edges", "triples_index")),
    Layer("relationships", ("fr_documents",), chunked=True),
    Layer(
        "documents",
        (
            "documents",
            "date_index",
            "profile",
            "aggregation_index",
            "name_index",
            "bm25_index",
            "entity_documents",
            "encoder",
        ),
    ),
    Layer("embeddings", ("embeddings",), chunked=True),
    Layer("release", ("faiss_index", "validation_report", "release")),
)
ARTIFACTS = tuple(asset for layer in LAYERS for asset in layer.assets)


def bits_of(context: BuildContext) -> int:
    """How many leading bits of an IRI's hash name its chunk; BuildError before discovery."""
    context.finished("entities")
    found = json.loads((context.folder("entities") / DISCOVERY).read_bytes())
    return int(found["bits"])


def chunks_of(context: BuildContext) -> list[str]:
    """Keys of the chunks that the data set has, ascending; BuildError before discovery."""
    return chunk_keys(bits_of(context))
