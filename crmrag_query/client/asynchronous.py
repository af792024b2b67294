"""The client for asyncio and trio: ``Client`` without blocking."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Self

from crmrag_query.answers.records import Answer, Event, Lineage
from crmrag_query.client import records, wire
from crmrag_query.client.base import (
    AsyncLocalTransport,
    AsyncTransport,
    BaseClient,
    History,
    Identified,
    PlanLike,
    Q,
    T,
    WithinLike,
    earlier_of,
    iri_of,
    plan_of,
    within_of,
)
from crmrag_query.client.wire import Route
from crmrag_query.entities.named import SourceTriple
from crmrag_query.sets.records import TELLING, AnswerSet, Change, Choices, Columns, Facets, Marks, Sort, What
from crmrag_query.sparql.evaluate import SparqlResult
from crmrag_query.stores.records import GraphCommunities, GraphContext, GraphFound
from crmrag_query.stores.tools import AROUND


class AsyncClient(BaseClient):
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

    async def _send(self, route: Route[Q, T], request: Q) -> T:
        return await self._transport.send(route, self._checked(request))

    async def ask(
        self,
        question: str,
        history: History = (),
        dataset: str | None = None,
        mode: str = "",
        within: WithinLike = None,
    ) -> Answer:
        asked = wire.Ask(question, dataset, *earlier_of(history), mode=mode, within=within_of(within))
        return await self._send(wire.ASK, asked)

    def stream(
        self,
        question: str,
        history: History = (),
        dataset: str | None = None,
        mode: str = "",
        within: WithinLike = None,
    ) -> AsyncIterator[Event]:
        asked = wire.Ask(question, dataset, *earlier_of(history), mode=mode, within=within_of(within))
        return self._transport.stream(self._checked(asked))

    async def themes(
        self,
        dataset: str | None = None,
        level: int | None = None,
        within: str = "",
        limit: int = 20,
        offset: int = 0,
        language: str = "",
        theme: str = "",
        of: str | Identified = "",
    ) -> records.Themes:
        asked = wire.ListThemes(dataset, level, within, limit, offset, language, theme, iri_of(of))
        return await self._send(wire.THEMES, asked)

    async def modes(self, dataset: str | None = None) -> records.Modes:
        return await self._send(wire.MODES, wire.ListModes(dataset))

    async def graph_search(
        self, query: str, limit: int = 10, category: str = "", language: str = "", dataset: str | None = None
    ) -> GraphFound:
        return await self._send(
            wire.GRAPH_SEARCH, wire.GraphSearch(query, limit, category, dataset, language)
        )

    async def graph_context(
        self,
        entity: str | Identified,
        max_hops: int = 2,
        limit: int = AROUND,
        language: str = "",
        dataset: str | None = None,
    ) -> GraphContext:
        asked = wire.GetContext(iri_of(entity), max_hops, limit, dataset, language)
        return await self._send(wire.GRAPH_CONTEXT, asked)

    async def graph_communities(
        self, query: str = "", level: int = 0, limit: int = 5, language: str = "", dataset: str | None = None
    ) -> GraphCommunities:
        return await self._send(
            wire.GRAPH_COMMUNITIES, wire.FindCommunities(query, level, limit, dataset, language)
        )

    async def compare_modes(
        self,
        question: str,
        modes: Sequence[str] | None = None,
        history: History = (),
        dataset: str | None = None,
        within: WithinLike = None,
    ) -> records.ModesCompared:
        asked = wire.CompareModes(
            question, dataset, tuple(modes or ()), *earlier_of(history), within=within_of(within)
        )
        return await self._send(wire.COMPARE, asked)

    async def retrieve(
        self,
        question: str,
        k: int | None = None,
        history: History = (),
        dataset: str | None = None,
        mode: str = "",
        within: WithinLike = None,
    ) -> records.Ranking:
        asked = wire.Retrieve(question, dataset, k, *earlier_of(history), mode=mode, within=within_of(within))
        return await self._send(wire.RETRIEVE, asked)

    async def entity(
        self, iri: str | Identified, language: str = "", dataset: str | None = None
    ) -> records.Entity:
        return await self._send(wire.ENTITY, wire.GetEntity(iri_of(iri), dataset, language))

    async def search(self, text: str, limit: int = 20, dataset: str | None = None) -> records.Found:
        return await self._send(wire.SEARCH, wire.Search(text, dataset, limit))

    async def neighbours(
        self,
        iri: str | Identified,
        limit: int = 50,
        offset: int = 0,
        language: str = "",
        dataset: str | None = None,
    ) -> records.Neighbours:
        return await self._send(
            wire.NEIGHBOURS, wire.GetNeighbours(iri_of(iri), dataset, limit, offset, language)
        )

    async def lineage(
        self,
        s: str | SourceTriple,
        p: str = "",
        o: str = "",
        source: str | Identified = "",
        dataset: str | None = None,
    ) -> Lineage:
        if isinstance(s, SourceTriple):
            triple = s
            s, p, o = triple.s, triple.p, triple.o
        return await self._send(wire.LINEAGE, wire.GetLineage(s, p, o, dataset, iri_of(source)))

    async def plan(
        self, question: str, history: History = (), dataset: str | None = None
    ) -> records.PlanFound:
        return await self._send(wire.PLAN, wire.MakePlan(question, dataset, *earlier_of(history)))

    async def edit_plan(
        self,
        plan: PlanLike,
        remove: str = "",
        change: Change | None = None,
        language: str = "",
        dataset: str | None = None,
    ) -> records.PlanEdited:
        return await self._send(wire.EDIT, wire.EditPlan(plan_of(plan), remove, dataset, language, change))

    async def choices(
        self,
        plan: PlanLike,
        path: str,
        what: What = "entities",
        text: str = "",
        limit: int = 20,
        language: str = "",
        dataset: str | None = None,
    ) -> Choices:
        return await self._send(
            wire.CHOICES, wire.GetChoices(plan_of(plan), path, what, text, limit, dataset, language)
        )

    async def marks(self, plan: PlanLike, language: str = "", dataset: str | None = None) -> Marks:
        return await self._send(wire.MARKS, wire.GetMarks(plan_of(plan), dataset, language))

    async def sparql(self, query: str, limit: int | None = None, dataset: str | None = None) -> SparqlResult:
        return await self._send(wire.SPARQL, wire.RunSparql(query, dataset, limit))

    async def set(
        self,
        plan: PlanLike,
        offset: int = 0,
        limit: int | None = None,
        sort: Sort = "",
        descending: bool = False,
        language: str = "",
        dataset: str | None = None,
        columns: Sequence[str] = (),
    ) -> AnswerSet:
        asked = wire.GetSet(
            plan_of(plan), dataset, offset, limit, sort, descending, language, columns=tuple(columns)
        )
        return await self._send(wire.SET, asked)

    async def excluded(
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
        asked = wire.GetSet(
            plan_of(plan), dataset, offset, limit, sort, descending, language, reason, sparql=False
        )
        return await self._send(wire.SET, asked)

    async def columns(self, plan: PlanLike, language: str = "", dataset: str | None = None) -> Columns:
        return await self._send(wire.COLUMNS, wire.GetColumns(plan_of(plan), dataset, language))

    async def facets(
        self, plan: PlanLike, keys: Sequence[str] = (), language: str = "", dataset: str | None = None
    ) -> Facets:
        return await self._send(wire.FACETS, wire.GetFacets(plan_of(plan), dataset, language, tuple(keys)))

    async def export(
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
        columns: Sequence[str] = (TELLING,),
    ) -> records.Export:
        asked = wire.GetExport(
            plan_of(plan), format, dataset, question, language, reason, sort, descending, inline, tuple(columns)
        )  # fmt: skip
        return await self._send(wire.EXPORT, asked)

    async def datasets(self) -> records.Datasets:
        return await self._send(wire.DATASETS, wire.ListDatasets())

    async def dataset(self, dataset: str | None = None, language: str = "") -> records.DatasetDetail:
        return await self._send(wire.DATASET, wire.GetDataset(dataset, language))

    async def candidates(
        self, limit: int = 50, offset: int = 0, dataset: str | None = None, language: str = ""
    ) -> records.PageCandidates:
        """What may be the same as something that a machine read from pages."""
        return await self._send(wire.CANDIDATES, wire.ListCandidates(dataset, limit, offset, language))

    async def evaluations(self, dataset: str | None = None) -> records.Evaluations:
        return await self._send(wire.EVALUATIONS, wire.ListEvaluations(dataset))

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
