"""Which of given nodes have a text in their names, or in literals that a way ends in."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints
from crmrag_query.plans.records import Texted
from crmrag_query.plans.routes import routes_of
from crmrag_query.plans.ways import literal_rows
from crmrag_query.plans.world import Mask, World, ranges
from crmrag_query.retrieval.tokenizer import fold


def holding(world: World, constraint: Texted, among: Mask) -> Mask:
    """Nodes of ``among`` for which the text is held, negated or not. Raises QuestionError for a text without letters."""
    needle = fold(constraint.text)
    if not needle.strip():
        raise QuestionError("The text to look for holds no letter or digit.", "Give a word.")
    nodes = np.flatnonzero(among).astype(np.int32)
    found = np.zeros(world.size, bool)
    found[
        _by_names(world, nodes, needle)
        if constraint.way is None
        else _by_way(world, constraint, nodes, needle)
    ] = True
    return found


def _by_names(world: World, nodes: Ints, needle: str) -> Ints:
    ptr, text = world.names
    count = ptr[nodes.astype(np.int64) + 1] - ptr[nodes]
    owner = np.repeat(nodes, count)
    return np.unique(owner[_matches(text.take(pa.array(ranges(ptr[nodes], count))), needle)])


def _by_way(world: World, constraint: Texted, nodes: Ints, needle: str) -> Ints:
    assert constraint.way is not None
    found = [np.empty(0, np.int32)]
    for route in routes_of(world, constraint.way):
        index, row = literal_rows(world, route, nodes)
        distinct, back = np.unique(row, return_inverse=True)
        held = _matches(world.graph.literal_table.column("value").take(pa.array(distinct)), needle)
        found.append(nodes[index[held[back]]])
    return np.unique(np.concatenate(found))


def _matches(texts: pa.LargeStringArray, needle: str) -> Mask:
    """Which texts hold the folded needle. ASCII ones are folded all at once, as `fold` folds them."""
    import pyarrow.compute as pc

    ascii_ = pc.string_is_ascii(texts).to_numpy(zero_copy_only=False)
    plain = pc.replace_substring(pc.ascii_lower(texts), "_", "-")
    found: Mask = np.array(pc.match_substring(plain, needle).to_numpy(zero_copy_only=False), bool)
    for at in np.flatnonzero(~ascii_).tolist():
        found[at] = needle in fold(texts[at].as_py())
    return found
