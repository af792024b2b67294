"""A question's plan within its conversation: what "more" and "aside from" leave out, where "there" is, what stands alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from crmrag_query.answers.understand import Understood
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.linking.records import LinkedEntity, Mention
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.antecedent import Antecedent, antecedent_of, as_list
from crmrag_query.parsing.catalogue import plan_of
from crmrag_query.parsing.heard import analysed
from crmrag_query.parsing.parse import Parsed, parse
from crmrag_query.parsing.words import narrows
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import Among, Compute, Constraint, Member, Plan, Target
from crmrag_query.questions.followup import FollowUp
from crmrag_query.questions.references import RefWords, ref_words
from crmrag_query.questions.state import ConversationState, Focus, Kind, Turn
from crmrag_query.questions.words import chunks_of
from crmrag_query.retrieval.tokenizer import tokenize
from crmrag_query.sets.describe import plan_json

HISTORY = 3  # questions before this one that are read anew where nothing else is known of them; ours


def parsed_within(release: Release, understood: Understood, state: ConversationState) -> Parsed:
    """What our parser makes of a question after ``state``; "more" and "aside from X" leave out what they say."""
    told, question = understood.follow_up, understood.question
    language = understood.analysis.reading.language
    words = ref_words(release.method.conversation, language)
    if told.kind is Kind.STANDALONE and not narrows(question, release.method.parsing, language):
        alone = _alone(parse(release, analysed(release, question)), question, words)
        if not (alone.tree.unsaid and state.turns):
            return alone
    before = _antecedent(release, state, told.focus)
    if told.kind is Kind.MORE:
        parsed = _read_beside(release, _without_more(question, words), question, before)
        parsed = _gone_on(parsed, state)
    elif told.kind is Kind.PIVOT and (told.excluded or told.excluded_types):
        parsed = _read_beside(release, told.raw if told.raw != question else "", question, before)
        if parsed.plan is None or (not parsed.certain and told.contextual is not None):
            parsed = _gone_on(parsed, state)
    else:
        parsed = parse(release, analysed(release, question), before)
    if parsed.plan is not None and _answers_itself(parsed.plan, told.focus_iris):
        parsed = replace(parsed, certain=False)
    return _leaving_out(release, parsed, told)


def _alone(parsed: Parsed, question: str, words: RefWords) -> Parsed:
    """Without what went before, "it" stands for nothing; and a thing that is named is no answer to a question about it."""
    plan = parsed.plan
    if plan is None or plan.compute.kind != "list":
        return parsed
    if plan.where and all(isinstance(one, Among) and not one.negated for one in plan.where):
        return replace(parsed, plan=None, certain=False)
    spoken = tokenize(question)
    if not plan.where and any(words.pronouns.at(spoken, at) for at in range(1, len(spoken))):
        return replace(parsed, certain=False)
    return parsed


def _answers_itself(plan: Plan, meant: Sequence[str]) -> bool:
    """Whether a list can only hold the one thing that the question is about: "what did he paint?" is not him."""
    alone = [
        one.iris for one in plan.where if isinstance(one, Among) and not one.negated and len(one.iris) == 1
    ]
    return plan.compute.kind == "list" and any(iris[0] in meant for iris in alone)


def _antecedent(release: Release, state: ConversationState, focus: Sequence[Focus]) -> Antecedent | None:
    """What went before; a place that the question means is also what "there" stands for."""
    before = antecedent_of(release, state, focus)
    if before is None or before.place is not None:
        return before
    categories = release.graph.adjacency.categories
    nodes = [node for one in focus if (node := release.graph.node(one.iri)) is not None]
    places = tuple(
        LinkedEntity(node, 1.0, "", "label") for node in nodes if int(categories[node]) & int(Category.Place)
    )
    return replace(before, place=Mention(0, 0, "", places)) if places else before


def _read_beside(release: Release, text: str, question: str, before: Antecedent | None) -> Parsed:
    """The question read without its words that leave something out; as a whole where that is no surer, or where these words
    say by whom: "by someone other than X"."""
    inner = parse(release, analysed(release, text), before) if tokenize(text) else Parsed(None)
    if not text:
        return inner
    whole = parse(release, analysed(release, question), before)
    others = any("others" in piece.roles for piece in whole.pieces)
    if inner.certain and not others:
        return inner
    return whole if whole.certain or inner.plan is None else inner


def _without_more(question: str, words: RefWords) -> str:
    """ "What else did he paint?" without "else": the words of more, whole chunks of the question."""
    spans = list(words.more.spans(tokenize(question)))
    return " ".join(
        chunk.text
        for chunk in chunks_of(question)
        if not any(first < chunk.last and chunk.first < last for first, last in spans)
    )


def _gone_on(parsed: Parsed, state: ConversationState) -> Parsed:
    """A question that says nothing of its own asks for the set before once more: the last that was no "more" itself."""
    plan = parsed.plan
    if plan is not None and plan.where:
        asks = plan.compute.kind == "ask"  # "are there any more?" wants to see them
        return replace(parsed, plan=plan.model_copy(update={"compute": Compute()})) if asks else parsed
    turns = [turn for turn in state.topic if turn.kind is not Kind.MORE]
    last = plan_of(turns[-1]) if turns and turns[-1].plan else None
    if last is None:
        return parsed
    counts = plan is not None and plan.compute.kind == "count"
    went = as_list(last)
    if counts:
        went = went.model_copy(update={"compute": Compute(kind="count")})
    return replace(parsed, plan=went, certain=turns[-1].sure, unknown=(), missing=(), absent=())


def _leaving_out(release: Release, parsed: Parsed, told: FollowUp) -> Parsed:
    """The plan without what must not come back."""
    plan = parsed.plan
    if plan is None or not (told.excluded or told.excluded_types):
        return parsed
    if told.kind not in (Kind.MORE, Kind.PIVOT) and not _comes_back(release, plan, told.excluded):
        return parsed
    known = tuple(iri for iri in told.excluded if release.graph.node(iri) is not None)
    new = [one for one in _constraints(release, known, told.excluded_types) if one not in plan.where]
    return replace(parsed, plan=plan.model_copy(update={"where": (*plan.where, *new)}))


def _constraints(release: Release, iris: tuple[str, ...], types: Sequence[int]) -> Iterator[Constraint]:
    if iris:
        yield Among(iris=iris, negated=True)
    if types:
        kinds = tuple(release.graph.iri(node) for node in types)
        yield Member(plan=Plan(target=Target(types=kinds)), negated=True)


def _comes_back(release: Release, plan: Plan, iris: Sequence[str]) -> bool:
    try:
        members = {int(node) for node in members_of(release.world, plan)}
    except QuestionError:
        return False
    return any(release.graph.node(iri) in members for iri in iris)


def with_plans(release: Release, state: ConversationState) -> ConversationState:
    """The state as it is; one of questions alone, such as a caller's history, with the plans of its last questions."""
    if not state.turns or any(turn.plan or turn.shown or turn.focus for turn in state.turns):
        return state
    turns: tuple[Turn, ...] = ()
    for turn in state.turns[-HISTORY:]:
        parsed = parse(
            release, analysed(release, turn.question), antecedent_of(release, ConversationState(turns))
        )
        if parsed.plan is not None:
            turn = replace(turn, plan=json.dumps(plan_json(parsed.plan)), sure=parsed.certain)
        turns = (*turns, turn)
    return ConversationState((*state.turns[:-HISTORY], *turns))
