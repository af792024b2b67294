"""Looking at the pieces around one: what it is depends on what stands next to it. Nothing is changed here."""

from __future__ import annotations

from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.kinds import categories_of
from crmrag_query.parsing.pieces import Piece
from crmrag_query.parsing.reading.state import State
from crmrag_query.questions.lexicon import Number


def next_content(state: State, at: int) -> int | None:
    """Where the next thing or phrase of a relation stands after a piece; None where small words alone follow."""
    for i in range(at + 1, len(state.pieces)):
        one = state.pieces[i]
        if (
            one.kinds
            or one.mention
            or one.period
            or one.relations("forward", "backward", "ends")
            or one.unknown
        ):
            return i
    return None


def noun_at(state: State, at: int) -> bool:
    """Whether a noun phrase begins there: "what *old coins*", not "what *was made*"."""
    if at >= len(state.pieces) or state.pieces[at].opens:
        return False
    piece = state.pieces[at]
    if piece.stop or piece.roles or is_verb(state, at):
        return False
    after = state.after(at)
    if piece.mention and not piece.kinds:  # "what *Tiffany lamps*", not "what *Tiffany* made"
        return after is not None and bool(after.kinds) and not is_verb(state, at + 1)
    return bool(piece.kinds or piece.relations("ends") or piece.unknown)


def is_verb(state: State, at: int) -> bool:
    """Whether a phrase of a relation is meant as that, and not as a noun: "which works *show* …", "which *shows*"."""
    piece = state.pieces[at]
    if not piece.relations("forward", "backward"):
        return False
    if state.titled and "containing" in piece.roles:
        return False
    if piece.relations("ends") and is_end(state, at):
        return False
    if not piece.kinds:
        return True
    if all(kind.number is Number.MANY for kind in piece.kinds):
        return _is_state(state, at)  # "which of them are *prints*"
    noun = state.waits or state.negated or state.generic or state.number
    return state.tree.root is not None and not noun


def _is_state(state: State, at: int) -> bool:
    """Whether what stands after a form of "be" is no noun, as what is asked for can be no such thing: "sont *morts*"."""
    root = state.tree.root
    if root is None or not root.categories or at == 0 or state.pieces[at - 1].text not in state.lead.beings:
        return False
    return not root.categories & categories_of(state.pieces[at].kinds)


def is_end(state: State, at: int) -> bool:
    """Whether a noun for the far end of a relation is meant as that: "the *maker* of", "its *maker*"."""
    piece, after = state.pieces[at], state.after(at)
    told = _of_each(state, at) and not any(kind.categories & int(Category.Thing) for kind in piece.kinds)
    if any(kind.types and not kind.generic for kind in piece.kinds) and not state.grouping and not told:
        return False  # "photographs of": what the data calls so
    if any(link.before for link in state.modifiers):
        return True
    if after is not None and ("of" in after.roles or "possessive" in after.roles):
        return next_content(state, at) is not None
    if (
        not state.grouping
        and not piece.kinds
        and piece.relations("forward", "backward")
        and not state.negated
    ):
        return False  # "what did it *cost*"
    if state.group is not None:
        return state.group.node is None or bool(state.group.node.ends)
    return (state.negated and state.tree.root is not None and not state.waits) or not piece.kinds


def _of_each(state: State, at: int) -> bool:
    """Whether it is asked of each thing: "the nationality *of each* artist"."""
    after, next_but_one = state.after(at), state.after(at + 1)
    return after is not None and (
        "every" in after.roles or (next_but_one is not None and "every" in next_but_one.roles)
    )


def verb_follows(state: State, piece: Piece) -> bool:
    """Whether a verb stands anywhere after a piece, be it one that may say nothing ("own")."""
    return any(
        is_verb(state, i) or ("filler" in one.roles and bool(one.phrases) and len(one.words) == 1)
        for i, one in enumerate(state.pieces)
        if one.first > piece.first
    )


def verb_ends(state: State, piece: Piece) -> bool:
    """Whether a verb ends the question, and small words alone stand before it after a piece."""
    after = [i for i, one in enumerate(state.pieces) if one.first > piece.first]
    if not after or not is_verb(state, after[-1]):
        return False
    between = (state.pieces[i] for i in after[:-1])
    return not any(one.kinds or one.mention or one.period or one.opens or one.unknown for one in between)


def said_last(state: State, piece: Piece) -> bool:
    """Whether the question ends in a verb that is said of a noun: "what do *the paintings by X* depict", where no copula
    makes the noun the thing asked for."""
    if verb_ends(state, piece):
        return True
    before = (one for one in state.pieces if one.first < piece.first)
    last = len(state.pieces) - 1
    if not is_verb(state, last):
        return False
    stranded = state.pieces[last].words[-1] in state.lead.small  # "what are … made *of*"
    return stranded or not any(one.text in state.lead.beings for one in before)


def object_follows(state: State, piece: Piece) -> bool:
    """Whether a thing stands right after a verb, without a small word between."""
    at = state.place(piece)
    for one in state.pieces[at + 1 :]:
        if one.relations("loose") or one.opens:
            return False
        if one.mention or one.kinds:
            return True
    return False


def titles_follow(state: State, at: int) -> bool:
    """Whether words about titles stand there or later."""
    return any("titles" in one.roles for one in state.pieces[at:])


def of_before(state: State, at: int) -> bool:
    """Whether "of" stands before the noun, or "of their"."""
    for one in (state.pieces[i] for i in range(at - 1, 0, -1)):
        if "of" in one.roles:
            return True
        if not (one.stop or one.roles & {"own", "generic"}):
            return False
    return False


def noun_after_names(state: State, at: int) -> int | None:
    """Where the noun stands that several names joined by "or" say more of: "*Navajo or Hopi* potters"."""
    joined, last = False, at + 1
    while last < len(state.pieces):
        one = state.pieces[last]
        if one.roles & {"either", "both"}:
            joined = True
        elif one.mention is not None and not one.kinds:
            pass
        else:
            break
        last += 1
    if not joined or last >= len(state.pieces):
        return None
    noun = state.pieces[last]
    return last if noun.kinds and not noun.opens and not is_verb(state, last) else None


def continues(state: State, at: int) -> bool:
    """Whether the next piece is a noun of the same run: "church *paintings*"."""
    after = state.pieces[at + 1]
    if not after.kinds or after.opens or after.first in state.lead.at or is_verb(state, at + 1):
        return False
    if after.roles & {"of", "possessive", "both", "either"}:
        return False
    here = state.pieces[at]
    persons = all(
        kind.categories == Category.Actor for kind in (*here.kinds, *after.kinds)
    )  # "women artists"
    many = all(kind.number is Number.MANY for kind in here.kinds)
    if after.relations("forward", "backward") or (many and not persons):
        return False
    return any(kind.types or kind.classes for kind in here.kinds)


def splits_time(state: State, at: int) -> bool:
    """Whether the rest splits by a unit of time: "*start* in each decade"."""
    rest = state.pieces[at + 1 :]
    return any("group" in one.roles for one in rest) and any(one.words[0] in state.lead.units for one in rest)


def is_rank(state: State, at: int, rank: str) -> bool:
    """Whether a superlative ranks: "*earliest* portraits", not "who *first* exhibited …" nor a kind's own name."""
    piece = state.pieces[at]
    if rank in ("earliest", "latest") and piece.relations("forward", "backward"):
        return False
    return not (piece.kinds and state.tree.root is None)


def is_group(state: State, at: int) -> bool:
    """A word such as "by" splits only after a splitting word, and not before a name."""
    after = next_content(state, at)
    if after is not None and not state.breaking and at > 0:
        return _is_split(state, at)
    if after is None or (state.breaking and state.tree.root is None):
        return False
    one = state.pieces[after]
    if not state.breaking:  # "by nationality, how many …"
        following = state.after(after)
        return following is not None and following.opens and not one.mention
    return bool(one.kinds or one.relations("ends")) or one.words[0] in state.lead.units


def _is_split(state: State, at: int) -> bool:
    """Whether a noun without article ends the clause after a word such as "by": "works *by artist*", "by year of death"."""
    piece, root = state.pieces[at + 1], state.tree.root
    if root is None or not root.kinds or state.waits or piece.opens or piece.stop or piece.capital:
        return False
    one = bool(piece.kinds) and not any(kind.number is Number.MANY for kind in piece.kinds)
    ends = bool(piece.relations("ends")) and not piece.kinds
    if not (one or ends or piece.words[0] in state.lead.units):
        return False
    rest = state.after(at + 1)
    return rest is None or rest.opens or "of" in rest.roles


def is_each(state: State, at: int) -> bool:
    """Whether a word such as "each" asks of every such thing and splits nothing: "the birth place *of each* artist",
    "when was *each* artist born"."""
    roles = state.pieces[at].roles
    if state.tree.form != "list" or state.tree.group is not None or "every" not in roles:
        return False
    had = "of" in roles and at > 0 and bool(state.pieces[at - 1].relations("ends"))
    return had or ("generic" in roles and state.tree.root is None)
