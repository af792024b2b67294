"""What can be asked, for a client that waits for its answers and for one of asyncio and trio, and the seam between them and
what answers: this process, or a service over HTTP."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial, wraps
from types import MethodType, TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, cast, overload

from crmrag_query.answers.records import Answer, Event, Lineage
from crmrag_query.artifacts.objects import is_address
from crmrag_query.client import records, wire
from crmrag_query.client.wire import Q, Route, T
from crmrag_query.errors import CrmRagError, QuestionError
from crmrag_query.sets.records import TELLING, AnswerSet, Change, Choices, Columns, Facets, Marks, Sort, What
from crmrag_query.shown import SourceTriple
from crmrag_query.sparql.evaluate import SparqlResult
from crmrag_query.stores.records import GraphCommunities, GraphContext, GraphFound
from crmrag_query.stores.tools import AROUND


class Transport(Protocol):
    """Answers requests; raises the errors of the one tree."""

    def handle(self, route: Route[Q, T], request: Q) -> T: ...

    def stream(self, request: wire.Ask) -> Iterator[Event]: ...

    def close(self) -> None: ...


class AsyncTransport(Protocol):
    """The same without blocking."""

    async def handle(self, route: Route[Q, T], request: Q) -> T: ...

    def stream(self, request: wire.Ask) -> AsyncIterator[Event]: ...

    async def close(self) -> None: ...


ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_service(target: str) -> bool:
    """Whether a target is the address of a service; else it is a folder or an object store."""
    return ADDRESS.match(target) is not None and not is_address(target)


Target = str | os.PathLike[str]
History = Sequence[str] | Mapping[str, Any] | Answer


class Identified(Protocol):
    """Anything with an IRI: a source, an entity, a document that was found."""

    @property
    def iri(self) -> str: ...


class WithPlan(Protocol):
    """Anything that comes with a plan: the set of an answer, a facet's value, an event."""

    @property
    def plan(self) -> Mapping[str, Any]: ...


class WithSet(Protocol):
    """An answer, whose set has a plan."""

    @property
    def set(self) -> AnswerSet | None: ...


class Dumped(Protocol):
    """A plan as a record."""

    def model_dump(self, *, mode: str) -> dict[str, Any]: ...


PlanLike = Mapping[str, Any] | Dumped | WithPlan | WithSet
"""A plan as plain values or as a ``crmrag_query.plans.records.Plan``, or what has one."""


WithinLike = PlanLike | None
"""A plan; or plain values with any of ``categories``, ``classes``, ``types``, ``graphs``, ``iris``, ``plan``; None: all."""


P = ParamSpec("P")
Sent = tuple[Route[Any, T], Any]
"""What a method sends: a route and its request."""


class method(Generic[P, T]):
    """A method of both clients, written once as what it sends: ``SyncCalls`` gives the result, ``AsyncCalls`` a coroutine."""

    def __init__(self, sent: Callable[Concatenate[Any, P], Sent[T]]) -> None:
        self._sent = sent

    @overload
    def __get__(self, client: None, kind: type) -> Callable[Concatenate[Any, P], Any]: ...
    @overload
    def __get__(self, client: SyncCalls, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncCalls, kind: type) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, client: Any, kind: type) -> Any:
        if client is None:
            return self._sent
        bound = MethodType(self._sent, client)
        return wraps(bound)(lambda *args, **named: client._send(partial(bound, *args, **named)))


class BaseClient:
    """Makes requests; ``SyncCalls`` and ``AsyncCalls`` send them."""

    _dataset: str | None = None
    _target: str = ""
    _closed: bool = False

    @method
    def ask(
        self,
        question: str,
        history: History = (),
        dataset: str | None = None,
        mode: str = "",
        within: WithinLike = None,
    ) -> Sent[Answer]:
        """The answer to a question.

        ``history``: the earlier questions of the conversation, oldest first; or the answer before, which carries its state.
        ``mode``: how it is answered, one of ``modes``; "" for the first. ``within``: the part of the data that it is asked
        of: a plan, what has one (a set), or any of ``categories``, ``classes``, ``types``, ``graphs``, ``iris`` and ``plan``.
        Raises QuestionError for a question that cannot be answered as put.
        """
        return wire.ASK, asked_of(question, history, dataset, mode, within)

    @method
    def modes(self, dataset: str | None = None) -> Sent[records.Modes]:
        """How questions can be answered, the default first, and what a data set's release lacks for the others."""
        return wire.MODES, wire.ListModes(dataset)

    @method
    def themes(
        self,
        dataset: str | None = None,
        level: int | None = None,
        within: str = "",
        limit: int = 20,
        offset: int = 0,
        language: str = "",
        theme: str = "",
        of: str | Identified = "",
    ) -> Sent[records.Themes]:
        """What a data set is about: what belongs together in it, the largest first, with the most central members.

        Those of one ``level`` (0 the finest), those ``within`` a theme, one ``theme`` by its id, those that an entity is in
        (``of``), or the outermost. ReleaseError where the release has none.
        """
        asked = wire.ListThemes(dataset, level, within, limit, offset, language, theme, iri_of(of))
        return wire.THEMES, asked

    @method
    def graph_search(
        self, query: str, limit: int = 10, category: str = "", language: str = "", dataset: str | None = None
    ) -> Sent[GraphFound]:
        """Entities by meaning, words and name, best first: what they are, what is said of them, relations of the first.

        ``category``: only Thing, Actor, Place, Event, Concept or Time. Where no vectors can be searched, ``note`` says so.
        """
        return wire.GRAPH_SEARCH, wire.GraphSearch(query, limit, category, dataset, language)

    @method
    def graph_context(
        self,
        entity: str | Identified,
        max_hops: int = 2,
        limit: int = AROUND,
        language: str = "",
        dataset: str | None = None,
    ) -> Sent[GraphContext]:
        """What is within ``max_hops`` triples (1 to 3) of an entity, at most ``limit`` others, with true numbers of triples.

        ``entity``: an IRI, what has one, or a name.
        """
        asked = wire.GetContext(iri_of(entity), max_hops, limit, dataset, language)
        return wire.GRAPH_CONTEXT, asked

    @method
    def graph_communities(
        self, query: str = "", level: int = 0, limit: int = 5, language: str = "", dataset: str | None = None
    ) -> Sent[GraphCommunities]:
        """Communities of a ``level`` (0 the finest) that a query finds, or without one the largest.

        ReleaseError where the release has none.
        """
        return wire.GRAPH_COMMUNITIES, wire.FindCommunities(query, level, limit, dataset, language)

    @method
    def compare_modes(
        self,
        question: str,
        modes: Sequence[str] | None = None,
        history: History = (),
        dataset: str | None = None,
        within: WithinLike = None,
    ) -> Sent[records.ModesCompared]:
        """The answers of several modes to one question (None: all that there are), their times, and what sources they share.

        A mode that cannot be asked says so in its place. ``history`` and ``within`` as in ``ask``.
        """
        asked = wire.CompareModes(
            question, dataset, tuple(modes or ()), *earlier_of(history), within=within_of(within)
        )
        return wire.COMPARE, asked

    @method
    def retrieve(
        self,
        question: str,
        k: int | None = None,
        history: History = (),
        dataset: str | None = None,
        mode: str = "",
        within: WithinLike = None,
    ) -> Sent[records.Ranking]:
        """The documents that a question is answered from, best first, and the context that they make.

        ``k`` of them instead of as many as its kind gets (the context stays the same); ``history``, ``mode`` and
        ``within`` as in ``ask``.
        """
        asked = wire.Retrieve(question, dataset, k, *earlier_of(history), mode=mode, within=within_of(within))
        return wire.RETRIEVE, asked

    @method
    def entity(
        self, iri: str | Identified, language: str = "", dataset: str | None = None
    ) -> Sent[records.Entity]:
        """All that is known of an entity; UnknownEntity, with suggestions, for an IRI that the data set does not hold.

        ``language``: the one for labels, where the data has it.
        """
        return wire.ENTITY, wire.GetEntity(iri_of(iri), dataset, language)

    @method
    def search(self, text: str, limit: int = 20, dataset: str | None = None) -> Sent[records.Found]:
        """Entities by name or the beginning of one, best first."""
        return wire.SEARCH, wire.Search(text, dataset, limit)

    @method
    def neighbours(
        self,
        iri: str | Identified,
        limit: int = 50,
        offset: int = 0,
        language: str = "",
        dataset: str | None = None,
    ) -> Sent[records.Neighbours]:
        """A page of the triples that join an entity with others, both ways; ``offset=page.next`` gives the next one."""
        return wire.NEIGHBOURS, wire.GetNeighbours(iri_of(iri), dataset, limit, offset, language)

    @method
    def lineage(
        self,
        s: str | SourceTriple,
        p: str = "",
        o: str = "",
        source: str | Identified = "",
        dataset: str | None = None,
    ) -> Sent[Lineage]:
        """Where a triple comes from and where it shows: a triple of a source, or subject, property and object.

        ``source``: the source that shows it, whose document is looked at too.
        """
        if isinstance(s, SourceTriple):
            triple = s
            s, p, o = triple.s, triple.p, triple.o
        return wire.LINEAGE, wire.GetLineage(s, p, o, dataset, iri_of(source))

    @method
    def plan(
        self, question: str, history: History = (), dataset: str | None = None
    ) -> Sent[records.PlanFound]:
        """The plan that a question becomes, if any, without its set; ``history`` as in ``ask``."""
        return wire.PLAN, wire.MakePlan(question, dataset, *earlier_of(history))

    @method
    def edit_plan(
        self,
        plan: PlanLike,
        remove: str = "",
        change: Change | None = None,
        language: str = "",
        dataset: str | None = None,
    ) -> Sent[records.PlanEdited]:
        """A plan checked and told in words: with a part set to something else or a condition added (``change``), then without
        the part that a chip's path names (``remove``)."""
        return wire.EDIT, wire.EditPlan(plan_of(plan), remove, dataset, language, change)

    @method
    def choices(
        self,
        plan: PlanLike,
        path: str,
        what: What = "entities",
        text: str = "",
        limit: int = 20,
        language: str = "",
        dataset: str | None = None,
    ) -> Sent[Choices]:
        """What a part of a plan may be set to so that something is left, with exact counts, most members first.

        ``path``: of a chip, or ``where`` for a condition that is added; ``what``: ``entities``, ``kinds`` or ``relation``;
        ``text``: only those whose name holds it.
        """
        return wire.CHOICES, wire.GetChoices(plan_of(plan), path, what, text, limit, dataset, language)

    @method
    def marks(self, plan: PlanLike, language: str = "", dataset: str | None = None) -> Sent[Marks]:
        """Where and when the members of a plan's set were, for a map and a line of time; ``plan`` as in ``set``."""
        return wire.MARKS, wire.GetMarks(plan_of(plan), dataset, language)

    @method
    def sparql(self, query: str, limit: int | None = None, dataset: str | None = None) -> Sent[SparqlResult]:
        """What a reading SPARQL query (SELECT, ASK, CONSTRUCT, DESCRIBE) gives; at most ``limit`` rows or triples.

        Raises QuestionError for anything else, and for a query that takes too long. Needs the extra ``service`` here.
        """
        return wire.SPARQL, wire.RunSparql(query, dataset, limit)

    @method
    def set(
        self,
        plan: PlanLike,
        offset: int = 0,
        limit: int | None = None,
        sort: Sort = "",
        descending: bool = False,
        language: str = "",
        dataset: str | None = None,
        columns: Sequence[str] = (),
    ) -> Sent[AnswerSet]:
        """The exact set of a plan, a page of its members in full; ``offset=page.next`` gives the next one.

        ``plan``: plain values, or what has one: a set, an answer with a set, a facet's value. ``sort``: "" for the plan's own
        order, ``label``, ``date`` or ``value``. ``language``: of labels and sentences; "" for English.
        ``columns``: keys that `columns` gives, ``telling`` for those that tell members apart.
        """
        asked = wire.GetSet(
            plan_of(plan), dataset, offset, limit, sort, descending, language, columns=tuple(columns)
        )
        return wire.SET, asked

    @method
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
    ) -> Sent[AnswerSet]:
        """What a lack of data keeps out of a plan's set, for one of the reasons that the set tells: a curator's work list."""
        asked = wire.GetSet(
            plan_of(plan), dataset, offset, limit, sort, descending, language, reason, sparql=False
        )
        return wire.SET, asked

    @method
    def columns(self, plan: PlanLike, language: str = "", dataset: str | None = None) -> Sent[Columns]:
        """The columns that the members of a plan's set can have, for `set` and `export`: maker, place, material, …"""
        return wire.COLUMNS, wire.GetColumns(plan_of(plan), dataset, language)

    @method
    def facets(
        self, plan: PlanLike, keys: Sequence[str] = (), language: str = "", dataset: str | None = None
    ) -> Sent[Facets]:
        """How many members are of each type and class, lead to each place, maker and other entity, are of each century.

        Each value has the plan that it narrows the set to. ``keys``: the facets asked for, none for those that say most.
        """
        return wire.FACETS, wire.GetFacets(plan_of(plan), dataset, language, tuple(keys))

    @method
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
        columns: Sequence[str] = (TELLING,),
    ) -> Sent[records.Export]:
        """A plan's whole set as ``csv``, ``json``, ``jsonld`` (Linked Art) or ``geojson``; `Export.save` writes it to a file.

        ``question``: told in it; ``reason``: what is left out for it, in place of the set; ``inline``: JSON-LD with its
        context; ``columns``: keys that `columns` gives, ``telling`` for those that tell members apart.
        """
        asked = wire.GetExport(
            plan_of(plan), format, dataset, question, language, reason, sort, descending, inline, tuple(columns)
        )  # fmt: skip
        return wire.EXPORT, asked

    @method
    def datasets(self) -> Sent[records.Datasets]:
        """The data sets at hand."""
        return wire.DATASETS, wire.ListDatasets()

    @method
    def dataset(self, dataset: str | None = None, language: str = "") -> Sent[records.DatasetDetail]:
        """A data set as a whole: what is in it, how fresh and whole it is, how it was built.

        ``language``: of the names of classes and relationships, and of the questions that are made from the data.
        """
        return wire.DATASET, wire.GetDataset(dataset, language)

    @method
    def candidates(
        self, limit: int = 50, offset: int = 0, dataset: str | None = None, language: str = ""
    ) -> Sent[records.PageCandidates]:
        """What may be the same as something that a machine read from pages."""
        return wire.CANDIDATES, wire.ListCandidates(dataset, limit, offset, language)

    @method
    def evaluations(self, dataset: str | None = None) -> Sent[records.Evaluations]:
        """The evaluations of a data set that are at hand."""
        return wire.EVALUATIONS, wire.ListEvaluations(dataset)

    def __repr__(self) -> str:
        chosen = f", dataset={self._dataset!r}" if self._dataset else ""
        return f"{type(self).__name__}({self._target!r}{chosen})"

    def _checked(self, request: Q) -> Q:
        """The request of this client's data set where it names none, its values checked as the service checks them.

        CrmRagError once the client is closed.
        """
        if self._closed:
            raise CrmRagError("This client is closed.", "Open another one.")
        values = {one.name: getattr(request, one.name) for one in fields(cast(Any, request))}
        if "dataset" in values:
            values["dataset"] = values["dataset"] or self._dataset
        return wire.read_request(type(request), values)


def asked_of(question: str, history: History, dataset: str | None, mode: str, within: WithinLike) -> wire.Ask:
    return wire.Ask(question, dataset, *earlier_of(history), mode=mode, within=within_of(within))


def earlier_of(history: History) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The earlier questions or, where there is one, the state of the conversation."""
    if isinstance(history, Answer):
        return (), history.conversation
    if isinstance(history, Mapping):
        return (), dict(history)
    if isinstance(history, str):
        raise QuestionError("The history is one text.", "Give a list of the earlier questions.")
    if not isinstance(history, Sequence):
        raise QuestionError(f"{history!r:.40} is no history.", "Give a list of the earlier questions.")
    return tuple(history), {}


def within_of(within: WithinLike) -> dict[str, Any]:
    """The part of the data that a question is asked of: a plan, what has one, or a short form of one."""
    if within is None:
        return {}
    if isinstance(within, Mapping) and not {"target", "where", "compute"} & within.keys():
        return dict(within)
    return {"plan": plan_of(within)}


def iri_of(one: str | Identified) -> str:
    iri = one if isinstance(one, str) else getattr(one, "iri", None)
    if not isinstance(iri, str):
        raise QuestionError(f"{one!r:.40} is no entity.", "Give an IRI, or a result that has one.")
    return iri


def plan_of(one: object) -> dict[str, Any]:
    """The plan as plain values. Raises QuestionError for what has none."""
    if isinstance(one, Mapping):
        return dict(one)
    dumped = getattr(one, "model_dump", None)
    if callable(dumped):
        found: dict[str, Any] = dumped(mode="json")
        return found
    for name in ("plan", "set"):
        inner = getattr(one, name, None)
        if inner is not None:
            return plan_of(inner)
    raise QuestionError(
        f"{type(one).__name__} has no plan.", "Give a plan, or the set of an answer that has one."
    )


class SyncCalls(BaseClient):
    """Calls that wait for their results."""

    _transport: Transport

    def _send(self, sent: Callable[[], Sent[T]]) -> T:
        route, request = sent()
        return self._transport.handle(route, self._checked(request))

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


class AsyncCalls(BaseClient):
    """Calls that are awaited."""

    _transport: AsyncTransport

    @classmethod
    def over(cls, transport: AsyncTransport, target: str) -> Self:
        """Calls whose requests ``transport`` answers; ``target``: what it is, in words."""
        client = cls.__new__(cls)
        client._transport, client._target = transport, target
        return client

    async def _send(self, sent: Callable[[], Sent[T]]) -> T:
        route, request = sent()
        return await self._transport.handle(route, self._checked(request))

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
