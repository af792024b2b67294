"""Running the engine's blocking work beside the event loop: bounded, and never held up by a model that hangs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from crmrag_query.client.events import Event
from crmrag_query.config.service import Work
from crmrag_query.errors import CrmRagError, ServiceError

T = TypeVar("T")


class Busy(ServiceError):
    """All places for questions are taken."""


@dataclass
class Workers:
    """Threads for reading, and for asking where a language model may take its time; a question that nobody waits for any more
    keeps its place until the model answers, so that their number is bounded."""

    work: Work
    _reading: CapacityLimiter | None = None
    _places: threading.BoundedSemaphore = field(init=False)

    def __post_init__(self) -> None:
        self._places = threading.BoundedSemaphore(self.work.asking)

    async def read(self, work: Callable[[], T]) -> T:
        """What ``work`` gives, in one of the threads for reading."""
        if self._reading is None:  # needs a running event loop
            self._reading = CapacityLimiter(self.work.reading)
        return await to_thread.run_sync(work, limiter=self._reading)

    async def stream(self, start: Callable[[], Iterator[Event]]) -> AsyncIterator[Event | CrmRagError]:
        """The events that ``start`` gives, an error as the last one. Ends early where its reader does; raises Busy."""
        if not self._places.acquire(blocking=False):
            raise Busy("The service has too many questions at once.", "Ask again in a moment.")
        loop, events = asyncio.get_running_loop(), asyncio.Queue[Event | BaseException | None]()
        unwanted = threading.Event()

        def tell(one: Event | BaseException | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(events.put_nowait, one)

        def work() -> None:
            try:
                for event in start():
                    if unwanted.is_set():
                        return
                    tell(event)
                tell(None)
            except BaseException as error:
                tell(error)
            finally:
                self._places.release()

        threading.Thread(target=work, name="asking", daemon=True).start()
        try:
            while (event := await events.get()) is not None:
                if isinstance(event, CrmRagError):
                    yield event
                    return
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            unwanted.set()
