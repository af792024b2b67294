"""Which of some entities are of the type that a question names ("which churches …")."""

from __future__ import annotations

from collections.abc import Sequence

from crmrag_query.answers.naming import type_nodes
from crmrag_query.graph.graph import Graph
from crmrag_query.questions.form import Reading
from crmrag_query.retrieval.tokenizer import tokenize

SHORTEST_STEM = 4


def of_asked_type(graph: Graph, nodes: Sequence[int], reading: Reading) -> list[int] | None:
    """Those of ``nodes`` whose class or type (P2) the question names, in order; None when it names none of them."""
    found = [
        node
        for node in nodes
        if any(_same_stem(word, asked) for word in type_words(graph, node) for asked in reading.content)
    ]
    return found or None


def type_words(graph: Graph, node: int) -> frozenset[str]:
    """The words of a node's class labels and of the labels of its types."""
    names = [label.text for kind in type_nodes(graph, node) for label in graph.labels(kind)]
    names += [graph.class_label(int(number)) for number in graph.types(node)]
    return frozenset(token for name in names for token in tokenize(name))


def _same_stem(word: str, asked: str) -> bool:
    """Equal but for an ending, as a plural is: all but the last letter of the shorter word is shared."""
    shared = max(SHORTEST_STEM, min(len(word), len(asked)) - 1)
    return len(word) >= SHORTEST_STEM and word[:shared] == asked[:shared] and abs(len(word) - len(asked)) <= 3
