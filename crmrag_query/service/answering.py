"""The service's own part between a request and the engine: keeping answers, conversations, replays; and its answers in the
service's threads, which its interfaces (HTTP, MCP, OpenAI's) share: bounded, counted, logged. Runs without HTTP.

Work ends where nobody waits for it any more, and is never held up by a model that hangs.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar, cast

from anyio import CapacityLimiter, move_on_after, to_thread

from crmrag_query.answers.records import Answer, Done, Event, Used, answer_of, is_lasting
from crmrag_query.bounds import check_text
from crmrag_query.client import wire
from crmrag_query.client.local import Engine
from crmrag_query.client.records import Datasets, Export, Unavailable
from crmrag_query.client.wire import Route
from crmrag_query.codec import Malformed, from_plain, parse_json, to_json
from crmrag_query.config.service import ServiceConfig, Work
from crmrag_query.errors import (
    Busy,
    CrmRagError,
    NotAllowed,
    NotKept,
    QuestionError,
    ReleaseError,
)
from crmrag_query.service import responses as records
from crmrag_query.service.observe import Observer
from crmrag_query.service.responses import REPLAY, Feedback
from crmrag_query.service.store import KeptText, Store, StoreError, Thread, iso, new_id
from crmrag_query.timing import Kept, check, while_wanted, within

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


T = TypeVar("T")
LOG = logging.getLogger("crmrag.service")
EXPORT_WAIT = 10.0
"""Seconds for which an export waits for a place: those before it are mostly made and sent in less."""
EXPORT_SECONDS = 600.0
"""That an export may take: those of large sets take minutes, and hold up no other work than exports."""


@dataclass
class Workers:
    """Threads for reading, for exports, for SPARQL, and for asking where a language model may take its time. Work that nobody
    waits for any more ends at its next step, and keeps its place until then: a question until its model answers."""

    work: Work
    _limits: dict[str, CapacityLimiter] = field(default_factory=dict)
    _places: threading.BoundedSemaphore = field(init=False)

    def __post_init__(self) -> None:
        self._places = threading.BoundedSemaphore(self.work.asking)

    async def read(self, work: Callable[[], T]) -> T:
        """What ``work`` gives, in one of the threads for reading; raises TookTooLong."""
        return await self._run(work, self._limit("reading", self.work.reading))

    async def query(self, work: Callable[[], T]) -> T:
        """What ``work`` gives, in one of the threads for SPARQL: slow queries hold up one another only."""
        return await self._run(work, self._limit("querying", self.work.querying))

    async def export(self, work: Callable[[], T]) -> tuple[T, Callable[[], None]]:
        """What ``work`` gives, and what gives its place back, to be called once that is sent; raises Busy, TookTooLong."""
        places, holder = self._limit("exporting", self.work.exporting), object()
        with move_on_after(EXPORT_WAIT) as waiting:
            await places.acquire_on_behalf_of(holder)
        if waiting.cancelled_caught:
            raise Busy("The service has too many exports at once.", "Ask again in a moment.")
        give_back = partial(places.release_on_behalf_of, holder)
        try:
            made = await self._run(work, self._limit("making exports", self.work.exporting), EXPORT_SECONDS)
            return made, give_back
        except BaseException:
            give_back()
            raise

    async def _run(self, work: Callable[[], T], limit: CapacityLimiter, seconds: float | None = None) -> T:
        """What ``work`` gives, in a thread that keeps its place in the limit until it has ended."""
        gone = threading.Event()

        def wanted() -> T | None:
            with while_wanted(gone), self._in_time(seconds):
                check()
                return work()
            return None  # which nobody hears

        running = asyncio.ensure_future(to_thread.run_sync(wanted, limiter=limit))
        # heard, if by nobody else
        running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        try:
            return cast(T, await asyncio.shield(running))
        finally:
            gone.set()

    def _in_time(self, seconds: float | None = None) -> AbstractContextManager[None]:
        return within(seconds or self.work.seconds, "The request", "Ask for less at once.")

    async def ask(self, work: Callable[[], T]) -> T:
        """What ``work`` gives, in a place for questions; raises Busy."""
        found: T | CrmRagError | None = None
        async for one in self.stream(lambda: iter((work(),)), with_model=True):
            found = one
        if isinstance(found, CrmRagError):
            raise found
        return cast(T, found)

    async def stream(
        self, start: Callable[[], Iterator[T]], with_model: bool
    ) -> AsyncGenerator[T | CrmRagError]:
        """What ``start`` gives, an error as the last one (one that is not ours is told in the log, here only that there was
        one). ``with_model``: in as much time as its language model takes. Ends early where its reader does; raises Busy."""
        if not self._places.acquire(blocking=False):
            raise Busy("The service has too many questions at once.", "Ask again in a moment.")
        loop, given = asyncio.get_running_loop(), asyncio.Queue[T | CrmRagError | None]()
        unwanted = threading.Event()

        def tell(one: T | CrmRagError | None) -> None:
            with suppress(RuntimeError):  # the loop has ended, and with it who asked
                loop.call_soon_threadsafe(given.put_nowait, one)

        def work() -> None:
            last: CrmRagError | None = None
            try:
                with while_wanted(unwanted), nullcontext() if with_model else self._in_time():
                    for one in start():
                        check()
                        tell(one)
            except CrmRagError as error:
                last = error
            except Exception:  # a fault of ours, of any kind: the stream ends with an error
                LOG.exception("A question could not be answered")
                last = CrmRagError(
                    "The service failed at this question.", "The service's log has the details."
                )
            finally:
                self._places.release()  # before the end is told: who hears it may ask again at once
                tell(last)

        # In a copy of who asks' context, so that what it does stands in the trace of the request.
        threading.Thread(target=copy_context().run, args=(work,), name="asking", daemon=True).start()
        try:
            while (one := await given.get()) is not None:
                yield one
                if isinstance(one, CrmRagError):
                    return
        finally:
            unwanted.set()

    def _limit(self, name: str, size: int) -> CapacityLimiter:
        """Made at its first use, as it needs a running event loop."""
        if name not in self._limits:
            self._limits[name] = CapacityLimiter(size)
        return self._limits[name]


Q = TypeVar("Q")
# besides wire.ASK: a language model may have a part in them
ASKING = (wire.RETRIEVE, wire.PLAN, wire.COMPARE, REPLAY)


@dataclass(frozen=True)
class Answering:
    """``desk`` answers, in ``workers``, seen by ``observer``."""

    desk: Desk
    workers: Workers
    observer: Observer

    def events(self, asked: wire.Ask) -> AsyncGenerator[Event | CrmRagError]:
        """The events of an answer, an error as the last one; they end where their reader does. Raises Busy."""
        return self.workers.stream(
            lambda: self.observer.watched(self.desk.stream(asked), asked), self._has_model
        )

    async def answer(self, asked: wire.Ask) -> Answer:
        """The whole answer; raises what a question can fail with."""
        async for event in self.events(asked):
            if isinstance(event, CrmRagError):
                raise event
            if isinstance(event, Done):
                return event.answer
        raise AssertionError("a stream ends with Done or an error")

    async def result(self, route: Route[Q, T], asked: Q) -> T:
        """What any route gives; raises the errors that problem documents tell."""
        if isinstance(asked, wire.Ask):
            return cast(T, await self.answer(asked))
        return cast(T, await self._how(route)(partial(self.desk.handle, route, asked)))

    async def written(self, route: Route[Any, Any], asked: Any) -> bytes:
        """As `result`, as JSON, which is written where it is made: a large one takes a while."""
        found = cast(bytes, await self._how(route)(lambda: to_json(self.desk.handle(route, asked)).encode()))
        if isinstance(asked, Feedback):
            self.observer.feedback.labels(self.desk.mode_of(asked.answer), asked.verdict).inc()
        return found

    async def export(self, asked: wire.GetExport) -> tuple[bytes, Callable[[], None]]:
        """An export as JSON, and what is to be called once it is sent; raises Busy besides."""
        return await self.workers.export(lambda: to_json(self.desk.handle(wire.EXPORT, asked)).encode())

    async def file(self, asked: wire.GetExport) -> tuple[Export, Callable[[], None]]:
        """An export to be sent as the file that it is, and what is to be called once it is sent; raises Busy besides."""
        return await self.workers.export(lambda: cast(Export, self.desk.handle(wire.EXPORT, asked)))

    @property
    def _has_model(self) -> bool:
        return self.desk.engine.how.model is not None

    def _how(self, route: Route[Any, Any]) -> Callable[[Callable[[], Any]], Awaitable[Any]]:
        """In which threads a route is answered: what may wait for a language model is kept from the others."""
        if route in ASKING and self._has_model:
            return self.workers.ask
        return self.workers.query if route is wire.SPARQL else self.workers.read
