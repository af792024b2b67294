"""All that the graph states about an entity, as plain values."""

from __future__ import annotations

from typing import Any

from crmrag_query.graph.graph import Graph


def record_of(graph: Graph, node: int) -> dict[str, Any]:
    """IRI, label, classes, literals, and triples both ways of a node; every value as the source has it."""
    adjacency = graph.adjacency
    iri = graph.iri(node)
    out = [
        (iri, graph.property_iri(p), graph.iri(int(o)))
        for p in range(len(adjacency.codes))
        for o in adjacency.forward.neighbours(p, node)
    ]
    into = [
        (graph.iri(int(s)), graph.property_iri(p), iri)
        for p in range(len(adjacency.codes))
        for s in adjacency.backward.neighbours(p, node)
        if int(s) != node
    ]
    literals = [
        {
            "property": graph.property_iri(literal.property),
            "value": literal.value,
            "datatype": literal.datatype,
            "lang": literal.lang,
            "graphs": list(literal.graphs),
        }
        for literal in graph.literals(node)
    ]
    return {
        "iri": iri,
        "label": graph.label(node),
        "types": [graph.class_iri(int(number)) for number in graph.types(node)],
        "literals": literals,
        "triples": [{"s": s, "p": p, "o": o} for s, p, o in out + into],
    }
