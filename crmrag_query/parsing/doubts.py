"""Words that change what a question asks for and that a plan does not hold: with any of these no reading is sure.

"Both … and", "all of them", "the same", "exactly three": what was read may be right, and nothing shows that it is. So with a
verb alone ("signed"), of which a plan holds no more than that anything at all is stated.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.pieces import Piece
from crmrag_query.parsing.tree import Link, Node, Text, Tree
from crmrag_query.questions.period_words import RANGES


@dataclass(frozen=True, slots=True)
class Small:
    """Small words by what they do: ``numbers``; ``either`` and ``both`` join; ``beings`` are forms of "be"; ``stop`` say
    nothing by themselves. ``foreign``: the question is in another language than the data's, so a name that is unknown may be
    known by another."""

    numbers: Collection[str] = ()
    either: Collection[str] = ()
    both: Collection[str] = ()
    beings: Collection[str] = ()
    stop: Collection[str] = ()
    foreign: bool = False


def doubts(pieces: Sequence[Piece], tree: Tree, small: Small) -> tuple[str, ...]:
    """What of a question may have been passed over, as it was said; none where all was understood."""
    return tuple(dict.fromkeys(_doubts(pieces, tree, small)))


def _doubts(pieces: Sequence[Piece], tree: Tree, small: Small) -> Iterator[str]:
    yield from _joined(pieces, tree)
    yield from _small_words(pieces, tree, small)
    yield from _numbers(pieces, tree, small.numbers)
    yield from _verbs_alone(pieces, tree, small)
    root = tree.root
    if root is None:
        return
    counted = any(link.at_least is not None for link in root.links)
    if tree.form == "ask" and small.foreign:
        yield from (link.anchor.text for link in _links(root) if isinstance(link.anchor, Text))
    if tree.form == "ask" and tree.rank is not None:
        yield tree.rank.kind
    if tree.rank is not None and root.categories == Category.Time:
        yield root.text
    if tree.group is not None and tree.group.node is not None and tree.group.unit:
        yield tree.group.node.text
    if tree.group is not None and tree.group.node is not None:
        yield from (" ".join(link.words) for link in tree.group.node.links if not link.inverse)
    splits = any(one.roles & {"breakdown", "group"} for one in pieces)
    if tree.group is not None and tree.group.node is None and not tree.group.unit and splits and not counted:
        yield root.text
    bare = not (root.kinds or root.named or root.earlier or root.links or root.ends)
    if tree.unsaid:
        yield root.text
    if bare and tree.rank is None and not tree.fragment and not tree.columns:
        yield root.text


def _joined(pieces: Sequence[Piece], tree: Tree) -> Iterator[str]:
    """ "and" or "or" between two nouns, and "and" between two names: both of them, or either?"""
    if tree.compared or tree.pairs or tree.columns:
        return
    denied = any(one.roles & {"negation", "exclusion"} for one in pieces)
    for at, one in enumerate(pieces):
        if (
            not one.roles & {"both", "either"}
            or at == 0
            or at + 1 == len(pieces)
            or one.first in tree.settled
        ):
            continue
        before, after = pieces[at - 1], pieces[at + 1]
        nouns = bool(before.kinds and after.kinds) and not (before.roles or after.roles)
        named = (
            before.mention is not None and after.mention is not None and "both" in one.roles and not denied
        )
        if nouns or named:
            yield f"{before.text} {one.text} {after.text}"


def _small_words(pieces: Sequence[Piece], tree: Tree, small: Small) -> Iterator[str]:
    counted = tree.rank is not None or tree.group is not None
    bounded = any(link.at_most is not None for link in _links(tree.root))
    for at, one in enumerate(pieces):
        if "same" in one.roles and not (tree.pairs or tree.same):
            yield one.text
        if "universal" in one.roles and tree.form == "ask":
            yield one.text
        if "count" in one.roles and not counted and any(before.kinds for before in pieces[:at]):
            yield one.text
        if one.roles & {"exactly", "under", "at_most"} and not bounded:
            yield one.text
        if one.roles & {"measured", "currently"}:
            yield one.text
        if one.roles & {"only", "restricting"} and not bounded and _restricts(pieces, at):
            yield one.text
        if "whose" in one.roles and at == 0:
            yield one.text
        if one.period is not None and _alternatives(one.words, small):
            yield one.text


def _restricts(pieces: Sequence[Piece], at: int) -> bool:
    """ "made *only* prints", "n'ont fait *que*": nothing else, which a plan does not hold; at the start it says nothing."""
    before = pieces[:at]
    if "only" not in pieces[at].roles:  # "que"
        return any("negation" in one.roles for one in before)
    return any(one.kinds for one in before) and any(one.relations("forward", "backward") for one in before)


def _alternatives(words: Sequence[str], small: Small) -> bool:
    """ "in 1680 or 1690": what lies between is not meant, as it is in "between 1680 and 1690"."""
    at = next((i for i, word in enumerate(words) if i and (word in small.either or word in small.both)), 0)
    if not at or (words[at] in small.both and re.match(RANGES[0][0], words[0])):
        return False
    before, after = (any(map(str.isdigit, " ".join(part))) for part in (words[:at], words[at:]))
    return after or not before  # but "in 1680 or earlier"


def _numbers(pieces: Sequence[Piece], tree: Tree, numbers: Collection[str]) -> Iterator[str]:
    """A number that nothing was made of."""
    group = tree.group
    used = tree.rank is not None or (group is not None and (group.at_least or group.first))
    if used or any(link.at_least is not None or link.at_most is not None for link in _links(tree.root)):
        return
    for one in pieces:
        plain = len(one.words) == 1 and not one.mention and one.period is None
        if plain and (one.words[0] in numbers or one.words[0].isdigit()):
            yield one.text


_HAD = frozenset({"every", "containing", "negation", "filler"})
"""What words before a noun do that ask for any such thing: "*a* date", "*with* …", "*no* …", "*have* …"."""


def _verbs_alone(pieces: Sequence[Piece], tree: Tree, small: Small) -> Iterator[str]:
    """A phrase with nothing after it: only a noun for what a thing has or lacks asks whether there is any."""
    if tree.when:
        return  # the verb says which date is asked for
    counted = tree.rank.of if tree.rank is not None else None
    group = tree.group.node if tree.group is not None else None
    for link in (link for node in (tree.root, counted, group) for link in _links(node)):
        if link.anchor is None and not _is_had(pieces, link, small):
            yield " ".join(link.words)


def _is_had(pieces: Sequence[Piece], link: Link, small: Small) -> bool:
    """Whether a noun said the tie, and words before it that any such thing is meant: "have an inscription", "no maker"."""
    for at, one in enumerate(pieces):
        noun = set(one.relations("ends")) & set(link.explicit)
        if not noun or one.words[-1:] != link.words[-1:]:
            continue
        lead = list(takewhile(small.stop.__contains__, one.words))
        if lead or at == 0:
            return bool(lead) and not set(lead) & set(small.beings)
        before = pieces[at - 1]
        return bool(before.roles & _HAD) and before.text not in small.beings
    return False


def _links(node: Node | None) -> Iterator[Link]:
    for link in node.links if node is not None else ():
        yield link
        if isinstance(link.anchor, Node):
            yield from _links(link.anchor)
