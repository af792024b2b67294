"""The plan of a question: what is asked for, under which conditions, and what is made of it. JSON in, JSON out."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from crmrag_query.errors import QuestionError

Iri = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
Step = Annotated[str, StringConstraints(pattern=r"^\S+$", max_length=4000)]
"""A property of a path: a code (``P108i``), or the IRI of one outside the CRM family, ``^`` before one that is followed
from object to subject; ``*`` after one that is followed zero or more times."""
CategoryName = Literal["Thing", "Actor", "Place", "Event", "Concept", "Time"]
DEEPEST = 4  # plans within plans
LARGEST = 1_000_000  # characters of JSON that are read


class Part(BaseModel):
    """Base of all parts of a plan: frozen, and unknown keys are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Way(Part):
    """How one entity leads to others: by any of Fundamental Relationships (their ids), or along one path of properties."""

    relationships: tuple[str, ...] = ()
    path: tuple[Step, ...] = ()

    @model_validator(mode="after")
    def _one_of_both(self) -> Way:
        if bool(self.relationships) == bool(self.path):
            raise ValueError("a way has either relationships or a path")
        return self


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
    else the two overlap. An unknown end of a recorded date is open.
    """

    kind: Literal["dated"] = "dated"
    way: Way | None = None
    begin: int | None = None
    end: int | None = None
    certain: bool = True
    negated: bool = False


class Texted(Part):
    """A name of the member (``way`` None), or a literal that ``way`` ends in, holds ``text``, folded as all names are."""

    kind: Literal["texted"] = "texted"
    text: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    way: Way | None = None
    negated: bool = False


class Among(Part):
    """The member is one of ``iris``, such as those of an answer before."""

    kind: Literal["among"] = "among"
    iris: tuple[Iri, ...]
    negated: bool = False


Constraint = Annotated[Related | Dated | Texted | Among, Field(discriminator="kind")]


class Target(Part):
    """What kind of entity is asked for: of any of ``categories``, of any of ``classes`` (codes or IRIs, sub-classes counted),
    and of any of ``types`` (P2, narrower ones counted); what is empty does not restrict."""

    categories: tuple[CategoryName, ...] = ()
    classes: tuple[str, ...] = ()
    types: tuple[Iri, ...] = ()


class Measure(Part):
    """A value of a member: how many distinct entities ``way`` leads to, or the earliest or latest day that it leads to."""

    kind: Literal["count", "earliest", "latest"]
    way: Way


class Compute(Part):
    """What is made of the members.

    ``list``; ``count``; ``ask``: whether there is any; ``rank``: the ``first`` members by ``measure``, highest first unless
    ``ascending``, ties kept; ``group``: how many members lead by ``way`` to each entity; ``table``: a row for each member and
    each combination of what the ``columns`` lead to.
    """

    kind: Literal["list", "count", "ask", "rank", "group", "table"] = "list"
    measure: Measure | None = None
    first: Annotated[int, Field(ge=1)] | None = None
    ascending: bool = False
    way: Way | None = None
    columns: tuple[Way, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Compute:
        needs = {"rank": self.measure is not None, "group": self.way is not None, "table": bool(self.columns)}
        if not needs.get(self.kind, True):
            lacks = {"rank": "a measure", "group": "a way", "table": "columns"}[self.kind]
            raise ValueError(f"{self.kind} needs {lacks}")
        return self


class Plan(Part):
    """Members are entities of the target for which every constraint holds."""

    target: Target = Target()
    where: tuple[Constraint, ...] = ()
    compute: Compute = Compute()

    @property
    def depth(self) -> int:
        """Plans within plans: 1 for one without others."""
        inner = [one.to.plan.depth for one in self.where if isinstance(one, Related) and one.to.plan]
        return 1 + max(inner, default=0)


for _part in (Anchor, Related, Plan):
    _part.model_rebuild()


def read_plan(text: str | bytes | dict[str, Any]) -> Plan:
    """A plan from JSON. Raises QuestionError that names the first mistake and where it stands."""
    if isinstance(text, str | bytes) and len(text) > LARGEST:
        raise QuestionError(f"The plan has {len(text)} characters.", f"It may have at most {LARGEST}.")
    try:
        plan = Plan.model_validate(text) if isinstance(text, dict) else Plan.model_validate_json(text)
    except (ValidationError, RecursionError) as error:
        if isinstance(error, RecursionError):
            raise QuestionError("The plan holds too many plans within plans.", _NEST) from None
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "(whole plan)"
        raise QuestionError(
            f"The plan's {where}: {first['msg']}.", "The parts of a plan: crmrag_query.plans.records."
        ) from None
    if plan.depth > DEEPEST:
        raise QuestionError(f"The plan holds {plan.depth} plans within each other.", _NEST)
    return plan


_NEST = f"At most {DEEPEST} may be nested."
