"""Building the sparse index: BM25 scores equal to rank-bm25's Okapi, in the files that bm25s reads.

bm25s sets the weight of a term that most documents have to zero, where Okapi gives it ``epsilon`` times the mean weight; so
the scores are computed here and handed over. Terms are counted once for each text: the counts are kept by the texts' hashes,
so that the next build counts only new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from crmrag_assets.build.scratch import ROWS, Scratch, blocks, total
from crmrag_query.artifacts.manifest import canonical_json
from crmrag_query.config.loading import Sparse
from crmrag_query.graph.arrays import Ints, Longs, consecutive, places_in, ranges
from crmrag_query.retrieval.sparse import META, SCHEMA_VERSION
from crmrag_query.text import tokenize

Doubles = npt.NDArray[np.float64]
Digests = npt.NDArray[np.uint64]
BLOCK = 8_192  # texts that are counted together
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
        # No term holds a line's end, as no word does.
        lines = b"".join(term + b"\n" for term in self.counts.terms)
        np.save(folder / "vocabulary.npy", np.frombuffer(lines, np.uint8))

    def find(self, digests: Digests) -> tuple[Longs, npt.NDArray[np.bool_]]:
        """Where texts of these digests are, int64 [n], and whether they are known."""
        if not len(self.digests):
            return np.zeros(len(digests), np.int64), np.zeros(len(digests), bool)
        order = np.argsort(self.digests[:, 0])
        at = np.searchsorted(self.digests[order, 0], digests[:, 0])
        row = order[np.minimum(at, len(order) - 1)]
        return row, (self.digests[row] == digests).all(axis=1)


def count_new_terms(
    texts: pa.ChunkedArray, digests: Digests, known: KnownCounts | None, folder: Path | None = None
) -> tuple[Counts, int]:
    """`count_terms`, from what is known where it is; and how many texts were new."""
    if known is None:
        return count_terms(texts, folder), len(texts)
    row, there = known.find(digests)
    new = count_terms(texts.filter(pa.array(~there)), folder)
    row = np.where(there, row, len(known.counts) + np.cumsum(~there) - 1)
    return _chosen((known.counts, new), row, folder), len(new)


def count_terms(texts: pa.ChunkedArray, folder: Path | None = None) -> Counts:
    """Count the terms of every text (large strings); memory is one string a distinct word, and a block of texts.

    ``folder``: on whose disk the counts are, see `Scratch`.
    """
    words, scratch = _Words(), Scratch(folder)
    term, count, size = (scratch.growing(np.int32) for _ in range(3))
    for low in range(0, len(texts), BLOCK):
        for column, values in zip((term, count, size), _count(texts.slice(low, BLOCK), words), strict=True):
            column.add(values)
    names = [name.encode() for name in words.terms]
    order = sorted(range(len(names)), key=names.__getitem__)
    _renumber(term.array, places_in(order))
    return Counts([names[i] for i in order], total(size.array), term.array, count.array)


def _renumber(numbers: Ints, to: Ints) -> None:
    """Put ``to[number]`` in place of each number."""
    for part in blocks(len(numbers)):
        numbers[part] = to[numbers[part]]


class _Words(dict[str, tuple[int, ...]]):
    """Numbers of the terms of each word as it stands between spaces; terms are numbered in order of appearance."""

    def __init__(self) -> None:
        super().__init__()
        self.terms: dict[str, int] = {}

    def __missing__(self, word: str) -> tuple[int, ...]:
        terms = self.terms
        found = self[word] = tuple(terms.setdefault(term, len(terms)) for term in tokenize(word))
        return found


def _count(texts: pa.ChunkedArray, words: _Words) -> tuple[Ints, Ints, Ints]:
    """Of a block: terms and their counts, text by text, and how many different terms each text has.

    No word of the tokenizer reaches over white space, so words between spaces are looked up, each once a block.
    """
    split = pc.ascii_split_whitespace(texts)
    found = pc.dictionary_encode(pc.list_flatten(split)).combine_chunks()
    own = [words[word] for word in found.dictionary.to_pylist()]
    ptr = np.cumsum([0, *map(len, own)], dtype=np.int64)
    numbers = np.fromiter(chain.from_iterable(own), np.int32, int(ptr[-1]))
    word = found.indices.to_numpy()
    low, size = ptr[word], np.diff(ptr)[word]
    ends = np.append(0, np.cumsum(size))
    term = numbers[ranges(low, size)]
    lengths = np.diff(ends[np.cumsum(pc.list_value_length(split).to_numpy())], prepend=0)
    keys = np.repeat(np.arange(len(texts)), lengths) << 32 | term
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    keys, count = keys[first], np.diff(first, append=len(keys))
    different = np.bincount(keys >> 32, minlength=len(texts))
    return (keys & 0xFFFFFFFF).astype(np.int32), count.astype(np.int32), different.astype(np.int32)


def _chosen(parts: Sequence[Counts], row: Longs, folder: Path | None = None) -> Counts:
    """The counts of these texts, numbered over all parts; terms that none of them has are left out."""
    terms = sorted(set(chain.from_iterable(part.terms for part in parts)))
    number = {term: n for n, term in enumerate(terms)}
    renamed = [np.array([number[term] for term in part.terms], np.int32) for part in parts]
    first = total([len(part) for part in parts])
    sizes = np.concatenate([np.diff(part.ptr) for part in parts])[row]
    ptr, scratch = total(sizes), Scratch(folder)
    term, count = (scratch.empty(int(ptr[-1]), np.int32) for _ in range(2))
    used = np.zeros(len(terms), bool)
    for texts in consecutive(ptr[1:], ROWS):
        for part, names, low, high in zip(parts, renamed, first, first[1:], strict=False):
            here = np.flatnonzero((row[texts] >= low) & (row[texts] < high)) + texts.start
            at, to = ranges(part.ptr[row[here] - low], sizes[here]), ranges(ptr[here], sizes[here])
            term[to], count[to] = names[part.term[at]], part.count[at]
            used[term[to]] = True
    _renumber(term, np.cumsum(used, dtype=np.int32) - 1)
    return Counts([term for term, here in zip(terms, used.tolist(), strict=True) if here], ptr, term, count)


@dataclass(frozen=True)
class Postings:
    """Term counts: ``document``, ``count`` int32 [p], by term, then document; ``ptr`` int64 [terms+1]: those of each term.

    ``lengths`` int32 [documents] in terms. ``terms`` are sorted by their UTF-8 bytes.
    """

    terms: Sequence[bytes]
    ptr: Longs
    document: Ints
    count: Ints
    lengths: Ints


def postings_of(counts: Counts, folder: Path | None = None) -> Postings:
    """The same counts by term, texts by texts; ``folder``: on whose disk they are, see `Scratch`."""
    width, rows = len(counts.terms), len(counts.term)
    having, lengths = np.zeros(width, np.int64), np.zeros(len(counts), np.int32)
    for part in blocks(rows):
        having += np.bincount(counts.term[part], minlength=width)
    ptr, scratch = total(having), Scratch(folder)
    document, count = (scratch.empty(rows, np.int32) for _ in range(2))
    free = ptr[:-1].copy()  # where the next posting of each term goes
    for texts in consecutive(counts.ptr[1:], ROWS):
        low, high = int(counts.ptr[texts.start]), int(counts.ptr[texts.stop])
        own = counts.ptr[texts.start : texts.stop + 1] - low
        shape = (texts.stop - texts.start, width)
        by_text = sparse.csr_array((counts.count[low:high], counts.term[low:high], own), shape=shape)
        by_term = by_text.tocsc()
        size = np.diff(by_term.indptr)
        place = ranges(free, size)
        document[place] = by_term.indices + np.int32(texts.start)
        count[place] = by_term.data
        free += size
        summed = total(counts.count[low:high])
        lengths[texts] = np.diff(summed[own])
    return Postings(counts.terms, ptr, document, count, lengths)


def write_sparse(postings: Postings, out: Path, bm25: Sparse) -> dict[str, int]:
    """Write the index of these postings into ``out``; gives counts."""
    vocabulary = np.frombuffer(b"".join(postings.terms), np.uint8)
    ends = np.cumsum([0] + [len(term) for term in postings.terms], dtype=np.int64)
    np.save(out / "vocabulary_text.npy", vocabulary)
    np.save(out / "vocabulary_ptr.npy", ends)
    if postings.terms:
        import bm25s

        index = bm25s.BM25(k1=bm25.k1, b=bm25.b, method="atire", idf_method="robertson", dtype="float64")
        index.scores = {
            "data": okapi(postings, bm25, out),
            "indices": postings.document,
            "indptr": postings.ptr,
            "num_docs": len(postings.lengths),
        }
        index.vocab_dict = {}  # terms are looked up in the mapped vocabulary
        index.nonoccurrence_array = None
        index.save(out, show_progress=False)
    stats = {
        "documents": len(postings.lengths),
        "terms": len(postings.terms),
        "postings": len(postings.count),
    }
    (out / META).write_text(canonical_json({"schema": SCHEMA_VERSION} | stats), encoding="utf-8")
    return stats


def okapi(postings: Postings, bm25: Sparse, folder: Path | None = None) -> Doubles:
    """Score of every posting, float64 [p]: Okapi's term frequency times its inverse document frequency.

    An inverse frequency below zero becomes ``epsilon`` times the mean of all. ``folder``: on whose disk the scores are.
    """
    mean, having = postings.lengths.mean(), np.diff(postings.ptr)
    weight: Doubles = np.log(len(postings.lengths) - having + 0.5) - np.log(having + 0.5)
    weight = np.where(weight < 0, bm25.epsilon * weight.mean(), weight)
    score: Doubles = Scratch(folder).empty(len(postings.count), np.float64)
    for terms in consecutive(postings.ptr[1:], ROWS):
        part = slice(int(postings.ptr[terms.start]), int(postings.ptr[terms.stop]))
        count, length = postings.count[part], postings.lengths[postings.document[part]] / mean
        frequency = count * (bm25.k1 + 1) / (count + bm25.k1 * (1 - bm25.b + bm25.b * length))
        score[part] = frequency * np.repeat(weight[terms], having[terms])
    return score
