"""Which entities a named graph says something of."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from crmrag_query.plans.world import Mask, World


def subjects_in(world: World, graphs: Iterable[str]) -> Mask:
    """Subjects of triples, other than those of classes, that stand in one of the named graphs, as a mask over all nodes."""
    wanted = {iri for iri in graphs if iri}
    chosen = np.array([bool(wanted & set(names)) for names in world.graph.graph_sets], bool)
    found = np.zeros(world.size, bool)
    if not chosen.any():
        return found
    rows, before = world.adjacency.forward, np.zeros(len(world.graph.triple_graph) + 1, np.int64)
    np.cumsum(chosen[world.graph.triple_graph], out=before[1:])
    found[rows.row[before[rows.ptr[1:]] > before[rows.ptr[:-1]]]] = True
    table = world.graph.literal_table
    held = chosen[table.column("graph").to_numpy()]
    found[table.column("subject").to_numpy()[held]] = True
    return found
