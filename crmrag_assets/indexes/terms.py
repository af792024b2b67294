"""Counting the terms of texts, and keeping the counts by the texts' hashes, so that the next build counts only new texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_query.retrieval.tokenizer import tokenize

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Digests = npt.NDArray[np.uint64]
BLOCK = 32_768  # texts that are counted together
ARRAYS = ("ptr", "term", "count")


@dataclass(frozen=True)
class Counts:
    """Terms of texts: ``term``, ``count`` int32 [p], text by text; ``ptr`` int64 [texts+1]: those of each text.

    ``terms`` are sorted by their UTF-8 bytes, and occur each.
    """

    terms: Sequence[bytes]
    ptr: Longs
    term: Ints
    count: Ints

    def __len__(self) -> int:
        return len(self.ptr) - 1


@dataclass(frozen=True)
class KnownCounts:
    """Counts of texts, and the SHA-256 of each as uint64 [texts, 4]."""

    digests: Digests
    counts: Counts

    @classmethod
    def open(cls, folder: Path) -> KnownCounts:
        """Map what `save` wrote."""
        vocabulary = np.load(folder / "vocabulary.npy").tobytes().split(b"\n")[:-1]
        arrays = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS)
        return cls(np.load(folder / "digests.npy"), Counts(vocabulary, *arrays))

    def save(self, folder: Path) -> None:
        for name in ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self.counts, name))
        np.save(folder / "digests.npy", self.digests)
        # no term holds a line's end, as no word does
        np.save(
            folder / "vocabulary.npy", np.frombuffer(b"".join(t + b"\n" for t in self.counts.terms), np.uint8)
        )

    def find(self, digests: Digests) -> tuple[Longs, npt.NDArray[np.bool_]]:
        """Where texts of these digests are, int64 [n], and whether they are known."""
        if not len(self.digests):
            return np.zeros(len(digests), np.int64), np.zeros(len(digests), bool)
        order = np.argsort(self.digests[:, 0])
        at = np.searchsorted(self.digests[order, 0], digests[:, 0])
        row = order[np.minimum(at, len(order) - 1)]
        return row, (self.digests[row] == digests).all(axis=1)


def count_new_terms(
    texts: pa.ChunkedArray, digests: Digests, known: KnownCounts | None
) -> tuple[Counts, int]:
    """`count_terms`, from what is known where it is; and how many texts were new."""
    if known is None:
        return count_terms(texts), len(texts)
    row, there = known.find(digests)
    new = count_terms(texts.filter(pa.array(~there)))
    first = len(known.counts)
    return _chosen((known.counts, new), np.where(there, row, first + np.cumsum(~there) - 1)), len(new)


def count_terms(texts: pa.ChunkedArray) -> Counts:
    """Count the terms of every text (large strings); memory is two int32 for each, and one string a distinct word."""
    words = _Words()
    blocks = [_count(texts.slice(low, BLOCK), words) for low in range(0, len(texts), BLOCK)]
    names = [term.encode() for term in words.terms]
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    none = np.empty(0, np.int32)
    term, count, size = (np.concatenate([none, *column]) for column in zip(*blocks, (none,) * 3, strict=True))
    return Counts([names[i] for i in order], np.append(0, np.cumsum(size, dtype=np.int64)), rank[term], count)


class _Words:
    """Numbers of the terms of each word as it stands between spaces; terms are numbered in order of appearance."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        self.known: dict[str, tuple[int, ...]] = {}

    def of(self, found: Iterable[str]) -> tuple[Longs, Ints]:
        """Terms of each of these words: places int64 [words+1] among the numbers, which are int32."""
        numbers = [self.known.get(word) or self._new(word) for word in found]
        ptr = np.cumsum([0, *map(len, numbers)], dtype=np.int64)
        return ptr, np.fromiter(chain.from_iterable(numbers), np.int32, int(ptr[-1]))

    def _new(self, word: str) -> tuple[int, ...]:
        terms = self.terms
        found = self.known[word] = tuple(terms.setdefault(term, len(terms)) for term in tokenize(word))
        return found


def _count(texts: pa.ChunkedArray, words: _Words) -> tuple[Ints, Ints, Ints]:
    """Of a block: terms and their counts, text by text, and how many different terms each text has.

    No word of the tokenizer reaches over white space, so words between spaces are looked up, each once a block.
    """
    split = pc.ascii_split_whitespace(texts)
    found = pc.dictionary_encode(pc.list_flatten(split)).combine_chunks()
    ptr, numbers = words.of(found.dictionary.to_pylist())
    word = found.indices.to_numpy()
    low, size = ptr[word], np.diff(ptr)[word]
    ends = np.append(0, np.cumsum(size))
    term = numbers[np.repeat(low - ends[:-1], size) + np.arange(ends[-1])]
    lengths = np.diff(ends[np.cumsum(pc.list_value_length(split).to_numpy())], prepend=0)
    keys = np.repeat(np.arange(len(texts)), lengths) << 32 | term
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    keys, count = keys[first], np.diff(first, append=len(keys))
    different = np.bincount(keys >> 32, minlength=len(texts))
    return (keys & 0xFFFFFFFF).astype(np.int32), count.astype(np.int32), different.astype(np.int32)


def _chosen(parts: Sequence[Counts], row: Longs) -> Counts:
    """The counts of these texts, numbered over all parts; terms that none of them has are left out."""
    terms = sorted(set(chain.from_iterable(part.terms for part in parts)))
    number = {term: n for n, term in enumerate(terms)}
    renamed = [np.array([number[term] for term in part.terms], np.int32)[part.term] for part in parts]
    offset = np.cumsum([0, *(len(part.term) for part in parts)])
    first = np.concatenate([part.ptr[:-1] + low for part, low in zip(parts, offset, strict=False)])[row]
    size = np.concatenate([np.diff(part.ptr) for part in parts])[row]
    ptr = np.append(0, np.cumsum(size))
    at = np.repeat(first - ptr[:-1], size) + np.arange(ptr[-1])
    term = np.concatenate(renamed)[at]
    used = np.bincount(term, minlength=len(terms)) > 0
    return Counts(
        [term for term, here in zip(terms, used.tolist(), strict=True) if here],
        ptr,
        (np.cumsum(used, dtype=np.int32) - 1)[term],
        np.concatenate([part.count for part in parts])[at],
    )
