"""Words that stand for what went before in the conversation."""

from __future__ import annotations

from crmrag_query.parsing.pieces import Piece
from crmrag_query.parsing.reading.ahead import is_verb
from crmrag_query.parsing.reading.nodes import start
from crmrag_query.parsing.reading.state import State
from crmrag_query.parsing.reading.ties import attach
from crmrag_query.parsing.tree import Earlier, Link, Node

_WORDS = frozenset({"earlier", "theirs", "rest", "single", "its"})


def take_reference(state: State, at: int) -> bool:
    """A word that stands for what went before: the last set, the rest of the one before, one thing, or a place."""
    piece, place = state.pieces[at], state.lead.place
    if "there" in piece.roles and place is not None and state.pieces[at - 1].text not in state.lead.copulas:
        node = Node(mentions=[place], categories=state.know.categories(place), text=piece.text)
        attach(state, node, piece)
        return True
    if state.excluding and piece.roles & {"earlier", "single"} and _is_said_of(state, at):
        return True  # "except *those* by X": what is asked for
    referred = _meant(state, piece)
    if referred is not None:
        _take(state, at, referred)
        return True
    if piece.roles & _WORDS:
        state.tree.unknown += piece.words  # what it stands for is not known
        return True
    return False


def _is_said_of(state: State, at: int) -> bool:
    """Whether what follows says which ones are meant."""
    after = state.after(at)
    return after is not None and bool(after.relations("forward", "backward", "loose"))


def _meant(state: State, piece: Piece) -> Node | None:
    """What went before, as a thing of this question."""
    roles, lead = piece.roles, state.lead
    if roles & {"earlier", "theirs", "rest"} and lead.earlier:
        which: Earlier = "rest" if "rest" in roles else "set"
        return Node(categories=lead.earlier, earlier=which, text=piece.text)
    if roles & {"single", "its"} and lead.focus is not None:
        return Node(mentions=[lead.focus], categories=state.know.categories(lead.focus), text=piece.text)
    return None


def _take(state: State, at: int, node: Node) -> None:
    piece, after = state.pieces[at], state.after(at)
    noun = after is not None and (after.kinds or after.relations("ends")) and not is_verb(state, at + 1)
    if noun and piece.roles & {"theirs", "its"}:
        state.modifiers.append(Link((), (), node, state.negated, before=True, words=piece.words))
    elif noun and node.earlier and state.tree.root is None:
        state.pending = node  # "those paintings"
    elif state.tree.root is None and not state.excluding:
        state.rel, state.loose = (), ()
        start(state, node)
    else:
        attach(state, node, piece)
