"""How long the graph tools take on a release: at its largest hubs, and at entities by chance.

    python benchmarks/graph_tools.py DATASET --data DATA [--entities 200]

Prints one JSON line: nodes and triples of the release, the largest number of triples of one entity, and for
`graph_context` at 1, 2 and 3 hops, `graph_search` and `graph_communities` (where the release has some) the median, the 95th
percentile and the longest, in milliseconds of the process's own time and of the clock. What is opened only once is opened
before. Queries are names of the data.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np

from crmrag_query.artifacts.release import open_release
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.stores.release import ReleaseStore
from crmrag_query.stores.tools import StoreTools

HUBS = 100  # entities with most triples


def timed(calls: Iterable[Callable[[], object]]) -> dict[str, list[float]]:
    """Milliseconds of the process and of the clock: median, 95th percentile, most."""
    own, clock = [], []
    for call in calls:
        began, at = time.process_time(), time.perf_counter()
        call()
        own.append(1000 * (time.process_time() - began))
        clock.append(1000 * (time.perf_counter() - at))
    return {
        name: [round(float(np.percentile(spent, share)), 1) for share in (50, 95, 100)]
        for name, spent in (("process", own), ("clock", clock))
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--entities", type=int, default=200)
    given = parser.parse_args()
    release = open_release(given.dataset, given.data)
    graph, index = release[Graph], release[TriplesIndex]
    tools = StoreTools(ReleaseStore(release), given.dataset)
    degree = np.diff(index.out_ptr) + np.diff(index.in_ptr)
    hubs = np.argsort(-degree)[:HUBS].tolist()
    chance = random.Random(1).sample(np.flatnonzero(degree).tolist(), given.entities)
    names = [graph.label(node) for node in chance]
    for warm in ("first", names[0]):
        tools.graph_search(warm)
    found: dict[str, object] = {
        "dataset": given.dataset,
        "nodes": graph.nodes,
        "triples": graph.triples,
        "largest_hub": int(degree.max()),
    }
    for kind, nodes in (("hubs", hubs), ("chance", chance)):
        for hops in (1, 2, 3):
            calls = (partial(tools.graph_context, graph.iri(node), hops) for node in nodes)
            found[f"context_{kind}_{hops}"] = timed(calls)
    queries = [name[:200] for name in names if name.strip()]
    found["search"] = timed(partial(tools.graph_search, one) for one in queries)
    if release.manifest.has("community_index"):
        tools.graph_communities("first")
        found["communities"] = timed(partial(tools.graph_communities, one) for one in queries)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
