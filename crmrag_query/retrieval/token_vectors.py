"""Token vectors, and late interaction over them: a document is as near to a question as its tokens are to the question's.

Each token of the question counts with the nearest token of the document (MaxSim; Khattab & Zaharia 2020), by how telling it
is in this data. Of a document the most telling tokens of its beginning are held, in few dimensions of a byte each.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.manifest import open_arrays, open_meta, rebuild, save_arrays
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.arrays import Ints, Longs, spread
from crmrag_query.retrieval.encoder import Floats, Tokens, unit
from crmrag_query.retrieval.scores import Reals

SCHEMA_VERSION: Final = 1
FOLDER: Final = "token_vectors"
META: Final = "token_vectors.json"
ARRAYS: Final = {"ptr": "int64", "weight": "float32"}
MATRICES: Final = {"codes": "int8", "projection": "float32"}
DIMENSION: Final = 64
"""Dimensions of a token at most."""
MOST: Final = 16
"""Tokens of a document at most."""
HIGHEST: Final = 127  # of a code, which stands for 1
TOGETHER: Final = 8192  # documents that are scored at once


@dataclass(frozen=True)
class Asked:
    """A question's tokens as documents' are held: ``vectors`` float32 [q, dimension], of length 1, and how much each counts,
    ``weights`` float32 [q], together 1."""

    vectors: Floats
    weights: Floats


@dataclass(frozen=True)
class TokenVectors:
    """The tokens of document d are rows ``ptr[d]:ptr[d + 1]`` of ``codes``, int8 [tokens, dimension]: unit vectors times 127.

    ``ptr`` int64 [documents + 1]; ``projection`` float32 [encoder's dimension, dimension]; ``weight`` float32 [vocabulary]:
    how telling a token is in this data.
    """

    ptr: Longs
    codes: npt.NDArray[np.int8]
    projection: Floats
    weight: Floats

    @classmethod
    def from_release(cls, release: Release) -> TokenVectors:
        release.require(FOLDER)
        return cls.open(release.folder / FOLDER)

    @classmethod
    def open(cls, folder: Path) -> TokenVectors:
        """Memory-map the vectors in ``folder``; raises ReleaseError when they are missing, damaged or of another version."""
        open_meta(folder / META, "index of token vectors")
        arrays = open_arrays(folder, ARRAYS, {"ptr": "codes"}, MATRICES)
        if arrays["codes"].shape[1] != arrays["projection"].shape[1]:
            raise ReleaseError(f"The token vectors in {folder} do not fit.", rebuild(folder))
        return cls(**arrays)

    def save(self, folder: Path) -> None:
        save_arrays(folder, self, ARRAYS | MATRICES, META, schema=SCHEMA_VERSION)

    def asked(self, tokens: Tokens) -> Asked:
        """A question's tokens, projected and weighed. Raises ReleaseError for those of another encoder."""
        unknown = tokens.ids.max(initial=0) >= len(self.weight)
        if unknown or tokens.vectors.shape[1] != len(self.projection):
            raise ReleaseError(
                "The question's tokens do not fit the token vectors of the release.",
                "Encode it with the encoder of this release.",
            )
        weights = self.weight[tokens.ids]
        return Asked(project(tokens.vectors, self.projection), weights / max(float(weights.sum()), 1e-9))

    def scores(self, asked: Asked, documents: Ints) -> Reals:
        """How near documents are, float64 [n], -1..1: the weighted mean, over the question's tokens, of the cosine of the
        nearest token; 0 for one that has none."""
        found = np.zeros(len(documents))
        for start in range(0, len(documents), TOGETHER):
            part = documents[start : start + TOGETHER]
            of, rows = spread(self.ptr, part)
            held = np.bincount(of, minlength=len(part)) > 0
            if len(rows) and len(asked.weights):
                cosines = self.codes[rows].astype(np.float32) @ (asked.vectors.T / HIGHEST)
                firsts = np.flatnonzero(np.diff(of, prepend=-1))
                found[start : start + len(part)][held] = (
                    np.maximum.reduceat(cosines, firsts, axis=0) @ asked.weights
                )
        return found


def project(vectors: Floats, projection: Floats) -> Floats:
    """Unit vectors float32 [n, dimension] of those of an encoder, float32 [n, d]."""
    return unit(vectors @ projection)


def code(vectors: Floats) -> npt.NDArray[np.int8]:
    """Unit vectors as whole numbers from -127 to 127."""
    whole: npt.NDArray[np.int8] = np.rint(vectors * HIGHEST).astype(np.int8)
    return whole
