"""The client that blocks."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Self

from crmrag_query.answers.records import SourceTriple
from crmrag_query.client import wire
from crmrag_query.client.base import BaseClient, History, Identified, Target
from crmrag_query.client.events import Event
from crmrag_query.client.records import Answer, Datasets, Entity, Found, Lineage, Neighbours, Ranking
from crmrag_query.client.transport import LocalTransport, Transport
from crmrag_query.client.values import Limits, Timeout
from crmrag_query.llm.model import Model


class Client(BaseClient):
    """Asks the data sets of a folder, or of a service, with the same typed results; safe for threads.

    ``target``: a data folder (with releases/ in it), the folder of a release, or the http(s) address of a service.
    ``dataset``: the one to ask where none is named; needed only where there are several. ``model``, ``api_base``: for a
    folder, the language model by its litellm name; None for extractive answers (a service has its own). ``timeout``,
    ``limits``, ``api_key``: for a service.

    A client of a folder serves a new release from the next call on, without being opened again. Errors are those of
    ``crmrag_query.errors``, whichever the target.
    """

    def __init__(
        self,
        target: Target,
        *,
        dataset: str | None = None,
        model: str | Model | None = None,
        api_base: str | None = None,
        timeout: Timeout | None = None,
        limits: Limits | None = None,
        api_key: str | None = None,
    ) -> None:
        super().__init__(
            target, dataset=dataset, model=model, api_base=api_base, timeout=timeout, limits=limits, api_key=api_key
        )  # fmt: skip
        self._transport = self._connected()

    def _connected(self) -> Transport:
        if self._engine is not None:
            return LocalTransport(self._engine)
        from crmrag_query.client.http import HttpTransport

        assert self._service is not None
        return HttpTransport(self._service)

    def ask(self, question: str, history: History = (), dataset: str | None = None) -> Answer:
        """The answer to a question.

        ``history``: the earlier questions of the conversation, oldest first; or the answer before, which carries its state.
        Raises QuestionError for a question that cannot be answered as put.
        """
        return self._transport.send(wire.ASK, self._asking(question, history, dataset))

    def stream(self, question: str, history: History = (), dataset: str | None = None) -> Iterator[Event]:
        """The answer as it comes: ``Evidence``, ``Token`` …, at last ``Done`` with the answer that ``ask`` would give."""
        return self._transport.stream(self._asking(question, history, dataset))

    def retrieve(
        self, question: str, k: int | None = None, history: History = (), dataset: str | None = None
    ) -> Ranking:
        """The documents that a question is answered from, best first, and the context that they make.

        ``k`` of them instead of as many as its kind gets (the context stays the same); ``history`` as in ``ask``.
        """
        return self._transport.send(wire.RETRIEVE, self._retrieving(question, k, history, dataset))

    def entity(self, iri: str | Identified, language: str = "", dataset: str | None = None) -> Entity:
        """All that is known of an entity; UnknownEntity, with suggestions, for an IRI that the data set does not hold.

        ``language``: the one for labels, where the data has it.
        """
        return self._transport.send(wire.ENTITY, self._describing(iri, language, dataset))

    def search(self, text: str, limit: int = 20, dataset: str | None = None) -> Found:
        """Entities by name or the beginning of one, best first."""
        return self._transport.send(wire.SEARCH, self._searching(text, limit, dataset))

    def neighbours(
        self,
        iri: str | Identified,
        limit: int = 50,
        offset: int = 0,
        language: str = "",
        dataset: str | None = None,
    ) -> Neighbours:
        """A page of the triples that join an entity with others, both ways; ``offset=page.next`` gives the next one."""
        return self._transport.send(
            wire.NEIGHBOURS, self._neighbouring(iri, limit, offset, language, dataset)
        )

    def lineage(
        self,
        s: str | SourceTriple,
        p: str = "",
        o: str = "",
        source: str | Identified = "",
        dataset: str | None = None,
    ) -> Lineage:
        """Where a triple comes from and where it shows: a triple of a source, or subject, property and object.

        ``source``: the source that shows it, whose document is looked at too.
        """
        return self._transport.send(wire.LINEAGE, self._tracing(s, p, o, source, dataset))

    def datasets(self) -> Datasets:
        """The data sets at hand."""
        return self._transport.send(wire.DATASETS, self._checked(wire.ListDatasets()))

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
