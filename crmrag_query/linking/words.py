"""Which words of the names a word of a question may be, and how alike they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crmrag_query.config.query import LinkingConfig
from crmrag_query.linking.index import NameIndex
from crmrag_query.linking.near import slips_allowed
from crmrag_query.linking.spelling import is_spelt, sound


@dataclass(frozen=True, slots=True)
class Alternative:
    """A word of the index that a question's word may be; ``likeness`` 1 for itself."""

    word: int
    likeness: float


def alternatives(index: NameIndex, word: str, config: LinkingConfig) -> list[Alternative]:
    """The word itself, its other spellings, and for a word that no name has those within its slips; the likest first.

    Likeness of a slip: 1 - edits / letters of the longer word (normalised edit similarity); of a spelling: ``variant``.
    """
    found: dict[int, float] = {}
    own = index.number(word)
    if is_spelt(word, index.spelling.shortest):
        found = {int(n): config.variant for n in index.sounding(sound(word, index.spelling.shortest))}
        if own is None:
            for number, likeness in _misspelt(index, word):
                found[number] = max(likeness, found.get(number, 0.0))
    if own is not None:
        found[own] = 1.0
    ranked = sorted(found.items(), key=lambda one: (-one[1], -index.count(one[0]), one[0]))
    return [Alternative(number, likeness) for number, likeness in ranked[: config.similar_words]]


def _misspelt(index: NameIndex, word: str) -> list[tuple[int, float]]:
    from rapidfuzz.distance import (
        OSA,
    )  # optimal string alignment: Damerau-Levenshtein, no letter edited twice
    from rapidfuzz.process import cdist

    allowed = slips_allowed(word, index.spelling)
    candidates = index.near.candidates(word)
    if word.isascii():  # as many bytes as letters in both: a word in another script is no slip of this one
        candidates = candidates[np.abs(index.word_length(candidates) - len(word)) <= allowed]
    others = index.spelt(candidates)
    if not others:
        return []
    edits = cdist([word], others, scorer=OSA.distance, score_cutoff=allowed, dtype=np.uint16)[0].tolist()
    return [
        (number, 1 - distance / max(len(word), len(other)))
        for number, other, distance in zip(candidates.tolist(), others, edits, strict=True)
        if distance <= allowed and distance <= slips_allowed(other, index.spelling)
    ]
