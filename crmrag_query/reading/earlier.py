"""What went before in a conversation, as a plan: the set that "them" stands for, and how a further question changes it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.language import language
from crmrag_query.linking import LinkedEntity, Mention
from crmrag_query.ontology.load import Category, mostly
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import (
    Among,
    Compute,
    Constraint,
    Dated,
    Either,
    Member,
    Plan,
    Related,
    Texted,
    Valued,
    read_plan,
)
from crmrag_query.plans.world import World
from crmrag_query.questions.followup import ConversationState, Focus, Turn
from crmrag_query.text import tokenize


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


def plan_of(turn: Turn) -> Plan | None:
    """The plan of a turn's set; of what it showed where it had none."""
    if turn.plan:
        with suppress(QuestionError):
            return read_plan(turn.plan)
    shown = tuple(iri for iri in turn.shown if iri)
    return Plan(where=(Among(iris=shown),)) if shown else None


def antecedent_of(
    release: Release, state: ConversationState, focus: Sequence[Focus] = ()
) -> Antecedent | None:
    """What a question after ``state`` may refer to; None at the beginning of a conversation."""
    turns = state.topic
    if not turns:
        return None
    plans = [plan for turn in turns if (plan := plan_of(turn)) is not None]
    last, sure = plans[-1] if plans else None, bool(turns[-1].plan) and turns[-1].sure
    linked = tuple(
        LinkedEntity(node, 1.0, one.label, "label")
        for one in focus
        if (node := release[Graph].node(one.iri)) is not None
    )
    before = plans[-2] if len(plans) > 1 else None
    return Antecedent(last, before, linked, _categories(release, last), sure, _place(release, last))


def _place(release: Release, plan: Plan | None) -> Mention | None:
    """The place that the last set was tied to: what "there" stands for."""
    categories = release[Graph].adjacency.categories
    for one in reversed(plan.where if plan else ()):
        ties = one.of if isinstance(one, Either) else (one,)
        for tie in ties:
            iris = tie.to.iris if isinstance(tie, Related) else ()
            nodes = [n for iri in iris if (n := release[Graph].node(iri)) is not None]
            if nodes and all(int(categories[n]) & int(Category.Place) for n in nodes):
                return Mention(0, 0, "", tuple(LinkedEntity(n, 1.0, "", "label") for n in nodes))
        if isinstance(one, Member):
            return _place(release, one.plan)
    return None


def _categories(release: Release, plan: Plan | None) -> int:
    """What most members are: categories that at least half of them have."""
    if plan is None:
        return 0
    try:
        members = members_of(release[World], plan)
    except QuestionError:
        return 0
    return mostly(release[Graph].adjacency.categories[members])


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


def goes_on(question: str, code: str) -> bool:
    """Whether a question begins as one that goes on from what went before: "and …", "what about …", "only the prints"."""
    return bool(_spans_at_start(question, code, {"dialogue.opening", "dialogue.only"}))


def says_otherwise(question: str, code: str) -> bool:
    """Whether a question asks for others than those it names: "by someone other than X"."""
    return "operators.anyone_else" in language(code).roles_within(tokenize(question))


def _spans_at_start(question: str, code: str, wanted: set[str]) -> int:
    """The length of the longest phrase of some roles that a question begins with."""
    words = tokenize(question)
    found = language(code).phrases.at(words, 0) if words else ()
    return max((length for length, roles in found if roles & wanted), default=0)
