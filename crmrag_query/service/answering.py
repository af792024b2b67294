"""A desk's answers in the service's threads: bounded, counted, logged. What its interfaces (HTTP, MCP, OpenAI's) share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from crmrag_query.client import wire
from crmrag_query.client.events import Done, Event
from crmrag_query.client.records import Answer
from crmrag_query.client.wire import Route
from crmrag_query.errors import CrmRagError
from crmrag_query.service.desk import Desk
from crmrag_query.service.observe import Observer
from crmrag_query.service.records import REPLAY
from crmrag_query.service.running import Workers

Q = TypeVar("Q")
T = TypeVar("T")
ASKING = (wire.RETRIEVE, wire.PLAN, REPLAY)  # besides wire.ASK: a language model may have a part in them


@dataclass(frozen=True)
class Answering:
    """``desk`` answers, in ``workers``, seen by ``observer``."""

    desk: Desk
    workers: Workers
    observer: Observer

    def events(self, asked: wire.Ask) -> AsyncGenerator[Event | CrmRagError]:
        """The events of an answer, an error as the last one; they end where their reader does. Raises Busy."""
        return self.workers.stream(lambda: self.observer.watched(self.desk, asked))

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

    def _how(self, route: Route[Any, Any]) -> Callable[[Callable[[], Any]], Awaitable[Any]]:
        """In which threads a route is answered: what may wait for a language model is kept from the others."""
        if route in ASKING and self.desk.engine.how.model is not None:
            return self.workers.ask
        return self.workers.query if route is wire.SPARQL else self.workers.read
