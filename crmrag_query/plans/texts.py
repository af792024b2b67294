"""Which of given nodes have a text in their names, or in literals that a way ends in."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints
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
        return owner[_matches(texts, needles, constraint.whole)[rows]]
    return owner[_matches(texts.take(pa.array(rows)), needles, constraint.whole)]


def _by_way(world: World, constraint: Texted, nodes: Ints, needles: tuple[str, ...]) -> Ints:
    assert constraint.way is not None
    index, row = way_literals(world, constraint.way, nodes)
    distinct, back = np.unique(row, return_inverse=True)
    texts = folded(world.graph.literal_table.column("value").take(pa.array(distinct)))
    return nodes[index[_matches(texts, needles, constraint.whole)[back]]]


def folded(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts as `fold` folds each; ASCII ones all at once."""
    import pyarrow.compute as pc

    odd = pc.or_(pc.invert(pc.string_is_ascii(texts)), pc.match_substring(texts, "_"))
    by_hand = pa.array([fold(text) for text in texts.filter(odd).to_pylist()], pa.large_utf8())
    plain = pc.ascii_lower(texts)
    return pc.replace_with_mask(plain, odd, by_hand) if len(by_hand) else plain


def _matches(texts: pa.LargeStringArray, needles: tuple[str, ...], whole: bool) -> Mask:
    """Which folded texts hold a folded needle."""
    import pyarrow.compute as pc

    found = np.zeros(len(texts), bool)
    for needle in needles:
        held = _with_bytes(texts, needle.encode())
        if whole and held.any():
            pattern = rf"(^|[^\pL\pN])(?:{_escaped(needle)})([^\pL\pN]|$)"
            words = pc.match_substring_regex(texts.filter(pa.array(held)), pattern)
            held[held] = words.to_numpy(zero_copy_only=False)
        found |= held
    return found


def _with_bytes(texts: pa.LargeStringArray, needle: bytes) -> Mask:
    """Which texts hold the bytes: all texts are one buffer, in which `bytes.find` is several times faster than Arrow."""
    import pyarrow.compute as pc

    _, offsets, data = texts.buffers()
    if data is None or len(texts) == 0:
        return np.zeros(len(texts), bool)
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    whole, last = data.to_pybytes(), int(ends[-1])
    hits: list[int] = []
    at = whole.find(needle, int(ends[0]), last)
    while at >= 0 and len(hits) < _HITS:
        hits.append(at)
        at = whole.find(needle, at + 1, last)
    if at >= 0:
        return np.array(pc.match_substring(texts, needle.decode()).to_numpy(zero_copy_only=False), bool)
    found = np.zeros(len(texts), bool)
    hit = np.array(hits, np.int64)
    row = np.searchsorted(ends, hit, side="right") - 1
    found[row[hit + len(needle) <= ends[row + 1]]] = True
    return found


def _escaped(needle: str) -> str:
    """The needle as a regular expression of RE2."""
    return "".join(char if char.isalnum() or not char.isascii() else re.escape(char) for char in needle)
