"""Phrases of relations: verbs, and nouns for the far end of a relation ("the *creator* of")."""

from __future__ import annotations

from crmrag_query.dates import Interval
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.pieces import Piece
from crmrag_query.parsing.reading.ahead import next_content, object_follows, of_before
from crmrag_query.parsing.reading.nodes import node_of, place
from crmrag_query.parsing.reading.state import State, clear, is_bare_root, is_polar_name
from crmrag_query.parsing.reading.ties import attach, directions, host_of
from crmrag_query.parsing.tree import Group, Link, Node
from crmrag_query.parsing.vocabulary import MAKER


def take_verb(state: State, piece: Piece) -> None:
    """A verb waits for what follows it, or is said of a name that waited for it."""
    ids = piece.relations("forward", "backward")
    if state.group is not None and state.group.node is not None and state.tree.root:
        state.group.node.far = (*ids, *state.know.kin(ids))
        return
    if state.tree.when and state.tree.root is None and not state.asked:
        state.asked = Link(ids, (), None, words=piece.words)  # "πότε πέθανε ο …"
        return
    if not state.waits and _closes(state, piece):
        return
    _end_exclusion(state, piece)
    common = tuple(id for id in ids if id in state.rel)
    state.rel, state.rel_words = common or ids, (*state.rel_words, *piece.words)
    state.turned = frozenset(piece.relations("backward")) - frozenset(piece.relations("forward"))
    for link in state.held:
        _by_works(state, link)
    fitting = [link for link in state.held if _host(state, link) is not None]
    if fitting and not object_follows(state, piece):
        _said_of(state, fitting[-1])


def _end_exclusion(state: State, piece: Piece) -> None:
    """ "artists other than X *worked*": the verb is no more of what is left out, where a name or a copula stands between."""
    last = state.last
    if not state.excluding or last is None or not last.negated or not isinstance(last.anchor, Node):
        return
    before = [one for one in state.pieces if one.first < piece.first]
    if (last.anchor.named and not last.anchor.kinds) or (before and before[-1].text in state.lead.copulas):
        state.excluding = state.negated = False
        state.open = [node for node in state.open if node is not last.anchor] or state.open


def _closes(state: State, piece: Piece) -> bool:
    """ "die in Delft *gemalt* wurden": a verb that ends its clause is said of what stands right before it."""
    at = state.place(piece)
    after, before, last = next_content(state, at), state.pieces[at - 1], state.last
    if state.held or last is None or at == 0 or (after is not None and not state.pieces[after].opens):
        return False
    if not (before.mention or before.period or before.unknown) or before.words[-1:] != last.words[-1:]:
        return False
    host = next((node for node in state.open if last in node.links), None)
    if host is None or not _tell(state, host, last, piece):
        return False
    for link in host.links[-2:-1]:  # "1850 in Delft geboren"
        _tell(state, host, link, piece)
    return True


def _tell(state: State, host: Node, link: Link, piece: Piece) -> bool:
    """Whether a tie that no phrase said can be by some of a verb's relations, which then say it."""
    if link.explicit or link.titled or not (link.loose or isinstance(link.anchor, Interval)):
        return False
    ids = piece.relations("forward", "backward")
    fitting = [id for id in (*ids, *state.know.kin(ids)) if any(directions(state, id, host, link.anchor))]
    dated = isinstance(link.anchor, Interval)
    near = state.know.far(link.loose)
    said = tuple(id for id in fitting if id in (ids if dated else link.loose)) or tuple(
        id for id in fitting if id in ids and state.know.ranges[id] == int(Category.Place) & near
    )  # "in Lyon ausgestellt"
    if not said:
        return False
    link.explicit, link.words = said, (*link.words, *piece.words)
    return True


def _said_of(state: State, link: Link) -> None:
    """The verb is said of a name before it."""
    state.held.remove(link)
    link.explicit, link.before, link.words = state.rel, True, state.rel_words
    link.negated, state.negated = link.negated or state.negated, False
    host = _host(state, link)
    if host is not None:
        host.links.append(link)
    state.context, state.rel, state.rel_words = state.rel, (), ()


def _host(state: State, link: Link) -> Node | None:
    """What the waiting verb says of a name before it; of "where" it says the place, though it be a verb of making."""
    kin = state.know.kin(state.rel)
    return host_of(state, state.rel, link.anchor) or (host_of(state, kin, link.anchor) if kin else None)


def _by_works(state: State, link: Link) -> None:
    """ "whom did Warhol portray": of what a maker's works are, not the maker, the phrase is said."""
    maker = link.anchor
    if not isinstance(maker, Node) or maker.categories != Category.Actor or host_of(state, state.rel, maker):
        return
    if MAKER in state.rel:
        return  # "wer hat X gemalt": who is X's picture by, not who is a maker of X's works
    works = Node(
        categories=int(Category.Thing),
        links=[Link((), (), maker, words=link.words)],
        text=maker.text,
        far=(MAKER,),
    )
    if host_of(state, state.rel, works) is not None:
        link.anchor = works


def take_weak(state: State, ids: tuple[str, ...], piece: Piece) -> None:
    """ "does the Getty *own*": a word that may say nothing, after the name that it may be said of."""
    link = state.held[-1]
    host = host_of(state, ids, link.anchor)
    if host is not None and not link.loose:
        state.held.remove(link)
        link.loose, link.before, link.words = ids, True, (*link.words, *piece.words)
        link.negated, state.negated = link.negated or state.negated, False
        host.links.append(link)
        state.copula = ()


def take_end(state: State, at: int) -> int:
    """A noun such as "creator": the far end of what follows or was named before, or what a thing has. Where to read on."""
    piece, after = state.pieces[at], state.after(at)
    owners = [link for link in state.modifiers if link.before]
    follows = after is not None and "of" in after.roles and next_content(state, at) is not None
    joined = state.joined or (at > 0 and "both" in state.pieces[at - 1].roles)
    if state.group is not None and not owners:
        _split_by(state, state.group, at)
        return at + 2 if follows else at + 1
    if joined and state.force is not None and state.force.ends:
        state.force.also.append((piece.relations("ends"), state.edge))
        state.joined, state.edge = False, ""
    elif not owners and not follows and _is_counted_end(state, piece):
        pass
    elif not owners and not follows and state.tree.root is not None and not is_polar_name(state):
        state.rel, state.rel_words = piece.relations("ends"), piece.words
        _maybe_none(state, at)
    else:
        _end_of(state, piece, owners)
    return at + 1


def _is_counted_end(state: State, piece: Piece) -> bool:
    """ "what are the most frequent *places of production*": the far end is what is ranked, by how much leads to it."""
    rank, root, ids = state.tree.rank, state.tree.root, piece.relations("ends")
    if rank is None or rank.kind not in ("most", "fewest") or root is None or not is_bare_root(state):
        return False
    ends = state.know.far(ids)
    if root.kinds or root.named or (root.categories and not root.categories & ends):
        return False
    root.ends, root.categories, root.text = ids, ends, piece.text
    return True


def _split_by(state: State, group: Group, at: int) -> None:
    """The rest is split by the far end of a relation: "per *birth place*"."""
    piece = state.pieces[at]
    ids = piece.relations("ends")
    unit = next((state.lead.units[word] for word in piece.words if word in state.lead.units), None)
    if unit and len(piece.words) > 1 and group.node is None:  # "per birth century"
        group.unit, group.by = unit, ids
    elif group.node is None:
        group.node = Node(kinds=piece.kinds, ends=ids, text=piece.text, edge=state.edge)
        group.node.far = (*state.rel, *state.know.kin(state.rel))  # "*born* in each country"
    elif piece.kinds and of_before(state, at):
        group.node.links.append(Link((), (), node_of(piece), inverse=True, words=piece.words))
    elif state.joined:
        group.node.ends += tuple(id for id in ids if id not in group.node.ends)
    state.joined = False
    clear(state)


def _end_of(state: State, piece: Piece, owners: list[Link]) -> None:
    """The far end of what was named before (``owners``), else of what follows."""
    ids = piece.relations("ends")
    root = state.tree.root if is_polar_name(state) and not state.waits else None
    if root is None:
        node = Node(kinds=piece.kinds, ends=ids, text=piece.text, edge=state.edge, generic=state.generic)
        node.categories = state.know.far(ids)
        root = place(state, node, piece)
    if owners:
        state.modifiers = [link for link in state.modifiers if not link.before]
        root.links += [Link(ids, (), link.anchor, inverse=True, words=piece.words) for link in owners]
    else:
        state.force, state.rel, state.rel_words = root, ids, piece.words
    state.generic, state.edge = False, ""


def _maybe_none(state: State, at: int) -> None:
    """ "no maker recorded", "without a date by X": none at all is meant, unless what follows names one."""
    after = next_content(state, at)
    if state.negated and (after is None or state.pieces[after].opens or _is_denied(state, at)):
        attach(state, None, state.pieces[at])


def _is_denied(state: State, at: int) -> bool:
    """Whether a noun is denied as such: "*without a* date", "*ohne* Datum"."""
    before = state.before_article(at)
    denied = not state.excluding and before >= 0 and "negation" in state.pieces[before].roles
    after = state.after(at)
    if not denied or after is None:
        return False
    if after.relations("forward", "backward"):
        return next_content(state, at + 1) is not None  # not "no image recorded"
    return after.stop or bool(after.relations("loose"))
