"""The client that blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from crmrag_query.answers.records import SourceTriple
from crmrag_query.client import wire
from crmrag_query.client.base import BaseClient, History, Identified, Target
from crmrag_query.client.events import Event
from crmrag_query.client.overview import DatasetDetail, Evaluations
from crmrag_query.client.records import (
    Answer,
    Datasets,
    Entity,
    Found,
    Lineage,
    Neighbours,
    Ranking,
)
from crmrag_query.client.sets import (
    AnswerSet,
    Choices,
    Export,
    Facets,
    Marks,
    PlanEdited,
    PlanFound,
    PlanLike,
)
from crmrag_query.client.transport import LocalTransport, Transport
from crmrag_query.client.values import Limits, Timeout
from crmrag_query.llm.model import Model
from crmrag_query.sets.records import Change, Sort, What
from crmrag_query.sparql.records import SparqlResult


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

    def plan(self, question: str, history: History = (), dataset: str | None = None) -> PlanFound:
        """The plan that a question becomes, if any, without its set; ``history`` as in ``ask``."""
        return self._transport.send(wire.PLAN, self._planning(question, history, dataset))

    def edit_plan(
        self,
        plan: PlanLike,
        remove: str = "",
        change: Change | None = None,
        language: str = "",
        dataset: str | None = None,
    ) -> PlanEdited:
        """A plan checked and told in words: with a part set to something else or a condition added (``change``), then without
        the part that a chip's path names (``remove``)."""
        return self._transport.send(wire.EDIT, self._editing(plan, remove, language, dataset, change))

    def choices(
        self,
        plan: PlanLike,
        path: str,
        what: What = "entities",
        text: str = "",
        limit: int = 20,
        language: str = "",
        dataset: str | None = None,
    ) -> Choices:
        """What a part of a plan may be set to so that something is left, with exact counts, most members first.

        ``path``: of a chip, or ``where`` for a condition that is added; ``what``: ``entities``, ``kinds`` or ``relation``;
        ``text``: only those whose name holds it.
        """
        return self._transport.send(
            wire.CHOICES, self._choosing(plan, path, what, text, limit, language, dataset)
        )

    def marks(self, plan: PlanLike, language: str = "", dataset: str | None = None) -> Marks:
        """Where and when the members of a plan's set were, for a map and a line of time; ``plan`` as in ``set``."""
        return self._transport.send(wire.MARKS, self._marking(plan, language, dataset))

    def sparql(self, query: str, limit: int | None = None, dataset: str | None = None) -> SparqlResult:
        """What a reading SPARQL query (SELECT, ASK, CONSTRUCT, DESCRIBE) gives; at most ``limit`` rows or triples.

        Raises QuestionError for anything else, and for a query that takes too long. Needs the extra ``service`` here.
        """
        return self._transport.send(
            wire.SPARQL, self._checked(wire.RunSparql(query, self._named(dataset), limit))
        )

    def set(
        self,
        plan: PlanLike,
        offset: int = 0,
        limit: int | None = None,
        sort: Sort = "",
        descending: bool = False,
        language: str = "",
        dataset: str | None = None,
    ) -> AnswerSet:
        """The exact set of a plan, a page of its members in full; ``offset=page.next`` gives the next one.

        ``plan``: plain values, or what has one: a set, an answer with a set, a facet's value. ``sort``: "" for the plan's own
        order, ``label``, ``date`` or ``value``. ``language``: of labels and sentences; "" for English.
        """
        return self._transport.send(
            wire.SET, self._paging(plan, offset, limit, sort, descending, language, dataset)
        )

    def excluded(
        self,
        plan: PlanLike,
        reason: str,
        offset: int = 0,
        limit: int | None = None,
        sort: Sort = "",
        descending: bool = False,
        language: str = "",
        dataset: str | None = None,
    ) -> AnswerSet:
        """What a lack of data keeps out of a plan's set, for one of the reasons that the set tells: a curator's work list."""
        return self._transport.send(
            wire.SET, self._paging(plan, offset, limit, sort, descending, language, dataset, reason)
        )

    def facets(
        self, plan: PlanLike, keys: Sequence[str] = (), language: str = "", dataset: str | None = None
    ) -> Facets:
        """How many members are of each type and class, lead to each place, maker and other entity, are of each century.

        Each value has the plan that it narrows the set to. ``keys``: the facets asked for, none for those that say most.
        """
        return self._transport.send(wire.FACETS, self._faceting(plan, keys, language, dataset))

    def export(
        self,
        plan: PlanLike,
        format: str = "csv",
        question: str = "",
        language: str = "",
        reason: str = "",
        sort: Sort = "",
        descending: bool = False,
        inline: bool = False,
        dataset: str | None = None,
    ) -> Export:
        """A plan's whole set as ``csv``, ``json``, ``jsonld`` (Linked Art) or ``geojson``; `Export.save` writes it to a file.

        ``question``: told in it; ``reason``: what is left out for it, in place of the set; ``inline``: JSON-LD with its
        context.
        """
        asked = self._exporting(plan, format, question, language, reason, sort, descending, inline, dataset)
        return self._transport.send(wire.EXPORT, asked)

    def datasets(self) -> Datasets:
        """The data sets at hand."""
        return self._transport.send(wire.DATASETS, self._checked(wire.ListDatasets()))

    def dataset(self, dataset: str | None = None) -> DatasetDetail:
        """A data set as a whole: what is in it, how fresh and whole it is, how it was built."""
        return self._transport.send(wire.DATASET, self._checked(wire.GetDataset(self._named(dataset))))

    def evaluations(self, dataset: str | None = None) -> Evaluations:
        """The evaluations of a data set that are at hand."""
        return self._transport.send(
            wire.EVALUATIONS, self._checked(wire.ListEvaluations(self._named(dataset)))
        )

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
