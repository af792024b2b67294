"""Which of some entities are of the type that a question names ("which churches …")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.graph import Graph
from crmrag_query.questions.form import Reading
from crmrag_query.retrieval.tokenizer import tokenize

SHORTEST_STEM = 4
Bools = npt.NDArray[np.bool_]


def of_asked_type(graph: Graph, nodes: Sequence[int], reading: Reading) -> list[int] | None:
    """Those of ``nodes`` whose class or type (P2) the question names, in order; None when it names none of them.

    A type is named by its head, the last word of its name ("monastery church"); only where that finds nothing, by any
    word of it ("mural painting"). The cost is bounded by the distinct types, not by the nodes.
    """
    given = np.asarray(nodes, np.int32)
    for whole in (False, True):
        chosen = _of_types(graph, given, reading, whole) | _of_classes(graph, given, reading, whole)
        if chosen.any():
            return [int(node) for node in given[chosen]]
    return None


def _of_types(graph: Graph, nodes: Ints, reading: Reading, whole: bool) -> Bools:
    chosen = np.zeros(len(nodes), bool)
    for prop in graph.adjacency.by_code.get("P2", ()):
        origin, kinds = graph.adjacency.forward.expand(prop, nodes)
        named = {
            int(kind): any(_names(label.text, reading, whole) for label in graph.labels(int(kind)))
            for kind in np.unique(kinds)
        }
        chosen[[at for at, kind in zip(origin, kinds, strict=True) if named[int(kind)]]] = True
    return chosen


def _of_classes(graph: Graph, nodes: Ints, reading: Reading, whole: bool) -> Bools:
    named = {
        number: _names(graph.class_label(number), reading, whole) for number in range(len(graph.class_codes))
    }
    return np.array([any(named[int(number)] for number in graph.types(int(node))) for node in nodes], bool)


def _names(label: str, reading: Reading, whole: bool) -> bool:
    """Whether a content word of the question is a form of the label's head, or of any of its words when ``whole``."""
    words = tokenize(label)
    return any(
        same_stem(word, asked) for word in (words if whole else words[-1:]) for asked in reading.content
    )


def same_stem(word: str, asked: str) -> bool:
    """Equal but for an ending, as a plural is: all but the last letter of the shorter word is shared."""
    shared = max(SHORTEST_STEM, min(len(word), len(asked)) - 1)
    return len(word) >= SHORTEST_STEM and word[:shared] == asked[:shared] and abs(len(word) - len(asked)) <= 3
