"""Choosing a coherent subset of the pool: relevant, joined to what is chosen, unlike what is chosen."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crmrag_query.config.query import Subgraph

Reals = npt.NDArray[np.float64]


def scaled(relevance: Reals) -> Reals:
    """Relevances moved to 0..1 (min-max); all 1 where they are equal."""
    if len(relevance) == 0:
        return relevance
    low, high = float(relevance.min()), float(relevance.max())
    return (relevance - low) / (high - low) if high > low else np.ones(len(relevance))


def select(
    relevance: Reals,
    joined: Reals,
    vectors: npt.NDArray[np.float32],
    modifiers: Reals,
    k: int,
    config: Subgraph,
) -> list[int]:
    """Rows of the ``k`` chosen candidates, in the order in which they are chosen.

    Greedy: each time the row with the highest ``relevance * r + connectivity * c - redundancy * s + modifier``, where r is
    its relevance scaled to 0..1 [n], c the mean of its entries in ``joined`` [n, n] with the chosen, s its largest cosine
    with a chosen one (``vectors`` float32 [n, dimension], unit rows); ties go to the earlier row. The first is the one of
    highest relevance and modifier (facts: method, Query, Coherent subgraph).
    """
    n = len(relevance)
    own = config.relevance * scaled(relevance) + modifiers
    together, nearest = np.zeros(n), np.zeros(n)
    free = np.ones(n, bool)
    chosen: list[int] = []
    while len(chosen) < min(k, n):
        value = own.copy()
        if chosen:
            value += config.connectivity * together / len(chosen) - config.redundancy * nearest
        value[~free] = -np.inf
        best = int(np.argmax(value))
        chosen.append(best)
        free[best] = False
        together += joined[:, best]
        cosine = (vectors @ vectors[best]).astype(np.float64)
        nearest = cosine if len(chosen) == 1 else np.maximum(nearest, cosine)
    return chosen
