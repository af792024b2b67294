"""Steps of the group ``graph``: arrays, edges and the index of triples."""

from __future__ import annotations

from pathlib import Path

from crmrag_assets.build.step import BuildContext, Inputs, Stats, Step, chunks_of, contents
from crmrag_assets.graph.build import build_graph, write_edges, write_triples_index
from crmrag_assets.harvest.prefetch import TRIPLES_FILE
from crmrag_assets.opened import graph_of, prefetched


def graph_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    found = {"languages": ",".join(context.config.languages), "images": context.config.image_pattern}
    for key in chunks_of(context):  # of each chunk its triples: its report does not reach the graph
        files = {entry.path: entry.sha256 for entry in context.finished("prefetch", key).files}
        found[f"prefetch/{key}"] = files[TRIPLES_FILE]
    return found


def write_graph(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """The graph as memory-mapped arrays: compressed sparse rows both ways, types, labels, literals, dates, links.

    Serves the walking of Fundamental Relationships, exact answers, sources and explanations alike: nearly every asset
    behind it reads it, and so does each question.
    """
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
    return dict(counts)


def write_archive(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Every triple once with its labels (s, s_label, p, p_label, o, o_label), as one Parquet file.

    `edges.parquet` is for people and other tools (DuckDB, pandas, polars); nothing that answers questions reads it.
    """
    return {"rows": write_edges(context.folder("graph"), folder, context.progress)}


def write_triples(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Entity to triples, memory-mapped; with `write_triples_pickle` also `triples_index.pkl` for other tools.

    Read at question time for the sources of an answer, down to the triple.
    """
    rows = write_triples_index(context.folder("graph"), folder, context.config.write_triples_pickle)
    return {"triples": rows, "nodes": graph_of(context).nodes}


GRAPH = Step(
    "graph", 8, write_graph, needs=("prefetch",), inputs=graph_inputs,
    parts=("names", "dates", "links", "images", "suspects", "categories", "events", "ontology"),
)  # fmt: skip
EDGES = Step("edges", 1, write_archive, needs=("graph",))
TRIPLES_INDEX = Step(
    "triples_index", 1, write_triples, needs=("graph",),
    inputs=lambda one, _: contents(one, "graph") | {"pickle": str(one.config.write_triples_pickle)},
)  # fmt: skip
STEPS = (GRAPH, EDGES, TRIPLES_INDEX)
