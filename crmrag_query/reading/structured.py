"""A language model's way from a question to a plan: one structured call, one repair, and never a guess.

The model is told what of the data set a plan may name (``catalogue``), writes the plan's JSON (``structured_form``), and what
it wrote is checked against the data (``structured_check``) and executed. A plan that names what is not there, or that gives
nothing (``structured_empty``), goes back once with what is wrong.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from crmrag_query.artifacts.release import Release
from crmrag_query.config.query import PlannerConfig
from crmrag_query.errors import CrmRagError, ModelError
from crmrag_query.linking import Mention
from crmrag_query.llm.model import Message, Model, reply_of
from crmrag_query.plans.compute import Outcome
from crmrag_query.plans.execute import SECONDS, execute
from crmrag_query.plans.records import Plan
from crmrag_query.plans.world import World
from crmrag_query.reading.catalogue import Earlier, Told, catalogue, written
from crmrag_query.reading.structured_check import Known, absent_properties, check_plan
from crmrag_query.reading.structured_empty import is_empty, why_empty
from crmrag_query.reading.structured_form import from_model, read_json, reply_schema
from crmrag_query.text import fold, plain, shorten, tokens
from crmrag_query.timing import within

REPLY_TOKENS = 2000  # of one reply
REPAIR_CHARACTERS = 6000  # of a faulty reply that is told back to the model
CONSTRAINTS_TOLD = 6  # looked at one by one when a plan gives nothing
REASON = 200  # characters of a model's own words that are passed on
MOST_UNMAPPED = 20  # words; ours
_REFUSED_SCHEMA = frozenset({"BadRequestError", "UnprocessableEntityError", "UnsupportedParamsError"})


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """What a language model made of a question.

    ``plan``: checked and executed, its result in ``outcome``; None when there is none, or when it leaves something of the
    question out: then ``suggestion`` may hold it, and ``unmapped`` the words that it leaves out. ``empty``: the plan gives
    nothing, even after a repair. ``notes``: for the reader; ``rounds``: replies of the model; ``sent``, ``received``: tokens,
    estimated; ``by``: the model's name.
    """

    plan: Plan | None = None
    outcome: Outcome | None = None
    empty: bool = False
    suggestion: Plan | None = None
    unmapped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rounds: int = 0
    sent: int = 0
    received: int = 0
    by: str = ""

    @property
    def usable(self) -> bool:
        """Whether the plan is whole and gives something: to be preferred to one made from the question's words."""
        return self.plan is not None and not self.empty


@dataclass(frozen=True, slots=True)
class _Said:
    """A reply as read: a plan or none, words it could not map, why it cannot."""

    plan: Plan | None
    unmapped: tuple[str, ...]
    cannot: str

    @property
    def refuses(self) -> bool:
        return bool(self.unmapped or self.cannot)


def plan_with_model(
    release: Release,
    question: str,
    mentions: Sequence[Mention],
    model: Model,
    earlier: Sequence[Earlier] = (),
) -> ModelPlan:
    """The plan of ``question`` as the model writes it; whatever goes wrong with the model is told in ``notes``.

    ``mentions``: the entities that the question names; ``earlier``: turns before it, oldest first, of which the last with a
    plan is the set that is spoken of.
    """
    told = catalogue(release, question, mentions, earlier)
    last = next((turn.plan for turn in reversed(earlier) if turn.plan is not None), None)
    known = Known(release[World], _iris(told))
    messages: list[Message] = [
        {"role": "system", "content": release.method.prompts.plan},
        {"role": "user", "content": written(told)},
    ]
    talk = _Talk(model, release.method.planner)
    return talk.counted(_rounds(talk, messages, known, last, question))


def _rounds(
    talk: _Talk, messages: Sequence[Message], known: Known, earlier: Plan | None, question: str
) -> ModelPlan:
    """Two replies at most: the second answers what is wrong with the first."""
    first: ModelPlan | None = None
    reply = ""
    for _ in range(2):
        try:
            reply = talk.ask(messages)
        except CrmRagError as error:
            note = f"{error} The model gave no {'better ' if first else ''}plan."
            return replace(first or ModelPlan(), notes=(note,))
        found, wrong = _read(reply, known, earlier, question)
        if not wrong:
            return found
        first = found if found.plan else first
        messages = [*messages, *_repair(reply, wrong)]
    if first is not None:
        note = f"The plan of the model {talk.model.name} gives nothing, also after it was told so."
        return replace(first, notes=(*first.notes, note))
    return ModelPlan(
        notes=(f"The model {talk.model.name} gave no valid plan, twice: {shorten(wrong, REASON)}",)
    )


def _read(reply: str, known: Known, earlier: Plan | None, question: str) -> tuple[ModelPlan, str]:
    """What a reply says, and what to tell the model of a plan that is not valid or gives nothing, "" for any other."""
    try:
        said = _said(read_json(reply), known, earlier)
    except (ValueError, CrmRagError, RecursionError) as error:
        return ModelPlan(), f"That is not valid: {_told(error)}"
    if said.plan is None or said.refuses:
        return _refusal(said, question), ""
    why = ""
    try:
        with within(SECONDS, "The plan", "Write one with fewer conditions."):
            outcome = execute(said.plan, known.world)
            if is_empty(said.plan, outcome, known.world):
                why = why_empty(said.plan, outcome, known.world, CONSTRAINTS_TOLD)
    except CrmRagError as error:  # no ValueError: what the engine itself does wrong is no fault of the model
        return ModelPlan(), f"That cannot be executed: {_told(error)}"
    absent = "; ".join(absent_properties(said.plan, known))
    if why:
        return ModelPlan(said.plan, outcome, empty=True), f"{why} {absent}".strip()
    if absent:
        return ModelPlan(), f"That is not valid: {absent}."
    return ModelPlan(said.plan, outcome), ""


def _said(told: Mapping[str, Any], known: Known, earlier: Plan | None) -> _Said:
    """A reply's JSON: a plan with what could not be mapped, or the plan alone. Raises ValueError, CrmRagError."""
    keys = {"plan", "unmapped", "cannot"}
    if not keys & set(told):
        told = {"plan": told}
    if more := sorted(set(told) - keys):
        raise ValueError(f"the reply has keys that it must not have: {', '.join(more)[:REASON]}")
    words, cannot = told.get("unmapped") or [], told.get("cannot") or ""
    if not isinstance(words, list) or not isinstance(cannot, str):
        raise ValueError('"unmapped" must be a list of words and "cannot" a text')
    unmapped = tuple(one for one in map(_clean, words) if one)
    cannot = _clean(cannot)
    if told.get("plan") is None and not unmapped and not cannot:
        raise ValueError('there is neither a "plan" nor a reason why it "cannot" be made')
    try:
        return _Said(_plan(told.get("plan"), known, earlier), unmapped, cannot)
    except (ValueError, CrmRagError):
        if unmapped or cannot:
            return _Said(None, unmapped, cannot)
        raise


def _plan(told: object, known: Known, earlier: Plan | None) -> Plan | None:
    if told is None:
        return None
    if not isinstance(told, dict):
        raise ValueError('"plan" must be an object')
    plan = from_model(told, earlier)
    check_plan(plan, known)
    return plan


def _clean(text: object) -> str:
    return shorten(plain(text if isinstance(text, str) else repr(text)), REASON)


def _refusal(said: _Said, question: str) -> ModelPlan:
    """No plan, with what the model could not map: words of the question only, for a label may have spoken through it."""
    asked = fold(question)
    unmapped = tuple(dict.fromkeys(one for one in said.unmapped if fold(one) in asked))[:MOST_UNMAPPED]
    notes = []
    if unmapped:
        notes.append(f"Not understood: {', '.join(unmapped)}.")
    elif said.unmapped:
        notes.append("Something of the question was not understood.")
    if said.cannot:
        notes.append(f"The model made no plan of the question: “{said.cannot}”")
    return ModelPlan(suggestion=said.plan, unmapped=unmapped, notes=tuple(notes))


def _repair(reply: str, wrong: str) -> Sequence[Message]:
    instruction = (
        "Reply with the corrected JSON object alone. A plan that is right as it is may be given again; "
        'what the data cannot express goes to "unmapped" or "cannot".'
    )
    return (
        {"role": "assistant", "content": reply[:REPAIR_CHARACTERS]},
        {"role": "user", "content": f"{wrong} {instruction}"},
    )


def _told(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep."
    text = plain(str(error))
    return text if text.endswith(".") else f"{text}."


def _iris(told: Told) -> tuple[str, ...]:
    """The IRIs of entities and types that were offered."""
    named = [one["iri"] for mention in told.get("named", ()) for one in mention["may be"]]
    return tuple(dict.fromkeys((*named, *(row.split(": ", 1)[0] for row in told.get("types", ())))))


@dataclass(slots=True)
class _Talk:
    """The calls of one question: what they cost, and the time that is left to them."""

    model: Model
    config: PlannerConfig
    plain: bool = False
    rounds: int = 0
    sent: int = 0
    received: int = 0
    begun: float = field(default_factory=time.monotonic)

    def ask(self, messages: Sequence[Message]) -> str:
        """One reply. Raises ModelError."""
        self.sent += sum(tokens(message["content"]) for message in messages)
        reply = self._reply(messages)
        self.rounds += 1
        self.received += tokens(reply)
        return reply

    def _reply(self, messages: Sequence[Message]) -> str:
        if self.plain:
            return reply_of(self.model, messages, self._left)
        try:
            return reply_of(self.model, messages, self._left, reply_schema(), REPLY_TOKENS)
        except ModelError as error:  # a server that takes no schema may still write JSON
            if type(error.__cause__).__name__ not in _REFUSED_SCHEMA:
                raise
            self.plain = True
            return reply_of(self.model, messages, self._left)

    @property
    def _left(self) -> float:
        """Seconds; never none, so that the last call fails by itself."""
        return max(0.01, self.begun + self.config.seconds - time.monotonic())

    def counted(self, found: ModelPlan) -> ModelPlan:
        return replace(found, rounds=self.rounds, sent=self.sent, received=self.received, by=self.model.name)
