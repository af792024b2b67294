"""The engine in this process: every request of ``wire`` answered from releases on disk. The service runs the same one.

This is the only module of the client that knows how questions are answered.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from crmrag_query.answers.ask import ask
from crmrag_query.answers.lineage import lineage
from crmrag_query.answers.model import Model
from crmrag_query.answers.naming import category_name
from crmrag_query.artifacts.release import Release
from crmrag_query.client import bounds, wire
from crmrag_query.client.entities import describe_entity, list_neighbours, plan_of, search_entities
from crmrag_query.client.events import Done, Event, Evidence, Token
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
)
from crmrag_query.client.releases import Library
from crmrag_query.client.wire import Route
from crmrag_query.context.text import shorten
from crmrag_query.documents.documents import Line
from crmrag_query.errors import QuestionError
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.form import Reading, read_question
from crmrag_query.relationships.plan import Plan
from crmrag_query.retrieval.pipeline import Candidate, retrieve
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.tokenizer import tokenize

QUESTIONS = "questions"
"""Key of the conversation's state."""


@dataclass
class Engine:
    """Answers requests from a library of releases; safe for threads. ``model``: None for extractive answers."""

    library: Library
    model: Model | None = None
    _plans: dict[str, Plan] = field(default_factory=dict)
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
        }
        return handlers[route.path](request)

    def datasets(self, request: wire.ListDatasets) -> Datasets:
        return Datasets(tuple(_dataset(*self.library.release(name)) for name in self.library.names()))

    def ask(self, request: wire.Ask) -> Answer:
        name, release = self.library.release(request.dataset)
        history = _history(request)
        answer = ask(release, request.question, self.model, history)
        return Answer.of(answer, name, {QUESTIONS: [*history, answer.question]})

    def stream(self, request: wire.Ask) -> Iterator[Event]:
        """The events of an answer; errors are raised where they happen."""
        answer = self.ask(request)
        yield Evidence(answer.sources)
        yield from (Token(piece) for piece in re.findall(r"\S+\s*|\s+", answer.text))
        yield Done(answer)

    def retrieve(self, request: wire.Retrieve) -> Ranking:
        name, release = self.library.release(request.dataset)
        bounds.check_text("The question", request.question, release.method.retrieval.question_characters)
        if not request.question.strip():
            raise QuestionError(
                "The question is empty.", "Ask in words, such as: which churches are in Cyprus?"
            )
        if request.k is not None:
            bounds.check_range("k", request.k, 1, bounds.DOCUMENTS)
        method = release.method
        reading = read_question(request.question, method.questions, release.manifest.languages)
        vector = release.encoder.encode([request.question])[0]
        query = Query.of(Analysis(reading), vector, method.retrieval.mentions)
        found = retrieve(release.channels, query, method.retrieval, k=request.k)
        documents = (_ranked(release, reading, at, one) for at, one in enumerate(found.chosen, 1))
        return Ranking(
            request.question, tuple(documents), name, release.id, reading.form.value, dict(found.timings)
        )

    def entity(self, request: wire.GetEntity) -> Entity:
        name, release = self.library.release(request.dataset)
        return describe_entity(release, name, request.iri, request.language, self._plan(release))

    def neighbours(self, request: wire.GetNeighbours) -> Neighbours:
        name, release = self.library.release(request.dataset)
        return list_neighbours(release, name, request.iri, request.limit, request.offset, request.language)

    def search(self, request: wire.Search) -> Found:
        name, release = self.library.release(request.dataset)
        return search_entities(release, name, request.text, request.limit)

    def lineage(self, request: wire.GetLineage) -> Lineage:
        _, release = self.library.release(request.dataset)
        return Lineage.of(lineage(release, request.s, request.p, request.o, request.source))

    def _plan(self, release: Release) -> Plan:
        with self._lock:
            if release.id not in self._plans:
                self._plans[release.id] = plan_of(release)
            return self._plans[release.id]


def _history(request: wire.Ask) -> list[str]:
    """The earlier questions: those of the state where there is one, else those given. QuestionError for other things."""
    told = request.conversation.get(QUESTIONS, []) if request.conversation else list(request.history)
    if not isinstance(told, list) or not all(isinstance(one, str) for one in told):
        raise QuestionError(
            "The state of the conversation is damaged.", "Give the one of an answer, unchanged."
        )
    bounds.check_range("The number of earlier questions", len(told), 0, bounds.HISTORY)
    for one in told:
        bounds.check_text("An earlier question", one)
    return cast(list[str], told)


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
    library = Library(Path(target), dataset)
    if isinstance(model, str):
        from crmrag_query.answers.model import LiteLLM

        model = LiteLLM(model, api_base) if model else None
    return Engine(library, model)
