"""The smallest parts of an answer: an entity by name, a triple in words, coordinates, dates; what an entity is, in a word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import Category


@dataclass(frozen=True, slots=True)
class SourceTriple:
    """A triple that supports an answer, as IRIs (or a literal's text) and as words; ``graphs``: who says so."""

    s: str
    p: str
    o: str
    s_label: str
    p_label: str
    o_label: str
    graphs: tuple[str, ...] = ()

    def __str__(self) -> str:
        graphs = f"  [{', '.join(self.graphs)}]" if self.graphs else ""
        return f"{self.s_label} — {self.p_label} — {self.o_label}{graphs}"


@dataclass(frozen=True, slots=True)
class Named:
    """An entity by IRI and label."""

    iri: str
    label: str


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


Doubt = Literal["", "several", "order", "west"]
"""What coordinates leave open: the data states ``several`` points that differ, of which the first is given; two numbers in an
``order`` that is not said, taken for latitude and longitude; "O", taken for ``west``, which is east in German."""


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Degrees of WGS 84, north and east positive; ``of``: the place that they are of, where that is not the source itself;
    ``doubt``: what of them the data leaves open."""

    lat: float
    lon: float
    of: Named | None = None
    doubt: Doubt = ""


@dataclass(frozen=True, slots=True)
class Dates:
    """When something was or came to be: in words of the question's language, and its first and last year as ISO 8601 writes
    years ("1105", "-0499" for 500 BC), None where an end is open."""

    text: str
    begin: str | None = None
    end: str | None = None
