"""The pool of candidates: a typed table that every stage of retrieval takes and gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Ints

Relevances = npt.NDArray[np.float64]
NOT_FOUND = -1


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that may answer: its number, its score, and its rank (from 0) on each channel that found it."""

    document: int
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    tied: float = 0.0


@dataclass(frozen=True)
class Pool:
    """Candidates, one row each, best first.

    ``documents`` int32 [n], each once; ``relevance`` float64 [n]; ``ranks``: for each channel int32 [n], the rank (from 0)
    that it gave the document, -1 where it did not find it; ``tied`` float32 [n]: how much of what the question names the
    document is tied to, 0..1, None where that was not asked.
    """

    documents: Ints
    relevance: Relevances
    ranks: Mapping[str, Ints] = field(default_factory=dict)
    tied: npt.NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.documents)

    def take(
        self, rows: Sequence[int] | npt.NDArray[np.integer], relevance: Relevances | None = None
    ) -> Pool:
        """The given rows in the given order, with new relevances where given."""
        at = np.asarray(rows, np.int64)
        kept = self.relevance[at] if relevance is None else relevance
        ranks = {name: ranks[at] for name, ranks in self.ranks.items()}
        return Pool(self.documents[at], kept, ranks, None if self.tied is None else self.tied[at])

    def candidates(self) -> list[Candidate]:
        """The rows as records."""
        return [
            Candidate(
                int(document),
                float(score),
                {name: int(ranks[row]) for name, ranks in self.ranks.items() if ranks[row] != NOT_FOUND},
                0.0 if self.tied is None else float(self.tied[row]),
            )
            for row, (document, score) in enumerate(zip(self.documents, self.relevance, strict=True))
        ]


def make_pool(
    fused: Sequence[tuple[int, float]],
    channels: Mapping[str, Sequence[int]],
    tied: npt.NDArray[np.float32] | None = None,
) -> Pool:
    """The pool of (document, relevance) pairs, best first, with each document's rank on the channels.

    ``tied`` float32 [documents]: see ``Pool``.
    """
    documents = np.array([document for document, _ in fused], np.int32)
    row = {int(document): at for at, document in enumerate(documents)}
    ranks = {name: np.full(len(documents), NOT_FOUND, np.int32) for name in channels}
    for name, found in channels.items():
        for rank, document in enumerate(found):
            if document in row:
                ranks[name][row[document]] = rank
    relevance = np.array([score for _, score in fused], np.float64)
    return Pool(documents, relevance, ranks, None if tied is None else tied[documents])
