"""Which of some entities are of the type that a question names ("which churches …")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.graph import Graph
from crmrag_query.questions.form import Reading
from crmrag_query.retrieval.tokenizer import same_stem, tokenize

Bools = npt.NDArray[np.bool_]


@dataclass
class AskedTypes:
    """Which of some nodes are of the type that a question names; each class and type is looked at once.

    A type is named by its head, the last word of its name ("monastery church"); only where that finds nothing, by any
    word of it ("mural painting"). The cost is bounded by the distinct types, not by the nodes.
    """

    graph: Graph
    reading: Reading
    _kinds: dict[tuple[int, bool], bool] = field(default_factory=dict)
    _classes: dict[tuple[int, bool], bool] = field(default_factory=dict)

    def of(self, nodes: Sequence[int]) -> list[int] | None:
        """Those whose class or type (P2) the question names, in order; None when it names none of them."""
        given = np.asarray(nodes, np.int32)
        for whole in (False, True):
            chosen = self._of_types(given, whole)
            chosen |= np.fromiter((self._of_class(int(node), whole) for node in given), bool, len(given))
            if chosen.any():
                return [int(node) for node in given[chosen]]
        return None

    def _of_types(self, nodes: Ints, whole: bool) -> Bools:
        chosen = np.zeros(len(nodes), bool)
        for prop in self.graph.adjacency.by_code.get("P2", ()):
            origin, kinds = self.graph.adjacency.forward.expand(prop, nodes)
            named = [self._kind(int(kind), whole) for kind in kinds]
            chosen[origin[np.array(named, bool)]] = True
        return chosen

    def _kind(self, kind: int, whole: bool) -> bool:
        if (kind, whole) not in self._kinds:
            labels = self.graph.labels(kind)
            self._kinds[kind, whole] = any(_names(label.text, self.reading, whole) for label in labels)
        return self._kinds[kind, whole]

    def _of_class(self, node: int, whole: bool) -> bool:
        return any(self._class(int(number), whole) for number in self.graph.types(node))

    def _class(self, number: int, whole: bool) -> bool:
        if (number, whole) not in self._classes:
            self._classes[number, whole] = _names(self.graph.class_label(number), self.reading, whole)
        return self._classes[number, whole]


def _names(label: str, reading: Reading, whole: bool) -> bool:
    """Whether what is asked for is a form of the label's head, or of any of its words when ``whole``."""
    words = tokenize(label)
    return any(
        same_stem(word, asked) for word in (words if whole else words[-1:]) for asked in asked_words(reading)
    )


def asked_words(reading: Reading) -> tuple[str, ...]:
    """The nouns that are asked for, else all content words."""
    return tuple(reading.words[i] for i in reading.heads) or reading.content
