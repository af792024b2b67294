"""A question as a tree: what is asked for, and what each thing is said to be tied to. Nothing of the data is looked up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from crmrag_query.config.questions import Unit
from crmrag_query.dates import Interval
from crmrag_query.linking import Mention
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.kinds import KindMatch, categories_of

Edge = Literal["", "begin", "end"]
Earlier = Literal["", "set", "rest"]
RankKind = Literal["earliest", "latest", "most", "fewest", "highest", "lowest"]


@dataclass(frozen=True, slots=True)
class Text:
    """Words that name nothing known; ``named``: written as a name is."""

    words: tuple[str, ...]
    named: bool = False
    raw: str = ""

    @property
    def text(self) -> str:
        """The words as they were written."""
        return self.raw or " ".join(self.words)


@dataclass(eq=False)
class Node:
    """A thing of the question: of a kind, or named, or what went before in the conversation.

    ``categories``: mask of what it may be, 0 when nothing says so; ``generic``: any of its kind ("an artwork"); ``every``:
    each of them by itself; ``earlier``: what went before: the last set, or the rest of the one before; ``ends``: ids of the
    relations whose far end it is ("the *creator* of …"); ``also``: further such ends ("… and the birth date of"); ``edge``:
    of a period that it ends in; ``capital``: written as a name is; ``far``: relations whose far end its noun may be
    ("materials"); ``raw``: as it was written; ``rank``: which of them ("the *oldest* print").
    """

    kinds: tuple[KindMatch, ...] = ()
    mentions: list[Mention] = field(default_factory=list)
    categories: int = 0
    links: list[Link] = field(default_factory=list)
    generic: bool = False
    every: bool = False
    earlier: Earlier = ""
    ends: tuple[str, ...] = ()
    also: list[tuple[tuple[str, ...], Edge]] = field(default_factory=list)
    edge: Edge = ""
    text: str = ""
    capital: bool = False
    far: tuple[str, ...] = ()
    raw: str = ""
    rank: Rank | None = None

    @property
    def named(self) -> bool:
        return bool(self.mentions)

    @property
    def may_be(self) -> int:
        """Mask of what it may be in the data, where a noun may name a type as well."""
        concept = int(Category.Concept) if any(kind.types for kind in self.kinds) else 0
        return self.categories | categories_of(self.kinds) | concept


Steps = tuple[tuple[str, ...], ...]
"""Relations one after the other, each by the ids that it may be."""
Anchor = Node | Interval | Text | None
Comparison = Literal["least", "over", "at_most", "under", "exactly"]


@dataclass(eq=False)
class Link:
    """What a node is tied to: by a phrase of any of the relations ``explicit``, with a small word of ``loose`` ones, or just
    by standing near (both empty). ``anchor`` None: anything at all. ``inverse``: the node is the far end, None: unknown.

    ``before``: the anchor stands before the phrase; ``words``: what said it, for messages; ``titled``: a title or name holds
    the words of the anchor, ``judged``: as a guess at what it is about; ``at_least``, ``at_most``: so many of the anchor's
    things; ``other``: anything but the anchor ("by someone other than X"); ``turned``: relations that the phrase says from
    the anchor to the node ("depicted *in* a church").
    """

    explicit: tuple[str, ...]
    loose: tuple[str, ...]
    anchor: Anchor
    negated: bool = False
    inverse: bool | None = None
    before: bool = False
    edge: Edge = ""
    words: tuple[str, ...] = ()
    titled: bool = False
    judged: bool = False
    at_least: int | None = None
    at_most: int | None = None
    other: bool = False
    turned: frozenset[str] = frozenset()


@dataclass
class Rank:
    """A superlative: ``first`` how many are asked for, None when nothing says so; ``of``: what is counted."""

    kind: RankKind
    first: int | None = None
    of: Node | None = None
    by: tuple[str, ...] = ()


@dataclass
class Group:
    """What a count or list is split by: a thing, an end of relations, or a unit of time; ``by``: relations to that time;
    ``first``: how many of the groups, those of the most, None for all."""

    node: Node | None = None
    unit: Unit | Literal[""] = ""
    at_least: int | None = None
    edge: Edge = ""
    by: tuple[str, ...] = ()
    first: int | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """What is told beside each thing: relations to it, one after the other; its ``title``; dates by their ``year`` alone."""

    steps: Steps
    title: str = ""
    year: bool = False


@dataclass
class Tree:
    """A question as read.

    ``compared``: names of which one is asked for; ``same``: relations by which pairs lead to the same; ``columns``: what is
    told beside each thing; ``when``: a date is asked for; ``sort``: the last set is wanted in another order; ``unsaid``:
    nothing says what is asked for; ``fragment``: so, and it goes on from the question before; ``several``: more than one
    question is asked; ``settled``: where an "and" or "or" stands of which it is clear what it means; ``unknown``: words that
    nothing is known of.
    """

    root: Node | None = None
    form: Literal["list", "count", "ask"] = "list"
    rank: Rank | None = None
    group: Group | None = None
    compared: list[Node] = field(default_factory=list)
    pairs: bool = False
    same: list[tuple[str, ...]] = field(default_factory=list)
    columns: list[Shown] = field(default_factory=list)
    when: bool = False
    sort: Literal["", "label", "date"] = ""
    unsaid: bool = False
    fragment: bool = False
    several: bool = False
    settled: set[int] = field(default_factory=set)
    unknown: list[str] = field(default_factory=list)
