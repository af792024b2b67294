"""The client for asyncio and trio: ``Client`` without blocking."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Self

from crmrag_query.answers.records import Event
from crmrag_query.client.base import (
    AsyncLocalTransport,
    AsyncTransport,
    BaseClient,
    History,
    Sent,
    T,
    Waiting,
    WithinLike,
    asked_of,
)


class AsyncClient(BaseClient, Waiting):
    """``Client`` without blocking: a folder is read in threads, a service by asynchronous requests. Its methods are those of
    ``Client``, which says what they do."""

    _transport: AsyncTransport

    def _connect(self) -> None:
        if self._engine is not None:
            self._transport = AsyncLocalTransport(self._engine)
            return
        from crmrag_query.client.http import AsyncHttpTransport

        assert self._service is not None
        self._transport = AsyncHttpTransport(self._service)

    @classmethod
    def over(cls, transport: AsyncTransport, target: str) -> Self:
        """A client whose requests ``transport`` answers; ``target``: what it is, in words."""
        client = cls.__new__(cls)
        client._transport, client._target = transport, target
        return client

    async def _send(self, sent: Callable[[], Sent[T]]) -> T:
        route, request = sent()
        return await self._transport.send(route, self._checked(request))

    def stream(
        self,
        question: str,
        history: History = (),
        dataset: str | None = None,
        mode: str = "",
        within: WithinLike = None,
    ) -> AsyncIterator[Event]:
        return self._transport.stream(self._checked(asked_of(question, history, dataset, mode, within)))

    async def close(self) -> None:
        """Give back connections; the client cannot be used any more."""
        self._closed = True
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
