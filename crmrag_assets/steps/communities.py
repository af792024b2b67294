"""Steps of how documents hang together: the entity graph."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from crmrag_assets.build.step import BuildContext, Stats, Step, always, chunks_of
from crmrag_assets.documents.satellites import satellite_kinds
from crmrag_assets.indexes.entity_graph import homes, joined, related, stated
from crmrag_assets.opened import catalogue_of, documents_of, graph_of, numbering_of


def write_entity_graph(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Documents as nodes, and how strongly relationships and direct statements join any two of them, both ways.

    Vague relationships, types and times join nothing, and what has many neighbours is joined less to each. Read by what
    looks at how things hang together: communities, and adjacency in retrieval.
    """
    graph, documents, method = graph_of(context), documents_of(context), context.method
    kinds = satellite_kinds(graph, context.vocabulary.ontology, method)
    home = homes(documents, kinds)
    folders = [context.folder("fr_documents", key) for key in chunks_of(context)]
    matches = related(folders, numbering_of(context), home, catalogue_of(context), method.weights)
    found = joined(chain(stated(graph.adjacency, home, method.weights), matches), documents.count)
    found.save(folder)
    return {
        "documents": documents.count,
        "edges": found.edges,
        "alone": int((found.ptr[1:] == found.ptr[:-1]).sum()),
    }


ENTITY_GRAPH = Step(
    "entity_graph", 1, write_entity_graph, needs=("graph", "fr_documents", "documents"), apart=always,
    parts=("weights", "satellites", "categories", "relationships", "ontology"),
)  # fmt: skip
STEPS = (ENTITY_GRAPH,)
