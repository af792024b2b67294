"""Which of given nodes have a text in their names, or in literals that a way ends in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa

from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Bytes, Ints, Longs
from crmrag_query.plans.records import Texted
from crmrag_query.plans.ways import leading_to_literals, way_literals
from crmrag_query.plans.world import Mask, World, ranges
from crmrag_query.retrieval.tokenizer import fold

_SHARE = 100  # all texts are looked through where those of more than one node in so many are asked for
_HITS = 200_000  # found one by one; what is more frequent is left to Arrow
_TOGETHER = 100  # needles in one regular expression, of which RE2 takes so many
_KEPT = 64  # needles of which is kept which texts hold them: a question asks for the same again and again


def holding(world: World, constraint: Texted, among: Mask) -> Mask:
    """Nodes of ``among`` for which a text is held, negated or not. Raises QuestionError for a text without letters."""
    needles = tuple(dict.fromkeys(fold(text) for text in constraint.texts))
    if not all(any(map(str.isalnum, needle)) for needle in needles):
        raise QuestionError("The text to look for holds no letter or digit.", "Give a word.")
    if np.count_nonzero(among) * _SHARE > world.size:
        return among & _of_all(world, constraint, needles)
    nodes = np.flatnonzero(among).astype(np.int32)
    by = _by_names if constraint.way is None else _by_way
    return world.mask(by(world, constraint, nodes, needles))


def _of_all(world: World, constraint: Texted, needles: tuple[str, ...]) -> Mask:
    """All nodes for which a text is held: from the texts that hold it back to who has them, or leads to them."""
    if constraint.way is None:
        rows = np.flatnonzero(world.searched_names.holding(needles, constraint.whole))
        return world.mask(np.searchsorted(world.names[0], rows, side="right") - 1)
    rows = np.flatnonzero(world.searched_literals.holding(needles, constraint.whole))
    return leading_to_literals(world, constraint.way, rows)


def _by_names(world: World, constraint: Texted, nodes: Ints, needles: tuple[str, ...]) -> Ints:
    ptr, _ = world.names
    count = ptr[nodes.astype(np.int64) + 1] - ptr[nodes]
    owner, rows = np.repeat(nodes, count), ranges(ptr[nodes], count)
    texts = Folded.of(world.searched_names.texts.column.take(pa.array(rows)))
    return owner[matches(texts, needles, constraint.whole)]


def _by_way(world: World, constraint: Texted, nodes: Ints, needles: tuple[str, ...]) -> Ints:
    assert constraint.way is not None
    index, row = way_literals(world, constraint.way, nodes)
    distinct, back = np.unique(row, return_inverse=True)
    texts = folded(world.graph.literal_table.column("value").take(pa.array(distinct)))
    return nodes[index[matches(Folded.of(texts), needles, constraint.whole)[back]]]


@dataclass(frozen=True)
class Searched:
    """Folded texts, and which of them hold what was looked for last."""

    texts: Folded

    @classmethod
    def of(cls, texts: pa.LargeStringArray) -> Searched:
        return cls(Folded.of(folded(texts)))

    def holding(self, needles: tuple[str, ...], whole: bool) -> Mask:
        """As `matches`."""
        return np.unpackbits(self._found(needles, whole), count=len(self.texts)).view(bool)

    @cached_property
    def _found(self) -> Callable[[tuple[str, ...], bool], Bytes]:
        def found(needles: tuple[str, ...], whole: bool) -> Bytes:
            return np.packbits(matches(self.texts, needles, whole))

        return lru_cache(_KEPT)(found)


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
    found = np.zeros(len(texts), bool)
    for first in range(0, len(needles), _TOGETHER):
        some = needles[first : first + _TOGETHER]
        held = _holding(texts, some[0]) if len(some) == 1 else _matching(texts.column, _any_of(some))
        if whole and held.any():
            pattern = rf"(^|[^\pL\pN])(?:{_any_of(some)})([^\pL\pN]|$)"
            held[held] = _matching(texts.column.filter(pa.array(held)), pattern)
        found |= held
    return found


def _matching(texts: pa.LargeStringArray, pattern: str) -> Mask:
    import pyarrow.compute as pc

    return np.array(pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False), bool)


def _any_of(needles: Iterable[str]) -> str:
    """Any of the needles as a regular expression of RE2, which looks for all of them in one pass."""
    return "|".join(map(_escaped, needles))


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
