"""What a question wants told beside each thing: "the Canadian artists with their years of birth", "each work's image"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crmrag_query.config.questions import Limits
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.kinds import categories_of
from crmrag_query.parsing.pieces import Piece
from crmrag_query.parsing.reading.state import Lead
from crmrag_query.parsing.tree import Link, Shown, Steps, Tree
from crmrag_query.parsing.vocabulary import Vocabulary


def also_shown(
    pieces: Sequence[Piece], know: Vocabulary, lead: Lead
) -> tuple[tuple[Piece, ...], list[Shown]]:
    """The pieces without what wants told of each thing at the end, and that: "with their birth places", "each with the year
    of birth", "and who made them"."""
    rest, asked = _asked_beside(pieces, know, lead)
    if asked is not None:
        return rest, [asked]
    first = _tail(pieces)
    tail = pieces[first:]
    near = _asked(pieces[:first])
    each = first > 0 and _is_each(pieces[first - 1])
    if near is None or not tail or not (each or any("own" in one.roles for one in tail)):
        return tuple(pieces), []
    first -= each
    columns = _columns(tail, tuple(word for word, unit in lead.units.items() if unit == "year"), lead.limits)
    if not columns or not all(_leads(column.steps, near, know) for column in columns):
        return tuple(pieces), []
    return tuple(pieces[:first]), columns


def _tail(pieces: Sequence[Piece]) -> int:
    """Where the words begin that are nothing but nouns of what things have and small words between, after "with" or "and"."""
    at = len(pieces)
    while at and _small(pieces[at - 1]):
        at -= 1
    if at and _is_each(pieces[at - 1]) and at < len(pieces) and _begins(pieces[at]):
        return at
    while at < len(pieces) and not (_begins(pieces[at]) and "own" in _roles(pieces[at:])):
        at += 1
    return at


def _is_each(piece: Piece) -> bool:
    """ "*each* with the year of birth"."""
    return {"every", "group"} <= piece.roles


def _asked_beside(
    pieces: Sequence[Piece], know: Vocabulary, lead: Lead
) -> tuple[tuple[Piece, ...], Shown | None]:
    """ "busts *and who made them*": a question word, a verb, and what stands for the things asked for."""
    whole = tuple(pieces)
    joint = next((at for at in reversed(range(len(whole))) if "both" in whole[at].roles), 0)
    tail = whole[joint + 1 :]
    near = _asked(whole[:joint])
    if not near or len(tail) < 2 or tail[0].first not in lead.at:
        return whole, None
    way, mask = lead.at[tail[0].first]
    said = [one for one in tail[1:] if one.relations("forward", "backward") and "filler" not in one.roles]
    rest = [one for one in tail[1:] if one not in said]
    known = all(
        "filler" in one.roles or "earlier" in one.roles or one.stop or one.relations("loose") for one in rest
    )
    if way == "which" or len(said) != 1 or not known or not any("earlier" in one.roles for one in rest):
        return whole, None
    verbs = said[0].relations("forward", "backward")
    ids = tuple(id for id in (*verbs, *know.kin(verbs)) if know.domains[id] & near and know.ranges[id] & mask)
    title = " ".join(one.text for one in (tail[0], said[0]))
    return (whole[:joint], Shown((ids,), title)) if ids else (whole, None)


def _roles(pieces: Sequence[Piece]) -> frozenset[str]:
    return frozenset(role for one in pieces for role in one.roles)


def _begins(piece: Piece) -> bool:
    return "both" in piece.roles or "containing" in piece.roles or (piece.opens and "own" in piece.roles)


def _small(piece: Piece) -> bool:
    if piece.mention is not None and (
        piece.capital or not (piece.relations("ends") or piece.roles or piece.stop)
    ):
        return False
    if piece.roles & {"negation", "exclusion", "group", "titles", "word", "same", "information", "either"}:
        return False
    if piece.relations("ends"):
        return True
    small = piece.stop or bool(piece.roles & {"own", "both", "of", "generic", "containing"})
    return small and not piece.kinds and piece.period is None


def _asked(pieces: Sequence[Piece]) -> int | None:
    """Categories of the first noun: what is asked for."""
    noun = next((one for one in pieces if one.kinds), None)
    if noun is None:
        return None
    return categories_of(noun.kinds)


def _columns(tail: Sequence[Piece], years: tuple[str, ...], limits: Limits) -> list[Shown]:
    """Nouns joined by "of" are one column, from the last to the first: "the birth place of their maker"."""
    columns: list[Shown] = []
    chained = False
    for at, one in enumerate(tail):
        ids = one.relations("ends")
        if not ids:
            chained |= bool(columns) and "of" in one.roles and at + 1 < len(tail)
            chained &= "both" not in one.roles
            continue
        if chained and columns:
            title = f"{columns[-1].title} – {one.raw or one.text}"
            columns[-1] = replace(columns[-1], steps=(ids, *columns[-1].steps), title=title)
        else:
            columns.append(
                Shown((ids,), one.raw or one.text, any(_is_of(word, years, limits) for word in one.words))
            )
        chained = False
    return columns


def _is_of(word: str, units: tuple[str, ...], limits: Limits) -> bool:
    """Whether a word is one for a unit of time, or a compound of it: "Geburtsjahr"."""
    return any(word == unit or (len(unit) >= limits.unit_letters and word.endswith(unit)) for unit in units)


def _leads(steps: Steps, near: int, know: Vocabulary) -> bool:
    for ids in steps:
        fitting = [id for id in ids if not near or know.domains[id] & near]
        if not fitting:
            return False
        near = know.ranges[fitting[0]]
    return True


def each_row(tree: Tree, know: Vocabulary) -> None:
    """What is listed "for each" thing is told of each: the image for each artwork is that *of* each artwork."""
    group, root = tree.group, tree.root
    if tree.form != "list" or tree.rank is not None or root is None or group is None or group.node is None:
        return
    near = categories_of(group.node.kinds)
    ids = tuple(id for id in (root.ends or root.far) if know.domains[id] & near)
    if group.unit or group.at_least or not ids or near == int(Category.Concept):
        return
    node = group.node
    if not any(link.inverse for link in node.links):
        node.ends, node.categories = (), near
    node.every = True
    root.ends = ids
    root.links.append(Link(ids, (), node, inverse=True, words=tuple(node.text.split())))
    tree.group = None
