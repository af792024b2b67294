"""Words within a small edit distance, found by the hashes of what is left when letters are deleted.

Symmetric deletion of a prefix (SymSpell; Garbe 2012): two words within distance d have a common remainder of their
first ``prefix`` letters after at most d deletions each. What is found is checked by the distance itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from crmrag_query.config.query import NameSpelling
from crmrag_query.linking.spelling import is_spelt

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int32]

_FACTOR = 0x100000001B3  # of FNV-1a
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def mixed(values: Hashes) -> Hashes:
    """The values with their bits spread over all places (SplitMix64; Steele, Lea & Flood 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def slips_allowed(word: str, spelling: NameSpelling) -> int:
    """Edits (insert, delete, replace, swap neighbours) by which another word may differ from this one: 0, 1 or 2."""
    if not is_spelt(word, spelling.shortest):
        return 0
    return 2 if len(word) >= spelling.two_slips else 1


def deletions(words: Sequence[str], spelling: NameSpelling, most: int = 2) -> tuple[Hashes, Numbers]:
    """(upper 32 bits of a remainder's hash, position in ``words``) of all remainders, some repeated."""
    groups: dict[tuple[int, int], list[int]] = {}
    for number, word in enumerate(words):
        if allowed := min(most, slips_allowed(word, spelling)):
            groups.setdefault((min(len(word), spelling.prefix), allowed), []).append(number)
    hashes, owners = [np.empty(0, np.uint64)], [np.empty(0, np.int32)]
    for (length, allowed), numbers in sorted(groups.items()):
        prefixes = np.array([words[n][:length] for n in numbers], f"U{length}")
        letters = prefixes.view(np.uint32).reshape(len(numbers), length).astype(np.uint64)
        for left in range(length - allowed, length + 1):
            for kept in combinations(range(length), left):
                hashes.append(_hash(letters[:, kept]))
                owners.append(np.array(numbers, np.int32))
    return np.concatenate(hashes), np.concatenate(owners)


def _hash(letters: npt.NDArray[np.uint64]) -> Hashes:
    found = np.full(len(letters), letters.shape[1], np.uint64)
    for column in letters.T:
        found = found * np.uint64(_FACTOR) + column
    return mixed(found) >> _HALF


def near_array(words: Sequence[str], spelling: NameSpelling) -> Hashes:
    """uint64, ascending: a remainder's hash in the upper 32 bits, the number of a word that has it in the lower."""
    hashes, owners = deletions(words, spelling)
    found = np.sort((hashes << _HALF) | owners.astype(np.uint64))  # `numpy.unique` hashes, which is slower
    first = np.ones(len(found), bool)
    first[1:] = found[1:] != found[:-1]
    distinct: Hashes = found[first]
    return distinct


@dataclass(frozen=True)
class NearWords:
    """Lookup in what ``near_array`` made."""

    entries: Hashes
    spelling: NameSpelling

    def candidates(self, word: str) -> Numbers:
        """Numbers of the words that share a remainder with ``word``, ascending; none for a word without slips."""
        hashes, _ = deletions([word], self.spelling)
        if not len(hashes):
            return np.empty(0, np.int32)
        wanted = np.unique(hashes) << _HALF
        low = np.searchsorted(self.entries, wanted, "left")
        high = np.searchsorted(self.entries, wanted | _LOW, "right")
        parts = [self.entries[a:b] for a, b in zip(low.tolist(), high.tolist(), strict=True) if b > a]
        if not parts:
            return np.empty(0, np.int32)
        return np.unique(np.concatenate(parts) & _LOW).astype(np.int32)
