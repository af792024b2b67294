"""Building token vectors: of the beginning of each document its most telling tokens, in few dimensions of a byte each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from crmrag_query.graph.arrays import Ints
from crmrag_query.retrieval.encoder import Floats, TokenEncoder
from crmrag_query.retrieval.token_vectors import DIMENSION, MOST, TokenVectors, code, project

BEGINNING: Final = 300  # characters of a document that are encoded: its name, what it is, and its first lines
SAMPLE: Final = 1000  # documents, evenly spread, whose tokens say which dimensions are kept
Advance = Callable[[int, int], None]


def weights(found: Sequence[Ints], vocabulary: int) -> Floats:
    """How telling each token is, float32 [vocabulary]: the inverse document frequency of BM25, which is above 0."""
    own = [np.unique(ids) for ids in found]
    counts = np.bincount(np.concatenate([np.empty(0, np.int32), *own]), minlength=vocabulary)
    weight: Floats = np.log1p((len(found) - counts + 0.5) / (counts + 0.5)).astype(np.float32)
    return weight


def projection_of(vectors: Floats, dimension: int) -> Floats:
    """The matrix float32 [d, dimension at most] that keeps most of the products of ``vectors`` [n, d]: their first right
    singular vectors, each with its largest number above 0; all dimensions where there are no more."""
    if vectors.shape[1] <= dimension:
        return np.eye(vectors.shape[1], dtype=np.float32)
    products = vectors.T.astype(np.float64) @ vectors.astype(np.float64)
    axes = np.linalg.eigh(products)[1][:, ::-1][:, :dimension]  # eigenvalues ascend
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dimension)])
    projection: Floats = (axes * signs).astype(np.float32)
    return projection


def telling(ids: Ints, weight: Floats, most: int) -> Ints:
    """Places of the most telling tokens, each token once, in the order of the text."""
    first = np.sort(np.unique(ids, return_index=True)[1])
    return np.sort(first[np.lexsort((first, -weight[ids[first]]))[:most]]).astype(np.int32)


def write_token_vectors(
    texts: Sequence[str],
    encoder: TokenEncoder,
    prefix: str,
    folder: Path,
    advance: Advance = lambda done, total: None,
) -> dict[str, Any]:
    """Fill ``folder`` with the token vectors of documents, whose beginnings these are; ``prefix``: what the encoder wants
    before each. The counts: documents, tokens, bytes, and the share of the squared length that the dimensions keep."""
    weight = weights([encoder.token_ids(text, prefix) for text in texts], encoder.vocabulary)
    spread = np.unique(np.linspace(0, len(texts) - 1, min(SAMPLE, len(texts))).astype(int)).tolist()
    known = {number: encoder.tokens(texts[number], prefix) for number in spread}
    sample = [tokens.vectors for tokens in known.values()]
    width = sample[0].shape[1] if sample else DIMENSION
    seen = np.concatenate([np.empty((0, width), np.float32), *sample])
    projection = projection_of(seen, DIMENSION)
    rows, counts = [np.empty((0, projection.shape[1]), np.int8)], [0]
    for done, text in enumerate(texts, 1):
        tokens = known.pop(done - 1, None) or encoder.tokens(text, prefix)
        chosen = telling(tokens.ids, weight, MOST)
        rows.append(code(project(tokens.vectors[chosen], projection)))
        counts.append(len(chosen))
        advance(done, len(texts))
    codes = np.concatenate(rows)
    TokenVectors(np.cumsum(counts, dtype=np.int64), codes, projection, weight).save(folder)
    kept = float(np.square(seen @ projection).sum() / max(len(seen), 1))
    return {
        "documents": len(texts), "tokens": len(codes), "dimension": projection.shape[1],
        "token_bytes": codes.nbytes, "kept_length": round(kept, 3),
    }  # fmt: skip
