"""What is known while the pieces of a question are read: the tree so far, and what still waits for its other end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from crmrag_query.config.questions import Limits, Unit
from crmrag_query.linking import Mention
from crmrag_query.parsing.pieces import Piece
from crmrag_query.parsing.tree import Comparison, Edge, Group, Link, Node, Rank, Tree
from crmrag_query.parsing.vocabulary import Vocabulary

ARTICLES = frozenset({"generic", "every"})
"""What words before a noun do that say nothing of it by themselves."""
JOINTS = frozenset({"both", "either", "negation", "nor"})
"""What words between two things do that hold for both."""


@dataclass(frozen=True)
class Lead:
    """What is known of a question before it is read.

    ``at``: its question words by token: ``who``, ``what``, ``where``, ``when`` or ``which``, and the mask of categories that
    they ask for; ``numbers``: number words, and ``ones``, that count as 1 after "more than"; ``units`` of time by their
    words; ``copulas``: forms of "be" and verbs that help others, ``beings``: of "be" alone, ``of_one``: that are of one
    thing; ``being``: it begins with one;
    ``small``: words that say nothing by themselves.
    Of what went before in the conversation: ``earlier``, the categories of the last set (0: none), the thing in ``focus``
    and the ``place`` that "there" stands for.
    """

    at: Mapping[int, tuple[str, int]]
    numbers: Mapping[str, int]
    units: Mapping[str, Unit]
    ones: frozenset[str] = frozenset()
    copulas: frozenset[str] = frozenset()
    beings: frozenset[str] = frozenset()
    of_one: frozenset[str] = frozenset()
    being: bool = False
    small: frozenset[str] = frozenset()
    limits: Limits = field(default_factory=Limits)
    earlier: int = 0
    focus: Mention | None = None
    place: Mention | None = None


@dataclass
class State:
    """A question that is being read."""

    pieces: Sequence[Piece]
    know: Vocabulary
    lead: Lead
    polar: bool
    """It is answered by yes or no."""
    tree: Tree = field(default_factory=Tree)

    # Nodes that something may still be said of, the nearest last, and ties that wait for their node.
    open: list[Node] = field(default_factory=list)
    last: Link | None = None
    fronted: list[Link] = field(default_factory=list)
    """Said before anything is asked for."""
    held: list[Link] = field(default_factory=list)
    """Names whose phrase may follow: "has *Irises* been shown"."""
    modifiers: list[Link] = field(default_factory=list)
    """Said before their noun."""
    asked: Link | None = None
    """What happened, of "when"."""
    pending: Node | None = None
    """What went before, before its noun: "*those* paintings"."""

    # The phrase that waits for the thing after it: relations, by what sort of words they were said.
    rel: tuple[str, ...] = ()
    rel_words: tuple[str, ...] = ()
    turned: frozenset[str] = frozenset()
    """Relations of the phrase that lead from the thing after it to the thing before: "shown *in*" a picture."""
    loose: tuple[str, ...] = ()
    copula: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    """Of the phrase before: "born in Paris and in *Rome*"."""
    force: Node | None = None
    """The far end that the next thing is tied to: "the *maker* of X"."""

    # Words of grammar that hold for the next thing.
    ranked: Rank | None = None
    """A superlative within what is asked for: "who made the *oldest* print"."""
    negated: bool = False
    denied: tuple[str, ...] = ()
    excluding: bool = False
    others: bool = False
    beside: Node | None = None
    """What "other than" was said of: "by *artists* other than X"."""
    joined: bool = False
    jointly: bool = False
    """ "Both", before two things that hold together."""
    generic: bool = False
    every: bool = False
    edge: Edge = ""
    number: int | None = None
    comparison: Comparison | Literal[""] = ""
    """What stood before a number: "more than"."""
    counted: tuple[int | None, int | None] | None = None
    """The least and the most of the next thing."""

    # What the whole question or its rest does.
    narrowing: bool = False
    grouping: bool = False
    breaking: bool = False
    titled: bool = False
    titling: bool = False
    texted: Node | None = None

    def place(self, piece: Piece) -> int:
        """Where a piece of the question stands."""
        return next(at for at, one in enumerate(self.pieces) if one.first == piece.first)

    def before_article(self, at: int, articles: frozenset[str] = ARTICLES) -> int:
        """Where the nearest piece before one stands that is no article; -1 for none."""
        at -= 1
        while at >= 0 and self.pieces[at].roles & articles and not self.pieces[at].roles & JOINTS:
            at -= 1
        return at

    def after(self, at: int) -> Piece | None:
        """The piece after one; None at the end."""
        return self.pieces[at + 1] if at + 1 < len(self.pieces) else None

    @property
    def group(self) -> Group | None:
        """What the rest is split by, while that is being said."""
        return self.tree.group if self.grouping else None

    @property
    def waits(self) -> bool:
        """Whether a phrase waits for a thing."""
        return bool(self.rel or self.loose)


def clear(state: State, keep_negation: bool = False) -> None:
    """A thing was tied: nothing waits any more."""
    if state.rel:
        state.context = state.rel
    state.rel, state.rel_words, state.loose, state.copula = (), (), (), ()
    state.turned = frozenset()
    state.generic, state.every, state.edge = False, False, ""
    state.negated = state.negated and keep_negation
    state.excluding = state.excluding and keep_negation
    state.others, state.beside = False, state.beside if state.excluding else None


def denied_once(state: State) -> None:
    """A negation was used; an exclusion goes on ("except paintings and prints")."""
    state.negated = state.negated and state.excluding


def end_group(state: State) -> None:
    """A new clause begins after what the rest is split by."""
    state.grouping = False
    state.excluding = state.negated = False
    state.rel, state.loose = (), ()


def is_bare_root(state: State) -> bool:
    """Whether no noun has said yet what is asked for."""
    root = state.tree.root
    return root is not None and not root.kinds and not root.named and not root.earlier


def is_untold_root(state: State) -> bool:
    """Whether all that was heard is a question word."""
    root = state.tree.root
    return root is not None and is_bare_root(state) and not (root.links or root.ends or state.open[1:])


def is_polar_name(state: State) -> bool:
    """Whether the question asks what a named thing is: "is *Warhol* the maker of …"."""
    root = state.tree.root
    return state.polar and state.lead.being and root is not None and root.named and not root.ends
