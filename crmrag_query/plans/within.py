"""Asking within a part of the data: the members of a plan, or of a short form of one, and the documents that they have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, ValidationError, model_validator

from crmrag_query.artifacts.release import Release
from crmrag_query.config.sources import file_of_graph, graph_of_file
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.execute import SECONDS, members_of
from crmrag_query.plans.records import (
    MOST_VALUES,
    Among,
    CategoryName,
    Constraint,
    Iri,
    Member,
    Part,
    Plan,
    ReadFromPage,
    StatedIn,
    Target,
    check_size,
)
from crmrag_query.plans.world import World
from crmrag_query.timing import working

FileName = Annotated[str, Field(min_length=1, max_length=1000)]
Iris = Annotated[tuple[Iri, ...], Field(max_length=MOST_VALUES)]
FILES = 20  # known ones that an error names
BY_FILE = "List the source with `by_file: true` in datasets.yaml and build again: docs/data.md."
Mask = npt.NDArray[np.bool_]


class Within(Part):
    """What a question is asked of: entities of any of ``categories``, of any of ``classes``, of any of ``types``, that any of
    the named ``graphs`` or source ``files`` states something of, that are any of ``iris``, that are members of ``plan``, that
    a machine did (True) or did not (False) ``read`` from pages: all that is given holds.
    """

    categories: tuple[CategoryName, ...] = ()
    classes: tuple[str, ...] = ()
    types: Iris = ()
    graphs: Iris = ()
    files: Annotated[tuple[FileName, ...], Field(max_length=MOST_VALUES)] = ()
    iris: Iris = ()
    plan: Plan | None = None
    read: bool | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self == Within.model_construct():
            raise ValueError(
                "it says nothing: give categories, classes, types, graphs, files, iris, a plan or read"
            )
        return self

    def as_plan(self) -> Plan:
        """The plan whose members these are."""
        where: list[Constraint] = []
        for graphs in (self.graphs, tuple(map(graph_of_file, self.files))):
            if graphs:
                where.append(StatedIn(graphs=graphs))
        if self.iris:
            where.append(Among(iris=self.iris))
        if self.read is not None:
            where.append(ReadFromPage(negated=not self.read))
        target = Target(categories=self.categories, classes=self.classes, types=self.types)
        if self.plan is not None:
            if target == Target() and not where:
                return self.plan
            where.append(Member(plan=self.plan))
        return Plan(target=target, where=tuple(where))


def read_within(given: Mapping[str, Any]) -> Plan | None:
    """The plan of what a request says; None where it says nothing. Raises QuestionError for a mistake in it."""
    if not given:
        return None
    try:
        plan = Within.model_validate(dict(given)).as_plan()
        check_size(plan)
    except RecursionError:
        raise QuestionError(
            "What the question is asked within holds too many plans.", "Give one plan."
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise QuestionError(
            f"The question's within{f'.{where}' if where else ''}: {first['msg'].removeprefix('Value error, ')}.",
            "Give any of categories, classes, types, graphs, files, iris, plan and read: docs/modes.md.",
        ) from None
    return plan


@dataclass(frozen=True, eq=False)
class Scope:
    """The part of a release that a question is asked of: how many ``members`` its ``plan`` has, and their own ``documents``,
    bool [documents].

    Not those that tell of a member among others: what they tell of the others is of another part, perhaps another graph.
    """

    plan: Plan
    members: int
    documents: Mask

    @classmethod
    def of(cls, release: Release, plan: Plan) -> Scope:
        """Raises QuestionError for a plan that cannot be executed, and for a file that no triple is known to stand in."""
        stated = (one for one in plan.where if isinstance(one, StatedIn))
        known = {file for names in release[Graph].graph_sets for one in names if (file := file_of_graph(one))}
        for file in (file_of_graph(graph) for one in stated for graph in one.graphs):
            if file and file not in known:
                told = f"It has: {', '.join(sorted(known)[:FILES])}." if known else BY_FILE
                raise QuestionError(
                    f"No triple of the release is known to stand in a file {file!r:.80}.", told
                )
        with working(SECONDS, "The plan that is asked within", "Give one with fewer or shorter conditions."):
            nodes = members_of(release[World], plan)
        members = np.zeros(release[Documents].graph.nodes, bool)
        members[nodes] = True
        return cls(plan, len(nodes), members[release[Documents].entities])

    def restrict(self, plan: Plan) -> Plan:
        """A plan whose members, and those of what it is compared with, are of this part besides."""
        compute = plan.compute.model_copy(update={"others": tuple(map(self.restrict, plan.compute.others))})
        return plan.model_copy(update={"where": (*plan.where, Member(plan=self.plan)), "compute": compute})
