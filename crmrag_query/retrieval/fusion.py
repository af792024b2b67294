"""Fusion of rankings, and the one way in which rankings are cut."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def reciprocal_rank_fusion(rankings: Sequence[Sequence[int]], k: float = 60) -> list[tuple[int, float]]:
    """Documents with the sum of ``1 / (k + rank + 1)`` over the rankings, rank from 0; best first.

    Cormack, Clarke & Büttcher 2009; k as in the facts (method, Query).
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, document in enumerate(ranking):
            scores[document] = scores.get(document, 0.0) + 1 / (k + rank + 1)
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
