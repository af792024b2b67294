"""The engine in this process: every request of ``wire`` answered from releases on disk. The service runs the same one.

This is the only module of the client that knows how questions are answered.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crmrag_query.answers import ask as engine
from crmrag_query.answers.lineage import lineage
from crmrag_query.answers.naming import category_name
from crmrag_query.answers.prepare import Prepared, prepare, scores_of
from crmrag_query.answers.records import Source
from crmrag_query.answers.sources import SourceList
from crmrag_query.artifacts.release import Release
from crmrag_query.client import bounds, wire
from crmrag_query.client.datasets import describe_dataset, list_evaluations
from crmrag_query.client.entities import describe_entity, find_node, list_neighbours, plan_of, search_entities
from crmrag_query.client.events import (
    Cited,
    Done,
    Event,
    Evidence,
    Planned,
    Restart,
    SetFound,
    Token,
    Used,
)
from crmrag_query.client.overview import DatasetDetail, Evaluations
from crmrag_query.client.records import (
    Answer,
    Dataset,
    Datasets,
    Entity,
    Found,
    Lineage,
    Neighbours,
    RankedDocument,
    Ranking,
    Unavailable,
)
from crmrag_query.client.releases import Library
from crmrag_query.client.sets import AnswerSet, Choices, Export, Facets, Marks, PlanEdited, PlanFound
from crmrag_query.client.wire import Route
from crmrag_query.context.text import shorten
from crmrag_query.documents.documents import Line
from crmrag_query.errors import ReleaseError
from crmrag_query.llm.model import Metered, Model
from crmrag_query.plans.records import read_plan
from crmrag_query.plans.sparql import to_sparql
from crmrag_query.questions.form import Reading
from crmrag_query.questions.state import ConversationState, turns_of
from crmrag_query.relationships.plan import Plan
from crmrag_query.retrieval.pipeline import Candidate
from crmrag_query.retrieval.tokenizer import tokenize
from crmrag_query.sets.build import answer_set, excluded_set
from crmrag_query.sets.choices import choices
from crmrag_query.sets.describe import describe_plan, plan_json, title_of, without
from crmrag_query.sets.editing import changed
from crmrag_query.sets.exports import FORMATS, export
from crmrag_query.sets.facets import facets
from crmrag_query.sets.marks import marks
from crmrag_query.sets.records import Page
from crmrag_query.sparql.records import SparqlResult

if TYPE_CHECKING:
    from crmrag_query.sparql.desk import SparqlDesk

LANGUAGE = "en"  # of sets, where the request names none
KEPT_PLANS = 64  # of the releases that were asked last; each takes milliseconds to make


@dataclass
class Engine:
    """Answers requests from a folder of releases; safe for threads. ``how``: by which language model, if any."""

    releases: Library
    how: engine.Ask = field(default_factory=engine.Ask)
    _plans: dict[str, Plan] = field(default_factory=dict)
    _sparql: SparqlDesk | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def handle(self, route: Route[Any, Any], request: Any) -> Any:
        """The result of any route; raises the errors that the service tells as problem documents."""
        handlers: Mapping[str, Callable[[Any], Any]] = {
            wire.ASK.path: self.ask,
            wire.RETRIEVE.path: self.retrieve,
            wire.ENTITY.path: self.entity,
            wire.NEIGHBOURS.path: self.neighbours,
            wire.SEARCH.path: self.search,
            wire.LINEAGE.path: self.lineage,
            wire.DATASETS.path: self.datasets,
            wire.SET.path: self.set,
            wire.MARKS.path: self.marks,
            wire.FACETS.path: self.facets,
            wire.EXPORT.path: self.export,
            wire.DATASET.path: self.dataset,
            wire.PLAN.path: self.plan,
            wire.EDIT.path: self.edit,
            wire.CHOICES.path: self.choices,
            wire.SPARQL.path: self.sparql,
            wire.EVALUATIONS.path: self.evaluations,
        }
        return handlers[route.path](request)

    def datasets(self, request: wire.ListDatasets) -> Datasets:
        found = list(self.releases.glances())
        default = self.releases.default or (found[0][0] if len(found) == 1 else "")
        return Datasets(
            tuple(_dataset(name, one) for name, one in found if isinstance(one, Release)),
            default,
            tuple(Unavailable(name, str(one)) for name, one in found if isinstance(one, ReleaseError)),
        )

    def dataset(self, request: wire.GetDataset) -> DatasetDetail:
        name, release = self.releases.release(request.dataset)
        return describe_dataset(release, _dataset(name, release))

    def evaluations(self, request: wire.ListEvaluations) -> Evaluations:
        name, _ = self.releases.release(request.dataset)
        return Evaluations(list_evaluations(self.releases.target, name), name)

    def ask(self, request: wire.Ask) -> Answer:
        for event in self.stream(request):
            if isinstance(event, Done):
                return event.answer
        raise AssertionError("a stream ends with Done")

    def stream(self, request: wire.Ask) -> Iterator[Event]:
        """The events of an answer; errors are raised where they happen."""
        name, release = self.releases.release(request.dataset)
        metered = None if self.how.model is None else Metered(self.how.model)
        for event in engine.stream(
            release, request.question, replace(self.how, model=metered), state_of(request)
        ):
            match event:
                case engine.Planned(plan, title, chips):
                    yield Planned(plan, title, chips)
                case engine.SetFound(found):
                    yield SetFound(replace(found, dataset=name))
                case engine.Found(sources):
                    yield Evidence(sources)
                case engine.Token(text):
                    yield Token(text)
                case engine.Restart(reason):
                    yield Restart(reason)
                case engine.Done(answer, state):
                    yield from (Cited(one.start, one.end, one.numbers) for one in answer.citations)
                    if metered is not None:
                        used = metered.usage
                        yield Used(metered.name, used.prompt_tokens, used.completion_tokens, used.cost)
                    yield Done(Answer.of(answer, name, json.loads(state.to_json())))

    def retrieve(self, request: wire.Retrieve) -> Ranking:
        name, release = self.releases.release(request.dataset)
        if request.k is not None:
            bounds.check_range("k", request.k, 1, bounds.DOCUMENTS)
        how = self.how
        prepared = prepare(release, request.question, state_of(request), how.model, how.stages, how.wikidata)
        found, reading = prepared.retrieved, prepared.analysis.reading
        chosen = found.chosen if request.k is None else [*found.chosen, *found.rest][: request.k]
        return Ranking(
            prepared.understood.question,
            tuple(_ranked(release, reading, at, one) for at, one in enumerate(chosen, 1)),
            name,
            release.id,
            reading.form.value,
            prepared.context.render(),
            _sources(release, prepared),
            dict(prepared.timings),
        )

    def entity(self, request: wire.GetEntity) -> Entity:
        name, release = self.releases.release(request.dataset)
        return describe_entity(release, name, request.iri, request.language, self._plan(release))

    def neighbours(self, request: wire.GetNeighbours) -> Neighbours:
        name, release = self.releases.release(request.dataset)
        return list_neighbours(release, name, request.iri, request.limit, request.offset, request.language)

    def search(self, request: wire.Search) -> Found:
        name, release = self.releases.release(request.dataset)
        return search_entities(release, name, request.text, request.limit)

    def lineage(self, request: wire.GetLineage) -> Lineage:
        _, release = self.releases.release(request.dataset)
        return Lineage.of(lineage(release, request.s, request.p, request.o, request.source))

    def plan(self, request: wire.MakePlan) -> PlanFound:
        asked = wire.Ask(request.question, request.dataset, request.history, request.conversation)
        for event in self.stream(asked):
            if isinstance(event, SetFound):
                found = event.set
                plan = dict(found.plan)
                return PlanFound(
                    plan, found.title, found.chips, found.exhaustive, found.unknown, found.language
                )
            if isinstance(event, Done):
                return PlanFound(None, "", (), False, (), event.answer.language)
        raise AssertionError("a stream ends with Done")

    def edit(self, request: wire.EditPlan) -> PlanEdited:
        _, release = self.releases.release(request.dataset)
        plan, language = read_plan(request.plan, release.method.plans), request.language or LANGUAGE
        path = ""
        if request.change is not None:
            for iri in request.change.entities or ():
                find_node(release, iri)
            plan, path = changed(release, plan, request.change, language)
        plan = without(plan, request.remove) if request.remove else plan
        chips = describe_plan(release, plan, language)
        title = title_of(release, plan, language)
        return PlanEdited(plan_json(plan), title, chips, to_sparql(plan, release.world), path)

    def choices(self, request: wire.GetChoices) -> Choices:
        _, release = self.releases.release(request.dataset)
        plan, language = read_plan(request.plan, release.method.plans), request.language or LANGUAGE
        bounds.check_text("The text", request.text)
        found = choices(release, plan, request.path, request.what, request.text, request.limit, language)
        return Choices.of(found)

    def marks(self, request: wire.GetMarks) -> Marks:
        name, release = self.releases.release(request.dataset)
        plan = read_plan(request.plan, release.method.plans)
        return Marks.of(marks(release, plan, request.language or LANGUAGE, name))

    def sparql(self, request: wire.RunSparql) -> SparqlResult:
        _, release = self.releases.release(request.dataset)
        return self._desk().run(release, request.query, request.limit)

    def set(self, request: wire.GetSet) -> AnswerSet:
        name, release = self.releases.release(request.dataset)
        plan, language = read_plan(request.plan, release.method.plans), request.language or LANGUAGE
        page = Page(
            request.offset, -1 if request.limit is None else request.limit, request.sort, request.descending
        )
        bounds.check_range("offset", request.offset, 0, bounds.OFFSET)
        bounds.check_range("limit", page.limit or 0, -1, bounds.MEMBERS)
        if request.reason:
            return AnswerSet.of(excluded_set(release, plan, request.reason, page, language, name=name))
        return AnswerSet.of(answer_set(release, plan, page, language, sparql=request.sparql, name=name))

    def facets(self, request: wire.GetFacets) -> Facets:
        name, release = self.releases.release(request.dataset)
        plan = read_plan(request.plan, release.method.plans)
        return Facets.of(facets(release, plan, request.language or LANGUAGE, request.keys, name))

    def export(self, request: wire.GetExport) -> Export:
        name, release = self.releases.release(request.dataset)
        bounds.check_text("The question", request.question)
        pieces = export(
            release, read_plan(request.plan, release.method.plans), request.format, request.language or LANGUAGE,
            request.question, request.reason, request.sort, request.descending, name, request.inline,
        )  # fmt: skip
        kind, ending = FORMATS[request.format]
        file = f"{name}-{request.reason or 'set'}-{release.id}{ending}"
        return Export("".join(pieces), kind, file, name, release.id)

    def _desk(self) -> SparqlDesk:
        from crmrag_query.sparql.desk import SparqlDesk

        with self._lock:
            if self._sparql is None:
                self._sparql = SparqlDesk()
            return self._sparql

    def close(self) -> None:
        """End what runs beside this process."""
        with self._lock:
            if self._sparql is not None:
                self._sparql.close()
                self._sparql = None

    def _plan(self, release: Release) -> Plan:
        with self._lock:
            if release.id not in self._plans:
                if len(self._plans) >= KEPT_PLANS:
                    self._plans.clear()
                self._plans[release.id] = plan_of(release)
            return self._plans[release.id]


def state_of(request: wire.Ask | wire.Retrieve) -> ConversationState:
    """The conversation before a question: its state, else the earlier questions. QuestionError for what is neither."""
    if request.conversation:
        return ConversationState.from_json(json.dumps(request.conversation))
    bounds.check_range("The number of earlier questions", len(request.history), 0, bounds.HISTORY)
    for one in request.history:
        bounds.check_text("An earlier question", one)
    return turns_of(request.history)


def _sources(release: Release, prepared: Prepared) -> tuple[Source, ...]:
    """The sources of a context, by its numbers; none is cited yet."""
    listed = SourceList(release, prepared.analysis.reading.language, scores_of(release, prepared.retrieved))
    for source in prepared.context.sources:
        listed.cite(source.entity, entities=source.entities)
    return tuple(replace(source, cited=False) for source in listed.sources())


def _dataset(name: str, release: Release) -> Dataset:
    manifest = release.manifest
    return Dataset(
        name,
        manifest.title,
        release.id,
        manifest.licence,
        manifest.attribution,
        manifest.languages,
        manifest.examples,
        manifest.relationships,
        dict(manifest.counts),
    )


def _ranked(release: Release, reading: Reading, rank: int, one: Candidate) -> RankedDocument:
    documents, graph = release.documents, release.graph
    entity = documents.entity(one.document)
    ranks = {name: place + 1 for name, place in one.ranks.items()}
    return RankedDocument(
        rank,
        graph.iri(entity),
        documents.label(one.document),
        category_name(graph, entity),
        one.score,
        ranks,
        _snippet(release, reading, one.document),
    )


def _snippet(release: Release, reading: Reading, document: int) -> str:
    """The line that shares most words with the question, the first of equals; the header where there is no other."""
    text, wanted = release.documents.text(document), set(reading.content)
    lines = [
        text[line.start : line.end] for line in release.documents.lines(document) if line.kind != Line.HEADER
    ]
    best = max(lines, key=lambda line: len(wanted.intersection(tokenize(line))), default=text)
    return shorten(best, release.method.answers.snippet_characters)


def open_engine(
    target: str, dataset: str | None = None, model: str | Model | None = None, api_base: str | None = None
) -> Engine:
    """The engine over a folder; ReleaseNotFound, ReleaseError for one that holds no release."""
    releases = Library(Path(target), dataset)
    if isinstance(model, str):
        from crmrag_query.llm.model import LiteLLM

        model = LiteLLM(model, api_base) if model else None
    return Engine(releases, engine.Ask(model))
