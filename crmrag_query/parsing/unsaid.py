"""What is asked to be unknown: "no information about their birth is given", "whose birth place is not recorded"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from crmrag_query.parsing.lexicon import PhraseSpan
from crmrag_query.parsing.pieces import Piece

Ids = tuple[str, ...]


def unsaid(pieces: Sequence[Piece], happenings: Mapping[str, Ids]) -> tuple[Piece, ...]:
    """The pieces where words about information say nothing any more, and "not" stands right before what is not told.

    Only where a clause holds such words, a negation and a noun for what a thing has or for a happening of it.
    """
    about = [i for i, one in enumerate(pieces) if "information" in one.roles]
    no = next((i for i, one in enumerate(pieces) if "negation" in one.roles), None)
    if not about or no is None:
        return tuple(pieces)
    first = min([no, *about])
    noun = _noun(pieces, about[0], no, happenings)
    if noun is None or noun < first and any(pieces[i].opens for i in range(noun + 1, first + 1)):
        return tuple(pieces)
    told = [one for i, one in enumerate(pieces) if i not in about and i != no]
    place = next(i for i, one in enumerate(told) if one is pieces[noun])
    told[place] = _ending(pieces[noun], happenings)
    told.insert(place, pieces[no])
    return tuple(told)


def _noun(pieces: Sequence[Piece], about: int, no: int, happenings: Mapping[str, Ids]) -> int | None:
    """What nothing is told of: after "information about", else after the negation, else before it."""
    after = range(max(about, no) + 1, len(pieces))
    between = range(min(about, no) + 1, max(about, no))
    before = range(min(about, no) - 1, -1, -1)
    for places in (between, after, before):
        for i in places:
            if _ids(pieces[i], happenings) and (places is not before or any(one.kinds for one in pieces[:i])):
                return i
    return None


def _ids(piece: Piece, happenings: Mapping[str, Ids]) -> Ids:
    own = next((happenings[kind.kind] for kind in piece.kinds if kind.kind in happenings), ())
    return own or piece.relations("ends")


def _ending(piece: Piece, happenings: Mapping[str, Ids]) -> Piece:
    """The noun as the far end of its relations, and nothing else."""
    span = PhraseSpan(piece.first, piece.last, "ends", _ids(piece, happenings))
    return replace(piece, mention=None, kinds=(), phrases=(span,), roles=frozenset())
