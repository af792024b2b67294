"""Running the engine's blocking work beside the event loop: bounded, and never held up by a model that hangs."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar, cast

from anyio import CapacityLimiter, to_thread

from crmrag_query.config.service import Work
from crmrag_query.errors import Busy, CrmRagError

T = TypeVar("T")
LOG = logging.getLogger("crmrag.service")


@dataclass
class Workers:
    """Threads for reading, for SPARQL, and for asking where a language model may take its time; a question that nobody waits
    for any more keeps its place until the model answers, so that their number is bounded."""

    work: Work
    _limits: dict[str, CapacityLimiter] = field(default_factory=dict)
    _places: threading.BoundedSemaphore = field(init=False)

    def __post_init__(self) -> None:
        self._places = threading.BoundedSemaphore(self.work.asking)

    async def read(self, work: Callable[[], T]) -> T:
        """What ``work`` gives, in one of the threads for reading."""
        return await to_thread.run_sync(work, limiter=self._limit("reading", self.work.reading))

    async def query(self, work: Callable[[], T]) -> T:
        """What ``work`` gives, in one of the threads for SPARQL: slow queries hold up one another only."""
        return await to_thread.run_sync(work, limiter=self._limit("querying", self.work.querying))

    async def ask(self, work: Callable[[], T]) -> T:
        """What ``work`` gives, in a place for questions; raises Busy."""
        found: T | CrmRagError | None = None
        async for one in self.stream(lambda: iter((work(),))):
            found = one
        if isinstance(found, CrmRagError):
            raise found
        return cast(T, found)

    async def stream(self, start: Callable[[], Iterator[T]]) -> AsyncGenerator[T | CrmRagError]:
        """What ``start`` gives, an error as the last one (one that is not ours is told in the log, here only that there was
        one). Ends early where its reader does; raises Busy."""
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
                for one in start():
                    if unwanted.is_set():
                        break
                    tell(one)
            except CrmRagError as error:
                last = error
            except Exception:
                LOG.exception("A question could not be answered")
                last = CrmRagError(
                    "The service failed at this question.", "The service's log has the details."
                )
            finally:
                self._places.release()  # before the end is told: who hears it may ask again at once
                tell(last)

        threading.Thread(target=work, name="asking", daemon=True).start()
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
