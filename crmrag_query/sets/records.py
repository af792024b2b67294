"""The set of an answer as a record: the same in Python, as JSON and on screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from crmrag_query.shown import Doubt, Named, Shown, SourceTriple, TableRow, apart
from crmrag_query.text import amount

Kind = Literal["list", "count", "ask", "rank", "group", "table", "pairs", "compare"]
Sort = Literal["", "label", "date", "value"]
What = Literal["entities", "kinds", "relation"]
"""What of a part of a plan there are choices of."""


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a set: ``limit`` members, or rows, from ``offset`` on; None for all, -1 for as many as configured.

    ``sort``: "" for the order of the plan (a ranking's own, else that of the data). What has no date or value comes last,
    ``descending`` or not.
    """

    offset: int = 0
    limit: int | None = -1
    sort: Sort = ""
    descending: bool = False


FIRST_PAGE = Page()


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: an entity (``iri``), or a literal or number (``iri`` "") with what it says in ``label``."""

    label: str
    iri: str = ""
    datatype: str = ""
    lang: str = ""
    number: float | None = None


Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a member is in: how it meets one ``constraint`` of the plan (its path, such as ``where.0``; see ``describe``).

    ``nodes``: from the member to what it leads to, ``triples`` between them one by one; ``text``: the literal that the last
    node has, where the way ends in one.
    """

    constraint: str
    nodes: tuple[Named, ...]
    triples: tuple[SourceTriple, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the set.

    ``value``: what it is ranked by, None otherwise; ``shown``: that in words (a day as a date); ``date``: when it was or came
    to be, in words; ``image``: the first address, ""; ``types``, ``classes``: what it is; ``path``: why it is in;
    ``graphs``: named graphs that the triples of its path stand in; ``columns``: the texts of the columns that were chosen;
    ``read``: a machine read it from a page, no curator wrote it.
    """

    iri: str
    label: str
    value: float | None = None
    shown: str = ""
    date: str = ""
    image: str = ""
    types: tuple[Named, ...] = ()
    classes: tuple[str, ...] = ()
    path: tuple[Reason, ...] = ()
    graphs: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    read: bool = False


@dataclass(frozen=True, slots=True)
class Excluded:
    """What only a lack of data keeps out: the reason, how many, the sentence that says so, and the first of them."""

    reason: str
    count: int
    text: str
    members: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True)
class Identity:
    """What counts as one: ``rule`` ``iri`` or ``same_as``; ``entities`` by IRI, ``distinct`` by what the data says to be the
    same (None: not known)."""

    rule: Literal["iri", "same_as"]
    entities: int
    distinct: int | None = None


@dataclass(frozen=True, slots=True)
class Stated:
    """A named graph and how many members have a triple in it; ``graph`` "" is the default graph."""

    graph: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Years:
    """First and last year, both inclusive, as astronomers count (0 is 1 BC, -499 is 500 BC); None for an open end."""

    begin: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """What a part of a plan may be set to: the ``value`` that a `Change` gives, and its name."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Edits:
    """What of a part of a plan can be set to something else, and what it is now; None: not of this part.

    ``entities``: IRIs that the condition names, none for anything at all; ``kinds``: IRIs of types, codes or IRIs of classes,
    names of categories; ``relation``: id of what leads to these, "" for a way that has none; ``texts``: of which one is held;
    ``first``, ``at_least``: numbers of a ranking or of groups.
    """

    entities: tuple[Option, ...] | None = None
    kinds: tuple[Option, ...] | None = None
    relation: Option | None = None
    years: Years | None = None
    texts: tuple[str, ...] | None = None
    negated: bool | None = None
    first: int | None = None
    at_least: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What a part of a plan is set to, its values as in `Edits`; None leaves one as it is.

    ``path``: of a chip, or ``where`` for a condition that is added: by its ``relation``, or by ``texts`` that a name holds.
    """

    path: str
    entities: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    relation: str | None = None
    years: Years | None = None
    texts: tuple[str, ...] | None = None
    negated: bool | None = None
    first: int | None = None
    at_least: int | None = None


@dataclass(frozen=True, slots=True)
class Chip:
    """A part of a plan in words; ``path``: where it stands (``where.0``, ``target.types``); ``removable`` on its own;
    ``edits``: what of it can be changed."""

    label: str
    path: str
    kind: str
    negated: bool = False
    removable: bool = True
    edits: Edits = Edits()


@dataclass(frozen=True, slots=True)
class PossibleValue:
    """What a part of a plan may be set to: ``value`` as `Change` takes it; ``kind``: the Fundamental Category of an entity,
    or of what a relation leads to, else ``type``, ``class`` or ``category``; ``count``: members of the other parts that have
    it, None where these are too many to count."""

    value: str
    label: str
    kind: str
    count: int | None


@dataclass(frozen=True, slots=True, repr=False)
class Choices(Shown):
    """What a part may be set to so that something is left, most members first; ``total``: how many choices there are;
    ``size``: members of the plan without the part."""

    choices: tuple[PossibleValue, ...]
    total: int
    size: int

    COLUMNS: ClassVar[dict[str, type]] = {"label": str, "kind": str, "count": int, "value": str}

    def head(self) -> str:
        return f"{self.total} choices"

    def rows(self) -> Sequence[TableRow]:
        return [(one.label, one.kind, one.count, one.value) for one in self.choices]


@dataclass(frozen=True, slots=True)
class Spot:
    """What has coordinates, degrees of WGS 84: a place of members, or a member that states them itself; ``doubt``: what of
    them the data leaves open."""

    iri: str
    label: str
    lat: float
    lon: float
    doubt: Doubt = ""


@dataclass(frozen=True, slots=True, repr=False)
class Marks(Shown):
    """Where and when the members of a set were, in columns of equal length for those that have a place or a date.

    ``begin``, ``end``: years as in `Years`; ``place``: number of one of ``places``. None where that is not known. ``placed``
    and ``dated`` count the whole set of ``size``; ``left``: members with a place or a date that are not told.
    """

    size: int
    placed: int
    dated: int
    left: int
    iris: tuple[str, ...]
    labels: tuple[str, ...]
    begin: tuple[int | None, ...]
    end: tuple[int | None, ...]
    place: tuple[int | None, ...]
    places: tuple[Spot, ...]
    release: str = ""
    dataset: str = ""

    COLUMNS: ClassVar[dict[str, type]] = {
        "label": str, "begin": int, "end": int, "place": str, "lat": float, "lon": float, "iri": str,
    }  # fmt: skip

    def head(self) -> str:
        more = f"; {self.left} more are not told" if self.left else ""
        return f"{self.placed} of {amount(self.size, 'member')} have a place, {self.dated} a date{more}"

    def rows(self) -> Sequence[TableRow]:
        spots: dict[int | None, TableRow] = {
            number: (spot.label, spot.lat, spot.lon) for number, spot in enumerate(self.places)
        }
        marks = zip(self.iris, self.labels, self.begin, self.end, self.place, strict=True)
        return [
            (label, begin, end, *spots.get(place, ("", None, None)), iri)
            for iri, label, begin, end, place in marks
        ]


TELLING = "telling"
"""In place of keys of columns: those that tell members apart."""


@dataclass(frozen=True, slots=True)
class SetColumn:
    """A column that members can have: its ``key`` (a relation), how many of the first members have a value of it, how many
    ``values`` there are; ``telling``: it is among those that are chosen by themselves, as they tell members apart."""

    key: str
    label: str
    members: int
    values: int
    telling: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Columns(Shown):
    """The columns that a set of ``size`` members can have, those that most tell first."""

    size: int
    columns: tuple[SetColumn, ...]
    release: str = ""
    dataset: str = ""

    COLUMNS: ClassVar[dict[str, type]] = {
        "key": str,
        "label": str,
        "members": int,
        "values": int,
        "telling": bool,
    }

    def head(self) -> str:
        return f"{amount(len(self.columns), 'column')} of {amount(self.size, 'member')}"

    def rows(self) -> Sequence[TableRow]:
        return [(one.key, one.label, one.members, one.values, one.telling) for one in self.columns]


@dataclass(frozen=True, slots=True)
class FacetValue:
    """One value of a facet: what it is, how many members have it, and the plan that it narrows the set to."""

    label: str
    iri: str
    count: int
    plan: dict[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Facet:
    """The values that most members have; ``total``: how many values there are; ``members`` that have any."""

    key: str
    label: str
    values: tuple[FacetValue, ...]
    total: int
    members: int


@dataclass(frozen=True, slots=True, repr=False)
class Facets(Shown):
    """Facets of a set of ``size`` members; ``complete``: False for a set too large, whose facets are not counted."""

    plan: dict[str, Any] = field(hash=False)
    size: int
    facets: tuple[Facet, ...]
    complete: bool
    release: str = ""
    dataset: str = ""

    COLUMNS: ClassVar[dict[str, type]] = {"facet": str, "value": str, "count": int, "iri": str}

    def head(self) -> str:
        return f"{amount(len(self.facets), 'facet')} of {amount(self.size, 'member')}"

    def rows(self) -> Sequence[TableRow]:
        return [
            (facet.label, value.label, value.count, value.iri)
            for facet in self.facets
            for value in facet.values
        ]


@dataclass(frozen=True, slots=True, repr=False)
class AnswerSet(Shown):
    """The exact result of a plan.

    ``size``: members in all; ``value``: the number of a count, whether there is any, or the page's rows of a group, table,
    pairs or comparison, cells by ``columns``; ``summed``: the total or mean of a ranking's numbers, where that is asked for;
    ``total``: how many members or rows ``offset`` and ``next`` count (``next``:
    the offset of the next page, None after the last); ``title``: the plan in words, ``chips``: its parts; ``text``: the set
    in sentences; ``numbers``: every number that may be said of it; ``exhaustive``: the plan says all that was asked;
    otherwise ``unknown`` are the words that it leaves out, ``mentioned`` those that were found in texts or names only, and
    ``suggestion`` the nearest plan; ``chosen``: labels of the columns that members were asked for with.
    """

    plan: dict[str, Any] = field(hash=False)
    kind: Kind
    sparql: str
    size: int
    value: int | bool | tuple[Row, ...] | None
    columns: tuple[str, ...]
    members: tuple[Member, ...]
    total: int
    offset: int
    next: int | None
    excluded: tuple[Excluded, ...]
    identity: Identity
    stated_in: tuple[Stated, ...]
    title: str
    chips: tuple[Chip, ...]
    text: str
    numbers: tuple[float, ...]
    language: str
    release: str
    common: int | None = None
    summed: Cell | None = None
    exhaustive: bool = True
    suggestion: dict[str, Any] | None = field(default=None, hash=False)
    unknown: tuple[str, ...] = ()
    licence: str = ""
    attribution: str = ""
    dataset: str = ""
    mentioned: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()

    COLUMNS: ClassVar[dict[str, type]] = {
        "label": str, "value": str, "date": str, "types": str, "iri": str, "image": str,
    }  # fmt: skip

    def head(self) -> str:
        return self.text

    def rows(self) -> Sequence[TableRow]:
        return [
            (one.label, one.shown, one.date, ", ".join(kind.label for kind in one.types), one.iri, one.image)
            for one in self.members
        ]

    def frame(self) -> tuple[dict[str, type], Sequence[TableRow]]:
        """The page's rows of what is computed, numbers as such; of other sets its members, with the chosen columns."""
        if not isinstance(self.value, tuple):
            chosen = apart(self.chosen, self.COLUMNS)
            texts = (one.columns or ("",) * len(chosen) for one in self.members)
            rows = [(*row, *more) for row, more in zip(self.rows(), texts, strict=True)]
            return self.COLUMNS | dict.fromkeys(chosen, str), rows
        cells = list(zip(*self.value, strict=True)) or [()] * len(self.columns)
        numeric = [bool(column) and all(cell.number is not None for cell in column) for column in cells]
        kinds: dict[str, type] = {
            name: float if is_number else str
            for name, is_number in zip(apart(self.columns), numeric, strict=True)
        }
        computed = [
            tuple(
                cell.number if is_number else cell.label for cell, is_number in zip(row, numeric, strict=True)
            )
            for row in self.value
        ]
        return kinds, computed

    def table(self) -> list[dict[str, str]]:
        """The page's rows of a ranking, groups, a table, pairs or a comparison, by column; none for other sets."""
        rows = self.value if isinstance(self.value, tuple) else ()
        names = apart(self.columns)
        return [{name: cell.label for name, cell in zip(names, row, strict=True)} for row in rows]
