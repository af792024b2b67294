"""Searching communities: by the words and the vector of what is told of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.manifest import open_array, rebuild
from crmrag_query.artifacts.release import Release
from crmrag_query.communities.communities import Communities
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.arrays import Ints
from crmrag_query.retrieval.pool import fuse
from crmrag_query.retrieval.sparse import SparseIndex

FOLDER: Final = "community_index"
VECTORS: Final = "vectors"
LOOKED_AT = 50  # of each ranking


@dataclass(frozen=True)
class CommunityIndex:
    """``sparse``: BM25 of the themes and their members' names; ``vectors`` float32 [c, dimension], of length 1 or 0."""

    sparse: SparseIndex
    vectors: npt.NDArray[np.float32]

    @classmethod
    def from_release(cls, release: Release) -> CommunityIndex:
        release.require(FOLDER)
        return cls.open(release.folder / FOLDER, len(release[Communities]))

    @classmethod
    def open(cls, folder: Path, communities: int) -> CommunityIndex:
        sparse, vectors = SparseIndex.open(folder), open_array(folder, VECTORS)
        if sparse.documents != communities or vectors.ndim != 2 or len(vectors) != communities:
            raise ReleaseError(f"The index in {folder} is of other communities.", rebuild(folder))
        return cls(sparse, cast(npt.NDArray[np.float32], vectors))

    @cached_property
    def encoded(self) -> npt.NDArray[np.bool_]:
        """Which communities have a vector, bool [communities]."""
        return np.asarray(self.vectors.any(axis=1))

    def search(
        self, text: str, vector: npt.NDArray[np.float32], among: Ints, k: int
    ) -> list[tuple[int, float]]:
        """The ``k`` best of the communities ``among`` with their cosines: rankings by cosine, of those with a vector, and by
        words, fused, words twice; of one without a vector the cosine is 0."""
        if not len(among):
            return []
        cosine = np.asarray(self.vectors @ vector, np.float64)
        mask = np.zeros(len(cosine), bool)
        mask[among] = True
        encoded = among[self.encoded[among]]
        order = encoded[np.lexsort((encoded, -cosine[encoded]))][:LOOKED_AT].tolist()
        dense = order if vector.any() else []
        words = self.sparse.search(text, LOOKED_AT, mask).ranking
        fused = fuse([words, words], dense, len(encoded) / len(among), LOOKED_AT)
        return [(one, float(cosine[one])) for one, _ in fused[:k]]
