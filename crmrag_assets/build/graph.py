"""Steps of the group ``graph``: arrays, edges and the index of triples."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.opened import graph_of
from crmrag_assets.build.step import BuildContext, Inputs, Stats, Step
from crmrag_assets.graph.build import build_graph
from crmrag_assets.graph.edges import write_edges
from crmrag_assets.graph.triples import write_triples_index
from crmrag_assets.harvest.prefetch import TRIPLES_FILE
from crmrag_query.config import config_hash

SHOWN = 12


def prefetched(context: BuildContext) -> list[Path]:
    """The triples of every chunk, in order."""
    return [context.folder("prefetch", chunk) / TRIPLES_FILE for chunk in chunks_of(context)]


def _prefetch_contents(context: BuildContext) -> dict[str, str]:
    """Hash of each chunk's triples; its report does not reach the graph."""
    found = {}
    for chunk in chunks_of(context):
        entries = {entry.path: entry.sha256 for entry in context.finished("prefetch", chunk).files}
        found[f"prefetch/{chunk}"] = entries[TRIPLES_FILE]
    return found


def graph_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    method, config = context.method, context.config
    parts = ("names", "dates", "links", "images", "suspects", "categories", "events")
    return _prefetch_contents(context) | {
        "config": config_hash({part: config_hash(getattr(method, part)) for part in parts}),
        "ontology": context.ontology_hash,
        "languages": ",".join(config.languages),
        "images": config.image_pattern,
    }


def write_graph(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    counts = build_graph(
        prefetched(context),
        folder,
        context.method,
        context.vocabulary.ontology,
        context.config.languages,
        context.config.image_pattern,
        context.progress,
        context.threads,
    )
    return asdict(counts)


def edges_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return {"graph": context.finished("graph").content}


def write_archive(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    return {
        "rows": write_edges(
            context.folder("graph"), folder, context.method.harvest.edge_rows, context.progress
        )
    }


def triples_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return {"graph": context.finished("graph").content, "pickle": str(context.config.write_triples_pickle)}


def write_triples(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    rows = write_triples_index(context.folder("graph"), folder, context.config.write_triples_pickle)
    return {"triples": rows, "nodes": graph_of(context).nodes}


GRAPH = Step("graph", 1, graph_inputs, write_graph, needs=("prefetch",))
EDGES = Step("edges", 1, edges_inputs, write_archive, needs=("graph",))
TRIPLES_INDEX = Step("triples_index", 1, triples_inputs, write_triples, needs=("graph",))
