"""The stand-in encoder: feature hashing of words; it finds shared words, not shared meaning."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crmrag_query.retrieval.tokenizer import tokenize


def hash_vectors(texts: Sequence[str], dimension: int) -> npt.NDArray[np.float32]:
    """Unit vectors float32 [n, dimension] of signed, hashed words weighted 1 + log(count); zero for no words.

    Weinberger et al. 2009. The same on every machine.
    """
    vectors = np.zeros((len(texts), dimension), np.float64)
    for row, text in enumerate(texts):
        for word, count in sorted(Counter(tokenize(text)).items()):
            code = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
            vectors[row, (code >> 1) % dimension] += (1 + np.log(count)) * (1 if code & 1 else -1)
    return unit(vectors)


def unit(vectors: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Rows scaled to length 1, float32; a row of zeros stays."""
    length = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(length == 0, 1, length)).astype(np.float32)
