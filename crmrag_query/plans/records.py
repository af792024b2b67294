"""The plan of a question: what is asked for, under which conditions, and what is made of it. JSON in, JSON out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from crmrag_query.errors import QuestionError

Iri = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
Step = Annotated[str, StringConstraints(pattern=r"^\S+$", max_length=4000)]
"""A step of a path; `crmrag_query.relationships.engine` tells how it is written."""
CategoryName = Literal["Thing", "Actor", "Place", "Event", "Concept", "Time"]
ComputeKind = Literal["list", "count", "ask", "rank", "group", "table", "pairs", "compare"]
GroupedBy = Literal["entity", "year", "decade", "century"]
Edge = Literal["span", "begin", "end"]
"""What counts of a recorded date: all of it, or its first or its last day alone."""
Finite = Annotated[float, Field(allow_inf_nan=False)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
DEEPEST = 5
"""Plans within plans, an ``either`` counting as one: a question says two or three."""
LARGEST = 1_000_000
"""Characters of a plan's JSON that are read."""
MOST_CONDITIONS = 64
"""In a plan and all plans within it, each part of an `either` counted, and with them each column, shared way, compared plan
and link that leads a way on. A question says a handful; each is executed, explained, told and written as SPARQL by itself."""
MOST_VALUES = 20_000
"""In all lists of a plan: IRIs, types, texts, relations, steps. A request of a megabyte holds about as many IRIs."""
MOST_STEPS = 32
"""Of a path, which is walked, told and explained step by step; those of catalogues have at most 8."""
MOST_WAYS = 256
"""Relations, relationships or paths of one link of a way, which are tried one by one."""


P = TypeVar("P", bound="Part")


class Part(BaseModel):
    """Base of all parts of a plan: frozen, and unknown keys are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Way(Part):
    """How one entity leads to others: by any of relations (ids of ``relations.yaml``), of Fundamental Relationships (their
    ids) and of paths of properties, all together.

    ``inverse``: what these say is read from their far end to the near one. ``then``: what is reached leads on by that way.
    ``direct``: relations lead to what they state only, a birthplace, and not also to what lies around it. ``types``: what
    paths reach is of one of these (P2, the role of a participation, or a class; narrower ones count).
    """

    relations: Annotated[tuple[str, ...], Field(max_length=MOST_WAYS)] = ()
    relationships: Annotated[tuple[str, ...], Field(max_length=MOST_WAYS)] = ()
    paths: Annotated[
        tuple[Annotated[tuple[Step, ...], Field(min_length=1, max_length=MOST_STEPS)], ...],
        Field(max_length=MOST_WAYS),
    ] = ()
    inverse: bool = False
    direct: bool = False
    types: tuple[Iri, ...] = ()
    then: Way | None = None

    @model_validator(mode="after")
    def _some(self) -> Way:
        if not (self.relations or self.relationships or self.paths):
            raise ValueError("a way has relations, relationships or paths")
        if self.types and (self.relations or self.relationships or self.inverse):
            raise ValueError("types go with paths alone, which are not inverse")
        return self

    @property
    def links(self) -> tuple[Way, ...]:
        """This way and those that follow it, one after the other."""
        found = [self]
        while (after := found[-1].then) is not None:
            found.append(after)
        return tuple(found)

    def stated(self) -> Way:
        """This way with all its links ``direct``."""
        return self.model_copy(update={"direct": True, "then": self.then.stated() if self.then else None})


class Anchor(Part):
    """What a way leads to: any of ``iris``, anything of one of ``types`` (P2, or a class), any member of ``plan``, or, where
    all are empty, anything at all."""

    iris: tuple[Iri, ...] = ()
    types: tuple[Iri, ...] = ()
    plan: Plan | None = None


class Related(Part):
    """The member leads by ``way`` to ``to``; ``negated``: it does not."""

    kind: Literal["related"] = "related"
    way: Way
    to: Anchor = Field(default_factory=lambda: Anchor())
    negated: bool = False


class Dated(Part):
    """The member leads by ``way`` to a date from ``begin`` to ``end``: day numbers (0001-01-01 = 1), inclusive, None: open.

    Without a way the date is stated on the member itself. ``certain``: the whole recorded span of one such date lies within;
    else the two overlap. An unknown end of a recorded date is open. ``edge``: the first or last recorded day alone counts.
    """

    kind: Literal["dated"] = "dated"
    way: Way | None = None
    begin: int | None = None
    end: int | None = None
    edge: Edge = "span"
    certain: bool = True
    negated: bool = False


class Texted(Part):
    """A name of the member (``way`` None), or a literal that ``way`` ends in, holds one of ``texts``, folded as names are.

    ``whole``: as whole words; else anywhere.
    """

    kind: Literal["texted"] = "texted"
    texts: Annotated[tuple[Text, ...], Field(min_length=1)]
    way: Way | None = None
    whole: bool = False
    negated: bool = False


class Valued(Part):
    """The member leads by ``way`` to a literal that states a number from ``least`` to ``most``, None: open.

    ``least_counts``, ``most_counts``: whether the bound itself is within. ``unit``: the IRI or a name of a unit; only numbers
    of dimensions and sums of money in it count, and such in others of the same quantity, converted. Of xsd:gYear
    years count, which are no numbers else. Without a unit all numbers do, as they are written.
    """

    kind: Literal["valued"] = "valued"
    way: Way
    least: Finite | None = None
    most: Finite | None = None
    least_counts: bool = True
    most_counts: bool = True
    unit: Annotated[str, StringConstraints(max_length=4000)] = ""
    negated: bool = False

    @model_validator(mode="after")
    def _bounded(self) -> Valued:
        if self.least is None and self.most is None:
            raise ValueError("a number has a least, a most, or both")
        if self.least is not None and self.most is not None:
            one = self.least == self.most
            if self.least > self.most or (one and not (self.least_counts and self.most_counts)):
                raise ValueError("no number lies between these bounds: the least must not be above the most")
        return self


class Among(Part):
    """The member is one of ``iris``, such as those of an answer before."""

    kind: Literal["among"] = "among"
    iris: tuple[Iri, ...]
    negated: bool = False


class Member(Part):
    """The member is a member of ``plan`` too: common to both; ``negated``: all but those."""

    kind: Literal["member"] = "member"
    plan: Plan
    negated: bool = False


class StatedIn(Part):
    """A triple with the member as subject, other than its classes, stands in one of these named graphs."""

    kind: Literal["stated_in"] = "stated_in"
    graphs: Annotated[tuple[Iri, ...], Field(min_length=1)]
    negated: bool = False


class ReadFromPage(Part):
    """The member was read from a page by a machine; ``negated``: all but those."""

    kind: Literal["read"] = "read"
    negated: bool = False


class Either(Part):
    """Any of the constraints ``of`` holds; ``negated``: none does."""

    kind: Literal["either"] = "either"
    of: Annotated[tuple[Constraint, ...], Field(min_length=1)]
    negated: bool = False


Constraint = Annotated[
    Related | Dated | Texted | Valued | Among | Member | StatedIn | ReadFromPage | Either,
    Field(discriminator="kind"),
]


class Target(Part):
    """What kind of entity is asked for: of any of ``categories``, of any of ``classes`` (codes or IRIs, sub-classes counted),
    and of any of ``types`` (P2, narrower ones counted); what is empty does not restrict."""

    categories: tuple[CategoryName, ...] = ()
    classes: tuple[str, ...] = ()
    types: tuple[Iri, ...] = ()


class Measure(Part):
    """A value of a member: how many distinct cells in ``to`` the ``way`` leads to, the earliest or latest day that it leads
    to, or the highest number (``value``; the lowest in an ascending ranking) among the literals that it ends in."""

    kind: Literal["count", "earliest", "latest", "value"]
    way: Way
    to: Anchor = Field(default_factory=lambda: Anchor())

    @model_validator(mode="after")
    def _fits(self) -> Measure:
        if self.kind == "value" and self.to != Anchor():
            raise ValueError("a value is a literal: it can be in no anchor")
        return self


class Column(Part):
    """What the member, or the cell of column number ``of`` of the same row, leads to by ``way`` and is in ``to``.

    ``by`` year: a date is shown as its year; the rows are the same.
    """

    way: Way
    of: Annotated[int, Field(ge=0)] | None = None
    to: Anchor = Field(default_factory=lambda: Anchor())
    title: str = ""
    by: Literal["", "year"] = ""


class Compute(Part):
    """What is made of the members.

    ``list``; ``count``: how many (not ``distinct`` and with a ``way``: how many rows, as in a group); ``ask``: whether there
    is any;
    ``rank``: the ``first`` members by ``measure`` (of those that have ``at_least`` that), highest first unless ``ascending``,
    ties kept; ``summed``: what their numbers are in all (``total``) or in the mean is told besides;
    ``group``: how many members lead by ``way`` to each cell in ``to``, or to each year, decade or century (``by``) of the
    dates that it leads to (by the whole of a date, which counts where it lies in one of these, or by its ``edge``); groups of
    ``at_least`` so many, the ``first`` as in a ranking; not ``distinct``: how many rows of
    a member and what each link of the way leads to;
    ``table``: a row for each member and each combination of what the ``columns`` lead to;
    ``pairs``: rows (a, b, cell of each of ``ways``) of members a != b that both lead to the cells; not ``partner``: rows
    without b;
    ``compare``: sizes of this set and of those of the ``others``, and what is common to all.
    ``identity``: ``same_as`` takes entities that the data says to be the same for one.
    """

    kind: ComputeKind = "list"
    measure: Measure | None = None
    first: Annotated[int, Field(ge=1)] | None = None
    ascending: bool = False
    summed: Literal["", "total", "mean"] = ""
    way: Way | None = None
    to: Anchor = Field(default_factory=lambda: Anchor())
    by: GroupedBy = "entity"
    edge: Edge = "span"
    at_least: Annotated[int, Field(ge=1)] | None = None
    distinct: bool = True
    columns: tuple[Column, ...] = ()
    ways: tuple[Way, ...] = ()
    partner: bool = True
    others: tuple[Plan, ...] = ()
    identity: Literal["iri", "same_as"] = "iri"

    @model_validator(mode="after")
    def _whole(self) -> Compute:
        needs: dict[str, tuple[str, object]] = {
            "rank": ("a measure", self.measure),
            "group": ("a way", self.way),
            "table": ("columns", self.columns),
            "pairs": ("ways", self.ways),
            "compare": ("others", self.others),
        }
        lacks, has = needs.get(self.kind, ("", True))
        if not has:
            raise ValueError(f"{self.kind} needs {lacks}")
        ranks_all = self.kind == "rank" and self.first is None and self.at_least is None
        numbers = self.measure is not None and self.measure.kind == "value"
        if self.summed and not (ranks_all and numbers and self.identity == "iri"):
            raise ValueError("what is summed is a ranking of all members by a number, counted by IRI")
        if not self.distinct and self.identity == "same_as":
            raise ValueError("rows that are not distinct are counted by IRI")
        for number, column in enumerate(self.columns):
            if column.of is not None and column.of >= number:
                raise ValueError(f"column {number} follows from column {column.of}, which is not before it")
        return self


class Plan(Part):
    """Members are entities of the target for which every constraint holds."""

    target: Target = Target()
    where: tuple[Constraint, ...] = ()
    compute: Compute = Field(default_factory=lambda: Compute())


def flattened(plan: Plan) -> Plan:
    """The plan with the conditions of plans whose list its members must be in as its own, and so within its anchors.

    Only where the other plan asks for another part of a target, such as classes beside types: both must hold.
    """
    target, where = plan.target, list[Constraint]()
    for one in plan.where:
        if isinstance(one, Related) and one.to.plan is not None:
            where.append(
                one.model_copy(update={"to": one.to.model_copy(update={"plan": flattened(one.to.plan)})})
            )
            continue
        inner = flattened(one.plan) if isinstance(one, Member) and not one.negated else None
        joined = None if inner is None or inner.compute != Compute() else _both(target, inner.target)
        if inner is None or joined is None:
            where.append(one)
        else:
            target = joined
            where += inner.where
    return plan.model_copy(update={"target": target, "where": tuple(where)})


def _both(one: Target, other: Target) -> Target | None:
    """A target that restricts by what either does; None where both restrict by the same."""
    found = dict[str, object]()
    for name in Target.model_fields:
        here, there = getattr(one, name), getattr(other, name)
        if here and there and here != there:
            return None
        found[name] = here or there
    return Target.model_validate(found)


def _depth(part: object) -> int:
    """Plans within plans, an ``either`` counting as one: 1 for one without others."""
    if isinstance(part, tuple):
        return max(map(_depth, part), default=0)
    if not isinstance(part, Part):
        return 0
    inner = max((_depth(getattr(part, name)) for name in type(part).model_fields), default=0)
    return inner + isinstance(part, Plan | Either)


def check_size(plan: Plan) -> None:
    """QuestionError, which names the limit, for a plan of too many plans within plans, conditions or values."""
    if (depth := _depth(plan)) > DEEPEST:
        raise QuestionError(f"The plan holds {depth} plans within each other.", _NEST)
    conditions = values = 0
    for part in parts_of(plan):
        conditions += isinstance(part, _CONDITIONS)
        if isinstance(part, Compute):
            conditions += len(part.ways) + len(part.others)
        elif isinstance(part, Way):
            conditions += part.then is not None
        elif isinstance(part, tuple):
            values += sum(isinstance(one, str) for one in part)
    if conditions > MOST_CONDITIONS:
        raise QuestionError(
            f"The plan has {conditions:,} conditions.",
            f"At most {MOST_CONDITIONS} may be, those of its inner plans and of each either among them.",
        )
    if values > MOST_VALUES:
        raise QuestionError(
            f"The plan's lists hold {values:,} values.",
            f"At most {MOST_VALUES:,} may be; name a type or a plan.",
        )


_NEST = f"At most {DEEPEST} may be nested."
_CONDITIONS = (Related, Dated, Texted, Valued, Among, Member, StatedIn, ReadFromPage, Either, Column)


def parts_of(plan: Part) -> Iterator[Part | tuple[object, ...]]:
    """A plan or a part of one, all that it is made of, and their tuples that hold anything, in no order."""
    waiting: list[Part | tuple[object, ...]] = [plan]
    while waiting:
        part = waiting.pop()
        yield part
        inner = part if isinstance(part, tuple) else part.__dict__.values()
        waiting += [one for one in inner if one and isinstance(one, (Part, tuple))]


def ways_of(plan: Part) -> Iterator[Way]:
    """All ways in a plan or a part of one, those that others go on with among them, in no order."""
    return (part for part in parts_of(plan) if isinstance(part, Way))


def with_ways(part: P, changed: Callable[[Way], Way]) -> P:
    """A plan, or a part of one, with other ways in place of its own; a way that another goes on with is its part."""

    def of(one: object) -> object:
        if isinstance(one, Way):
            return changed(one)
        if isinstance(one, tuple):
            return tuple(map(of, one))
        return with_ways(one, changed) if isinstance(one, Part) and not isinstance(one, Target) else one

    update = {name: new for name, one in part if (new := of(one)) is not one and new != one}
    return part.model_copy(update=update) if update else part


for _part in (Way, Anchor, Related, Valued, Member, Either, Measure, Column, Compute, Plan):
    _part.model_rebuild()


def read_plan(text: str | bytes | dict[str, Any]) -> Plan:
    """A plan from JSON. Raises QuestionError that names the first mistake and where it stands."""
    if isinstance(text, str | bytes) and len(text) > LARGEST:
        raise QuestionError(f"The plan has {len(text)} characters.", f"It may have at most {LARGEST}.")
    try:
        plan = Plan.model_validate(text) if isinstance(text, dict) else Plan.model_validate_json(text)
        check_size(plan)
    except RecursionError:
        raise QuestionError("The plan holds too many plans within plans.", _NEST) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "(whole plan)"
        raise QuestionError(
            f"The plan's {where}: {first['msg']}.", "The parts of a plan: crmrag_query.plans.records."
        ) from None
    return plan
