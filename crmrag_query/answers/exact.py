"""The exact side of an answer: the question as a plan, the plan's set, and what to say where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from crmrag_query.answers.going_on import parsed_within, with_plans
from crmrag_query.answers.named import SourceTriple
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
from crmrag_query.plans.outcome import Outcome
from crmrag_query.plans.records import Anchor, Compute, Plan, Related, Way
from crmrag_query.questions.lexicon import compiled
from crmrag_query.questions.state import ConversationState, Kind
from crmrag_query.retrieval.tokenizer import tokenize
from crmrag_query.sets.build import Told, answer_set
from crmrag_query.sets.cells import Reader
from crmrag_query.sets.describe import plan_json
from crmrag_query.sets.paths import reasons_of
from crmrag_query.sets.prose import prose
from crmrag_query.sets.records import AnswerSet, Page

LIKELY = 0.5  # score of a reading whose set is told rather than what retrieval found; ours
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

    @property
    def likely(self) -> bool:
        """Whether every word was understood and the set holds anything, though its reading is not sure."""
        return self.set.size > 0 and not self.parsed.unknown and self.parsed.score >= LIKELY


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
    told = Told(certain, () if made.usable else parsed.unknown, parsed.runner_up)
    page = Page(sort=parsed.sort)
    small = release.world.size <= LARGE
    found = answer_set(
        release, plan, page, language, told, outcome, sparql=small, name=release.manifest.dataset
    )
    return Exact(plan, outcome, found, certain, parsed, made.by if made.usable else "", made.notes)


def _may_go_on(release: Release, understood: Understood, state: ConversationState) -> bool:
    """Whether a question that names no reference may still be about what went before: "is there *also* one from 1910?"."""
    reading = understood.analysis.reading
    also = compiled(release.method.questions).languages[reading.language].forms.also
    alone = understood.follow_up.kind is Kind.STANDALONE
    return bool(state.turns) and alone and also.within(tokenize(understood.question))


def told_set(release: Release, exact: Exact, cited: SourceList) -> str:
    """The set in sentences, its members cited with the triples that put them there and lead to what is told of them."""

    def cite(iri: str) -> str:
        node = release.graph.node(iri)
        return "" if node is None else f" [{cited.cite(node, _triples(release, exact, node))}]"

    return prose(exact.set, release.method.sets, cite)


def add_members(release: Release, exact: Exact, cited: SourceList, most: int) -> None:
    """The set's first members as sources, beside those that its text cites."""
    for member in exact.set.members[:most]:
        node = release.graph.node(member.iri)
        if node is not None and not cited.has(node):
            cited.cite(node, _triples(release, exact, node))


def _triples(release: Release, exact: Exact, node: int) -> list[SourceTriple]:
    """Why a member is in, and how it leads to its cells, its value or its group; nothing of what is no member."""
    member = next((one for one in exact.set.members if one.iri == release.graph.iri(node)), None)
    if member is None:
        return []
    told = shown_by(exact.plan.compute)
    reasons = [*member.path]
    if told is not None:
        reasons += reasons_of(release, told, [node], Reader(release, exact.set.language))[0]
    return list(dict.fromkeys(triple for reason in reasons for triple in reason.triples))


def shown_by(compute: Compute) -> Plan | None:
    """What leads from members to what is told of them, as a plan: the columns of a table, the measure, the group."""
    ways: list[Way] = []
    for column in compute.columns:
        ways.append(column.way if column.of is None else _led_on(ways[column.of], column.way))
    tos = [column.to if column.of is None else Anchor() for column in compute.columns]
    ways += [compute.way] if compute.way is not None else []
    ways += [compute.measure.way] if compute.measure is not None else []
    tos += [compute.to] if compute.way is not None else []
    tos += [compute.measure.to] if compute.measure is not None else []
    where = tuple(Related(way=way, to=to) for way, to in zip(ways, tos, strict=True))
    return Plan(where=where) if where else None


def _led_on(way: Way, by: Way) -> Way:
    """The way, and on from its end."""
    return way.model_copy(update={"then": by if way.then is None else _led_on(way.then, by)})


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
