"""Writing the triples index, and its export as a pickle for those who want one."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from crmrag_assets.graph.core import pointers
from crmrag_query.graph.arrays import Ints, Rows
from crmrag_query.graph.graph import Graph
from crmrag_query.graph.triples import TriplesIndex

PICKLE = "triples_index.pkl"
PICKLE_PROTOCOL = 4


def triple_columns(forward: Rows) -> tuple[Ints, Ints]:
    """Subject and property of every triple in forward order, int32 [T] each."""
    subjects = np.repeat(forward.row, np.diff(forward.ptr))
    per_property = np.diff(forward.ptr[forward.prop])
    return subjects, np.repeat(np.arange(len(per_property), dtype=np.int32), per_property)


def write_triples_index(graph_dir: Path, out: Path, pickle: bool = False) -> int:
    """Write the index of the graph in ``graph_dir``, with ``triples_index.pkl`` when asked; returns the triples."""
    out.mkdir(parents=True, exist_ok=True)
    graph = Graph.open(graph_dir)
    forward = graph.adjacency.forward
    subjects, properties = triple_columns(forward)
    np.save(out / "tri_s.npy", subjects)
    np.save(out / "tri_p.npy", properties)
    for name, nodes in (("out", subjects), ("in", np.asarray(forward.val))):
        order = np.argsort(nodes, kind="stable")
        np.save(out / f"{name}_ptr.npy", pointers(nodes[order], graph.nodes))
        np.save(out / f"{name}_tri.npy", order.astype(np.int32))
    if pickle:
        write_pickle(TriplesIndex.open(out, graph), out / PICKLE)
    return len(subjects)


def write_pickle(index: TriplesIndex, path: Path) -> None:
    """Export ``{entity IRI: [{s, s_label, p, p_label, o, o_label}, …]}``; we write it and never load it."""
    entries = dict(_entries(index))
    with path.open("wb") as stream:
        pickle.dump(entries, stream, protocol=PICKLE_PROTOCOL)


def _entries(index: TriplesIndex) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    graph = index.graph
    for node in range(graph.nodes):
        found = [
            _entry(graph, triple.s, triple.p, graph.iri(triple.o), graph.label(triple.o))
            for triple in index.of(node)
        ]
        found += [_entry(graph, node, item.property, item.value, item.value) for item in graph.literals(node)]
        if found:
            yield graph.iri(node), found


def _entry(graph: Graph, s: int, p: int, o: str, o_label: str) -> dict[str, Any]:
    return {
        "s": graph.iri(s), "s_label": graph.label(s),
        "p": graph.property_iri(p), "p_label": graph.property_label(p),
        "o": o, "o_label": o_label,
    }  # fmt: skip
