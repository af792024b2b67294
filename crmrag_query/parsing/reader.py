"""Reading the pieces of a question from left to right into a tree.

A phrase of a relation waits for the thing after it ("painted *by* …"); a thing that comes before its phrase waits for it
("has *Irises* been shown"). What is found is tied to the nearest thing before it that the relation can be of, so that "works
by artists born in Paris" asks for artists born there.
"""

from __future__ import annotations

from collections.abc import Sequence

from crmrag_query.parsing.pieces import Piece
from crmrag_query.parsing.reading.ahead import is_end, is_verb, splits_time
from crmrag_query.parsing.reading.grammar import take_grammar, take_lead, take_small
from crmrag_query.parsing.reading.names import take_name, take_unknown
from crmrag_query.parsing.reading.nouns import take_kind
from crmrag_query.parsing.reading.references import take_reference
from crmrag_query.parsing.reading.relations import take_end, take_verb, take_weak
from crmrag_query.parsing.reading.state import Lead, State, end_group, is_untold_root
from crmrag_query.parsing.reading.ties import attach, host_of, nearest
from crmrag_query.parsing.tree import Group, Link, Node, Tree
from crmrag_query.parsing.vocabulary import Vocabulary
from crmrag_query.timing import check


def read_tree(
    pieces: Sequence[Piece], know: Vocabulary, lead: Lead, polar: bool = False, tree: Tree | None = None
) -> Tree:
    """The tree of a question; ``polar``: it is answered by yes or no."""
    state = State(pieces, know, lead, polar, tree or Tree())
    state.titled = any("titles" in piece.roles for piece in pieces)
    at = 0
    while at < len(pieces):
        check()
        at = _take(state, at)
    _finish(state)
    return state.tree


def _take(state: State, at: int) -> int:
    """Read one piece, or several that belong together. Where to read on."""
    piece = state.pieces[at]
    if at == 0 and "containing" in piece.roles and piece.mention is None:
        return at + 1  # "Show the artists …"
    if piece.opens and state.group is not None and state.group.node:
        end_group(state)
    if piece.first in state.lead.at and "titles" not in piece.roles and take_lead(state, at):
        return at + 1
    if piece.period is not None:
        attach(state, piece.period, piece)
        return at + 1
    if take_grammar(state, at) or _take_word(state, at):
        return at + 1
    return _take_thing(state, at)


def _take_word(state: State, at: int) -> bool:
    """Words that are no thing, though they might be: what went before, verbs, units of time; whether it was one."""
    piece = state.pieces[at]
    if "jointly" in piece.roles and _two_follow(state, at):
        state.jointly = True
        return True
    if (not piece.mention or not piece.capital) and take_reference(state, at):
        return True
    if (state.titled and "containing" in piece.roles) or ("filler" in piece.roles and len(piece.words) > 1):
        return True
    if piece.roles & {"begins", "ends"} and splits_time(state, at):
        state.edge = "begin" if "begins" in piece.roles else "end"
    elif is_verb(state, at):
        take_verb(state, piece)
    elif state.group is not None and (unit := state.lead.units.get(piece.words[0])):
        state.group.unit, state.group.edge = unit, state.edge  # "started in each decade"
        state.group.by = piece.relations("ends")
    elif state.tree.sort and (piece.kinds or piece.relations("ends")):
        dated = any(state.know.value(id) == "date" for id in piece.relations("ends"))
        if dated or piece.words[0] in state.lead.units:
            state.tree.sort = "date"
    else:
        return False
    return True


def _two_follow(state: State, at: int) -> bool:
    """Whether two things joined by "and" follow: "*both* Florence and a bridge"."""
    rest = state.pieces[at + 1 :]
    joints = [i for i, one in enumerate(rest) if "both" in one.roles]
    return bool(joints) and joints[0] > 0 and joints[0] + 1 < len(rest)


def _take_thing(state: State, at: int) -> int:
    """Nouns, names and what names nothing known. Where to read on."""
    piece, mention = state.pieces[at], state.pieces[at].mention
    named = mention is not None and piece.capital and not piece.opens
    if piece.relations("ends") and not named and is_end(state, at):
        return take_end(state, at)
    if piece.kinds and not (named and piece.whole and state.tree.root):
        return take_kind(state, at)
    if mention is not None:
        return take_name(state, at)
    if piece.relations("ends"):
        return take_end(state, at)
    return _take_rest(state, at)


def _take_rest(state: State, at: int) -> int:
    """Small words, loose phrases, and what is none of these. Where to read on."""
    piece = state.pieces[at]
    loose = piece.relations("loose")
    article = "of" in piece.roles and (state.tree.root is None or is_untold_root(state))
    if loose and not article:  # "wer ist *der* Schöpfer …"
        if "filler" in piece.roles or piece.text in state.lead.copulas:
            state.copula = loose
        else:
            state.loose = loose
    take_small(state, piece)
    if piece.phrases and not (loose or piece.roles or piece.stop):
        return take_unknown(
            state, at
        )  # "version": a noun for the near end of a relation, and no kind of the data
    if loose and state.held and "filler" in piece.roles:
        take_weak(state, loose, piece)
    if not (piece.roles or piece.stop or piece.phrases):
        return take_unknown(state, at)
    return at + 1


def _finish(state: State) -> None:
    """What still waits is tied to the thing asked for."""
    tree = state.tree
    if tree.root is None:
        tree.root = _unsaid_root(state)
    if tree.root is None:
        return
    state.open = state.open or [tree.root]
    if state.asked is not None:
        tree.root.links.append(state.asked)
    tree.root.links += state.fronted + state.modifiers
    for link in state.held:
        nearest(state, link).links.append(link)
    if tree.rank is not None and tree.rank.first is None:
        tree.rank.first = state.number
    if state.rel:
        _settle_phrase(state)
    _busiest_time(state)
    if state.negated and not state.excluding:
        tree.unknown += state.denied


def _busiest_time(state: State) -> None:
    """ "Which *century* has the most works": what is counted, by that unit of time, and the first of the groups."""
    tree = state.tree
    rank, root = tree.rank, tree.root
    unit = state.lead.units.get(root.text.split()[-1]) if root is not None and root.text else None
    if rank is None or rank.kind != "most" or rank.of is None or unit is None or root is None or root.named:
        return
    if any(link.anchor is not None for link in root.links):
        return
    said = tuple(id for link in root.links for id in link.explicit)
    tree.group = Group(
        unit=unit, by=(*state.rel, *rank.by, *said, *root.ends, *root.far), first=rank.first or 1
    )
    tree.root, tree.rank = rank.of, None


def _unsaid_root(state: State) -> Node | None:
    """What is asked for where no noun says it: what was named first, the last set, else anything."""
    if state.lead.earlier:
        state.tree.fragment = True
        return Node(categories=state.lead.earlier, earlier="set")
    first = state.fronted[0].anchor if state.fronted else None
    tied = bool(state.fronted) and bool(state.fronted[0].loose) and not state.fronted[0].explicit
    if isinstance(first, Node) and not (tied and first.named):  # not "something *by* X"
        state.fronted = state.fronted[1:]
        return first
    if not state.fronted and not state.rel:
        return None
    state.tree.unsaid = not (state.rel or any(link.explicit for link in state.fronted))  # "and in Delft?"
    return Node()


def _settle_phrase(state: State) -> None:
    """A phrase at the end without anything after it: what is counted by a superlative, else anything at all."""
    rank = state.tree.rank
    if rank is not None and not rank.by:
        rank.by = state.rel
        return
    if state.force is not None or state.lead.small.issuperset(state.rel_words):
        return
    host = host_of(state, state.rel, None) or state.open[-1]
    said = {id for link in host.links for id in link.explicit}
    if not said & set(state.rel):
        host.links.append(Link(state.rel, (), None, state.negated, words=state.rel_words))
