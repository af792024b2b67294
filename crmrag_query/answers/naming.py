"""Entities in words: their category, their type."""

from __future__ import annotations

from collections.abc import Iterator

from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import Category

UNCATEGORISED = "Entity"


def category_name(graph: Graph, node: int) -> str:
    """Name of the node's primary Fundamental Category, "Entity" when it is unknown."""
    bit = graph.category(node)
    return str(Category(bit).name) if bit else UNCATEGORISED


def type_nodes(graph: Graph, node: int) -> Iterator[int]:
    """The types (P2 has type) of a node."""
    adjacency = graph.adjacency
    for prop in adjacency.by_code.get("P2", ()):
        yield from (int(kind) for kind in adjacency.forward.neighbours(prop, node))


def type_label(graph: Graph, node: int, language: str) -> str:
    """What a node is in a word or two: the first of its types, else of its classes, else its category."""
    for kind in type_nodes(graph, node):
        return graph.label(kind, (language,))
    for number in graph.types(node):
        return graph.class_label(int(number))
    return category_name(graph, node)
