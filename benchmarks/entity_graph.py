"""The entity graph of a data set that is built up to its documents: what it takes, and how well it falls into parts.

    python benchmarks/entity_graph.py DATASET --config CONFIG --data DATA [--build] [--modularity]

``--build`` first runs the steps of `crmrag build` that it needs: so a made museum (benchmarks/generate.py; 938,000 entities
have 600,000 documents) is measured without its other indexes. Prints one JSON line: documents, edges, seconds and peak
resident memory of the step in a process of its own; with ``--modularity`` that of Leiden's communities (resolution 1) on the
graph as it is, with types and times among its nodes, and with neither that nor the damping of what has many neighbours.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from crmrag_assets.build.context import open_context
from crmrag_assets.build.step import BuildContext, chunks_to_make, run_step
from crmrag_assets.indexes.aggregation import MatchFiles
from crmrag_assets.indexes.entity_graph import joined, related, stated
from crmrag_assets.opened import catalogue_of, documents_of, folders_of, graph_of, numbering_of
from crmrag_assets.steps.indexes import write_entity_graph
from crmrag_assets.steps.registry import STEPS
from crmrag_query.documents.entity_graph import EntityGraph

FIRST = ("entities", "prefetch", "graph", "fr_documents", "documents")


def measured(given: argparse.Namespace, folder: Path) -> None:
    """Make the graph in ``folder`` and print what that takes."""
    context = open_context(given.dataset, given.data, given.config)
    started = time.perf_counter()
    stats = write_entity_graph(context, folder, None)
    spent = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    found: dict[str, object] = {
        "dataset": given.dataset,
        **stats,
        "seconds": round(spent, 1),
        "peak_mib": peak,
    }
    if given.modularity:
        found["modularity"] = dict(modularities(context, EntityGraph.open(folder)))
    print(json.dumps(found))


def modularities(context: BuildContext, graph: EntityGraph) -> Iterator[tuple[str, object]]:
    """What Leiden finds of three ways to join documents."""
    yield "as_built", parts(graph)
    home, weights = documents_of(context).entity_document, context.method.weights
    files = MatchFiles(folders_of(context, "fr_documents"), numbering_of(context))
    matches = related(files, home, catalogue_of(context), weights)
    every = joined(
        chain(stated(graph_of(context).adjacency, home, weights), matches), documents_of(context).count
    )
    yield "with_types_and_times", parts(every)
    neighbours = np.diff(every.ptr)
    plain = np.sqrt(np.repeat(neighbours, neighbours) * neighbours[every.neighbour]) * every.weight
    yield "and_not_damped", parts(EntityGraph(every.ptr, every.neighbour, plain.astype(np.float32)))


def parts(graph: EntityGraph) -> dict[str, float]:
    import igraph

    low, high, weight = graph.pairs()
    net = igraph.Graph(n=graph.documents, edges=np.stack([low, high], axis=1))
    igraph.set_random_number_generator(random.Random(1))
    found = net.community_leiden("modularity", weights=weight.astype(float), n_iterations=10)
    sizes = np.array(found.sizes())
    return {
        "edges": graph.edges,
        "of_three_or_more": int((sizes >= 3).sum()),
        "largest": int(sizes.max()),
        "modularity": round(net.modularity(found, weights=weight.astype(float)), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--modularity", action="store_true")
    given = parser.parse_args()
    if given.build:
        context = open_context(given.dataset, given.data, given.config)
        for step in map(STEPS.__getitem__, FIRST):
            for chunk in chunks_to_make(step, context):
                run_step(step, context, chunk)
    out = given.data / "measured_entity_graph"
    out.mkdir(parents=True, exist_ok=True)
    process = multiprocessing.get_context("spawn").Process(target=measured, args=(given, out))
    process.start()
    process.join()


if __name__ == "__main__":
    main()
