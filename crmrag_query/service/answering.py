"""The service's own part between a request and the engine: keeping answers, conversations, replays; and its answers in the
service's threads, which its interfaces (HTTP, MCP, OpenAI's) share: bounded, counted, logged. And the interface like
OpenAI's, so that existing chat front ends can ask: a model for each data set and mode; what does not concern a data set is
ignored.

Work ends where nobody waits for it any more, and is never held up by a model that hangs.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, cast

from anyio import CapacityLimiter, move_on_after, to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from crmrag_query.answers.records import Answer, Done, Event, Restart, Token, Used, answer_of, is_lasting
from crmrag_query.bounds import HISTORY, check_text
from crmrag_query.client import wire
from crmrag_query.client.base import Transport
from crmrag_query.client.library import Library
from crmrag_query.client.records import Datasets, Export, Unavailable
from crmrag_query.client.wire import Q, Route, T
from crmrag_query.codec import Malformed, from_plain, parse_json, to_json, to_plain, to_problem
from crmrag_query.config.service import ServiceConfig, Work
from crmrag_query.errors import (
    Busy,
    CrmRagError,
    NotAllowed,
    NotKept,
    QuestionError,
    ReleaseError,
    ReleaseNotFound,
)
from crmrag_query.llm.model import Model
from crmrag_query.retrieval.channels import ConfiguredModes
from crmrag_query.service import responses
from crmrag_query.service.observe import Observer
from crmrag_query.service.store import KeptText, Store, StoreError, Thread, iso, new_id
from crmrag_query.timing import Kept, check, while_wanted, within

ANSWERS = 200
"""That are kept for a while; one with a large set takes some hundred kilobytes."""
DAMAGED = "Its release is damaged. The service's log has the details."
UNKNOWN = "It may have been removed, or the address is not whole."


class Engine(Transport, Protocol):
    """A transport that answers from releases: `crmrag_query.client.local.Engine`."""

    @property
    def releases(self) -> Library: ...

    @property
    def model(self) -> Model | None: ...

    def without_model(self) -> Engine: ...

    def identity(self, request: wire.Ask) -> str: ...

    def export(self, request: wire.GetExport, most: int) -> Export: ...


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
        """The result of a route of ``wire`` or of the service's own, by the method of its name, here or of the engine."""
        own = getattr(self, route.name, None)
        return self.engine.handle(route, request) if own is None else own(request)

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
        found = self.engine.handle(wire.DATASETS, request)
        for one in found.unavailable:
            if one not in self._told:
                self._told.add(one)
                LOG.warning("Data set %r cannot be asked: %s", one.name, one.reason)
        return replace(found, unavailable=tuple(replace(one, reason=DAMAGED) for one in found.unavailable))

    def export(self, request: wire.GetExport) -> Export:
        return self.engine.export(request, self.config.bounds.export_characters)

    def begin_conversation(self, request: responses.Begin) -> responses.Begun:
        dataset, _ = self.engine.releases.release(request.dataset)
        return responses.Begun(*self._keeping().begin(dataset), dataset)

    def conversation(self, request: responses.GetConversation) -> responses.Conversation:
        thread = self._thread(request.id)
        turns = (
            responses.Turn(one.id, said.question, said.text, iso(one.asked))
            for one in self._keeping().turns(thread.id)
            for said in (_answer(one),)
        )
        return responses.Conversation(thread.id, thread.dataset, iso(thread.created), tuple(turns))

    def remove_conversation(self, request: responses.Remove) -> responses.Nothing:
        self._keeping().remove(self._own_thread(request.id, request.key).id)
        return responses.Nothing()

    def answer(self, request: responses.GetAnswer) -> responses.KeptAnswer:
        kept = self._text(request.id)
        return responses.KeptAnswer(
            kept.id, iso(kept.asked), self._release(kept.dataset) == kept.release, _answer(kept)
        )

    def replay(self, request: responses.Replay) -> responses.Replayed:
        kept = self._text(request.id)
        before, asked = _answer(kept), _read(wire.Ask, kept.request)
        now = answer_of(self.engine.stream(asked))
        same = now.text == before.text and _size(now) == _size(before)
        return responses.Replayed(now, same, now.release != before.release)

    def feedback(self, request: responses.Feedback) -> responses.Nothing:
        check_text("The comment", request.comment, self.config.kept.comment_characters)
        self._keeping().comment(self._text(request.answer).id, request.verdict, request.comment)
        return responses.Nothing()

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


# besides wire.ASK: a language model may have a part in them
ASKING = (wire.RETRIEVE, wire.PLAN, wire.COMPARE, responses.REPLAY)


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
        if isinstance(asked, responses.Feedback):
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
        return self.desk.engine.model is not None

    def _how(self, route: Route[Any, Any]) -> Callable[[Callable[[], Any]], Awaitable[Any]]:
        """In which threads a route is answered: what may wait for a language model is kept from the others."""
        if route in ASKING and self._has_model:
            return self.workers.ask
        return self.workers.query if route is wire.SPARQL else self.workers.read


EXTRACTIVE = "extractive"
"""In place of a mode's name: the default mode, and never with a language model."""
MARK = ":"


def models_of(datasets: Sequence[str], modes: Sequence[str]) -> list[str]:
    """The names of all models; ``modes``: those that there are, the default first."""
    return [f"{name}{MARK}{mode}" if mode else name for name in datasets for mode in ("", *modes, EXTRACTIVE)]


def asked_in(chat: responses.Chat) -> wire.Ask:
    """The question of a chat, with those before it, in the mode that its model names."""
    texts = [one.text for one in chat.messages if one.role == "user"]
    if not texts:
        raise QuestionError("No message of the user is there.", "Send a question as the last message.")
    earlier = tuple(text for text in texts[:-1] if text.strip())
    name, _, mode = chat.model.partition(MARK)
    return wire.Ask(texts[-1], name, earlier[-HISTORY:], mode=mode)


def sources_text(answer: Answer) -> str:
    """The cited sources as a list in Markdown, and the notes; "" for none."""
    lines = []
    for one in answer.sources:
        if one.cited:
            # no Markdown of the data's
            label = re.sub(r"[\\`*_\[\]<>#]", r"\\\g<0>", " ".join(one.label.split()))
            lines.append(f"[{one.n}] {label} <{one.iri}>")
    parts = ["\n".join(["Sources:", *lines])] if lines else []
    parts += [f"Note: {note}" for note in answer.notes]
    return "".join(f"\n\n{part}" for part in parts)


def citations(answer: Answer) -> tuple[str, ...]:
    """IRIs of the cited sources."""
    return tuple(source.iri for source in answer.sources if source.cited)


LAST = "[DONE]"


class OpenAI:
    """Endpoints over a desk."""

    def __init__(self, answering: Answering) -> None:
        desk = answering.desk
        plain = replace(desk, engine=desk.engine.without_model())
        self._answering, self._plain = answering, replace(answering, desk=plain)
        self._names, self._read = desk.engine.releases.names, answering.workers.read
        self._configured = ConfiguredModes(desk.engine.releases.opener.config)
        self._silence = desk.config.heartbeat_seconds

    def _modes(self) -> tuple[str, ...]:
        """The names of all modes, the default first, as they stand in the files now."""
        return tuple(self._configured.all())

    async def models(self) -> Response:
        names = models_of(await self._read(self._names), self._modes()[1:])
        return _told(responses.ChatModels(tuple(map(responses.ChatModel, names))))

    async def model(self, name: str) -> Response:
        names = models_of(await self._read(self._names), self._modes())  # the default by its name, too
        if name not in names:
            return _failed(ReleaseNotFound(f"There is no model {name!r}.", "See /v1/models."))
        return _told(responses.ChatModel(name))

    async def chat(self, request: Request) -> Response:
        """A reply, as a stream of chunks where it is wanted so."""
        try:
            try:
                sent = parse_json(await request.body())
                _require_supported(sent)
                chat = from_plain(responses.Chat, sent)
            except Malformed as error:
                raise QuestionError(
                    f"The request cannot be read: {error}.", "Send what OpenAI's API takes."
                ) from error
            events = self._events(chat)
            if not chat.stream:
                reply = await responses.unless_left(request, _whole(chat, events))
                return Response(status_code=responses.LEFT) if reply is None else _told(reply)
            first = await responses.begun(events, self._silence)
        except CrmRagError as error:
            return _failed(error)
        stream = responses.event_stream(events, first, self._silence, Chunks(chat).written)
        return StreamingResponse(stream, media_type=wire.EVENTS, headers=responses.STREAMED)

    async def _events(self, chat: responses.Chat) -> AsyncGenerator[Event | CrmRagError]:
        """The events of the answer to a chat. A mode that there is not is no error, as front ends keep names of models: the
        answer is in the default one, and says so."""
        asked, modes = asked_in(chat), self._modes()
        named, known = asked.mode, asked.mode in modes
        answering = self._plain if named == EXTRACTIVE else self._answering
        async for event in answering.events(asked if known else replace(asked, mode="")):
            if isinstance(event, Done) and not known and named not in ("", EXTRACTIVE):
                answer, there = event.answer, ", ".join((*modes, EXTRACTIVE))
                note = f"There is no mode {named[:80]!r}: answered in {answer.mode!r}. There are: {there}."
                event = Done(replace(answer, notes=(note, *answer.notes)))
            yield event


async def _whole(chat: responses.Chat, events: AsyncGenerator[Event | CrmRagError]) -> responses.ChatReply:
    used: Used | None = None
    async for event in events:
        if isinstance(event, CrmRagError):
            raise event
        if isinstance(event, Used):
            used = event
        if isinstance(event, Done):
            answer = event.answer
            choice = responses.ChatChoice(responses.ChatMessage(answer.text + sources_text(answer)))
            return responses.ChatReply(
                _id(), chat.model, int(time.time()), (choice,), responses.ChatUsage.of(used), citations(answer),
                responses.ChatAnswer.of(answer),
            )  # fmt: skip
    raise AssertionError("a stream ends with Done or an error")


@dataclass
class Chunks:
    """Events as the pieces of a reply. What was said cannot be taken back: a model that fails is told of, and what its text
    was checked to lack or to hold shows in the sources and notes at the end."""

    chat: responses.Chat
    id: str = field(default_factory=lambda: _id())
    created: int = field(default_factory=lambda: int(time.time()))
    _used: Used | None = None
    _begun: bool = False

    def written(self, event: Event | CrmRagError) -> bytes:
        """What an event adds to the stream."""
        opening = b"" if self._begun else self._chunk({"role": "assistant", "content": ""})
        self._begun = True
        return opening + self._said(event)

    def _said(self, event: Event | CrmRagError) -> bytes:
        match event:
            case Token(text):
                return self._chunk({"content": text})
            case Restart(reason):
                return self._chunk({"content": f"\n\n({reason})\n\n"})
            case Used():
                self._used = event
            case Done(answer):
                extras = {"citations": citations(answer), "crmrag": to_plain(responses.ChatAnswer.of(answer))}
                end = self._chunk({"content": sources_text(answer)}) + self._chunk({}, "stop", **extras)
                if self.chat.stream_options is not None and self.chat.stream_options.include_usage:
                    end += self._chunk({}, choices=[], usage=to_plain(responses.ChatUsage.of(self._used)))
                return end + _line(LAST)
            case CrmRagError():
                return _line(json.dumps(to_plain(_failure(event)), ensure_ascii=False))
        return b""

    def _chunk(self, delta: dict[str, Any], end: str | None = None, **more: Any) -> bytes:
        """A piece of the reply; ``end``: why it is the last one."""
        whole = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.chat.model,
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": end}],
        }
        return _line(json.dumps(whole | more, ensure_ascii=False))


def _require_supported(sent: Any) -> None:
    """QuestionError, which names it, for what would be left out of the reply without a word."""
    given = sent if isinstance(sent, dict) else {}
    for name in ("tools", "functions"):
        if given.get(name):
            raise QuestionError(
                f"`{name}` is not supported: a data set calls none.",
                f"Ask without `{name}`, or use MCP at /mcp.",
            )
    if given.get("n") not in (None, 1):
        raise QuestionError(
            f"`n` is {str(given['n'])[:20]}: there is one answer to a question.", "Leave `n` out."
        )


def unknown_path(path: str, status: int) -> Response:
    """What is told at an address below /v1 that there is not, or not in this way."""
    message = f"There is nothing at {path[:100]} in this way. There are GET /v1/models and POST /v1/chat/completions."
    return _told(
        responses.ChatFailure(responses.ChatError(message, "invalid_request_error", "unknown_url", status)),
        status,
    )


def _line(text: str) -> bytes:
    return f"data: {text}\n\n".encode()


def _told(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(to_json(value), status, responses.UNKEPT | (headers or {}), media_type=wire.JSON)


def _failed(error: CrmRagError) -> Response:
    status = to_problem(error).status
    return _told(_failure(error), status, responses.retry(status))


def _failure(error: CrmRagError) -> responses.ChatFailure:
    """An error as OpenAI's API tells it, in the words of its problem document."""
    told = to_problem(error)
    kind = "invalid_request_error" if told.status < 500 else "server_error"
    code = "model_not_found" if isinstance(error, ReleaseNotFound) else None
    return responses.ChatFailure(
        responses.ChatError(f"{told.detail} {told.remedy}".strip(), kind, code, told.status)
    )


def _id() -> str:
    return f"chatcmpl-{new_id()}"
