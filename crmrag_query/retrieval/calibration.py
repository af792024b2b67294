"""What cosines of a release's encoder mean: found out from its own documents, since encoders differ.

Published thresholds are on the scale (1 + cosine) / 2, and were set with encoders whose cosines of unrelated texts lie near 0
and of texts of one meaning near 1. Others put all that they compare between .7 and .9. So cosines are first moved to where
these two lie: 0 is what a document has to the name of another, 1 what it has to its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.scores import Reals, half_cosine

SAMPLE: Final = 64
"""Documents whose names are asked for, evenly spread over all; every other of them tells what is unrelated."""
WINDOWS: Final = 8
"""Of each, from its beginning."""
LEAST_APART: Final = 1e-3
"""By which own names must be nearer than others for there to be a scale."""


@dataclass(frozen=True)
class Calibration:
    """Cosines of names of documents to documents: ``unrelated`` to others and ``own`` to their own, each the median."""

    unrelated: float = 0.0
    own: float = 1.0

    @classmethod
    def from_release(cls, release: Release) -> Calibration:
        """Cosines as they are, for an encoder that may not be asked, or that tells names of too few documents apart."""
        index, documents = release[DenseIndex], release[Documents]
        searched = np.unique(index.window_document)
        searched = searched[searched < documents.count]
        chosen = (
            searched[np.unique(np.linspace(0, len(searched) - 1, SAMPLE).astype(int))]
            if len(searched)
            else []
        )
        if len(chosen) < 2:
            return cls()
        names = release[QueryEncoder].encode([documents.label(int(one)) for one in chosen])
        starts = np.searchsorted(index.window_document, chosen)
        ends = np.minimum(np.searchsorted(index.window_document, chosen, "right"), starts + WINDOWS)
        cosines = np.stack(
            [(names @ index.rows[start:end].T).max(axis=1) for start, end in zip(starts, ends, strict=True)],
            1,
        )
        same = np.eye(len(chosen), dtype=bool)
        unrelated, own = float(np.median(cosines[~same])), float(np.median(cosines[same]))
        return cls(unrelated, own) if own - unrelated > LEAST_APART else cls()

    def moved(self, cosines: Reals) -> Reals:
        """Cosines to where 0 is what is unrelated and 1 a document and its own name, at most 1 and at least -1."""
        found: Reals = np.clip((cosines - self.unrelated) / (self.own - self.unrelated), -1, 1)
        return found

    def similarities(self, cosines: Reals) -> Reals:
        """The same on the scale (1 + cosine) / 2, 0..1."""
        return half_cosine(self.moved(cosines))

    def cosine(self, similarity: float) -> float:
        """The cosine of this encoder that stands for a similarity on the scale (1 + cosine) / 2."""
        return self.unrelated + (2 * similarity - 1) * (self.own - self.unrelated)
