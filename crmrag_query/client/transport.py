"""The seam between the clients and what answers them: this process, or a service over HTTP. Both give the same results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from crmrag_query.client import wire
from crmrag_query.client.events import Event
from crmrag_query.client.wire import Route

if TYPE_CHECKING:  # a client of a service never loads the engine
    from crmrag_query.client.local import Engine

Q = TypeVar("Q")
T = TypeVar("T")


class Transport(Protocol):
    """Sends a request and gives its result; raises the errors of the one tree."""

    def send(self, route: Route[Q, T], request: Q) -> T: ...

    def stream(self, request: wire.Ask) -> Iterator[Event]: ...

    def close(self) -> None: ...


class AsyncTransport(Protocol):
    """The same without blocking."""

    async def send(self, route: Route[Q, T], request: Q) -> T: ...

    def stream(self, request: wire.Ask) -> AsyncIterator[Event]: ...

    async def close(self) -> None: ...


class LocalTransport:
    """In this process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def send(self, route: Route[Q, T], request: Q) -> T:
        return cast(T, self._engine.handle(route, request))

    def stream(self, request: wire.Ask) -> Iterator[Event]:
        return self._engine.stream(request)

    def close(self) -> None:
        pass


class AsyncLocalTransport:
    """In this process, in threads, so that an event loop is not held up."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def send(self, route: Route[Q, T], request: Q) -> T:
        return cast(T, await _in_thread(partial(self._engine.handle, route, request)))

    async def stream(self, request: wire.Ask) -> AsyncIterator[Event]:
        events = self._engine.stream(request)
        try:
            while (event := await _in_thread(partial(next, events, None))) is not None:
                yield event
        finally:
            close = getattr(events, "close", None)
            if close is not None:
                close()

    async def close(self) -> None:
        pass


async def _in_thread(work: Callable[[], Any]) -> Any:
    import anyio.to_thread

    return await anyio.to_thread.run_sync(work)
