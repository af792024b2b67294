"""A connection of HTTP/1.1 that waits only so long for a request's head; the guard bounds the time of its body."""

from __future__ import annotations

import asyncio
from functools import cache

from uvicorn.protocols.http.h11_impl import H11Protocol

from crmrag_query.config.service import load_service


@cache
def head_seconds() -> float:
    """As configured; read in each process, as worker processes are given no more of a connection than its class."""
    return load_service().connections.head_seconds


class Patient(H11Protocol):
    """Closes a connection on which no whole head of a request comes in time."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._late is None:  # after a request, the next one
            self._wait()
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._late = self.loop.call_later(head_seconds(), self.transport.close)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
