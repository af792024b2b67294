"""Confidence intervals of means by the bootstrap (Efron 1979)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

BLOCK = 1 << 20  # numbers drawn at a time
RESAMPLES, CONFIDENCE, SEED = 10_000, 0.95, 20120109


class Interval(NamedTuple):
    """A mean and the ends of its percentile interval."""

    mean: float
    low: float
    high: float


def interval(
    values: Sequence[float], resamples: int = RESAMPLES, confidence: float = CONFIDENCE, seed: int = SEED
) -> Interval:
    """The mean of ``values`` and its percentile interval over ``resamples`` means of as many values drawn with return.

    All three are NaN for no values. The same seed gives the same interval.
    """
    given = np.asarray(values, np.float64)
    if len(given) == 0:
        return Interval(np.nan, np.nan, np.nan)
    random = np.random.default_rng(seed)
    rows = max(1, BLOCK // len(given))
    means = [
        given[random.integers(0, len(given), (min(rows, resamples - done), len(given)))].mean(axis=1)
        for done in range(0, resamples, rows)
    ]
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return Interval(float(given.mean()), float(low), float(high))
