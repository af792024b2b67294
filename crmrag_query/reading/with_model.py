"""A language model's way from a question to a plan: one structured call, one repair, and never a guess.

The model is told what of the data set a plan may name (``catalogue``) and writes the plan's JSON (``plan_json``), which is
checked against the data and executed as it stands. A plan that names what is not there, or that gives nothing because a part
of it occurs nowhere, goes back once with what is wrong. Nothing, where each part of a plan occurs by itself, is an answer.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import CrmRagError, QuestionError
from crmrag_query.llm.model import Message, Model, Talk, repair
from crmrag_query.notes import Note
from crmrag_query.ontology.load import normalise_property
from crmrag_query.plans.execute import SECONDS, Outcome, execute
from crmrag_query.plans.records import (
    Anchor,
    Compute,
    Constraint,
    Dated,
    Either,
    Member,
    Part,
    Plan,
    Related,
    StatedIn,
    Target,
    Texted,
    Valued,
    Way,
)
from crmrag_query.plans.world import World, class_numbers
from crmrag_query.reading.catalogue import Earlier, Told, catalogue, written
from crmrag_query.reading.lexicon import local_words
from crmrag_query.reading.plan_json import from_model, read_json, reply_schema
from crmrag_query.relationships.engine import is_iri, read_step
from crmrag_query.text import fold, plain, shorten
from crmrag_query.timing import working

REPLY_TOKENS = 2000  # of one reply
CONSTRAINTS_TOLD = 6  # looked at one by one when a plan gives nothing
REASON = 200  # characters of a model's own words that are passed on
MOST_UNMAPPED = 20  # words; ours
FAULTS = 5  # told at once
_AGAIN = (
    "Reply with the corrected JSON object alone. A plan that is right as it is may be given again; "
    'what the data cannot express goes to "unmapped" or "cannot".'
)


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """What a language model made of a question.

    ``plan``: checked and executed, its result in ``outcome``; None when there is none, or when it leaves something of the
    question out: then ``suggestion`` may hold it, and ``unmapped`` the words that it leaves out. ``empty``: a part of it
    occurs nowhere, so it gives nothing, even after a repair. ``notes``: for the reader; ``failed``: they say that the model
    gave no plan that could be read; ``rounds``: replies of the model; ``sent``, ``received``: tokens, estimated; ``by``: the
    model's name.
    """

    plan: Plan | None = None
    outcome: Outcome | None = None
    empty: bool = False
    suggestion: Plan | None = None
    unmapped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    failed: bool = False
    rounds: int = 0
    sent: int = 0
    received: int = 0
    by: str = ""

    @property
    def usable(self) -> bool:
        """Whether the plan is whole and its set is an answer: to be preferred to one made from the question's words."""
        return self.plan is not None and not self.empty


@dataclass(frozen=True, slots=True)
class _Known:
    """A data set, what the model was told of it, and the plan of the set that was spoken of."""

    world: World
    told: Told
    earlier: Plan | None


def plan_with_model(
    release: Release, question: str, model: Model, earlier: Sequence[Earlier] = ()
) -> ModelPlan:
    """The plan of ``question`` as the model writes it; whatever goes wrong with the model is told in ``notes``.

    ``earlier``: turns before it, oldest first, of which the last with a plan is the set that is spoken of.
    """
    told = catalogue(release, question, earlier)
    last = next((turn.plan for turn in reversed(earlier) if turn.plan is not None), None)
    messages: list[Message] = [
        {"role": "system", "content": release.method.prompts.plan},
        {"role": "user", "content": written(told.message)},
    ]
    talk = Talk(model, release.method.planner.seconds, reply_schema(), REPLY_TOKENS)
    found = _rounds(talk, messages, _Known(release[World], told, last), question)
    return replace(found, rounds=talk.rounds, sent=talk.sent, received=talk.received, by=model.name)


def _rounds(talk: Talk, messages: Sequence[Message], known: _Known, question: str) -> ModelPlan:
    """Two replies at most: the second answers what is wrong with the first."""
    first: ModelPlan | None = None
    wrong = ""
    for _ in range(2):
        try:
            reply = talk.ask(messages)
        except CrmRagError as error:
            note = Note(f"{error} The model gave no {'better ' if first else ''}plan.", "plan")
            return replace(first or ModelPlan(), notes=(note,), failed=True)
        found, wrong = _read(reply, known, question)
        if not wrong:
            return found
        first = found if found.plan else first
        messages = [*messages, *repair(reply, f"{wrong} {_AGAIN}")]
    if first is not None:
        nothing = f"The plan of the model {talk.model.name} gives nothing, also after it was told so."
        return replace(first, notes=(Note(nothing, "plan", passing=False),))
    twice = f"The model {talk.model.name} gave no valid plan, twice: {shorten(wrong, REASON)}"
    return ModelPlan(notes=(Note(twice, "plan", passing=False),), failed=True)


def _read(reply: str, known: _Known, question: str) -> tuple[ModelPlan, str]:
    """What a reply says, and what to tell the model of a plan that is not valid or gives nothing, "" for any other."""
    try:
        plan, unmapped, cannot = _said(read_json(reply), known)
    except (ValueError, CrmRagError, RecursionError) as error:
        return ModelPlan(), f"That is not valid: {_told(error)}"
    if plan is None or unmapped or cannot:
        return _refusal(plan, unmapped, cannot, question), ""
    why = ""
    try:
        with working(SECONDS, "The plan", "Write one with fewer conditions."):
            outcome = execute(plan, known.world)
            if gives_nothing(plan, outcome):
                why = _why_empty(plan, outcome, known.world)
    except CrmRagError as error:  # no ValueError: what the engine itself does wrong is no fault of the model
        return ModelPlan(), f"That cannot be executed: {_told(error)}"
    absent = "; ".join(_absent_properties(plan, known.world))
    if why:
        return ModelPlan(plan, outcome, empty=True), f"{why} {absent}".strip()
    if absent:
        return ModelPlan(), f"That is not valid: {absent}."
    return ModelPlan(plan, outcome), ""


def _said(told: Mapping[str, Any], known: _Known) -> tuple[Plan | None, tuple[str, ...], str]:
    """A reply's JSON, a plan with what could not be mapped or the plan alone: the plan, checked, if any, words it could not
    map, and why it cannot. Raises ValueError, CrmRagError."""
    keys = {"plan", "unmapped", "cannot"}
    if not keys & set(told):
        told = {"plan": told}
    if more := sorted(set(told) - keys):
        raise ValueError(f"the reply has keys that it must not have: {', '.join(more)[:REASON]}")
    words, cannot, plan = told.get("unmapped") or [], told.get("cannot") or "", told.get("plan")
    if not isinstance(words, list) or not isinstance(cannot, str):
        raise ValueError('"unmapped" must be a list of words and "cannot" a text')
    unmapped, cannot = tuple(one for one in map(_clean, words) if one), _clean(cannot)
    refuses = bool(unmapped or cannot)
    if plan is None and not refuses:
        raise ValueError('there is neither a "plan" nor a reason why it "cannot" be made')
    try:
        return None if plan is None else _checked(plan, known), unmapped, cannot
    except (ValueError, CrmRagError):
        if refuses:
            return None, unmapped, cannot
        raise


def _clean(text: object) -> str:
    return shorten(plain(text if isinstance(text, str) else repr(text)), REASON)


def _refusal(plan: Plan | None, words: Sequence[str], cannot: str, question: str) -> ModelPlan:
    """No plan, with what the model could not map: words of the question only, for a label may have spoken through it."""
    asked = fold(question)
    unmapped = tuple(dict.fromkeys(one for one in words if fold(one) in asked))[:MOST_UNMAPPED]
    notes = []
    if unmapped:
        told = ", ".join(unmapped)
        notes.append(Note(f"Not understood: {told}.", "unknown", words=told))
    elif words:
        notes.append(Note("Something of the question was not understood.", "unknown", words="…"))
    if cannot:
        notes.append(Note(f"The model made no plan of the question: “{cannot}”", "plan", passing=False))
    return ModelPlan(suggestion=plan, unmapped=unmapped, notes=tuple(notes))


def _told(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep."
    text = plain(str(error))
    return text if text.endswith(".") else f"{text}."


# Whether a plan speaks of this data set


def _checked(told: object, known: _Known) -> Plan:
    """The plan that a model wrote. Raises ValueError that tells what of it the data set does not know, with what is near.

    A set of everything that there is answers no question: a model that understood nothing writes it.
    """
    if not isinstance(told, dict):
        raise ValueError('"plan" must be an object')
    plan = from_model(told, known.earlier, known.told.groups)
    if not plan.where and plan.target == Target() and plan.compute.kind in ("list", "count", "ask"):
        raise ValueError("the plan restricts nothing: it has neither a target nor conditions")
    if faults := list(dict.fromkeys(_faults(plan, known))):
        raise ValueError("; ".join(faults[:FAULTS]))
    return plan


def parts_of(value: object) -> Iterator[Part]:
    """A part and all parts within it, in their order."""
    if isinstance(value, Part):
        yield value
        value = tuple(getattr(value, name) for name in type(value).model_fields)
    if isinstance(value, tuple):
        for one in value:
            yield from parts_of(one)


def _faults(plan: Plan, known: _Known) -> Iterator[str]:
    world = known.world
    graphs = {iri for names in world.graph.graph_sets for iri in names}
    relationships = [one.id for one in world.catalogue]
    classes = (*world.class_numbers, *world.ontology.classes)
    for part in parts_of(plan):
        iris = getattr(part, "iris", ())
        match part:
            case Way():
                yield from _unknown("relation", part.relations, world.relations)
                yield from _unknown("relationship", part.relationships, relationships)
                steps = (one for one in _properties(part) if not (is_iri(one) or _is_property(one, world)))
                yield from (_not_known("property", name, world.ontology.properties) for name in steps)
            case Target():
                unheard = (name for name in part.classes if class_numbers(world, name) is None)
                yield from (_not_known("class", name, classes) for name in unheard)
                iris = part.types
            case StatedIn():
                yield from _unknown("named graph", part.graphs, graphs)
            case Anchor():  # a type of an anchor may be a class too
                iris = (*iris, *(one for one in part.types if class_numbers(world, one) is None))
        absent = (iri for iri in iris if world.graph.node(iri) is None)
        yield from (_not_known("IRI", iri, known.told.offered, "is not in the data") for iri in absent)


def _absent_properties(plan: Plan, world: World) -> tuple[str, ...]:
    """What is to be told of the IRIs in paths that are no property of the data.

    They are no mistake by themselves, for a plan may ask for what the data does not state; but only one that then finds
    nothing says so: "without a homepage" would hold for everything.
    """
    ways = (part for part in parts_of(plan) if isinstance(part, Way))
    absent = dict.fromkeys(name for way in ways for name in _properties(way) if not _is_property(name, world))
    known = world.property_numbers
    return tuple(_not_known("property", name, known, "does not occur in the data") for name in absent)


def _properties(way: Way) -> Iterator[str]:
    return (read_step(step).code for path in way.paths for step in path)


def _is_property(name: str, world: World) -> bool:
    """Whether the data has it, or CRM does: a property of the standard that is not used is one that nothing states."""
    known = world.ontology.properties
    if name in known or name in world.adjacency.by_code or name in world.property_numbers:
        return True
    spelt = normalise_property(name)
    return spelt is not None and spelt.code in known


def _unknown(what: str, names: Iterable[str], among: Iterable[str]) -> Iterator[str]:
    known = list(among)
    return (_not_known(what, name, known) for name in names if name not in known)


def _not_known(what: str, name: str, among: Iterable[str], how: str = "is not known") -> str:
    near = difflib.get_close_matches(name[:REASON], list(among), n=3)
    remedy = f" (did you mean {' or '.join(near)}?)" if near else ""
    return f"the {what} {name[:REASON]} {how}{remedy}"


def is_settled(plan: Plan, world: World) -> bool:
    """Whether the dates decide every ranking of the plan, those of plans within it included. Raises QuestionError."""
    ranked = (one for one in parts_of(plan) if isinstance(one, Plan) and one.compute.kind == "rank")
    return all(execute(one, world).settled for one in ranked if one.compute.first is not None)


# Why a plan gives nothing


def gives_nothing(plan: Plan, outcome: Outcome) -> bool:
    """Whether a plan gives no members, rows or groups, the count of 0, or "no"."""
    if plan.compute.kind == "compare":
        return not any(outcome.sizes)
    return not (outcome.value if plan.compute.kind in ("count", "ask") else outcome.size)


def _why_empty(plan: Plan, outcome: Outcome, world: World) -> str:
    """Which steps of a plan that gives nothing lead nowhere, in words, with how many its target and each condition have;
    "" where all its parts occur."""
    told, reasons = ["The plan is valid but gives nothing"], list[str]()
    if len(outcome.members):  # but nothing is made of them
        reasons.append(f"It has {len(outcome.members)} members, but {_uncomputed(plan, world)}")
    elif not (whole := _size(world, plan.target)):
        reasons.append("Nothing in the data is of the kind of its target")
    else:
        told.append(f"Its target alone has {whole}")
        for number, one in enumerate(plan.where):
            others = (*plan.where[:number], *plan.where[number + 1 :])
            rest = f", all conditions but it {_size(world, plan.target, *others)}" if others else ""
            if number < CONSTRAINTS_TOLD:
                told.append(f"where[{number}] alone {_size(world, plan.target, one)}{rest}")
            reasons += [f"where[{number}]: {reason}" for reason in _unmet(one, plan.target, world)]
    return ". ".join([*told, *reasons[:FAULTS]]) + "." if reasons else ""


def _unmet(one: Constraint, target: Target, world: World) -> Iterator[str]:
    """The steps of a condition that lead nowhere by themselves: on from what is of the target, or to what it names."""
    way: Way | None = getattr(one, "way", None)
    if one.negated:
        return
    if way is not None and (step := _dead_step(way, target, world)):
        yield f"nothing of the target leads on by {step}"
        return
    match one:
        case Related(to=Anchor(plan=Plan() as inner)) | Member(plan=inner) if not _size_of(inner, world):
            yield "the plan within it gives nothing"
        case Related(to=to) if to != Anchor() and not _size(world, Target(), one):
            yield f"nothing at all leads by {_in_words(one.way, world)} to {_anchor(to, world)}"
        case Dated() if not _size(world, target, Dated(way=way, certain=False)):
            yield f"nothing of the target has a date{f' by {_in_words(way, world)}' if way else ' of its own'}"
        case Texted() if not _size(world, Target(), one):
            where = f"text by {_in_words(way, world)}" if way else "name in the data"
            yield f"no {where} holds {_some(one.texts)}"
        case Valued() if not _size(world, target, one):
            yield f"no number by {_in_words(one.way, world)} is within these bounds"
        case StatedIn() if not _size(world, target, one):
            yield "nothing of the target is stated in these graphs"
        case Either(of=of):
            each = [list(_unmet(part, target, world)) for part in of]
            yield from (reason for reasons in each for reason in reasons if all(each))


def _uncomputed(plan: Plan, world: World) -> str:
    """What leads nowhere from the members of a plan, of which a ranking, groups, pairs or a table finds nothing."""
    compute = plan.compute
    for number, column in enumerate(compute.columns):
        shorter = compute.model_copy(update={"columns": compute.columns[: number + 1]})
        if not execute(plan.model_copy(update={"compute": shorter}), world).size:
            return f"columns[{number}], {_in_words(column.way, world)}, leads nowhere"
    way = compute.measure.way if compute.measure else compute.way
    return f"{_in_words(way, world)} leads nowhere" if way else f"its {compute.kind} finds nothing of them"


def _dead_step(way: Way, target: Target, world: World) -> str:
    """The first step of a way that leads on from nothing that those before it reach, in words; "" where all lead on."""
    steps = [step for link in way.links for step in _steps(link)]
    for at, step in enumerate(steps):
        for before in reversed(steps[:at]):
            step = before.model_copy(update={"then": step})
        if not _size(world, target, Related(way=step)):
            return _in_words(steps[at], world) + (", after the steps before it" if at else "")
    return ""


def _steps(link: Way) -> Sequence[Way]:
    """A link of a way by itself, as ways of one step each where it is but one path."""
    if len(link.paths) == 1 and not (link.relations or link.relationships or link.inverse or link.types):
        return [Way(paths=((step,),)) for step in link.paths[0]]
    return [link.model_copy(update={"then": None})]


def _size(world: World, target: Target, *where: Constraint) -> int:
    """How many of a target meet these conditions."""
    return _size_of(Plan(target=target, where=where), world)


def _size_of(plan: Plan, world: World) -> int:
    try:
        return int(execute(plan.model_copy(update={"compute": Compute(kind="count")}), world).value or 0)
    except QuestionError:
        return 0


def _in_words(way: Way, world: World) -> str:
    """A way by the labels of its links, for who wrote it."""
    relationships = {one.id: one.label for one in world.catalogue}
    told = []
    for link in way.links:
        labels = {
            id: world.relations[id].inverse if link.inverse else world.relations[id].labels
            for id in link.relations
        }
        names = [_quoted(texts.get("en", id)) for id, texts in labels.items()]
        walked = [_quoted(relationships[id]) for id in link.relationships]
        walked += [" → ".join(_step(step, world) for step in path) for path in link.paths]
        if link.types:
            walked = [f"{one} (a {_anchor(Anchor(types=link.types), world)})" for one in walked]
        told.append(
            " or ".join([*names, *(f"{one} read backwards" if link.inverse else one for one in walked)])
        )
    return ", then ".join(told)


def _step(step: str, world: World) -> str:
    code = read_step(step).code
    term = world.ontology.properties.get(code)
    return f"{_quoted(term.labels.get('en', code) if term else local_words(code))} ({step})"


def _anchor(anchor: Anchor, world: World) -> str:
    nodes = (world.graph.node(iri) for iri in (*anchor.iris, *anchor.types))
    labels = [world.graph.label(node) for node in nodes if node is not None] or list(anchor.types)
    return _some(labels) if labels else "what the plan within it gives"


def _some(texts: Sequence[str]) -> str:
    return " or ".join([*map(_quoted, texts[:3]), *([f"{len(texts) - 3} others"] if len(texts) > 3 else [])])


def _quoted(text: str) -> str:
    return f"“{shorten(plain(text), 80)}”"
