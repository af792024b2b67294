"""Names, and words that name nothing known."""

from __future__ import annotations

from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.kinds import categories_of
from crmrag_query.parsing.pieces import Piece
from crmrag_query.parsing.reading.ahead import is_verb, noun_after_names, titles_follow
from crmrag_query.parsing.reading.nodes import node_of, start
from crmrag_query.parsing.reading.state import State, denied_once
from crmrag_query.parsing.reading.ties import attach
from crmrag_query.parsing.tree import Link, Node, Text
from crmrag_query.questions.lexicon import Number


def take_name(state: State, at: int) -> int:
    """A name: said of the noun after it, or a thing of its own. Where to read on."""
    piece, after = state.pieces[at], state.after(at)
    assert piece.mention is not None
    node = node_of(piece)
    node.categories = state.know.categories(piece.mention)
    if after is not None and "possessive" in after.roles:
        _before_noun(state, node, piece.words, owner=True)
        return at + 2
    if not state.titling and (noun := noun_after_names(state, at)) is not None:
        node.mentions += [one.mention for one in state.pieces[at + 1 : noun] if one.mention is not None]
        _before_noun(state, node, tuple(word for one in state.pieces[at:noun] for word in one.words))
        return noun
    if after is not None and after.kinds and not (after.opens or state.titling or is_verb(state, at + 1)):
        if _is_apposition(state, node, after):
            attach(state, node, piece)
            if state.last is not None:
                state.last.words += after.words
            return at + 2
        clause = state.polar and state.tree.root is None  # "does *Tiffany* own lamps"
        if "of" not in after.roles and not state.joined and not clause:
            _before_noun(state, node, piece.words)
            return at + 1
    if state.tree.root is None and state.polar and not (state.waits or state.excluding):
        start(state, node)
    else:
        attach(state, node, piece)
    return at + 1


def _before_noun(state: State, anchor: Node | Text, words: tuple[str, ...], owner: bool = False) -> None:
    """Said of the noun that follows: "*Navajo* artists"; ``owner``: by a possessive."""
    state.modifiers.append(Link((), (), anchor, state.negated, before=owner, words=words))
    denied_once(state)


def _is_apposition(state: State, node: Node, noun: Piece) -> bool:
    """Whether the noun after a name only says what it is: "the Marathasa *valley*", not "Navajo *artists*"."""
    one = any(kind.number is not Number.MANY for kind in noun.kinds)
    shared = node.categories & categories_of(noun.kinds) & ~int(Category.Actor)
    return one and bool(shared) and (state.tree.root is not None or state.polar)


def take_unknown(state: State, at: int) -> int:
    """Words that name nothing known, up to the next that does. Where to read on."""
    piece, last = state.pieces[at], at + 1
    while last < len(state.pieces) and state.pieces[last].unknown and not state.pieces[last].opens:
        last += 1
    run = state.pieces[at:last]
    words = tuple(word for one in run for word in one.words)
    named = piece.capital or piece.quoted
    text = Text(words, named, " ".join(one.raw for one in run))
    after = state.after(last - 1)
    if after is not None and "possessive" in after.roles:
        state.modifiers.append(Link((), (), text, state.negated, before=True, words=words))
        return last + 1
    noun = after is not None and after.kinds and not after.opens and not is_verb(state, last)
    if noun and not (state.rel and named):
        _before_noun(state, text, words)
        return last
    phrase = len(piece.words) > 1 and bool(state.copula)  # "are oil on canvas"
    if named or phrase or state.waits or state.titled or state.joined or titles_follow(state, last):
        attach(state, text, piece)
    else:
        state.tree.unknown += words
    return last
