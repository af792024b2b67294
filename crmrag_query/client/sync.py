"""The client that waits for its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from crmrag_query.answers.records import Event
from crmrag_query.client.base import (
    BaseClient,
    Blocking,
    History,
    LocalTransport,
    Sent,
    T,
    Transport,
    WithinLike,
    asked_of,
)


class Client(BaseClient, Blocking):
    """Asks the data sets of a folder, or of a service, with the same typed results; safe for threads.

    ``target``: a data folder (with releases/ in it), the folder of a release, or the http(s) address of a service.
    ``dataset``: the one to ask where none is named; needed only where there are several. ``model``, ``api_base``: for a
    folder, the language model by its litellm name; None for extractive answers (a service has its own). ``trust``: for a
    folder, hosts that its releases may have questions sent to, to encode them. ``timeout``, ``limits``, ``api_key``: for a
    service.

    A client of a folder serves a new release from the next call on, without being opened again. Errors are those of
    ``crmrag_query.errors``, whichever the target.
    """

    _transport: Transport

    def _connect(self) -> None:
        if self._engine is not None:
            self._transport = LocalTransport(self._engine)
            return
        from crmrag_query.client.http import HttpTransport

        assert self._service is not None
        self._transport = HttpTransport(self._service)

    def _send(self, sent: Callable[[], Sent[T]]) -> T:
        route, request = sent()
        return self._transport.send(route, self._checked(request))

    def stream(
        self,
        question: str,
        history: History = (),
        dataset: str | None = None,
        mode: str = "",
        within: WithinLike = None,
    ) -> Iterator[Event]:
        """The answer as it comes: ``Evidence``, ``Token`` …, at last ``Done`` with the answer that ``ask`` would give."""
        return self._transport.stream(self._checked(asked_of(question, history, dataset, mode, within)))

    def close(self) -> None:
        """Give back connections; the client cannot be used any more."""
        self._closed = True
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
