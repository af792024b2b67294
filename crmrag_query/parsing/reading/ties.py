"""Tying a thing to the nearest one before it that the waiting phrase can be of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crmrag_query.dates import Interval
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.pieces import WHOLE, Piece
from crmrag_query.parsing.reading.ahead import verb_ends, verb_follows
from crmrag_query.parsing.reading.state import JOINTS, State, clear, denied_once, is_bare_root
from crmrag_query.parsing.tree import Anchor, Link, Node, Text


def attach(state: State, anchor: Anchor, piece: Piece) -> None:
    """Tie a thing to the nearest one before it that the waiting phrase can be of."""
    listed = state.joined or (piece.opens and not state.waits)
    if _joins_noun(state, anchor, piece) or (listed and _joins(state, anchor)):
        state.joined = False
        denied_once(state)
        return
    link = _link(state, anchor, piece)
    (link.at_least, link.at_most), state.counted = state.counted or (None, None), None
    link.other, state.others = state.others, False
    if state.titling and isinstance(anchor, Node | Text):
        link.titled, link.explicit, link.loose, state.titling = True, (), (), False
        (state.texted or state.tree.root or Node()).links.append(link)
        state.texted = None
    else:
        _settle(state, link, piece)
    state.last, state.joined = link, False
    clear(state, keep_negation=state.excluding)


def _link(state: State, anchor: Anchor, piece: Piece) -> Link:
    """The tie by what waits for a thing; where nothing does, by the phrase before: "made in 1890 and *in 1891*"."""
    explicit, loose = state.rel, state.loose
    if not loose and state.copula and not (explicit or verb_follows(state, piece)):
        loose = state.copula if host_of(state, state.copula, anchor) is not None else ()
    if explicit and loose:
        explicit = tuple(id for id in explicit if id in loose and _may_end(state, id, anchor)) or explicit
    explicit = _ahead(state, explicit, anchor) or explicit
    words = (*state.rel_words, *piece.words) if state.rel else piece.words
    link = Link(explicit, loose, anchor, state.negated, edge=state.edge, words=words, turned=state.turned)
    if not explicit and state.context:
        shared = tuple(id for id in state.context if id in loose)
        dated = isinstance(anchor, Interval)
        link.explicit = shared or (state.context if dated or not loose else ())
        link.loose = loose or state.context
    return link


def _ahead(state: State, ids: tuple[str, ...], anchor: Anchor) -> tuple[str, ...]:
    """Without relations that the phrase says the other way round, where nothing before can be their far end, others fit."""

    def fits(id: str, back: bool) -> bool:
        return any(directions(state, id, node, anchor)[back] for node in state.open)

    if not any(fits(id, False) for id in ids if id not in state.turned):
        return ids
    if anchor is None:
        return tuple(id for id in ids if id not in state.turned)
    return tuple(id for id in ids if id not in state.turned or fits(id, True))


def _settle(state: State, link: Link, piece: Piece) -> None:
    """Put a tie where it belongs, or keep it until that is known."""
    if state.force is not None:
        link.inverse = True
        state.force.links.append(link)
        state.force = None
    elif state.tree.root is None:
        state.fronted.append(link)
    elif state.group is not None and state.group.node is not None:
        state.group.node.links.append(link)
    elif _waits_for_verb(state, link, piece):
        state.held.append(link)
    elif (owner := _owner(state, piece)) is not None and not link.explicit:
        owner.links.append(link)
    elif link.negated and state.excluding:
        (_left_out_of(state, link) or state.tree.root).links.append(link)
    else:
        nearest(state, link).links.append(link)


def _left_out_of(state: State, link: Link) -> Node | None:
    """The tied noun that a thing is left out of, where it may be one of what the noun names."""
    own = state.beside
    if own is None or not isinstance(link.anchor, Node) or not own.categories & link.anchor.categories:
        return None
    return own


def nearest(state: State, link: Link) -> Node:
    """The thing that a tie is most likely of."""
    others = [node for node in state.open if node is not link.anchor]
    return host_of(state, link.explicit or link.loose, link.anchor) or (others or state.open)[-1]


def _waits_for_verb(state: State, link: Link, piece: Piece) -> bool:
    bare, anchor = not (link.explicit or link.loose or link.negated), link.anchor
    if not bare or not isinstance(anchor, Node | Text) or not verb_follows(state, piece):
        return False
    if _is_adjective(state, piece):
        return False
    root = state.tree.root
    if anchor.named or (is_bare_root(state) and root is not None):
        return True  # "what do the *paintings* depict"
    return bool(state.copula) and verb_ends(state, piece)  # "haben zwei Werke *geschaffen*"


def _is_adjective(state: State, piece: Piece) -> bool:
    """Between a noun and its verb: "artistes *français* sont nés"."""
    at = state.place(piece)
    after = state.after(at)
    noun = at > 0 and bool(state.pieces[at - 1].kinds) and not piece.opens
    return noun and after is not None and after.text in state.lead.copulas


def _owner(state: State, piece: Piece) -> Node | None:
    """The named thing right before "of": the narthex *of Asinou*."""
    at = state.place(piece) - 1
    while at >= 0 and state.pieces[at].roles & {"generic"} and "of" not in state.pieces[at].roles:
        at -= 1
    before = state.last.anchor if state.last is not None else None
    if at < 1 or "of" not in state.pieces[at].roles or not isinstance(before, Node) or not before.named:
        return None
    return before if state.pieces[at - 1].text.endswith(before.text) else None


def host_of(state: State, ids: Sequence[str], anchor: Anchor) -> Node | None:
    """The nearest open thing that one of the relations may tie to the anchor; None when none may."""
    if not ids:
        return state.open[-1] if state.open else None
    for node in reversed(state.open):
        if node is not anchor and any(any(directions(state, id, node, anchor)) for id in ids):
            return node
    return None


def directions(state: State, id: str, node: Node, anchor: Anchor) -> tuple[bool, bool]:
    """Whether the relation may lead from the node to the anchor, and from the anchor to the node."""
    if isinstance(anchor, Node):
        parts = (
            anchor.named and not anchor.kinds and all(m.entities[0].how not in WHOLE for m in anchor.mentions)
        )
        return state.know.fits(
            id, node.categories, 0 if parts else anchor.categories
        )  # a part of a name tells little
    if anchor is None or isinstance(anchor, Text):
        ahead = not node.categories or bool(node.categories & state.know.domains[id])
        return ahead, bool(node.categories & state.know.ranges[id])
    if state.know.value(id) == "date":
        return state.know.fits(id, node.categories, int(Category.Time))
    return False, False


def _may_end(state: State, id: str, anchor: Anchor) -> bool:
    """Whether the relation may tie anything to the anchor."""
    if isinstance(anchor, Node):
        return any(state.know.fits(id, 0, anchor.categories))
    return isinstance(anchor, Text) or anchor is None or state.know.value(id) == "date"


def _joins_noun(state: State, anchor: Anchor, piece: Piece) -> bool:
    """Nouns and names joined to the thing before: "*both* Florence *and* a bridge", "paintings *and* prints": tied as it is,
    each by itself; "paintings *or* prints", either of them."""
    last, joint = state.last, _joint(state, piece)
    before = last.anchor if last is not None else None
    if (
        last is None
        or joint is None
        or state.waits
        or not isinstance(before, Node)
        or not isinstance(anchor, Node)
    ):
        return False
    denied = (
        last.negated and state.negated and bool(joint.roles & {"negation", "nor"})
    )  # "neither paintings nor prints"
    if not state.jointly and not denied and not (before.kinds and anchor.kinds):
        return False
    if "either" in joint.roles and not before.links:
        before.kinds, before.categories = (
            (*before.kinds, *anchor.kinds),
            before.categories | anchor.categories,
        )
        last.words += piece.words
        state.tree.settled.add(joint.first)
        return True
    host = next((node for node in state.open if last in node.links), None)
    if host is None or not (denied or "both" in joint.roles):
        return False
    host.links.append(replace(last, anchor=anchor, words=(*last.words, *piece.words)))
    state.open.append(anchor)
    if state.jointly:
        state.tree.settled.add(joint.first)
    state.jointly = state.negated = False
    return True


def _joint(state: State, piece: Piece) -> Piece | None:
    """The "and", "or" or "nor" right before a thing and its article."""
    at = state.before_article(state.place(piece))
    return state.pieces[at] if at > 0 and state.pieces[at].roles & JOINTS else None


def _joins(state: State, anchor: Anchor) -> bool:
    """Add a further name to the thing that was named before: "by Andy Warhol *or Alfred Stieglitz*"."""
    before = state.last.anchor if state.last is not None else None
    if state.last is None or not isinstance(before, Node) or not isinstance(anchor, Node) or state.waits:
        return False
    if not (before.named and anchor.named):
        return False
    before.mentions += anchor.mentions
    before.categories |= anchor.categories
    state.last.words += tuple(anchor.text.split())
    return True
