"""A noun or name as a node of the tree, and its place there."""

from __future__ import annotations

from dataclasses import replace

from crmrag_query.parsing.kinds import categories_of
from crmrag_query.parsing.pieces import Piece
from crmrag_query.parsing.reading.ahead import said_last, verb_follows
from crmrag_query.parsing.reading.state import State, clear, is_bare_root
from crmrag_query.parsing.reading.ties import attach
from crmrag_query.parsing.tree import Node

_PARTITIVE = frozenset({"generic", "of"})


def node_of(piece: Piece) -> Node:
    """What a piece stands for, by its kinds and its name."""
    plain = any(kind.generic for kind in piece.kinds) and not (piece.capital or piece.quoted)
    named = [piece.mention] if piece.mention and not plain else []  # "a date" is no thing called so
    return Node(
        kinds=piece.kinds, mentions=named, categories=categories_of(piece.kinds), text=piece.text,
        capital=piece.capital or piece.quoted, far=piece.relations("ends"), raw=piece.raw,
    )  # fmt: skip


def say_of(state: State, node: Node) -> None:
    """What stood before a noun is said of it."""
    node.links += state.modifiers
    state.modifiers = []


def place(state: State, node: Node, piece: Piece) -> Node:
    """A noun where it stands: what is asked for, or what the thing before is tied to; the node that it became."""
    root, tied = state.tree.root, state.waits or state.negated
    if root is None and not tied:
        start(state, node)
    elif root is not None and not state.rel and _is_further(state, root, node, piece):
        return root
    elif root is None:
        attach(state, node, piece)
    elif is_bare_root(state) and not tied and not _is_subject(state, root, node, piece):
        _merge(state, root, node)
        return root
    else:
        attach(state, node, piece)
        state.open.append(node)
    return node


def _is_further(state: State, root: Node, node: Node, piece: Piece) -> bool:
    """ "How many paintings, drawings *and prints* …": a further kind of what is asked for."""
    joint, before = _joined_to(state, state.place(piece))
    if before is None or not before.kinds or not set(before.kinds) <= set(root.kinds) or not node.kinds:
        return False
    if node.links or state.negated or not (_same_kind(root, node) or (_is_typed(root) and _is_typed(node))):
        return False
    if _same_kind(root, node):  # "Künstlerinnen und Künstler"
        root.kinds = tuple(replace(kind, female=False) for kind in (*root.kinds, *node.kinds))
    else:
        root.kinds, root.categories = (*root.kinds, *node.kinds), root.categories | node.categories
    if joint is not None:
        state.tree.settled.add(joint.first)
    root.text = f"{root.text} {node.text}"
    state.loose, state.joined = (), False
    return True


def _joined_to(state: State, at: int) -> tuple[Piece | None, Piece | None]:
    """The "and" or "or" that joins a noun to the one right before, none for a comma, and that one; none where none does."""
    place = state.before_article(at, _PARTITIVE)  # "de dessins, *d*'estampes et *de* sculptures"
    if place < 0:
        return None, None
    here = state.pieces[place]
    if here.roles & {"both", "either"}:
        return here, state.pieces[place - 1] if place else None
    opens = any(one.opens for one in state.pieces[place + 1 : at + 1])
    return None, here if opens else None


def _is_typed(node: Node) -> bool:
    return any(kind.types for kind in node.kinds) and not any(kind.generic for kind in node.kinds)


def _same_kind(root: Node, node: Node) -> bool:
    """Whether two nouns are of one kind, but for women alone."""
    kinds = {kind.kind for kind in root.kinds if kind.kind}
    women = {kind.female for one in (root, node) for kind in one.kinds}
    return bool(kinds & {kind.kind for kind in node.kinds}) and len(women) > 1


def _is_subject(state: State, root: Node, node: Node, piece: Piece) -> bool:
    """ "where was *the maker of X* born": a noun for something else than what is asked for, of which a verb says more."""
    if piece.first - 1 in state.lead.at:  # "which *paintings*", where the word may also mean "who"
        return False
    if not root.categories:
        return said_last(state, piece) and not (root.links or root.ends)
    return not root.categories & node.categories and verb_follows(state, piece)


def start(state: State, node: Node) -> None:
    """The node is what is asked for."""
    if state.pending is not None:
        node.earlier, state.pending = state.pending.earlier, None
    if state.counted is not None:  # "more than two works by …": how many, of what is asked for
        state.tree.unknown += [str(one) for one in state.counted if one is not None]
        state.counted = None
    if state.narrowing and state.lead.earlier and not node.earlier:
        node.earlier = "set"
    state.tree.root = node
    state.open = [node]
    node.links += state.fronted
    state.fronted = []
    if state.number is not None and state.tree.rank is not None:
        state.tree.rank.first = state.tree.rank.first or state.number
    clear(state)


def _merge(state: State, root: Node, node: Node) -> None:
    """ "who are the painters": the noun says what is asked for."""
    root.kinds, root.categories, root.ends = node.kinds, node.categories, node.ends
    root.links += node.links
    root.text, root.far = node.text, node.far
    if state.force is node:
        state.force = root
