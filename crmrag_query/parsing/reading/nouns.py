"""Nouns for kinds of things."""

from __future__ import annotations

from crmrag_query.parsing.reading.ahead import continues
from crmrag_query.parsing.reading.nodes import node_of, place, say_of
from crmrag_query.parsing.reading.state import State, clear, denied_once
from crmrag_query.parsing.tree import Group, Link, Node, Rank


def take_kind(state: State, at: int) -> int:
    """A noun, the last of a run of nouns; those before say of what kind it is. Where to read on."""
    last = at
    while last + 1 < len(state.pieces) and continues(state, last):
        last += 1
    for one in state.pieces[at:last]:
        state.modifiers.append(Link((), (), node_of(one), state.negated, words=one.words))
        denied_once(state)
    piece = state.pieces[last]
    node = node_of(piece)
    node.generic, node.every = state.generic, state.every
    node.rank, state.ranked = state.ranked, None
    state.generic = state.every = False
    if state.group is not None and _splits(state, state.group, node, last):
        return last + 1
    if (rank := _counting(state)) is not None:
        rank.by, state.rel, state.rel_words = rank.by or state.rel, (), ()
        rank.of = node
        say_of(state, node)
        state.open.append(node)
        return last + 1
    say_of(state, node)
    place(state, node, piece)
    return last + 1


def _splits(state: State, group: Group, node: Node, at: int) -> bool:
    """Whether the noun is what the rest is split by, or says more of that."""
    if group.node is None:
        group.node = node
        node.far = (*state.rel, *state.know.kin(state.rel)) or node.far
        say_of(state, node)
        after = state.after(at)
        if after is None or "of" not in after.roles:
            state.grouping = state.tree.root is None
        clear(state)
        return True
    if group.at_least:
        return True
    if state.tree.root:
        group.node.links.append(Link((), (), node, inverse=True, words=state.pieces[at].words))
        clear(state)
        return True
    return False


def _counting(state: State) -> Rank | None:
    """The superlative by whose noun things are counted; None where the noun is what is asked for: "who are the most …"."""
    root, rank = state.tree.root, state.tree.rank
    if rank is None or rank.kind not in ("most", "fewest") or rank.of is not None:
        return None
    return rank if root is not None and (root.kinds or root.categories) else None
