"""The exact side of an answer: the question as a plan, read within its conversation or as a curator taught; the plan's set;
what to say without.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import yaml
from pydantic import Field, StringConstraints

from crmrag_query.answers.records import Choice
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.subject import subject_of
from crmrag_query.answers.understand import FIRST, Understood, individuals, places, understand
from crmrag_query.artifacts.manifest import write_text
from crmrag_query.artifacts.release import Release
from crmrag_query.config.reading import Record, read_part
from crmrag_query.context.context import Budget, ContextLine, KnownSet, pay
from crmrag_query.context.context import Kind as LineKind
from crmrag_query.errors import ConfigError, QuestionError, TookTooLong
from crmrag_query.graph.arrays import Longs
from crmrag_query.graph.graph import Graph
from crmrag_query.language import language as spoken_language
from crmrag_query.linking import LinkedEntity, Mention
from crmrag_query.llm.model import Model
from crmrag_query.notes import Note
from crmrag_query.ontology.load import Category
from crmrag_query.plans.execute import SECONDS, Outcome, execute, members_of
from crmrag_query.plans.records import (
    LARGEST,
    Among,
    Anchor,
    Column,
    Compute,
    Constraint,
    Dated,
    Either,
    Member,
    Plan,
    Related,
    Target,
    Texted,
    Way,
    parts_of,
    read_plan,
)
from crmrag_query.plans.within import Scope
from crmrag_query.plans.world import World, leading_to
from crmrag_query.questions.followup import ConversationState, Focus, FollowUp, Kind, Turn
from crmrag_query.questions.form import Analysis, Form
from crmrag_query.questions.lexicon import Phrases, chunks_of, compiled, ref_words
from crmrag_query.reading.catalogue import earlier_of
from crmrag_query.reading.earlier import antecedent_of, goes_on, plan_of, points_back, says_otherwise
from crmrag_query.reading.items import WHOLE, analysed, question_of, with_compounds_apart
from crmrag_query.reading.lexicon import Lexicon, relation_spans
from crmrag_query.reading.read import Parsed, parse
from crmrag_query.reading.records import Antecedent, as_list
from crmrag_query.reading.with_model import ModelPlan, is_settled, plan_with_model
from crmrag_query.retrieval.sparse import SparseIndex
from crmrag_query.sets.build import Reader, Table, Told, answer_set, order_of, reasons_of, table_of
from crmrag_query.sets.describe import Wording, plan_json, prose, title_of
from crmrag_query.sets.records import AnswerSet, Page, Row, Sort
from crmrag_query.shown import SourceTriple
from crmrag_query.text import fold, plain, shorten, tokenize
from crmrag_query.timing import working

SHORTEST_LINE = 20  # characters of a line with its number: no more lines are read than could have room
DESCRIBED = 150  # members of the largest set whose fields are looked up: more of them have no room
VALUES = 3  # of one field that a line tells; of more it tells how many there are
NAME_CHARACTERS = 100  # of a name or value


def tell_set(release: Release, made: AnswerSet, plan: Plan, outcome: Outcome, sort: Sort) -> KnownSet:
    """The set of ``plan`` in lines, so many that `context.set_beside` is left of the context.

    Fields are told where all members have room with them; else names and dates alone, of as many as have room.
    """
    config = release.method.context
    beside = min(config.set_beside, config.characters // 2)
    share = 1 - beside / config.characters
    room = Budget(config.characters - beside, int(config.tokens * share))
    telling = _Telling(release, made, plan, outcome, sort, max(1, room.characters // SHORTEST_LINE))
    return replace(_told(telling, room), answers=made.exhaustive)


def _told(telling: _Telling, room: Budget) -> KnownSet:
    head, count = tuple(_line(text) for text in telling.head()), len(telling.outcome.members)
    if telling.table is not None and telling.made.kind != "rank":
        return _fitting(head, telling.rows(), telling.table.total, room)
    if count <= DESCRIBED:
        shared = telling.shared()
        own = {label: values for label, values in telling.fields.items() if label not in shared}
        known = _fitting(
            (*head, *(_line(text) for text in shared.values() if text)), telling.members(own), count, room
        )
        if not known.left:
            return known
    return _fitting(head, telling.members({}), count, room)


def _line(text: str, n: int = 0, node: int | None = None) -> ContextLine:
    return ContextLine(plain(text), LineKind.SET, n, () if node is None else (node,))


def _fitting(
    head: tuple[ContextLine, ...], lines: Iterator[tuple[int | None, str]], total: int, room: Budget
) -> KnownSet:
    """As many of the lines, each with the member that it is about, as have room."""
    numbers: dict[int, int] = {}
    kept: list[ContextLine] = []
    left = Budget(room.characters, room.tokens)
    pay((), [left], frame=tuple(KnownSet(head, (), total).written()))
    for node, text in lines:
        number = 0 if node is None else numbers.get(node, len(numbers) + 1)
        line = _line(text, number, node)
        _, written, _ = KnownSet((), (line,)).written()
        if not pay((), [left], frame=[written]):
            break
        if node is not None:
            numbers[node] = number
        kept.append(line)
    return KnownSet(head, tuple(kept), max(0, total - len(kept)))


@dataclass(frozen=True)
class _Telling:
    """Reads the lines of one set; ``most``: lines that are read at most."""

    release: Release
    made: AnswerSet
    plan: Plan
    outcome: Outcome
    sort: Sort
    most: int

    @cached_property
    def reader(self) -> Reader:
        return Reader(self.release, self.made.language)

    @cached_property
    def wording(self) -> Wording:
        return Wording(self.release, self.made.language)

    @cached_property
    def order(self) -> Longs:
        """Places of the first members, in the order in which the answer has them."""
        return order_of(self.release, self.outcome, Page(sort=self.sort), self.made.language)[: self.most]

    @cached_property
    def nodes(self) -> list[int]:
        return [int(node) for node in self.outcome.members[self.order]]

    @cached_property
    def table(self) -> Table | None:
        return table_of(self.release, self.plan, self.outcome, self.made.language)

    def head(self) -> Iterator[str]:
        """The set in its own sentences; what of the question does not restrict it; of how many is recorded what is asked."""
        yield self.made.text
        prompts = self.release.method.prompts
        if self.made.unknown:
            words = ", ".join(f"“{plain(word)}”" for word in self.made.unknown)
            yield prompts.unrestricted.replace("{words}", words)
        yield from self._recorded()

    def _recorded(self) -> Iterator[str]:
        """Of each condition by a relation that the data states of some of the kind only, of how many."""
        for at, one in enumerate(self.plan.where):
            if not isinstance(one, Related) or one.to == Anchor():
                continue
            others = (*self.plan.where[:at], *self.plan.where[at + 1 :])
            if self.plan.target == Target() and not others:
                continue
            kind = Plan(target=self.plan.target, where=others)
            with suppress(QuestionError):  # it is not told of what cannot be counted
                of_all = execute(kind, self.release[World]).size
                stated = execute(
                    kind.model_copy(update={"where": (*others, Related(way=one.way))}), self.release[World]
                ).size
                if stated < of_all:
                    title = title_of(self.release, kind, self.made.language)
                    template = self.release.method.prompts.recorded
                    told = {"{n}": str(stated), "{all}": str(of_all), "{kind}": title}
                    for place, text in {**told, "{what}": self.wording.way(one.way)}.items():
                        template = template.replace(place, text)
                    yield template

    @cached_property
    def fields(self) -> dict[str, dict[int, list[str]]]:
        """Of each relation that tells members apart the values of the members that have any, by its label."""
        found: dict[str, dict[int, list[str]]] = {}
        for way in self._ways():
            values = self._values(way)
            if values:
                found.setdefault(self.wording.way(way), values)
        return found

    def _ways(self) -> Iterator[Way]:
        """Ways that a condition leaves open, which each member goes by itself, then those that are always told."""
        for one in self.plan.where:
            if not isinstance(one, Related | Dated) or one.negated or one.way is None:
                continue
            if isinstance(one, Dated) or not one.to.iris or len(one.to.iris) > 1:
                yield one.way
        known = self.release[World].relations
        fixed = {
            id
            for one in self.plan.where
            if isinstance(one, Related) and one.to.iris
            for id in one.way.relations
        }
        for id in self.release.method.context.set_fields:
            if id in known and id not in fixed:
                yield Way(relations=(id,), direct=True)

    def _values(self, way: Way) -> dict[int, list[str]]:
        """What members lead to by a way, in words, each once."""
        iris = tuple(self.release[Graph].iri(node) for node in self.nodes)
        plan = Plan(where=(Among(iris=iris),), compute=Compute(kind="table", columns=(Column(way=way),)))
        found: dict[int, list[str]] = {}
        with suppress(QuestionError):
            outcome = execute(plan, self.release[World])
            rows = table_of(self.release, plan, outcome, self.made.language)
            assert rows is not None  # a table has rows
            for row in rows.every(self.reader, 0, DESCRIBED * VALUES * 2):
                node = self.release[Graph].node(row[0].iri)
                text = shorten(plain(row[1].label), NAME_CHARACTERS)
                if node is not None and text and text not in found.setdefault(node, []):
                    found[node].append(text)
        return found

    def shared(self) -> dict[str, str]:
        """The fields that all of several members have alike, as lines of the whole, by label; "" where its title says so."""
        found: dict[str, str] = {}
        for label, held in self.fields.items():
            first, *others = held.values()
            if others and len(held) == len(self.outcome.members) and all(other == first for other in others):
                said = all(value in self.made.title for value in first)
                found[label] = "" if said else f"{label}: {_joined(first)}"
        return found

    def members(self, fields: dict[str, dict[int, list[str]]]) -> Iterator[tuple[int | None, str]]:
        """Each member by name, what it is ranked by, its date and its fields."""
        values = self.outcome.values
        ranked = None if values is None else values[self.order].tolist()
        measure = self.plan.compute.measure
        what = self.wording.measured(measure.way) if measure is not None else ""
        described = self.reader.members(self.nodes, ranked, measure, self.outcome.unit)
        for node, member in zip(self.nodes, described, strict=True):
            name = shorten(plain(member.label), NAME_CHARACTERS)
            told = [f"{what}: {member.shown}"] if member.shown else []
            told += [member.date] if member.date else []
            for label, held in fields.items():
                said = f"{name} {' '.join(told)}"
                if new := [value for value in held.get(node, ()) if value not in said]:
                    told.append(f"{label}: {_joined(new)}")
            yield node, f"{name}{' — ' if told else ''}{'; '.join(told)}"

    def rows(self) -> Iterator[tuple[int | None, str]]:
        """Rows as they are: that of a table is about its member, a group's about none."""
        assert self.table is not None
        of_members = self.made.kind == "table"
        write: Callable[[Row], str] = _grouped if self.made.kind in ("group", "compare") else _cells
        for row in self.table.every(self.reader, 0, self.most):
            node = self.release[Graph].node(row[0].iri) if of_members and row[0].iri else None
            yield node, write(row)


def _grouped(row: Row) -> str:
    return f"{_cells(row[:-1])}: {row[-1].label}"


def _cells(row: Row) -> str:
    return " – ".join(shorten(plain(cell.label), NAME_CHARACTERS) for cell in row)


def _joined(values: Sequence[str]) -> str:
    left = len(values) - VALUES
    return f"{', '.join(values[:VALUES])}{f' and {left} more' if left > 0 else ''}"


HISTORY = 3  # questions before this one that are read anew where nothing else is known of them


def parsed_within(release: Release, understood: Understood, state: ConversationState) -> Parsed:
    """What our parser makes of a question after ``state``; "more" and "aside from X" leave out what they say."""
    follow_up, question = understood.follow_up, understood.question
    analysis = _analysis_of(release, understood)
    language = understood.analysis.reading.language
    if analysis.reading.rule == TELLING and follow_up.kind is Kind.STANDALONE:
        # "Tell me more about the donors" asks for no ranking by "more", and for more than a list of them.
        about = _without_request(release, analysis)
        return replace(parse(release, about), certain=False) if about is not None else Parsed(None)
    if follow_up.kind is Kind.STANDALONE and not (state.turns and goes_on(question, language)):
        return _alone(parse(release, analysis), question, language, bool(state.turns))
    before = _antecedent(release, state, follow_up.focus)
    if follow_up.kind is Kind.MORE:
        # "What else did he paint?" without "else"
        parsed = _gone_on(
            _read_beside(release, _without(question, ref_words(language).more), question, before), state
        )
    elif follow_up.kind is Kind.PIVOT and (follow_up.excluded or follow_up.excluded_types):
        also = compiled(release.method.questions).languages[language].forms.also
        rest = _without(follow_up.raw, also) if follow_up.raw != question else ""  # "which *other* churches"
        parsed = _read_beside(release, rest, question, before)
        if parsed.plan is None or (not parsed.certain and follow_up.contextual is not None):
            parsed = _gone_on(parsed, state)
    else:
        parsed = _of_other_kind(parse(release, analysis, before), before, question, language)
    where = parsed.plan.where if parsed.plan is not None and parsed.plan.compute.kind == "list" else ()
    alone = [
        one.iris[0] for one in where if isinstance(one, Among) and not one.negated and len(one.iris) == 1
    ]
    if any(iri in follow_up.focus_iris for iri in alone):
        parsed = replace(parsed, certain=False)  # "what did he paint?" is not him
    return _leaving_out(release, parsed, follow_up, question)


def _of_other_kind(parsed: Parsed, before: Antecedent | None, question: str, code: str) -> Parsed:
    """A question that goes on and names another kind alone, "and how many prints by him?", with what held of the kind before;
    others as they are."""
    if parsed.plan is None or before is None or before.plan is None:
        return parsed
    plan, last = parsed.plan, before.plan
    if plan.where or plan.target == Target() or not last.where:
        return parsed
    opens = goes_on(question, code) and plan.compute.kind in ("list", "count")
    if not opens or last.target == Target() or any(isinstance(one, Among) for one in last.where):
        return parsed
    went = as_list(last).model_copy(update={"target": plan.target, "compute": plan.compute})
    lost = parsed.unknown or parsed.left_out or parsed.unnamed or parsed.negations
    return replace(parsed, plan=went, certain=before.sure and not lost)


def _without(text: str, phrases: Phrases) -> str:
    """A text without some phrases."""
    spans = list(phrases.spans(tokenize(text)))
    kept = (
        one.text
        for one in chunks_of(text)
        if not any(first < one.last and one.first < last for first, last in spans)
    )
    return " ".join(kept)


def _analysis_of(release: Release, understood: Understood) -> Analysis:
    """The question by its words and names alone, as it was understood, or anew where something was taken out of it."""
    if understood.alone and question_of(understood.question) == understood.question:
        return with_compounds_apart(release, understood.own)
    return analysed(release, understood.question)


TELLING = "tell about"  # rule of ``questions.grammar`` for requests to describe


def _without_request(release: Release, analysis: Analysis) -> Analysis | None:
    """What a request to tell about something speaks of, read by itself; None where nothing follows the request."""
    reading = analysis.reading
    describing = compiled(release.method.questions).languages[reading.language].forms.describing
    last = next((last for _, last in describing.spans(reading.words)), 0)
    rest = " ".join(chunk.text for chunk in chunks_of(reading.question) if chunk.first >= last)
    return analysed(release, rest) if tokenize(rest) else None


def restricts(plan: Plan) -> bool:
    """Whether a plan keeps to more than things of a kind that something or other is known of."""

    def is_of_kind(one: Constraint) -> bool:
        """Whether it only says what the kind is, "building": a class without another."""
        if not isinstance(one, Member) or not one.negated:
            return False
        return bool(plan.target.classes) and one.plan == Plan(target=one.plan.target)

    return any(
        not is_of_kind(one) and (not isinstance(one, Related) or one.to != Anchor() or one.negated)
        for one in plan.where
    )


def _alone(parsed: Parsed, question: str, code: str, told: bool) -> Parsed:
    """Without what went before, "it" stands for nothing, nor does it for the whole where something was ``told`` before; and a
    thing that is named is no answer to a question about it."""
    plan, own = parsed.plan, spoken_language(code)
    if plan is None or plan.compute.kind not in ("list", "count"):
        return parsed
    if plan.where and all(isinstance(one, Among) and not one.negated for one in plan.where):
        return replace(parsed, plan=None, certain=False)
    spoken = tokenize(question)
    existing = {  # "which telescopes are *there*" points to nothing
        at + i
        for at in range(len(spoken))
        for length, roles in own.phrases.at(spoken, at)
        if "questions.there" in roles
        for i in range(length)
    }
    things = own.roles["pronouns.thing"] if told else frozenset[str]()  # "how many pages does *it* have"
    pointing = (at for at in range(1, len(spoken)) if at not in existing or spoken[at] in things)
    shown = points_back(spoken, own)
    if not restricts(plan) and (shown or any(ref_words(code).pronouns.at(spoken, at) for at in pointing)):
        return replace(parsed, certain=False)
    return parsed


def _antecedent(release: Release, state: ConversationState, focus: Sequence[Focus]) -> Antecedent | None:
    """What went before; a place that the question means is also what "there" stands for."""
    before = antecedent_of(release, state, focus)
    if before is None or before.place is not None:
        return before
    categories = release[Graph].adjacency.categories
    nodes = [node for one in focus if (node := release[Graph].node(one.iri)) is not None]
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
    denies = bool(_denied(whole.plan))  # "by artists other than X" leaves out no work that is X
    if inner.certain and not says_otherwise(question, whole.language) and not (whole.certain and denies):
        return inner
    return whole if whole.certain or denies or inner.plan is None else inner


def _denied(plan: Plan | None) -> frozenset[str]:
    """The IRIs of what a plan leaves out, itself or within what something is tied to."""
    parts = () if plan is None else parts_of(plan)
    denied = (one for one in parts if getattr(one, "negated", False))
    return frozenset(
        iri for one in denied for end in (one, getattr(one, "to", None)) for iri in getattr(end, "iris", ())
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
    return replace(parsed, plan=went, certain=turns[-1].sure, unknown=(), absent=())


def _leaving_out(release: Release, parsed: Parsed, follow_up: FollowUp, question: str) -> Parsed:
    """The plan without what must not come back."""
    plan, graph = parsed.plan, release[Graph]
    if plan is None or not (follow_up.excluded or follow_up.excluded_types):
        return parsed
    known = {iri: node for iri in follow_up.excluded if (node := graph.node(iri)) is not None}
    if follow_up.kind is Kind.PIVOT and not _denied(plan).isdisjoint(known):
        return parsed
    if follow_up.kind not in (Kind.MORE, Kind.PIVOT):
        try:
            members = {int(node) for node in members_of(release[World], plan)}
        except QuestionError:
            return parsed
        if members.isdisjoint(known.values()):
            return parsed
    new: list[Constraint] = []
    if known:
        new.append(Among(iris=tuple(known), negated=True))
    if follow_up.excluded_types:
        kinds = tuple(map(graph.iri, follow_up.excluded_types))
        new.append(Member(plan=Plan(target=Target(types=kinds)), negated=True))
    where = (*plan.where, *(one for one in new if one not in plan.where))
    plan = plan.model_copy(update={"where": where})
    plain = follow_up.kind is Kind.MORE or _is_plain(release, known.values(), question)
    return replace(parsed, plan=plan, certain=parsed.certain and plain)


def _is_plain(release: Release, nodes: Collection[int], question: str) -> bool:
    """Whether it is plain which things are left out: one name, or each by its name or surname. "Without Berg and his prints"
    may leave out whatever has either word in its name."""
    graph, said = release[Graph], set(tokenize(question))
    names = {node: [label.text for label in graph.labels(node)] for node in nodes}

    def is_said(node: int, text: str) -> bool:
        words = tokenize(text)
        surname = {*words[-1:]} if "," not in text else set(tokenize(text.partition(",")[0]))
        return said.issuperset(words if graph.category(node) != Category.Actor else surname)

    return len({min(texts, default="") for texts in names.values()}) < 2 or all(
        any(is_said(node, text) for text in texts) for node, texts in names.items()
    )


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


READING_SECONDS = 10.0
"""That our own reading of a question and of those before it may take; the slowest of the evaluated ones take one."""
LARGE = 500_000
"""Entities of a graph above which a set's SPARQL is written when asked for, not with every answer."""


@dataclass(frozen=True)
class Exact:
    """A question's plan and its set; ``certain``: it says all that was asked, and its set is the answer.

    ``parsed``: what our own reading of the question made of it; ``by``: the model that wrote the plan, "" for our parser;
    ``words``: those by which alone members were found, in names and descriptions.
    """

    plan: Plan
    outcome: Outcome
    set: AnswerSet
    certain: bool
    parsed: Parsed
    by: str = ""
    notes: tuple[str, ...] = field(default=())
    words: tuple[str, ...] = ()


def find_exact(
    release: Release, understood: Understood, state: ConversationState, model: Model | None, dataset: str
) -> Exact | Parsed:
    """The exact set of a question, or, where no plan can be executed or it takes too long, what was understood of it.

    ``dataset``: the name that the set gives it.

    A model's plan counts before ours where it is whole and gives something, and its mapped part before a reading of ours that
    is not sure. Raises Stopped alone.
    """
    question, language = understood.question, understood.analysis.reading.language
    parsed, made, scope = Parsed(None), ModelPlan(), understood.scope
    whole: Plan | None = None
    by_words: tuple[str, ...] = ()
    try:
        lesson = lesson_for(release, question) if understood.follow_up.kind is Kind.STANDALONE else None
        if lesson is not None:
            return _as_taught(release, lesson, language, dataset, scope)
    except (ConfigError, QuestionError) as error:
        # what was taught cannot be followed, and the question is read as any other
        parsed = replace(parsed, notes=(str(error),))
    # which the data may have as things of their own
    if subject_of(release, understood) not in ("", "themes"):
        return parsed
    try:
        with working(READING_SECONDS, "Reading the question as a plan", "Ask in fewer words."):
            state = with_plans(release, state)
            own = parsed_within(release, understood, state)
            parsed = replace(own, notes=(*parsed.notes, *own.notes))
            whole = parsed.plan
    except TookTooLong as error:
        parsed = Parsed(None, notes=(Note(str(error), "time"),))
    if model is not None:
        made = plan_with_model(release, question, model, earlier_of(state))
    # What a model could map of the question, where our own reading is not sure: told with the words that do not restrict it.
    mapped = made.suggestion if made.unmapped and not made.usable and not parsed.certain else None
    if scope is not None:
        parsed = replace(
            parsed, plan=whole and scope.restrict(whole), others=tuple(map(scope.restrict, parsed.others))
        )
        mapped = mapped and scope.restrict(mapped)
        made = replace(made, plan=made.plan and scope.restrict(made.plan), outcome=None)
    if not made.usable and mapped is None and (made.failed or not parsed.certain):
        parsed = replace(parsed, notes=(*parsed.notes, *made.notes))  # what the model could not do
    plan = made.plan if made.usable else mapped or parsed.plan
    if plan is None:
        return parsed
    page = Page(sort=parsed.sort)
    small = release[World].size <= LARGE
    try:
        outcome = made.outcome if made.usable and made.outcome is not None else execute(plan, release[World])
        if made.usable:
            certain = is_settled(plan, release[World])
            told = Told(certain, (), parsed.runner_up)
        elif mapped is not None:
            certain, told = False, Told(False, made.unmapped, parsed.runner_up)
        else:
            forms = compiled(release.method.questions).languages[language].forms
            alone = understood.follow_up.kind is Kind.STANDALONE
            # "Is there *also* one from 1910?" names no reference, and may still be about what went before.
            goes_on = bool(state.turns) and alone and forms.also.within(tokenize(understood.question))
            passed_over = names_passed_over(release, understood, plan, parsed.named)
            # One thing is asked about, and all of a kind is no answer: "How big is braid?"
            all_of_it = (
                understood.analysis.form is Form.SPECIFIC
                and plan.compute.kind == "list"
                and not (whole and whole.where)
            )
            # "Was it built in the 12th century?", of what dates from 1099 to 1104
            undecided = plan.compute.kind == "ask" and not outcome.value and bool(outcome.excluded)
            loose = goes_on or passed_over or all_of_it or undecided
            certain = parsed.certain and not (loose or _mostly_unknown(plan, outcome, release[World]))
            lost = dict.fromkeys((*parsed.unknown, *parsed.left_out, *parsed.unsaid, *passed_over))
            told = Told(certain, tuple(lost), parsed.runner_up)
            worded = None if certain or scope is not None else _by_words(release, understood, parsed)
            if worded is not None:
                plan, by_words, outcome = worded
                told = Told(False, (), whole, by_words)
        with working(SECONDS, "Telling the plan's set", "Ask for less."):
            found = answer_set(release, plan, page, language, told, outcome, sparql=small, name=dataset)
    except TookTooLong as error:
        return replace(parsed, plan=None, certain=False, notes=(*parsed.notes, Note(str(error), "time")))
    except QuestionError:
        return parsed
    by_model = made.usable or mapped is not None
    return Exact(plan, outcome, found, certain, parsed, made.by if by_model else "", made.notes, by_words)


def _mostly_unknown(plan: Plan, outcome: Outcome, world: World) -> bool:
    """Whether of most things nothing is known that they are ranked by or that is added up: the oldest of the others need not
    be the oldest."""
    measure, some = plan.compute.measure, plan.compute.first is not None or bool(plan.compute.summed)
    if not some or measure is None or measure.kind == "count":
        return False
    every = execute(plan.model_copy(update={"compute": Compute()}), world).size
    return 2 * sum(map(len, outcome.excluded.values())) > every


MOST_FORMS = 8  # of a word that is looked for in names and descriptions


def _by_words(
    release: Release, understood: Understood, parsed: Parsed
) -> tuple[Plan, tuple[str, ...], Outcome] | None:
    """Things of the kind that is asked for whose names or descriptions hold all other words of the question, these words, and
    what the plan gives: "watercolors of buffalo", where no way ties these. None for others, and where it gives nothing.
    """
    plan, reading = parsed.plan, understood.own.reading
    if plan is None or plan.compute.kind not in ("list", "count", "ask") or not reading.heads:
        return None
    kinds, target = release[Lexicon].kinds(reading.language), plan.target
    if target.categories and not (target.types or target.classes):
        works = (one.target for one in kinds.general("work") if target.categories == ("Thing",))
        target = next((one for one in works if one is not None), Target())
    alone = understood.follow_up.kind is Kind.STANDALONE and understood.own.form is not Form.SPECIFIC
    own = spoken_language(reading.language)
    written = (one for one in chunks_of(reading.question) if one.capital and own.capitals_name)
    capitals = {word for one in written for word in tokenize(one.text)}
    partly = [one for one in parsed.partly if len(tokenize(one)) == 1 and capitals.isdisjoint(tokenize(one))]
    lost = bool(parsed.unknown or parsed.left_out or parsed.unnamed or partly)
    if not (target.types or target.classes) or not lost or not alone:
        return None
    spans = relation_spans(reading.language, reading.words)
    showing = places(span for span in spans if not SHOWING.isdisjoint(span.relations))
    tying = places(span for span in spans if span.role != "loose") - showing
    individual = places(individuals(release, understood.own))
    others = tying | {at for at in individual if reading.words[at] not in partly}
    if any(reading.words[at] in reading.content for at in others if at not in reading.heads):
        return None  # what is made *of bronze*, or what *Calder* used, is told by more than a word
    small = own.roles["verbs.empty"] | own.roles["verbs.asides"] | understood.own.period_words
    small |= {reading.words[at] for at in (*showing, *reading.heads)}
    stems = list(map(own.stem, reading.words))
    words = tuple(
        dict.fromkeys(
            word
            for at, word in enumerate(reading.words)
            if word in reading.content
            and word not in small
            and (
                word in parsed.left_out
                or not any(
                    one.generic for _, some in kinds.at(stems, reading.words, at)[:1] for one in some[:1]
                )
            )
        )
    )
    after_agent = {
        word
        for before, word in zip(reading.words, reading.words[1:], strict=False)
        if "agent" in own.preposition_roles(before) and before not in own.roles["prepositions.place"]
    }
    if not words or not after_agent.isdisjoint(words):
        return None  # photographs *by* Curtis are not those that name him
    holding = []
    for word in words:
        forms = (form for form in sorted(own.forms(word) - {word}) if release[SparseIndex].terms(form))
        text = Texted(texts=(word, *forms)[:MOST_FORMS], whole=True)
        described = Related(way=Way(relations=("description",)), to=Anchor(plan=Plan(where=(text,))))
        holding.append(Either(of=(text, described)))
    dated = (one for one in plan.where if isinstance(one, Dated))
    made = Plan(target=target, where=(*holding, *dated), compute=plan.compute)
    try:
        outcome = execute(made, release[World])
    except QuestionError:
        return None
    return (made, words, outcome) if outcome.size else None


SHOWING = frozenset({"depicts", "about", "refers_to"})
"""Relations of which a name or description tells as well."""


def exact_set(release: Release, question: str, dataset: str) -> AnswerSet:
    """The set of a question by itself, as far as our own reading understood it. Raises QuestionError where it has none."""
    found = find_exact(release, understand(release, question), FIRST, None, dataset)
    # A set of everything, of which nothing else was understood, is no answer.
    if not isinstance(found, Exact) or not (found.certain or found.plan.where or found.plan.target.types):
        raise QuestionError(
            "The question is no exact set, as far as it was understood.",
            "Ask it in fewer and plainer words, or search.",
        )
    return found.set


def names_passed_over(
    release: Release, understood: Understood, plan: Plan, read: Collection[str] = ()
) -> tuple[str, ...]:
    """Whole names of several words that a question has and its plan has not: "Book (Bodleian, Arch A)" read as books.
    ``read``: stretches of it that were read as a name, such as one that others are compared with."""
    graph, said = release[Graph], stored(plan).casefold()
    return tuple(
        mention.text
        for mention in individuals(release, understood.own)
        if mention.entities[0].how in WHOLE
        and mention.last - mention.first > 1
        and not any(mention.text in stretch for stretch in read)
        and fold(mention.entities[0].name) not in fold(said)
        and not any(graph.iri(one.entity).casefold() in said for one in mention.entities)
    )


def _as_taught(
    release: Release, lesson: Lesson, language: str, dataset: str, scope: Scope | None
) -> Exact | Parsed:
    """A question read as a curator taught. Raises QuestionError where the plan is none or cannot be executed any more."""
    told = release.method.sets.words(language).taught
    note = told.replace("{who}", lesson.who or "?").replace("{when}", lesson.when[:10] or "?")
    plan = lesson.read()
    if plan is None:
        return Parsed(None, notes=(note,))
    plan = plan if scope is None else scope.restrict(plan)
    outcome = execute(plan, release[World])
    found = answer_set(release, plan, Page(), language, Told(True, ()), outcome, sparql=False, name=dataset)
    return Exact(plan, outcome, found, True, Parsed(plan, 1.0, True, notes=(note,)))


def choices_of(release: Release, exact: Exact) -> tuple[Choice, ...]:
    """The readings that a person may choose from where none is sure: the likeliest and the next, without any that gives
    nothing; none where one is sure."""
    if exact.certain:
        return ()
    made, found = exact.set, [Choice(exact.set.title, exact.set.plan, exact.set.size)]
    if made.suggestion is not None:
        with suppress(QuestionError):  # one that cannot be executed is no choice
            other = read_plan(made.suggestion)
            size = execute(other, release[World]).size
            found.append(Choice(title_of(release, other, made.language), made.suggestion, size))
    return tuple({one.title: one for one in reversed(found) if one.size}.values())[::-1]


def told_set(exact: Exact, cited: SourceList) -> str:
    """The set in sentences, its members cited with the triples that put them there and lead to what is told of them."""

    release = cited.release

    def cite(iri: str) -> str:
        node = release[Graph].node(iri)
        return "" if node is None else f" [{cited.cite(node, _triples(release, exact, node))}]"

    words, told = release.method.sets.words(exact.set.language), prose(exact.set, release.method.sets, cite)
    if words.unrecorded is None or not (untold := _unrecorded(release[World], exact)):
        return told
    return f"{told} {words.unrecorded.of(untold).replace('{n}', str(untold))}"


def _unrecorded(world: World, exact: Exact) -> int:
    """Of how many members nothing at all is recorded of what a plan denies: works that are "not made in Rome", of which no
    place is stated."""
    denied = [
        one
        for one in exact.plan.where
        if isinstance(one, Related) and one.negated and one.to != Anchor() and one.way is not None
    ]
    if not denied or exact.set.kind not in ("list", "count"):
        return 0
    members = exact.outcome.members
    bare = np.ones(len(members), bool)
    for one in denied:
        bare &= ~leading_to(world, one.way, None)[members]
    return int(bare.sum())


def told_to_model(release: Release, exact: Exact, analysis: Analysis) -> KnownSet | None:
    """The set as a language model is told it; None for a reading of ours that may be meant otherwise, which it is not told.

    What a request to tell about something asks for is more than its set.
    """
    if not exact.certain and not exact.by:
        return None
    known = tell_set(release, exact.set, exact.plan, exact.outcome, exact.parsed.sort)
    return replace(known, answers=exact.certain and analysis.reading.rule != TELLING)


def prove_members(exact: Exact, nodes: Iterable[int], cited: SourceList) -> None:
    """To those of the set's members that are cited, why they are in it."""
    for node in filter(cited.has, nodes):
        cited.cite(node, _triples(cited.release, exact, node))


def add_members(exact: Exact, cited: SourceList, most: int) -> None:
    """The set's first members as sources, beside those that its text cites."""
    for member in exact.set.members[:most]:
        node = cited.release[Graph].node(member.iri)
        if node is not None and not cited.has(node):
            cited.cite(node, _triples(cited.release, exact, node))


def _triples(release: Release, exact: Exact, node: int) -> list[SourceTriple]:
    """Why a member is in, and how it leads to its cells, its value or its group; nothing of what is no member."""
    member = next((one for one in exact.set.members if one.iri == release[Graph].iri(node)), None)
    if member is None:
        return []
    reasons, shown = [*member.path], shown_by(exact.plan.compute)
    if shown is not None:
        reasons += reasons_of(release, shown, [node], Reader(release, exact.set.language))[0]
    return list(dict.fromkeys(triple for reason in reasons for triple in reason.triples))


def shown_by(compute: Compute) -> Plan | None:
    """What leads from members to what is told of them, as a plan: the columns of a table, the measure, the group."""
    shown: list[tuple[Way, Anchor]] = []
    for column in compute.columns:
        if column.of is None:
            shown.append((column.way, column.to))
        else:
            shown.append((_led_on(shown[column.of][0], column.way), Anchor()))
    if compute.way is not None:
        shown.append((compute.way, compute.to))
    if compute.measure is not None:
        shown.append((compute.measure.way, compute.measure.to))
    where = tuple(Related(way=way, to=to) for way, to in shown)
    return Plan(where=where) if where else None


def _led_on(way: Way, by: Way) -> Way:
    """The way, and on from its end."""
    return way.model_copy(update={"then": by if way.then is None else _led_on(way.then, by)})


def stored(plan: Plan) -> str:
    """A plan as a turn of a conversation keeps it."""
    return json.dumps(plan_json(plan), ensure_ascii=False, separators=(",", ":"))


def with_notes(notes: Sequence[str], exact: Exact | Parsed) -> list[str]:
    """What the reader should know, with what was chosen while the plan was made."""
    parsed = exact.parsed if isinstance(exact, Exact) else exact
    own = [*exact.notes] if isinstance(exact, Exact) and exact.by else [*parsed.notes]
    return [*notes, *(note for note in own if note not in notes)]


TAUGHT = "taught.yaml"
"""What curators taught: how single questions are to be read, in a file beside a data set's releases.

`crmrag teach` writes it, and it can be read and edited by hand. An accepted or corrected question is read by its plan from
then on, a refused one gives no set; releases that are built later follow it, too. It is looked at anew with every question,
so that a mistake in it costs what it taught and nothing else.
"""
MOST_BYTES = 50 * LARGEST  # of the file: some hundred thousand questions
Verdict = Literal["accepted", "corrected", "refused"]
Words = tuple[str, ...]


class Lesson(Record):
    """How one question is to be read: by ``plan``, or, where it is refused, by none; ``who`` taught it, and when."""

    question: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    verdict: Verdict
    plan: dict[str, Any] | None = None
    who: Annotated[str, StringConstraints(max_length=200)] = ""
    when: Annotated[str, StringConstraints(max_length=40)] = ""
    note: Annotated[str, StringConstraints(max_length=2000)] = ""

    @property
    def words(self) -> Words:
        """The folded words, by which a question is known again."""
        return tuple(tokenize(self.question))

    def read(self) -> Plan | None:
        """The plan, None for a refused question. Raises QuestionError, which names the question, for one that is none."""
        if self.verdict == "refused":
            return None
        if not self.plan:
            remedy = "Give the plan, or write `verdict: refused`."
            raise QuestionError(f"{TAUGHT}, {self.question!r}: {self.verdict}, and no plan.", remedy)
        try:
            return read_plan(self.plan)
        except QuestionError as error:
            raise QuestionError(f"{TAUGHT}, {self.question!r}: {error.what}", error.remedy) from error


class Lessons(Record):
    """The file, oldest first; of several for the same words the last counts."""

    taught: Annotated[tuple[Lesson, ...], Field(max_length=200_000)] = ()


def taught_file(release: Release) -> Path:
    """Where lessons for the data set of a release stand: beside its releases."""
    return release.folder.parent / TAUGHT


def lessons_of(release: Release) -> tuple[Lesson, ...]:
    """What was taught. Raises ConfigError, with every mistake in the file, or QuestionError for a huge one."""
    path = taught_file(release)
    if not path.is_file():
        return ()
    if path.stat().st_size > MOST_BYTES:
        raise QuestionError(
            f"{path} has more than {MOST_BYTES:,} bytes.", "Remove what is not needed from it."
        )
    return read_part(Lessons, path).taught


def lesson_for(release: Release, question: str) -> Lesson | None:
    """What was taught of a question, whatever its case, accents and punctuation; None for nothing. Raises ConfigError."""
    words = tuple(tokenize(question))
    return next((one for one in reversed(lessons_of(release)) if one.words == words), None)


def teach(
    release: Release, question: str, verdict: Verdict, plan: Plan | None = None, who: str = "", note: str = ""
) -> Lesson:
    """Add a lesson in place of those for the same words. Raises ConfigError where the file cannot be read as it is, and
    QuestionError for a question without words or a plan that cannot be executed."""
    if not tokenize(question):
        raise QuestionError("The question has no words.", "Give the question as it is asked.")
    if plan is not None:
        execute(plan, release[World])
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    made = plan_json(plan) if plan is not None else None
    lesson = Lesson(question=question, verdict=verdict, plan=made, who=who, when=when, note=note)
    _write(release, [*(one for one in lessons_of(release) if one.words != lesson.words), lesson])
    return lesson


def forget(release: Release, question: str) -> bool:
    """Take back what was taught of a question; whether there was anything. Raises ConfigError."""
    words, known = tuple(tokenize(question)), lessons_of(release)
    kept = [one for one in known if one.words != words]
    if len(kept) < len(known):
        _write(release, kept)
    return len(kept) < len(known)


def _write(release: Release, lessons: list[Lesson]) -> None:
    rows = [one.model_dump(exclude_defaults=True) for one in lessons]
    head = "# How questions are to be read; see `crmrag teach --help`. It may be edited by hand.\n"
    write_text(
        taught_file(release), head + yaml.safe_dump({"taught": rows}, allow_unicode=True, sort_keys=False)
    )
