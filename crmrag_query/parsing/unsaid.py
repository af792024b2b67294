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
    about = [i for i, one in enumerate(pieces) if one.roles & {"information", "unknown"}]
    no = next((i for i, one in enumerate(pieces) if one.roles & {"negation", "unknown"}), None)
    noun = _noun(pieces, about, no, happenings) if about and no is not None else None
    if no is None or noun is None:
        return tuple(
            replace(one, roles=one.roles - {"unknown"}) if "unknown" in one.roles else one for one in pieces
        )
    clause = range(min(no, *about), max(no, *about) + 1)  # "n'est pas connu" denies once
    told = [
        one
        for i, one in enumerate(pieces)
        if i not in about and i != no and not (i in clause and "negation" in one.roles)
    ]
    place = next(i for i, one in enumerate(told) if one is pieces[noun])
    told[place] = _ending(pieces[noun], happenings)
    told.insert(place, replace(pieces[no], roles=frozenset({"negation"})))
    return tuple(told)


def _noun(
    pieces: Sequence[Piece], about: Sequence[int], no: int, happenings: Mapping[str, Ids]
) -> int | None:
    """What nothing is told of: the noun of "no information about their *birth*", "no known *maker*"; before the negation only
    where nothing follows: "whose *maker* is not recorded"."""
    told = next((i for i in range(no, len(pieces)) if i in about or (i > no and _says(pieces[i]))), None)
    if told is None or told not in about:
        return None
    after = next((i for i in range(told + 1, len(pieces)) if i not in about and _says(pieces[i])), None)
    if after is not None:
        return (
            after
            if told > no and _ids(pieces[after], happenings) and not _opens(pieces, told, after)
            else None
        )
    before = next((i for i in range(no - 1, 0, -1) if _says(pieces[i])), None)
    named = before is not None and any(one.kinds for one in pieces[:before])
    return before if before is not None and named and _ids(pieces[before], happenings) else None


def _says(piece: Piece) -> bool:
    """Whether it is more than a small word."""
    small = piece.stop or (
        bool(piece.roles) and not piece.relations("ends", "forward", "backward") and not piece.capital
    )
    return not small and bool(piece.mention or piece.kinds or piece.period or piece.phrases)


def _opens(pieces: Sequence[Piece], first: int, last: int) -> bool:
    return any(one.opens for one in pieces[first + 1 : last + 1])


def _ids(piece: Piece, happenings: Mapping[str, Ids]) -> Ids:
    own = next((happenings[kind.kind] for kind in piece.kinds if kind.kind in happenings), ())
    return own or piece.relations("ends")


def _ending(piece: Piece, happenings: Mapping[str, Ids]) -> Piece:
    """The noun as the far end of its relations, and nothing else."""
    span = PhraseSpan(piece.first, piece.last, "ends", _ids(piece, happenings))
    return replace(piece, mention=None, kinds=(), phrases=(span,), roles=frozenset())
