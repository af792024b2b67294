"""Words of grammar: question words, negation, numbers, superlatives, splitting, words about titles."""

from __future__ import annotations

from typing import get_args

from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.kinds import categories_of
from crmrag_query.parsing.pieces import Piece
from crmrag_query.parsing.reading.ahead import (
    is_each,
    is_group,
    is_rank,
    next_content,
    noun_at,
    verb_ends,
    verb_follows,
)
from crmrag_query.parsing.reading.nodes import start
from crmrag_query.parsing.reading.state import State, is_bare_root
from crmrag_query.parsing.tree import Comparison, Group, Node, Rank, RankKind, Text

_HUNDRED = 100
COMPARISONS: tuple[Comparison, ...] = get_args(Comparison)
RANKS: tuple[RankKind, ...] = get_args(RankKind)


def take_lead(state: State, at: int) -> bool:
    """A question word: what is asked for, the first time; whether no more is to be read of it."""
    piece = state.pieces[at]
    kind, mask = state.lead.at[piece.first]
    if state.tree.root is not None or state.open:
        again = "both" in state.pieces[at - 1].roles or piece.opens or at == len(state.pieces) - 1
        state.tree.several |= again and kind != "what" and not state.grouping
        return kind != "what" or not piece.mention
    state.negated = state.excluding = state.joined = False
    state.rel, state.loose, state.last = (), (), None
    if kind == "when":
        state.tree.when = True
    elif kind in ("who", "where"):
        start(state, Node(categories=mask, text=piece.text))
    elif kind == "what" and not noun_at(state, at + 1):
        start(state, Node(text=piece.text))
    return True


def take_grammar(state: State, at: int) -> bool:
    """A word of grammar, that says nothing by itself; whether it was one."""
    return (
        _asks(state, at)
        or _denies(state, at)
        or _numbers(state, at)
        or _ranks(state, at)
        or _splits(state, at)
    )


def _asks(state: State, at: int) -> bool:
    """Words about titles, the order, the form of the answer."""
    piece, before = state.pieces[at], state.pieces[at - 1].roles if at else frozenset()
    if "titles" in piece.roles:
        take_titles(state, at)
    elif "word" in piece.roles and "containing" in before and "titles" not in before:
        state.titling, state.texted = True, _texted(state)
        state.rel, state.rel_words, state.loose, state.copula = (), (), (), ()
    elif "sorting" in piece.roles and state.lead.earlier:
        state.tree.sort = state.tree.sort or "label"
    elif "pairs" in piece.roles:
        state.tree.pairs = True
    elif "counts" in piece.roles and (state.tree.rank is not None or state.tree.group is not None):
        pass  # "with counts": a ranking and groups tell them
    elif "count" in piece.roles and not piece.kinds:
        if state.tree.root is None:
            state.rel, state.loose = (), ()
    else:
        return False
    return True


def _denies(state: State, at: int) -> bool:
    """Negation and exclusion; "broken down" and "only", that change what the rest does."""
    piece = state.pieces[at]
    if "others" in piece.roles:
        state.others = True
    elif "exclusion" in piece.roles:
        state.negated = state.excluding = True
        state.beside = _tied_before(state, at)
    elif _is_nor(state, piece) or ("negation" in piece.roles and not piece.kinds):
        state.negated, state.denied = True, piece.words
    elif "breakdown" in piece.roles:
        state.breaking, state.tree.group = True, state.tree.group or Group()
    elif "only" in piece.roles and at == 0:
        state.narrowing = True
    else:
        return False
    return True


def _is_nor(state: State, piece: Piece) -> bool:
    """ "weder … *noch*": the second of two things that are denied."""
    return "nor" in piece.roles and state.last is not None and state.last.negated and not state.waits


def _comparison(piece: Piece) -> Comparison | None:
    return next((how for how in COMPARISONS if how in piece.roles), None)


def _tied_before(state: State, at: int) -> Node | None:
    """The noun right before, where it is tied to something: "by *artists* other than X"."""
    tied = state.last.anchor if state.last is not None else None
    if at == 0 or not isinstance(tied, Node) or tied.named or not tied.kinds:
        return None
    return tied if state.pieces[at - 1].text == tied.text else None


def _numbers(state: State, at: int) -> bool:
    """Number words, and what stands before ("at least") or after them ("or more")."""
    piece = state.pieces[at]
    if (how := _comparison(piece)) is not None or ("only" in piece.roles and _is_number(state, at + 1)):
        state.comparison = how or "exactly"
    elif "or_more" in piece.roles and state.number is not None:
        if state.last is not None:
            state.last.at_least = state.number
        else:
            state.counted = (state.number, None)
        state.number = None
    elif not piece.kinds and (number := _number_at(state, at)):
        before = at > 0 and _number_at(state, at - 1)
        if not before:
            _take_number(state, number)
    else:
        return False
    return True


def _ranks(state: State, at: int) -> bool:
    """Superlatives."""
    rank = next((kind for kind in RANKS if kind in state.pieces[at].roles), None)
    if rank is None or not is_rank(state, at, rank):
        return False
    if rank in ("earliest", "latest") and _is_inner(state, at):
        state.ranked = Rank(rank, state.number)
    else:
        state.tree.rank = state.tree.rank or Rank(rank, state.number or _only_one(state, at))
    state.number = None
    return True


def _only_one(state: State, at: int) -> int | None:
    """ "which of the paintings *is* the oldest": the verb says that it is one."""
    before = state.before_article(at)
    return 1 if before > 0 and state.pieces[before].text in state.lead.of_one else None


def _is_inner(state: State, at: int) -> bool:
    """Whether a superlative is said of a thing that what is asked for is tied to."""
    after, root = state.after(at), state.tree.root
    if root is None or state.tree.rank is not None or after is None or not after.kinds or after.opens:
        return False
    if state.rel or not is_bare_root(state):
        return bool(state.rel)
    other = not root.categories & categories_of(after.kinds)
    return other and verb_follows(state, after) if root.categories else verb_ends(state, after)


def _splits(state: State, at: int) -> bool:
    """Words before what the rest is split by: "per", "for each"."""
    roles = state.pieces[at].roles
    if not (("group" in roles and not is_each(state, at)) or ("split" in roles and is_group(state, at))):
        return False
    state.grouping, state.tree.group = True, state.tree.group or Group()
    return True


def take_titles(state: State, at: int) -> None:
    """Words about titles: of what follows at once ("titled X"), else of what was said last ("with X in the title")."""
    after = next_content(state, at)
    follows = after is not None and not any(one.opens or one.stop for one in state.pieces[at + 1 : after + 1])
    if follows and "word" not in state.pieces[at].roles:
        state.titling = True
        return
    last = state.held.pop() if state.held else state.last
    if last is None:
        state.titling = True
        return
    if isinstance(last.anchor, Node | Text):
        last.titled, last.explicit, last.loose = True, (), ()
        last.judged = "judging" in state.pieces[at].roles
        if not any(last in node.links for node in state.open) and state.tree.root is not None:
            state.tree.root.links.append(last)


def _texted(state: State) -> Node | None:
    """What "containing the word …" is said of: the nearest thing that is no person."""
    return next(
        (one for one in reversed(state.open) if one.categories != int(Category.Actor)), state.tree.root
    )


def _is_number(state: State, at: int) -> bool:
    """Whether a number stands there, "one" included."""
    if at >= len(state.pieces) or len(state.pieces[at].words) != 1:
        return False
    word = state.pieces[at].words[0]
    return _number(state, word) is not None or word in state.lead.ones


def _number_at(state: State, at: int) -> int | None:
    """The number that begins at a piece, of all its words: "three hundred", "twenty five"; None for none."""
    words: list[int] = []
    for piece in state.pieces[at:]:
        if len(piece.words) != 1 or piece.period is not None or (words and piece.opens):
            break
        if (number := _number(state, piece.words[0])) is None:
            break
        words.append(number)
    whole = 0
    for number in words:
        whole = max(whole, 1) * number if number >= _HUNDRED else whole + number
    return whole or None


def _number(state: State, word: str) -> int | None:
    """A number word; "one" and "a" count after "more than" only."""
    if word.isdecimal() and len(word) <= state.lead.limits.digits:
        return int(word) or None
    return state.lead.numbers.get(word) or (1 if state.comparison and word in state.lead.ones else None)


def _take_number(state: State, number: int) -> None:
    """What a number says: at least so many of something, so many of a ranking, or what a later word tells."""
    if state.comparison:
        least, most = _bounds(state.comparison, number)
        if state.group is None:
            state.counted = least, most
        elif most is None:
            state.group.at_least = least
        else:
            state.tree.unknown.append(str(number))
        state.comparison = ""
    elif state.tree.rank is not None and state.tree.rank.first is None:
        state.tree.rank.first = number
    else:
        state.number = number


def _bounds(how: Comparison, number: int) -> tuple[int | None, int | None]:
    """The least and the most that a number with a comparison allows."""
    return {
        "least": (number, None),
        "over": (number + 1, None),
        "at_most": (None, number),
        "under": (None, number - 1),
        "exactly": (number, number),
    }[how]


def take_small(state: State, piece: Piece) -> None:
    """What small words say of the thing after them."""
    if "generic" in piece.roles:
        state.generic = True
    if "every" in piece.roles:
        state.every = True
    if piece.roles & {"either", "both"} and (state.tree.root is not None or state.last is not None):
        state.joined = True  # before anything else it is an article: "η γενέτειρα"
    if "begins" in piece.roles:
        state.edge = "begin"
    if "ends" in piece.roles:
        state.edge = "end"
