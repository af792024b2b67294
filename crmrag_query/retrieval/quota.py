"""Shares of the pool: places kept for the asked categories, a cap on what says little by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Fused = list[tuple[int, float]]


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


def cap(fused: Fused, little: npt.NDArray[np.bool_], size: int, share: float) -> Fused:
    """The first ``size`` of ``fused`` that the cap leaves: of ``little`` (bool [documents]) max(1, share of the pool)."""
    most = max(1, int(min(size, len(fused)) * share))
    count, kept = 0, []
    for document, score in fused:
        count += bool(little[document])
        if not little[document] or count <= most:
            kept.append((document, score))
    return kept[:size]
