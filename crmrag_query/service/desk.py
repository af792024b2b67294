"""The service's own part between a request and the engine: keeping answers, conversations, replays. Runs without HTTP."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from crmrag_query.answers.records import Answer, Done, Event, Used, answer_of, is_lasting
from crmrag_query.bounds import check_text
from crmrag_query.client import wire
from crmrag_query.client.local import Engine
from crmrag_query.client.records import Datasets, Export, Unavailable
from crmrag_query.client.wire import Route
from crmrag_query.codec import Malformed, from_plain, parse_json, to_json
from crmrag_query.config.service import ServiceConfig
from crmrag_query.errors import NotAllowed, NotKept, QuestionError, ReleaseError
from crmrag_query.service import responses as records
from crmrag_query.service.store import KeptText, Store, StoreError, Thread, iso, new_id
from crmrag_query.timing import Kept

T = TypeVar("T")
LOG = logging.getLogger("crmrag.service")
ANSWERS = 200
"""That are kept for a while; one with a large set takes some hundred kilobytes."""
DAMAGED = "Its release is damaged. The service's log has the details."
UNKNOWN = "It may have been removed, or the address is not whole."


@dataclass(frozen=True)
class Desk:
    """Answers every route; ``store`` None: nothing is kept."""

    engine: Engine
    config: ServiceConfig
    store: Store | None = None
    _told: set[Unavailable] = field(default_factory=set)
    _answers: Kept[str, tuple[Event, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        kept = Kept[str, tuple[Event, ...]](ANSWERS, self.config.work.answer_seconds, "answers")
        object.__setattr__(self, "_answers", kept)

    def handle(self, route: Route[Any, Any], request: Any) -> Any:
        """The result of a route of ``wire`` or of the service's own; raises the errors that problem documents tell."""
        own: Mapping[Route[Any, Any], Callable[[Any], Any]] = {
            wire.ASK: self.ask,
            wire.DATASETS: self.datasets,
            wire.EXPORT: self.export,
            records.BEGIN: self.begin,
            records.CONVERSATION: self.conversation,
            records.REMOVE: self.remove,
            records.ANSWER: self.answer,
            records.REPLAY: self.replay,
            records.FEEDBACK: self.feedback,
        }
        return own[route](request) if route in own else self.engine.handle(route, request)

    def ask(self, request: wire.Ask) -> Answer:
        return answer_of(self.stream(request))

    def stream(self, request: wire.Ask) -> Iterator[Event]:
        """The events of an answer, which is kept before its end is told."""
        request = self._within(request)
        for event in self._answered(replace(request, thread="", key="")):
            yield self._kept(request, event) if isinstance(event, Done) else event

    def _answered(self, request: wire.Ask) -> Iterator[Event]:
        """The events of an answer; those of lately, where the same was asked, without the model's usage and times."""
        if not self.config.work.answer_seconds:
            yield from self.engine.stream(request)
            return
        identity = self.engine.identity(request)
        if (before := self._answers.find(identity)) is not None:
            yield from before
            return
        events: list[Event] = []
        for event in self.engine.stream(request):
            if isinstance(event, Done):  # before it is told: who reads its end reads no further
                if is_lasting(event.answer):
                    last = Done(replace(event.answer, timings={}))
                    self._answers.put(identity, (*events, last))
            elif not isinstance(event, Used):
                events.append(event)
            yield event

    def datasets(self, request: wire.ListDatasets) -> Datasets:
        """Why one cannot be asked stands in the log, once, as it may name files of the service."""
        found = self.engine.datasets(request)
        for one in found.unavailable:
            if one not in self._told:
                self._told.add(one)
                LOG.warning("Data set %r cannot be asked: %s", one.name, one.reason)
        return replace(found, unavailable=tuple(replace(one, reason=DAMAGED) for one in found.unavailable))

    def export(self, request: wire.GetExport) -> Export:
        return self.engine.export(request, self.config.bounds.export_characters)

    def begin(self, request: records.Begin) -> records.Begun:
        dataset, _ = self.engine.releases.release(request.dataset)
        return records.Begun(*self._keeping().begin(dataset), dataset)

    def conversation(self, request: records.GetConversation) -> records.Conversation:
        thread = self._thread(request.id)
        turns = (
            records.Turn(one.id, said.question, said.text, iso(one.asked))
            for one in self._keeping().turns(thread.id)
            for said in (_answer(one),)
        )
        return records.Conversation(thread.id, thread.dataset, iso(thread.created), tuple(turns))

    def remove(self, request: records.Remove) -> records.Nothing:
        self._keeping().remove(self._own_thread(request.id, request.key).id)
        return records.Nothing()

    def answer(self, request: records.GetAnswer) -> records.KeptAnswer:
        kept = self._text(request.id)
        return records.KeptAnswer(
            kept.id, iso(kept.asked), self._release(kept.dataset) == kept.release, _answer(kept)
        )

    def replay(self, request: records.Replay) -> records.Replayed:
        kept = self._text(request.id)
        before, asked = _answer(kept), _read(wire.Ask, kept.request)
        now = self.engine.ask(asked)
        same = now.text == before.text and _size(now) == _size(before)
        return records.Replayed(now, same, now.release != before.release)

    def feedback(self, request: records.Feedback) -> records.Nothing:
        check_text("The comment", request.comment, self.config.kept.comment_characters)
        self._keeping().comment(self._text(request.answer).id, request.verdict, request.comment)
        return records.Nothing()

    def mode_of(self, answer: str) -> str:
        """The mode of an answer that is kept."""
        return _answer(self._text(answer)).mode

    def close(self) -> None:
        self.engine.close()
        if self.store is not None:
            self.store.close()

    def _within(self, request: wire.Ask) -> wire.Ask:
        """The request with the state of its conversation, where it names one."""
        if not request.thread:
            return request
        thread = self._own_thread(request.thread, request.key)
        if request.dataset not in (None, thread.dataset):
            raise QuestionError(
                f"The conversation is about the data set {thread.dataset!r}.", "Begin another one."
            )
        turns, last = self._keeping().last_turn(thread.id)
        if turns >= self.config.kept.turns:
            raise QuestionError(f"The conversation has {turns} turns.", "Begin another one.")
        state = {} if last is None else _answer(last).conversation
        return replace(request, dataset=thread.dataset, history=(), conversation=state)

    def _kept(self, request: wire.Ask, event: Done) -> Done:
        """The end with the answer's id; where it cannot be kept, it is given without one."""
        if self.store is None:
            return event
        answer = replace(event.answer, id=new_id())
        asked = replace(request, dataset=answer.dataset, thread="", key="")
        kept = KeptText(
            answer.id, time.time(), answer.dataset, answer.release, request.thread, to_json(asked), to_json(answer)
        )  # fmt: skip
        try:
            self.store.keep(kept)
        except StoreError:
            LOG.exception("An answer is not kept")
            return event
        return Done(answer)

    def _keeping(self) -> Store:
        if self.store is None:
            raise NotKept("This service keeps no answers.", "Send the conversation with each question.")
        return self.store

    def _text(self, id: str) -> KeptText:
        kept = self._keeping().answer(id)
        if kept is None:
            raise NotKept("There is no such answer.", UNKNOWN)
        return kept

    def _thread(self, id: str) -> Thread:
        thread = self._keeping().conversation(id)
        if thread is None:
            raise NotKept("There is no such conversation.", UNKNOWN)
        return thread

    def _own_thread(self, id: str, key: str) -> Thread:
        thread = self._thread(id)
        if not thread.opens(key):
            raise NotAllowed(
                "This conversation is somebody else's.", "It can be read; begin one of your own to ask."
            )
        return thread

    def _release(self, dataset: str) -> str | None:
        try:
            return self.engine.releases.release(dataset)[1].id
        except ReleaseError:
            return None


def _answer(kept: KeptText) -> Answer:
    return _read(Answer, kept.answer)


def _read(kind: type[T], text: str) -> T:
    """What was kept; NotKept where it was by a version that wrote it otherwise."""
    try:
        return from_plain(kind, parse_json(text))
    except Malformed as error:
        raise NotKept(
            "This answer was kept by another version of the service.", "Ask the question again."
        ) from error


def _size(answer: Answer) -> int | None:
    return None if answer.set is None else answer.set.size
