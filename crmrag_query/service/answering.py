"""A desk's answers in the service's threads, which its interfaces (HTTP, MCP, OpenAI's) share: bounded, counted, logged.

Work ends where nobody waits for it any more, and is never held up by a model that hangs.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

from anyio import CapacityLimiter, move_on_after, to_thread

from crmrag_query.answers.records import Answer, Done, Event
from crmrag_query.client import wire
from crmrag_query.client.records import Export
from crmrag_query.client.wire import Route
from crmrag_query.codec import to_json
from crmrag_query.config.service import Work
from crmrag_query.errors import Busy, CrmRagError
from crmrag_query.service.desk import Desk
from crmrag_query.service.observe import Observer
from crmrag_query.service.responses import REPLAY, Feedback
from crmrag_query.timing import check, while_wanted, within

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
