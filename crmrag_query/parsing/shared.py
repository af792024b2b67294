"""What several things have in common: "all pairs of artists born in the same place"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crmrag_query.parsing.kinds import categories_of
from crmrag_query.parsing.pieces import Piece
from crmrag_query.parsing.vocabulary import Vocabulary

Ids = tuple[str, ...]


def paired(
    pieces: Sequence[Piece], know: Vocabulary, happenings: Mapping[str, Ids]
) -> tuple[tuple[Piece, ...], list[Ids]]:
    """The pieces without the phrase that tells what pairs have in common, and for each such thing the relations that lead
    to it; none where the question asks for no pairs or the data's relations know nothing of the kind."""
    at = next((i for i, one in enumerate(pieces) if "same" in one.roles), None)
    asked = next((i for i, one in enumerate(pieces) if "pairs" in one.roles), None)
    if at is None or asked is None or asked > at:
        return tuple(pieces), []
    near = _category(pieces[asked:at])
    first, verb = _verb_before(pieces, at)
    nouns, last = _nouns(pieces, at + 1)
    if (
        not verb
        and last < len(pieces)
        and not any(noun.relations("ends") for noun in nouns if not noun.kinds)
    ):
        verb, last = _verb_after(pieces, last)
    ends = [ids for noun in nouns if (ids := _of(noun.relations("ends"), near, know))]
    far = know.far(ids[0] for ids in ends)
    ways: list[Ids] = []
    for noun in nouns:
        own = _of(noun.relations("ends"), near, know)
        said = _of(verb, near, know, noun)
        happening = _of(_happening(noun, happenings), near, know)
        if said:
            ways.append(said[:1])
        elif own:
            ways.append(own[:1])
        elif found := tuple(id for id in happening if not far or know.ranges[id] & far):
            ways.append(found[:1])
    if not ways or len(ways) < len(nouns):
        return tuple(pieces), []
    rest = [*pieces[: min(first, at) if verb else at]]
    while last >= len(pieces) and rest and rest[-1].stop:
        rest.pop()  # "artists who"
    return (*rest, *pieces[last:]), ways


def _category(pieces: Sequence[Piece]) -> int:
    """Of the noun that pairs are asked of; 0 unknown."""
    noun = next((one for one in pieces if one.kinds), None)
    return categories_of(noun.kinds) if noun is not None else 0


def _verb_before(pieces: Sequence[Piece], at: int) -> tuple[int, Ids]:
    """Where the verb right before "the same" begins, and its relations."""
    first = at - 1
    while first > 0 and not pieces[first].kinds and not pieces[first].relations("forward", "backward"):
        if not (pieces[first].stop or pieces[first].roles or pieces[first].relations("loose")):
            return at, ()
        first -= 1
    verb = pieces[first].relations("forward", "backward") if not pieces[first].kinds else ()
    return first if verb else at, verb


def _verb_after(pieces: Sequence[Piece], at: int) -> tuple[Ids, int]:
    """The relations of a verb at the end of its clause ("die im selben Ort *geboren* sind"), and where the next begins."""
    verb = pieces[at].relations("forward", "backward")
    last = at + 1
    while verb and last < len(pieces) and pieces[last].stop:
        last += 1
    return verb, last if verb else at


def _nouns(pieces: Sequence[Piece], at: int) -> tuple[list[Piece], int]:
    found: list[Piece] = []
    while at < len(pieces):
        one = pieces[at]
        if one.relations("ends") or one.kinds:
            found.append(one)
        elif not (one.roles & {"both", "of", "generic"} or one.stop) or one.opens:
            break
        at += 1
    return found, at


def _of(ids: Ids, near: int, know: Vocabulary, noun: Piece | None = None) -> Ids:
    """The relations of a thing of the category that lead to an entity, one such as the noun names."""
    far = categories_of(noun.kinds) if noun is not None else 0
    return tuple(
        id for id in ids
        if know.value(id) == "entity" and (not near or know.domains[id] & near)
        and (noun is None or bool(know.ranges[id] & far))
    )  # fmt: skip


def _happening(noun: Piece, happenings: Mapping[str, Ids]) -> Ids:
    return next((happenings[kind.kind] for kind in noun.kinds if kind.kind in happenings), ())
