"""What a search finds: documents with the similarity that it measured, and the scales that others state similarities in."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

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


SMOOTHING = 60.0


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[int]], k: float = SMOOTHING
) -> list[tuple[int, float]]:
    """Documents with the sum of ``1 / (k + rank + 1)`` over the rankings, rank from 0; best first.

    Cormack, Clarke & Büttcher 2009; k as in the facts (method, Query).
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, document in enumerate(ranking):
            scores[document] = scores.get(document, 0.0) + 1 / (k + rank + 1)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def fuse(rankings: Sequence[Sequence[int]], nearest: Sequence[int], share: float, size: int) -> Fused:
    """`reciprocal_rank_fusion` of rankings of all documents, each of at most ``size``, and of one more, ``nearest``, that
    knows a ``share`` of them alone, 0..1.

    Its n-th is taken for the (n / share)-th of all, which it is on average, and what would be beyond the end of a whole
    ranking is left out: so no document is lifted for being among the few that it knows. It stands as it is where no other
    ranking has anything.
    """
    if share == 1 or not any(rankings):
        return reciprocal_rank_fusion([nearest, *rankings])
    scores = dict(reciprocal_rank_fusion(rankings))
    for place, document in enumerate(nearest[: int(size * share)], start=1):
        scores[document] = scores.get(document, 0.0) + 1 / (SMOOTHING + place / share)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def best(
    numbers: npt.NDArray[np.integer], scores: npt.NDArray[np.floating], k: int
) -> list[tuple[int, float]]:
    """The ``k`` highest of ``scores`` with their ``numbers``, best first, ties by number."""
    if k < len(scores):
        least = np.partition(scores, len(scores) - k)[len(scores) - k] if k > 0 else np.inf
        kept = scores >= least
        numbers, scores = numbers[kept], scores[kept]
    order = np.lexsort((numbers, -scores))[:k]
    return [(int(numbers[i]), float(scores[i])) for i in order]


Fused = list[tuple[int, float]]
Item = TypeVar("Item", bound=Hashable)


def interleave(first: Sequence[Item], second: Sequence[Item]) -> list[Item]:
    """The first of ``first``, the first of ``second``, the second of ``first`` …, each item at its first place only.

    For dual retrieval: the ranking of the question as read with what went before, and that of the question as it stands
    (facts: method, Conversation). When one ends, the rest of the other follows.

    >>> interleave([1, 2, 3], [2, 4])
    [1, 2, 4, 3]
    """
    both = min(len(first), len(second))
    turns = (item for pair in zip(first, second, strict=False) for item in pair)
    return list(dict.fromkeys([*turns, *first[both:], *second[both:]]))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that may answer: its number, its score in the fusion, its rank (from 0) and its raw similarity on each
    channel that found it, how much of what the question names it is ``tied`` to, 0..1, and the numbers of those passages of
    its long texts that bear on the question, best first."""

    document: int
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    tied: float = 0.0
    similarities: Mapping[str, float] = field(default_factory=dict)
    passages: tuple[int, ...] = ()


def make_pool(
    fused: Sequence[tuple[int, float]],
    channels: Mapping[str, Hits],
    tied: npt.NDArray[np.float32] | None = None,
) -> list[Candidate]:
    """The candidates of (document, score) pairs, best first; ``tied`` float32 [documents], none where it was not asked."""
    ranks: dict[int, dict[str, int]] = {document: {} for document, _ in fused}
    raw: dict[int, dict[str, float]] = {document: {} for document, _ in fused}
    for name, found in channels.items():
        for rank, (document, similarity) in enumerate(found):
            if document in ranks:
                ranks[document][name], raw[document][name] = rank, similarity
    shares = {document: 0.0 if tied is None else float(tied[document]) for document in ranks}
    return [
        Candidate(document, score, ranks[document], shares[document], raw[document])
        for document, score in fused
    ]


def reserve(fused: Fused, typed: Sequence[int], size: int, share: float) -> Fused:
    """The first ``size`` of ``fused``, at least ``share`` of them from ``typed`` as far as it has so many.

    Documents of ``typed`` that ``fused`` would leave out take the places of its last others; the order stays that of
    ``fused``, and what only ``typed`` has comes last in its own order with the lowest relevance of all.
    """
    kept, wanted = fused[:size], round(size * share)
    there, asked = {document for document, _ in kept}, set(typed)
    place = {document: at for at, (document, _) in enumerate(fused)}
    missing = wanted - sum(document in asked for document, _ in kept)
    known = dict(fused)
    added = [document for document in typed if document not in there][: max(0, missing)]
    if not added:
        return kept
    room = max(0, len(kept) + len(added) - size)
    others = [at for at, (document, _) in enumerate(kept) if document not in asked]
    dropped = set(others[len(others) - room :]) if room else set()
    least = min((score for _, score in fused), default=0.0)
    whole = [pair for at, pair in enumerate(kept) if at not in dropped]
    whole += [(document, known.get(document, least)) for document in added]
    return sorted(whole, key=lambda pair: place.get(pair[0], len(fused)))


LITTLE_SHARE = 0.25
"""Of the pool that documents which say little by themselves may be. Source: the published CRM-RAG."""


def cap(fused: Fused, little: npt.NDArray[np.bool_] | Mapping[int, bool], size: int, share: float) -> Fused:
    """The first ``size`` of ``fused`` that the cap leaves: of ``little`` (which documents are) max(1, share of the pool)."""
    most = max(1, int(min(size, len(fused)) * share))
    count, kept = 0, []
    for document, score in fused:
        count += bool(little[document])
        if not little[document] or count <= most:
            kept.append((document, score))
    return kept[:size]
