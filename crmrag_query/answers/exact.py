"""The exact side of an answer: the question as a plan, the plan's set, and what to say where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from crmrag_query.answers.going_on import parsed_within, with_plans
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.understand import Understood
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.llm.model import Model
from crmrag_query.parsing.catalogue import earlier_of
from crmrag_query.parsing.heard import analysed
from crmrag_query.parsing.parse import Parsed
from crmrag_query.parsing.structured import ModelPlan, plan_with_model
from crmrag_query.plans.execute import execute
from crmrag_query.plans.outcome import UNCERTAIN, Outcome
from crmrag_query.plans.records import Plan
from crmrag_query.questions.lexicon import compiled
from crmrag_query.questions.state import ConversationState, Kind
from crmrag_query.retrieval.tokenizer import tokenize
from crmrag_query.sets.build import Told, answer_set
from crmrag_query.sets.describe import plan_json
from crmrag_query.sets.prose import prose
from crmrag_query.sets.records import AnswerSet, Page

LARGE = 500_000  # entities of a graph above which a set's SPARQL is written when asked for, not with every answer; ours


@dataclass(frozen=True)
class Exact:
    """A question's plan and its set; ``certain``: it says all that was asked, and its set is the answer.

    ``parsed``: what our own reading of the question made of it; ``by``: the model that wrote the plan, "" for our parser.
    """

    plan: Plan
    outcome: Outcome
    set: AnswerSet
    certain: bool
    parsed: Parsed
    by: str = ""
    notes: tuple[str, ...] = field(default=())


def find_exact(
    release: Release, understood: Understood, state: ConversationState, model: Model | None = None
) -> Exact | Parsed:
    """The exact set of a question, or, where no plan can be executed, what was understood of it.

    A model's plan counts before ours where it is whole and gives something. Raises nothing.
    """
    question, language = understood.question, understood.analysis.reading.language
    analysis = analysed(release, question)
    state = with_plans(release, state)
    parsed = parsed_within(release, understood, state)
    made = ModelPlan()
    if model is not None:
        made = plan_with_model(release, question, analysis.mentions, model, earlier_of(state))
    plan = made.plan if made.usable else parsed.plan
    if plan is None:
        return parsed
    try:
        outcome = made.outcome if made.usable and made.outcome is not None else execute(plan, release.world)
    except QuestionError:
        return parsed
    certain = made.usable or (parsed.certain and not _may_go_on(release, understood, state))
    certain = certain and not (plan.compute.by != "entity" and UNCERTAIN in outcome.excluded)
    told = Told(certain, () if made.usable else parsed.unknown, parsed.runner_up)
    page = Page(sort=parsed.sort)
    small = release.world.size <= LARGE
    found = answer_set(release, plan, page, language, told, outcome, sparql=small, name=release.manifest.dataset)
    return Exact(plan, outcome, found, certain, parsed, made.by if made.usable else "", made.notes)


def _may_go_on(release: Release, understood: Understood, state: ConversationState) -> bool:
    """Whether a question that names no reference may still be about what went before: "is there *also* one from 1910?"."""
    reading = understood.analysis.reading
    also = compiled(release.method.questions).languages[reading.language].forms.also
    alone = understood.follow_up.kind is Kind.STANDALONE
    return bool(state.turns) and alone and also.within(tokenize(understood.question))


def told_set(release: Release, found: AnswerSet, cited: SourceList) -> str:
    """The set in sentences, its members cited with the triples that put them there."""
    members = {one.iri: one for one in found.members}

    def cite(iri: str) -> str:
        node = release.graph.node(iri)
        if node is None:
            return ""
        member = members.get(iri)
        triples = [t for reason in member.path for t in reason.triples] if member else []
        return f" [{cited.cite(node, triples)}]"

    return prose(found, release.method.sets, cite)


def add_members(release: Release, found: AnswerSet, cited: SourceList, most: int) -> None:
    """The set's first members as sources, beside those that its text cites."""
    for member in found.members[:most]:
        node = release.graph.node(member.iri)
        if node is not None:
            cited.cite(node, [t for reason in member.path for t in reason.triples])


def stored(plan: Plan) -> str:
    """A plan as a turn of a conversation keeps it."""
    import json

    return json.dumps(plan_json(plan), ensure_ascii=False, separators=(",", ":"))


def with_notes(notes: Sequence[str], exact: Exact | Parsed) -> list[str]:
    """What the reader should know, with what was chosen while the plan was made."""
    parsed = exact.parsed if isinstance(exact, Exact) else exact
    own = [*exact.notes] if isinstance(exact, Exact) and exact.by else [*parsed.notes]
    return [*notes, *(note for note in own if note not in notes)]


__all__ = ["Exact", "add_members", "find_exact", "replace", "stored", "told_set", "with_notes"]
