"""What a search finds: documents with the similarity that it measured, and the scales that others state similarities in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]


def half_cosine(cosine: Reals) -> Reals:
    """``(1 + cosine) / 2``: 0 for opposite vectors, 1 for equal ones."""
    return (1 + cosine) / 2


def distance(cosine: Reals) -> Reals:
    """Euclidean distance of unit vectors, 0..2."""
    found: Reals = np.sqrt(np.maximum(0.0, 2 - 2 * cosine))
    return found


def inverse_distance(cosine: Reals) -> Reals:
    """``1 / (1 + d)``, d the Euclidean distance of unit vectors: 1/3..1."""
    return 1 / (1 + distance(cosine))


def inverse_square(cosine: Reals) -> Reals:
    """``1 / (1 + d²)``, as the published CRM-RAG states it: 1/5..1."""
    return 1 / (1 + distance(cosine) ** 2)


VIEWS: Mapping[str, Callable[[Reals], Reals]] = {
    "cosine": lambda cosine: cosine,
    "half_cosine": half_cosine,
    "inverse_distance": inverse_distance,
    "inverse_square": inverse_square,
}
"""Scales of the cosines of unit vectors, by name; each rises with the cosine, so that none changes a ranking."""


@dataclass(frozen=True, eq=False)
class Hits:
    """``documents`` int32 [n], each once, best first; ``scores`` float64 [n], as the search measured them: cosines, BM25 …"""

    documents: Ints
    scores: Reals

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, float]]) -> Hits:
        """From (document, score) pairs, best first."""
        found = list(pairs)
        documents, scores = ([pair[at] for pair in found] for at in (0, 1))
        return cls(np.array(documents, np.int32), np.array(scores, np.float64))

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[tuple[int, float]]:
        return zip(self.documents.tolist(), self.scores.tolist(), strict=True)

    @property
    def ranking(self) -> list[int]:
        """The documents alone."""
        found: list[int] = self.documents.tolist()
        return found

    def at_least(self, threshold: float | None) -> Hits:
        """Those with a score of ``threshold`` or more; all where it is None."""
        if threshold is None:
            return self
        kept = self.scores >= threshold
        return Hits(self.documents[kept], self.scores[kept])

    def among(self, within: npt.NDArray[np.bool_] | None) -> Hits:
        """Those of the documents ``within``, bool [documents]; all where it is None."""
        if within is None:
            return self
        kept = within[self.documents]
        return Hits(self.documents[kept], self.scores[kept])

    def view(self, name: str) -> Reals:
        """The scores of a search by cosine, on the scale of that name in ``VIEWS``."""
        return VIEWS[name](self.scores)


NOTHING = Hits(np.empty(0, np.int32), np.empty(0))
