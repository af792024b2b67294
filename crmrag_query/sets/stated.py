"""Who says so: the named graphs that the members of a set have triples in."""

from __future__ import annotations

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.graph.arrays import Ints
from crmrag_query.plans.world import ranges
from crmrag_query.sets.cells import Reader
from crmrag_query.sets.records import Stated


def stated_in(release: Release, members: Ints, reader: Reader) -> tuple[Stated, ...]:
    """Each named graph with the number of members that are the subject of a triple in it, most first.

    Empty where the data has one graph alone, and for sets larger than configured. Statements of classes are not counted: the
    graph array does not keep who makes them.
    """
    graph, limit = release.graph, release.method.sets.limits.stated_in
    sets = graph.graph_sets
    names = sorted({name for names in sets for name in names or ("",)})
    if len(names) < 2 or not 0 < len(members) <= limit:
        return ()
    node = members.astype(np.int64)
    ptr, tri = release.triples.out_ptr, release.triples.out_tri
    out = ptr[node + 1] - ptr[node]
    literal_ptr = graph.literal_ptr
    said = literal_ptr[node + 1] - literal_ptr[node]
    in_literals = np.asarray(graph.literal_table.column("graph").to_numpy())
    owner = np.concatenate([np.repeat(np.arange(len(node)), out), np.repeat(np.arange(len(node)), said)])
    number = np.concatenate(
        [graph.triple_graph[tri[ranges(ptr[node], out)]], in_literals[ranges(literal_ptr[node], said)]]
    ).astype(np.int64)
    pairs = np.unique(owner * len(sets) + number)
    holders = {name: np.zeros(len(node), bool) for name in names}
    for at in np.unique(pairs % len(sets)).tolist():
        chosen = pairs[pairs % len(sets) == at] // len(sets)
        for name in sets[at] or ("",):
            holders[name][chosen] = True
    found = [Stated(name, _label(release, reader, name), int(held.sum())) for name, held in holders.items()]
    return tuple(sorted((one for one in found if one.count), key=lambda one: (-one.count, one.graph)))


def _label(release: Release, reader: Reader, name: str) -> str:
    node = release.graph.node(name) if name else None
    return name if node is None else reader.named(node).label
