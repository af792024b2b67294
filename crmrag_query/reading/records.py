"""What the parts of reading share: stretches of a question and what they may mean, doubts, and what went before in a
conversation, as plans."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

from crmrag_query.dates import Interval
from crmrag_query.graph.arrays import Ints
from crmrag_query.linking import LinkedEntity, Mention
from crmrag_query.plans.records import (
    Among,
    Compute,
    Constraint,
    Dated,
    Member,
    Plan,
    Related,
    Target,
    Texted,
    Valued,
)

T = TypeVar("T")

Why = Literal[
    "unknown", "passed over", "left open", "vague", "part of a name", "no word for", "a long way",
    "without an object", "not asked for", "not said", "in texts", "not by type", "which date", "which size",
    "which unit", "a place within another", "several units", "one date or another", "how often",
    "used for more than this", "who gave or who received", "in which role", "by whom or of whom", "acquired so or otherwise",
    "including", "compared", "asked for", "which are left out", "only", "all", "either", "two are asked for",
    "a second question", "stands for something", "nothing is spoken of", "how or why", "where or when",
    "one thing is described", "a kind or one of it",
]  # fmt: skip
"""What leaves a reading unsure."""


class Doubt(NamedTuple):
    """Why a reading is not sure, and of which words or ways."""

    why: Why
    of: str = ""


RANKING = frozenset({
    "operators.most", "operators.fewest", "operators.earliest", "operators.latest", "operators.highest", "operators.lowest",
})  # fmt: skip
"""Roles of words that choose some of many."""


@dataclass(frozen=True)
class Meaning:
    """What a name or noun of a question may stand for.

    ``nodes``: all that it may be, ascending; ``target``: of a noun; ``iris``: of a name; ``plan``: of what went before in a
    conversation; ``cost``: how unlikely it is; ``generic``: all of a category; ``only``: what else holds of
    these; ``category``: a mask; ``less``: classes of which none is meant.
    """

    nodes: Ints = field(repr=False, compare=False)
    target: Target | None = None
    iris: tuple[str, ...] = ()
    plan: Plan | None = field(default=None, repr=False)
    cost: float = 0.0
    generic: bool = False
    only: Related | None = None
    category: int = 0
    less: tuple[str, ...] = ()

    @property
    def named(self) -> bool:
        return self.target is None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for meanings of the same nodes."""
        return (self.iris, self.target, self.less, self.only, self.plan)


class Memory:
    """What was found of some things while one question is read: readings ask for it again, those of other cuts too."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], tuple[Any, object]] = {}

    def once(self, make: Callable[[], T], parts: tuple[object, ...], *more: Hashable) -> T:
        """What is made of some parts, which go by what they are and not by what they equal, and of what else is told."""
        key = (*map(id, parts), *more)
        if key not in self._known:
            self._known[key] = make(), parts  # kept, so that their ids stay theirs
        found: T = self._known[key][0]
        return found


@dataclass(frozen=True)
class Antecedent:
    """What went before.

    ``plan``: of the last set that was spoken of; ``before``: of the one before it; ``focus``: entities that "it" and "she"
    stand for, best first; ``categories``: mask of what the set's members are; ``sure``: the set was an exact one; ``place``:
    what "there" stands for.
    """

    plan: Plan | None
    before: Plan | None = None
    focus: tuple[LinkedEntity, ...] = ()
    categories: int = 0
    sure: bool = True
    place: Mention | None = None

    @property
    def mention(self) -> Mention | None:
        """What is in focus, as if it had been named."""
        return Mention(0, 0, self.focus[0].name, self.focus[:1]) if self.focus else None


def as_list(plan: Plan) -> Plan:
    """The members of a plan, whatever was made of them; a ranking stays one, since it tells who they are."""
    return plan if plan.compute.kind in ("rank", "list") else plan.model_copy(update={"compute": Compute()})


def rest_of(earlier: Antecedent) -> Plan | None:
    """What the set before holds beside the last one: "and the others?"."""
    if earlier.plan is None or earlier.before is None:
        return None
    return Plan(
        where=(Member(plan=as_list(earlier.before)), Member(plan=as_list(earlier.plan), negated=True))
    )


def changed(plan: Plan, constraints: Sequence[Constraint]) -> Plan:
    """The plan with constraints in place of those of the same kind ("and in 1890?"), else added to it."""
    where = list(plan.where)
    for new in constraints:
        place = next((at for at, old in enumerate(where) if _same_slot(old, new)), None)
        if place is None:
            where.append(new)
        else:
            where[place] = new
    return Plan(target=plan.target, where=tuple(where))


def _same_slot(old: Constraint, new: Constraint) -> bool:
    """Whether both say something of the same kind: a date, a title, the same relation."""
    if new.negated or old.negated or isinstance(old, Among | Member):
        return False
    if isinstance(old, Dated) and isinstance(new, Dated):
        return True
    if isinstance(old, Texted) and isinstance(new, Texted):
        return old.way == new.way
    if isinstance(old, Valued) and isinstance(new, Valued):
        return old.way == new.way
    return isinstance(old, Related) and isinstance(new, Related) and old.way == new.way


Sort = Literal["name", "noun", "date", "number", "amount", "op", "text"]


@dataclass(frozen=True)
class Amount:
    """Bounds of a number, None: open, and whether they count themselves; ``unit``: a word that may be one; ``size``: the
    dimension that an adjective speaks of; ``noun``: where else the word stands that says of what the number is.

    ``than``: the thing (IRIs) whose number is the bound, "taller *than X*", and ``more``: whether it is the least; with
    neither ``size`` nor ``noun`` its date is the bound, "older *than X*".
    """

    least: float | None = None
    most: float | None = None
    least_counts: bool = True
    most_counts: bool = True
    unit: str = ""
    size: str = ""
    noun: int = -1
    than: tuple[str, ...] = ()
    more: bool = False


@dataclass(frozen=True)
class Item:
    """A stretch of a question: its words ``first`` to before ``last``.

    ``score``: how likely it is to be one; ``meanings``: of a name or noun, the likeliest first; ``roles``: of small words;
    ``value``: of a number, amount or date; ``stems``: of a noun; ``whole``: of a name, whether a whole name
    is written; ``refers``: it stands for what went before; ``called``: of a name its names in other languages; ``joined``:
    how many names or nouns "and" joins in it.
    """

    first: int
    last: int
    sort: Sort
    score: float
    text: str
    meanings: tuple[Meaning, ...] = field(default=(), repr=False)
    roles: frozenset[str] = frozenset()
    value: Interval | Amount | int | None = None
    stems: frozenset[str] = frozenset()
    whole: bool = True
    refers: bool = False
    called: tuple[str, ...] = ()
    joined: int = 1

    def __len__(self) -> int:
        return self.last - self.first

    @property
    def places(self) -> range:
        """Where its words stand."""
        return range(self.first, self.last)


IDLE = frozenset({"operators.every", "operators.either", "operators.only", "operators.compare"})
"""Small words that change nothing of what is asked for."""
LASTING = "operators.lasting"
"""Words by which something went on at a time, rather than began and ended in it: "on view in 1998"."""
INCLUDING = "including"
"""The role of what only widens what was said."""
JOINS = frozenset({"operators.and", "operators.or"})
"""Small words between what belongs together."""
NEGATIONS = frozenset({"operators.not", "operators.without", "operators.neither"})
"""Small words that deny."""
GIVEN_IN = "unit"
"""The size of an `Amount` of which only the unit is said: whatever the data gives in that unit."""
