"""The client that blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from crmrag_query.answers.records import Answer, Event, Lineage
from crmrag_query.client import records, wire
from crmrag_query.client.base import (
    BaseClient,
    History,
    Identified,
    LocalTransport,
    PlanLike,
    Q,
    T,
    Transport,
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


class Client(BaseClient):
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

    def _send(self, route: Route[Q, T], request: Q) -> T:
        return self._transport.send(route, self._checked(request))

    def ask(
        self,
        question: str,
        history: History = (),
        dataset: str | None = None,
        mode: str = "",
        within: WithinLike = None,
    ) -> Answer:
        """The answer to a question.

        ``history``: the earlier questions of the conversation, oldest first; or the answer before, which carries its state.
        ``mode``: how it is answered, one of ``modes``; "" for the first. ``within``: the part of the data that it is asked
        of: a plan, what has one (a set), or any of ``categories``, ``classes``, ``types``, ``graphs``, ``iris`` and ``plan``.
        Raises QuestionError for a question that cannot be answered as put.
        """
        asked = wire.Ask(question, dataset, *earlier_of(history), mode=mode, within=within_of(within))
        return self._send(wire.ASK, asked)

    def stream(
        self,
        question: str,
        history: History = (),
        dataset: str | None = None,
        mode: str = "",
        within: WithinLike = None,
    ) -> Iterator[Event]:
        """The answer as it comes: ``Evidence``, ``Token`` …, at last ``Done`` with the answer that ``ask`` would give."""
        asked = wire.Ask(question, dataset, *earlier_of(history), mode=mode, within=within_of(within))
        return self._transport.stream(self._checked(asked))

    def modes(self, dataset: str | None = None) -> records.Modes:
        """How questions can be answered, the default first, and what a data set's release lacks for the others."""
        return self._send(wire.MODES, wire.ListModes(dataset))

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
    ) -> records.Themes:
        """What a data set is about: what belongs together in it, the largest first, with the most central members.

        Those of one ``level`` (0 the finest), those ``within`` a theme, one ``theme`` by its id, those that an entity is in
        (``of``), or the outermost. ReleaseError where the release has none.
        """
        asked = wire.ListThemes(dataset, level, within, limit, offset, language, theme, iri_of(of))
        return self._send(wire.THEMES, asked)

    def graph_search(
        self, query: str, limit: int = 10, category: str = "", language: str = "", dataset: str | None = None
    ) -> GraphFound:
        """Entities by meaning, words and name, best first: what they are, what is said of them, relations of the first.

        ``category``: only Thing, Actor, Place, Event, Concept or Time. Where no vectors can be searched, ``note`` says so.
        """
        return self._send(wire.GRAPH_SEARCH, wire.GraphSearch(query, limit, category, dataset, language))

    def graph_context(
        self,
        entity: str | Identified,
        max_hops: int = 2,
        limit: int = AROUND,
        language: str = "",
        dataset: str | None = None,
    ) -> GraphContext:
        """What is within ``max_hops`` triples (1 to 3) of an entity, at most ``limit`` others, with true numbers of triples.

        ``entity``: an IRI, what has one, or a name.
        """
        asked = wire.GetContext(iri_of(entity), max_hops, limit, dataset, language)
        return self._send(wire.GRAPH_CONTEXT, asked)

    def graph_communities(
        self, query: str = "", level: int = 0, limit: int = 5, language: str = "", dataset: str | None = None
    ) -> GraphCommunities:
        """Communities of a ``level`` (0 the finest) that a query finds, or without one the largest.

        ReleaseError where the release has none.
        """
        return self._send(
            wire.GRAPH_COMMUNITIES, wire.FindCommunities(query, level, limit, dataset, language)
        )

    def compare_modes(
        self,
        question: str,
        modes: Sequence[str] | None = None,
        history: History = (),
        dataset: str | None = None,
        within: WithinLike = None,
    ) -> records.ModesCompared:
        """The answers of several modes to one question (None: all that there are), their times, and what sources they share.

        A mode that cannot be asked says so in its place. ``history`` and ``within`` as in ``ask``.
        """
        asked = wire.CompareModes(
            question, dataset, tuple(modes or ()), *earlier_of(history), within=within_of(within)
        )
        return self._send(wire.COMPARE, asked)

    def retrieve(
        self,
        question: str,
        k: int | None = None,
        history: History = (),
        dataset: str | None = None,
        mode: str = "",
        within: WithinLike = None,
    ) -> records.Ranking:
        """The documents that a question is answered from, best first, and the context that they make.

        ``k`` of them instead of as many as its kind gets (the context stays the same); ``history``, ``mode`` and
        ``within`` as in ``ask``.
        """
        asked = wire.Retrieve(question, dataset, k, *earlier_of(history), mode=mode, within=within_of(within))
        return self._send(wire.RETRIEVE, asked)

    def entity(self, iri: str | Identified, language: str = "", dataset: str | None = None) -> records.Entity:
        """All that is known of an entity; UnknownEntity, with suggestions, for an IRI that the data set does not hold.

        ``language``: the one for labels, where the data has it.
        """
        return self._send(wire.ENTITY, wire.GetEntity(iri_of(iri), dataset, language))

    def search(self, text: str, limit: int = 20, dataset: str | None = None) -> records.Found:
        """Entities by name or the beginning of one, best first."""
        return self._send(wire.SEARCH, wire.Search(text, dataset, limit))

    def neighbours(
        self,
        iri: str | Identified,
        limit: int = 50,
        offset: int = 0,
        language: str = "",
        dataset: str | None = None,
    ) -> records.Neighbours:
        """A page of the triples that join an entity with others, both ways; ``offset=page.next`` gives the next one."""
        return self._send(wire.NEIGHBOURS, wire.GetNeighbours(iri_of(iri), dataset, limit, offset, language))

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
        if isinstance(s, SourceTriple):
            triple = s
            s, p, o = triple.s, triple.p, triple.o
        return self._send(wire.LINEAGE, wire.GetLineage(s, p, o, dataset, iri_of(source)))

    def plan(self, question: str, history: History = (), dataset: str | None = None) -> records.PlanFound:
        """The plan that a question becomes, if any, without its set; ``history`` as in ``ask``."""
        return self._send(wire.PLAN, wire.MakePlan(question, dataset, *earlier_of(history)))

    def edit_plan(
        self,
        plan: PlanLike,
        remove: str = "",
        change: Change | None = None,
        language: str = "",
        dataset: str | None = None,
    ) -> records.PlanEdited:
        """A plan checked and told in words: with a part set to something else or a condition added (``change``), then without
        the part that a chip's path names (``remove``)."""
        return self._send(wire.EDIT, wire.EditPlan(plan_of(plan), remove, dataset, language, change))

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
        return self._send(
            wire.CHOICES, wire.GetChoices(plan_of(plan), path, what, text, limit, dataset, language)
        )

    def marks(self, plan: PlanLike, language: str = "", dataset: str | None = None) -> Marks:
        """Where and when the members of a plan's set were, for a map and a line of time; ``plan`` as in ``set``."""
        return self._send(wire.MARKS, wire.GetMarks(plan_of(plan), dataset, language))

    def sparql(self, query: str, limit: int | None = None, dataset: str | None = None) -> SparqlResult:
        """What a reading SPARQL query (SELECT, ASK, CONSTRUCT, DESCRIBE) gives; at most ``limit`` rows or triples.

        Raises QuestionError for anything else, and for a query that takes too long. Needs the extra ``service`` here.
        """
        return self._send(wire.SPARQL, wire.RunSparql(query, dataset, limit))

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
    ) -> AnswerSet:
        """The exact set of a plan, a page of its members in full; ``offset=page.next`` gives the next one.

        ``plan``: plain values, or what has one: a set, an answer with a set, a facet's value. ``sort``: "" for the plan's own
        order, ``label``, ``date`` or ``value``. ``language``: of labels and sentences; "" for English.
        ``columns``: keys that `columns` gives, ``telling`` for those that tell members apart.
        """
        asked = wire.GetSet(
            plan_of(plan), dataset, offset, limit, sort, descending, language, columns=tuple(columns)
        )
        return self._send(wire.SET, asked)

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
        asked = wire.GetSet(
            plan_of(plan), dataset, offset, limit, sort, descending, language, reason, sparql=False
        )
        return self._send(wire.SET, asked)

    def columns(self, plan: PlanLike, language: str = "", dataset: str | None = None) -> Columns:
        """The columns that the members of a plan's set can have, for `set` and `export`: maker, place, material, …"""
        return self._send(wire.COLUMNS, wire.GetColumns(plan_of(plan), dataset, language))

    def facets(
        self, plan: PlanLike, keys: Sequence[str] = (), language: str = "", dataset: str | None = None
    ) -> Facets:
        """How many members are of each type and class, lead to each place, maker and other entity, are of each century.

        Each value has the plan that it narrows the set to. ``keys``: the facets asked for, none for those that say most.
        """
        return self._send(wire.FACETS, wire.GetFacets(plan_of(plan), dataset, language, tuple(keys)))

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
    ) -> records.Export:
        """A plan's whole set as ``csv``, ``json``, ``jsonld`` (Linked Art) or ``geojson``; `Export.save` writes it to a file.

        ``question``: told in it; ``reason``: what is left out for it, in place of the set; ``inline``: JSON-LD with its
        context; ``columns``: keys that `columns` gives, ``telling`` for those that tell members apart.
        """
        asked = wire.GetExport(
            plan_of(plan), format, dataset, question, language, reason, sort, descending, inline, tuple(columns)
        )  # fmt: skip
        return self._send(wire.EXPORT, asked)

    def datasets(self) -> records.Datasets:
        """The data sets at hand."""
        return self._send(wire.DATASETS, wire.ListDatasets())

    def dataset(self, dataset: str | None = None, language: str = "") -> records.DatasetDetail:
        """A data set as a whole: what is in it, how fresh and whole it is, how it was built.

        ``language``: of the names of classes and relationships, and of the questions that are made from the data.
        """
        return self._send(wire.DATASET, wire.GetDataset(dataset, language))

    def candidates(
        self, limit: int = 50, offset: int = 0, dataset: str | None = None, language: str = ""
    ) -> records.PageCandidates:
        """What may be the same as something that a machine read from pages."""
        return self._send(wire.CANDIDATES, wire.ListCandidates(dataset, limit, offset, language))

    def evaluations(self, dataset: str | None = None) -> records.Evaluations:
        """The evaluations of a data set that are at hand."""
        return self._send(wire.EVALUATIONS, wire.ListEvaluations(dataset))

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
