"""The institution whose collection the data is: "which works by Homer does *the Walters* have" asks for all works by him."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.parsing.pieces import Piece
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Compute, Plan, Related, Target, Way
from crmrag_query.plans.world import World
from crmrag_query.text import tokenize

OWNED = "owned_by"


@dataclass(frozen=True)
class Owner:
    """The institution whose collection the data is: the ``names`` of the data set and of who owns nearly all that is owned,
    as folded words; ``node``: who that is, None for nobody."""

    names: tuple[tuple[str, ...], ...]
    node: int | None

    @classmethod
    def from_release(cls, release: Release) -> Owner:
        title = release.manifest.title.strip()
        names = [tuple(tokenize(title))] if " " in title else []
        owner = _owner(release)
        if owner is not None:
            names += [tuple(tokenize(label.text)) for label in release[Graph].labels(owner)]
        return cls(tuple(dict.fromkeys(name for name in names if name)), owner)


def _owner(release: Release) -> int | None:
    """Who owns nearly all that is owned; None where nobody does, or where the data cannot be asked for owners."""
    if OWNED not in release.method.relations:
        return None
    way = Way(relations=(OWNED,), direct=True)
    by_owner = Compute(kind="group", way=way, first=1)
    owned = Plan(target=Target(categories=("Thing",)), where=(Related(way=way),), compute=by_owner)
    try:
        found = execute(owned, release[World])
    except QuestionError:
        return None
    if not len(found.groups) or found.groups[0][1] < release.method.parsing.limits.house * len(found.members):
        return None
    owner = int(found.groups[0][0])
    return owner if owner < release[World].size else None


def without_house(pieces: Sequence[Piece], house: Owner, having: Collection[str]) -> tuple[Piece, ...]:
    """The pieces in which the house says nothing where it is what has things: "… does *the Walters* have", "in *Crystal
    Bridges'* collection". ``having``: relations by which it has them.

    What the data set is named after may be a thing in it, such as a church: then its name says which things are meant.
    """
    return tuple(
        replace(piece, mention=None, kinds=(), phrases=(), roles=frozenset({"filler"}), stop=True)
        if _names(piece, house.names) and _means(piece, house.node) and _has(pieces, at, having)
        else piece
        for at, piece in enumerate(pieces)
    )


def _means(piece: Piece, owner: int | None) -> bool:
    """Whether a piece names the owner, or nothing that the data knows."""
    return piece.mention is None or any(one.entity == owner for one in piece.mention.entities)


def _names(piece: Piece, house: Sequence[Sequence[str]]) -> bool:
    """Whether a piece written as a name is the house's, or its first words."""
    words = tuple(piece.words)
    if not (piece.capital or piece.quoted) or piece.period is not None:
        return False
    return any(_is_part(words, tuple(name)) for name in house)


def _is_part(words: tuple[str, ...], name: tuple[str, ...]) -> bool:
    plain = words[1:] if words[:1] == ("the",) else words
    starts = name[1:] if name[:1] == ("the",) else name
    return bool(plain) and starts[: len(plain)] == plain


def _has(pieces: Sequence[Piece], at: int, having: Collection[str]) -> bool:
    """Whether a word of having, or for a collection, stands beside it, small words apart."""
    for step in (-1, 1):
        beside = at + step
        while 0 <= beside < len(pieces) and pieces[beside].stop and not _says(pieces[beside], having):
            beside += step
        if 0 <= beside < len(pieces) and _says(pieces[beside], having):
            return True
    return False


def _says(piece: Piece, having: Collection[str]) -> bool:
    """Whether it is a word of having; one that may say nothing by itself is."""
    ids = (id for span in piece.phrases for id in span.relations)
    return any(id in having for id in ids) or ("filler" in piece.roles and bool(piece.phrases))
