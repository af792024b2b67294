"""8-bit codes of unit vectors: what a dense index of large data is scanned by.

Each dimension is scaled to the whole numbers from -127 to 127. FAISS multiplies them as such (``QT_8bit_direct_signed``), so
the question is coded too. By how much a product of codes differs from that of the vectors is bounded by the lengths of what
rounding took away (Cauchy–Schwarz).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.mapped import open_array

SCALE = "scale"
HIGHEST = 127
TINY = 1e-30  # above nothing, which divides by nothing
LEAST = 1e-6  # of a dimension in which no vector has anything

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Codes:
    """``scale`` float32 [dimension]: codes are vectors times it, rounded. ``error``: the longest that rounding took away from
    a vector of length 1; ``length``: of the longest code."""

    scale: Floats
    error: float
    length: float

    @classmethod
    def open(cls, folder: Path, bounds: Mapping[str, Any]) -> Codes:
        """Raises ReleaseError, KeyError, ValueError for files that do not fit."""
        scale = np.asarray(open_array(folder, SCALE), np.float32)
        return cls(scale, float(bounds["error"]), float(bounds["length"]))

    def of(self, vector: Floats) -> tuple[Floats, float]:
        """The code of a question, whole numbers as float32 [dimension], and what a product of codes counts."""
        weighed = vector / self.scale
        step = max(float(np.abs(weighed).max(initial=0)), TINY) / HIGHEST
        return np.rint(weighed / np.float32(step)).astype(np.float32), step

    def error_of(self, vector: Floats) -> float:
        """The most by which a product of codes, times the step, differs from that of the vectors."""
        code, step = self.of(vector)
        lost = float(np.linalg.norm(vector / self.scale - code * np.float32(step)))
        return self.error * float(np.linalg.norm(vector)) + lost * self.length


def scale_of(largest: Floats) -> Floats:
    """The scale of vectors with these largest absolute values, float32 [dimension]."""
    scale: Floats = (HIGHEST / np.maximum(largest, LEAST)).astype(np.float32)
    return scale


def code(vectors: Floats, scale: Floats) -> npt.NDArray[np.int8]:
    """Codes int8 [n, dimension]."""
    whole: npt.NDArray[np.int8] = np.clip(np.rint(vectors * scale), -HIGHEST, HIGHEST).astype(np.int8)
    return whole
