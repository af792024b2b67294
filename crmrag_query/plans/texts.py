"""Which of given nodes have a text in their names, or in literals that a way ends in."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.plans.records import Texted
from crmrag_query.plans.ways import way_literals
from crmrag_query.plans.world import Mask, World, ranges
from crmrag_query.retrieval.tokenizer import fold

_SHARE = 4  # all names are looked through where more than one in so many is asked for
_HITS = 200_000  # found one by one; what is more frequent is left to Arrow


def holding(world: World, constraint: Texted, among: Mask) -> Mask:
    """Nodes of ``among`` for which a text is held, negated or not. Raises QuestionError for a text without letters."""
    needles = tuple(dict.fromkeys(fold(text) for text in constraint.texts))
    if not all(any(map(str.isalnum, needle)) for needle in needles):
        raise QuestionError("The text to look for holds no letter or digit.", "Give a word.")
    nodes = np.flatnonzero(among).astype(np.int32)
    by = _by_names if constraint.way is None else _by_way
    return world.mask(by(world, constraint, nodes, needles))


def _by_names(world: World, constraint: Texted, nodes: Ints, needles: tuple[str, ...]) -> Ints:
    ptr, _ = world.names
    count = ptr[nodes.astype(np.int64) + 1] - ptr[nodes]
    owner, rows = np.repeat(nodes, count), ranges(ptr[nodes], count)
    texts = world.folded_names
    if len(rows) * _SHARE > len(texts):
        return owner[matches(texts, needles, constraint.whole)[rows]]
    return owner[matches(Folded.of(texts.column.take(pa.array(rows))), needles, constraint.whole)]


def _by_way(world: World, constraint: Texted, nodes: Ints, needles: tuple[str, ...]) -> Ints:
    assert constraint.way is not None
    index, row = way_literals(world, constraint.way, nodes)
    distinct, back = np.unique(row, return_inverse=True)
    texts = folded(world.graph.literal_table.column("value").take(pa.array(distinct)))
    return nodes[index[matches(Folded.of(texts), needles, constraint.whole)[back]]]


def folded(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts as `fold` folds each; ASCII ones all at once."""
    import pyarrow.compute as pc

    odd = pc.or_(pc.invert(pc.string_is_ascii(texts)), pc.match_substring(texts, "_"))
    by_hand = pa.array([fold(text) for text in texts.filter(odd).to_pylist()], pa.large_utf8())
    plain = pc.ascii_lower(texts)
    return pc.replace_with_mask(plain, odd, by_hand) if len(by_hand) else plain


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded texts as one piece of UTF-8, in which `bytes.find` is several times faster than Arrow's kernels.

    ``ends`` int64 [texts + 1]: where each begins and the one before ends; ``column``: the same texts, not copied.
    """

    utf8: bytes
    ends: Longs
    column: pa.LargeStringArray

    @classmethod
    def of(cls, texts: pa.LargeStringArray) -> Folded:
        _, offsets, data = texts.buffers()
        if data is None or not len(texts):
            return cls(b"", np.zeros(len(texts) + 1, np.int64), pa.array([""] * len(texts), pa.large_utf8()))
        ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        utf8 = data.slice(int(ends[0]), int(ends[-1] - ends[0])).to_pybytes()
        ends = ends - ends[0]
        column = pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(utf8))
        return cls(utf8, ends, column)

    def __len__(self) -> int:
        return len(self.ends) - 1


def matches(texts: Folded, needles: tuple[str, ...], whole: bool) -> Mask:
    """Which folded texts hold a folded needle."""
    import pyarrow.compute as pc

    found = np.zeros(len(texts), bool)
    for needle in needles:
        held = _holding(texts, needle)
        if whole and held.any():
            pattern = rf"(^|[^\pL\pN])(?:{_escaped(needle)})([^\pL\pN]|$)"
            words = pc.match_substring_regex(texts.column.filter(pa.array(held)), pattern)
            held[held] = words.to_numpy(zero_copy_only=False)
        found |= held
    return found


def _holding(texts: Folded, needle: str) -> Mask:
    import pyarrow.compute as pc

    sought = needle.encode()
    hits: list[int] = []
    at = texts.utf8.find(sought)
    while at >= 0 and len(hits) < _HITS:
        hits.append(at)
        at = texts.utf8.find(sought, at + 1)
    if at >= 0:
        return np.array(pc.match_substring(texts.column, needle).to_numpy(zero_copy_only=False), bool)
    found = np.zeros(len(texts), bool)
    hit = np.array(hits, np.int64)
    row = np.searchsorted(texts.ends, hit, side="right") - 1
    found[row[hit + len(sought) <= texts.ends[row + 1]]] = True
    return found


def _escaped(needle: str) -> str:
    """The needle as a regular expression of RE2."""
    return "".join(char if char.isalnum() or not char.isascii() else re.escape(char) for char in needle)
