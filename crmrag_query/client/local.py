"""The engine in this process: every request of ``wire`` answered from the releases that a folder offers, each opened once and
exchanged when another becomes current. The service runs the same one.

This is the only module of the client that knows how questions are answered.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
from anyio import to_thread

from crmrag_query import bounds
from crmrag_query.answers.ask import Ask, prepare, scores_of, stream
from crmrag_query.answers.exact import lesson_for
from crmrag_query.answers.records import (
    Answer,
    Done,
    Event,
    Lineage,
    SetFound,
    SharedSource,
    Tried,
    Used,
    answer_of,
)
from crmrag_query.answers.sources import SNIPPET_CHARACTERS, SourceList, lineage
from crmrag_query.answers.subject import example_questions
from crmrag_query.answers.understand import FIRST as NO_TURNS
from crmrag_query.artifacts.mirror import mirror_folder
from crmrag_query.artifacts.objects import is_address
from crmrag_query.artifacts.release import Opener, Release
from crmrag_query.client import records, wire
from crmrag_query.client.entities import (
    describe_dataset,
    describe_entity,
    find_node,
    list_evaluations,
    list_neighbours,
    search_entities,
)
from crmrag_query.client.library import Library
from crmrag_query.client.wire import ListThemes, Q, Route, T
from crmrag_query.codec import to_plain
from crmrag_query.config.loading import Mode
from crmrag_query.documents.documents import Documents, Line
from crmrag_query.documents.pages import Pages
from crmrag_query.entities.details import category_name
from crmrag_query.errors import CrmRagError, QuestionError, ReleaseError, in_a_line
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import LiteLLM, Metered, Model
from crmrag_query.plans.records import Plan as SetPlan
from crmrag_query.plans.records import read_plan
from crmrag_query.plans.sparql import to_sparql
from crmrag_query.plans.within import read_within
from crmrag_query.plans.world import World
from crmrag_query.questions.followup import ConversationState, turns_of
from crmrag_query.questions.form import Reading
from crmrag_query.retrieval.channels import find_mode, lacking, modes_of
from crmrag_query.retrieval.communities import NONE, Communities, Summaries
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import ABOVE, BELOW, Calibration
from crmrag_query.retrieval.scores import Candidate
from crmrag_query.sets.build import answer_set, excluded_set
from crmrag_query.sets.describe import changed, describe_plan, plan_json, title_of, without
from crmrag_query.sets.exports import FORMATS, columns, export, with_columns
from crmrag_query.sets.facets import choices, facets, marks
from crmrag_query.sets.records import AnswerSet, Choices, Columns, Facets, Marks, Page
from crmrag_query.shown import Named
from crmrag_query.sparql.desk import SparqlDesk
from crmrag_query.sparql.evaluate import SparqlResult
from crmrag_query.stores.opened import open_store
from crmrag_query.stores.records import GraphCommunities, GraphContext, GraphFound
from crmrag_query.stores.tools import StoreTools
from crmrag_query.text import shorten, tokenize


def try_modes(
    release: Release,
    question: str,
    modes: Sequence[Mode],
    how: Ask,
    state: ConversationState = NO_TURNS,
) -> tuple[Tried, ...]:
    """The question answered in each mode, one after the other, so that their times can be compared. Raises QuestionError for
    a question that no mode can answer as put, and ReleaseError."""
    found, first = list[Tried](), None
    for mode in modes:
        if lacks := lacking(release, mode):
            found.append(Tried(mode.name, None, failed=f"The release has no {', '.join(lacks)}."))
            continue
        start = time.perf_counter()
        try:
            answer, tokens = _answered(release, question, replace(how, mode=mode), state)
        except ReleaseError:
            raise
        except CrmRagError as error:
            first = first or error
            found.append(Tried(mode.name, None, failed=in_a_line(error)))
            continue
        spent = 1000 * (time.perf_counter() - start)
        found.append(Tried(mode.name, answer, round(spent, 1), tokens))
    if first is not None and all(one.answer is None for one in found):
        raise first
    return tuple(found)


def _answered(
    release: Release, question: str, how: Ask, state: ConversationState
) -> tuple[Answer, int | None]:
    """The answer, and the tokens that it took."""
    tokens = None
    metered = None if how.model is None else Metered(how.model)
    for event in stream(release, question, replace(how, model=metered), state):
        if isinstance(event, Used):
            tokens = event.prompt_tokens + event.completion_tokens
        if isinstance(event, Done):
            return event.answer, tokens
    raise AssertionError("a stream ends with Done")


def shared_sources(tried: Sequence[Tried]) -> tuple[SharedSource, ...]:
    """The sources of all answers, those of most modes first, then in the order in which they were found."""
    labels: dict[str, str] = {}
    modes: dict[str, list[str]] = {}
    cited: dict[str, list[str]] = {}
    for one in tried:
        for source in one.answer.sources if one.answer else ():
            labels.setdefault(source.iri, source.label)
            modes.setdefault(source.iri, []).append(one.mode)
            if source.cited:
                cited.setdefault(source.iri, []).append(one.mode)
    found = (
        SharedSource(iri, labels[iri], tuple(of), tuple(cited.get(iri, ()))) for iri, of in modes.items()
    )
    return tuple(sorted(found, key=lambda one: -len(one.modes)))


MEMBERS = 10  # of a theme, the most central


def list_themes(release: Release, dataset: str, request: ListThemes) -> records.Themes:
    """The page of themes that is asked for. QuestionError for a theme that there is not; ReleaseError without communities."""
    bounds.check_range("limit", request.limit, 1, bounds.SEARCH)
    bounds.check_range("offset", request.offset, 0, bounds.OFFSET)
    communities = release[Communities]
    language = request.language or release.manifest.language
    if request.theme:
        chosen = np.array([_number(release, request.theme)], np.int32)
    elif request.of:
        document = release[Documents].document_of(find_node(release, request.of))
        chosen = np.array([] if document is None else communities.of_document(document), np.int32)
    elif request.within:
        chosen = communities.parts(_number(release, request.within))
    elif request.level is not None:
        chosen = communities.of_level(request.level)
    else:
        chosen = communities.outermost
    page = chosen[request.offset : request.offset + request.limit].tolist()
    covered = int(communities.levels[0]["documents"]) if communities.levels else 0
    return records.Themes(
        tuple(_theme(release, one, language) for one in page),
        len(chosen),
        len(communities.levels),
        release[Documents].count - covered,
        language,
        dataset,
        release.id,
    )


def _number(release: Release, theme: str) -> int:
    number = release[Communities].number(theme)
    if number is None:
        raise QuestionError(
            f"There is no theme {theme[:40]!r} in release {release.id}.",
            "Ids change with a theme's members: list the themes again.",
        )
    return number


def _theme(release: Release, community: int, language: str) -> records.ThemeInfo:
    communities, documents = release[Communities], release[Documents]
    told = release[Summaries].tell(community, language)
    parent = int(communities.parent[community])
    nodes = [documents.entity(one) for one in communities.members(community, MEMBERS).tolist()]
    graph = documents.graph
    return records.ThemeInfo(
        id=communities.name(community),
        level=int(communities.level[community]),
        rank=int(communities.rank[community]),
        size=communities.size(community),
        title=told.title,
        text=told.text,
        model=told.model,
        parent="" if parent == NONE else communities.name(parent),
        parts=len(communities.parts(community)),
        members=tuple(Named(graph.iri(node), graph.label(node, (language,))) for node in nodes),
    )


CANDIDATES_AT_ONCE = 1000


OfAPlan = (
    wire.EditPlan
    | wire.GetChoices
    | wire.GetMarks
    | wire.GetColumns
    | wire.GetSet
    | wire.GetFacets
    | wire.GetExport
)
LANGUAGE = "en"  # of sets, where the request names none


@dataclass
class Engine:
    """Answers requests from a folder of releases; safe for threads. ``how``: by which language model, if any."""

    releases: Library
    how: Ask = field(default_factory=Ask)
    _sparql: SparqlDesk | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def model(self) -> Model | None:
        """The language model that answers, if any."""
        return self.how.model

    def without_model(self) -> Engine:
        """An engine of the same releases that answers without a language model."""
        return replace(self, how=replace(self.how, model=None))

    def handle(self, route: Route[Q, T], request: Q) -> T:
        """The result of any route, by the method of its name; raises the errors that problem documents tell."""
        try:
            return cast(T, getattr(self, route.name)(request))
        except CrmRagError:
            raise
        except Exception as error:
            if not hasattr(request, "dataset"):
                raise
            _, release = self.releases.release(request.dataset)
            with release.reading():  # which tells where that is the release's fault
                raise error
            raise

    def datasets(self, request: wire.ListDatasets) -> records.Datasets:
        found = list(self.releases.glances())
        default = self.releases.default or (found[0][0] if len(found) == 1 else "")
        return records.Datasets(
            tuple(_dataset(name, one) for name, one in found if isinstance(one, Release)),
            default,
            tuple(
                records.Unavailable(name, str(one)) for name, one in found if isinstance(one, ReleaseError)
            ),
        )

    def dataset(self, request: wire.GetDataset) -> records.DatasetDetail:
        """With questions made from the data where none are declared."""
        name, release = self.releases.release(request.dataset)
        told, language = _dataset(name, release), request.language or release.manifest.language
        if not told.examples:
            made = example_questions(release, language)
            told = replace(told, examples=tuple(question for _, question in made))
        return describe_dataset(release, told, language)

    def candidates(self, request: wire.ListCandidates) -> records.PageCandidates:
        bounds.check_range("limit", request.limit, 1, CANDIDATES_AT_ONCE)
        bounds.check_range("offset", request.offset, 0, sys.maxsize)
        name, release = self.releases.release(request.dataset)
        graph, pairs = release[Graph], release[Pages].candidates

        def named(iri: str) -> Named:
            node = graph.node(iri)
            return Named(iri, iri if node is None else graph.label(node, (request.language,)))

        chosen = pairs[request.offset : request.offset + request.limit]
        found = tuple(records.PageCandidate(named(a), named(b), score) for a, b, score in chosen)
        return records.PageCandidates(found, len(pairs), name, release.id)

    def evaluations(self, request: wire.ListEvaluations) -> records.Evaluations:
        name, _ = self.releases.release(request.dataset)
        return records.Evaluations(list_evaluations(self.releases.target, name), name)

    def modes(self, request: wire.ListModes) -> records.Modes:
        name, release = self.releases.release(request.dataset)
        found = []
        for mode in modes_of(release).values():
            lacks = lacking(release, mode)
            build = f"{release.remedy(lacks)}." if lacks else ""
            told = (mode.name, dict(mode.title), mode.channels, mode.plans)
            found.append(records.ModeInfo(*told, lacks, build, mode.model, mode.expansion))
        return records.Modes(tuple(found), name, release.id, _calibrated(release))

    def compare_modes(self, request: wire.CompareModes) -> records.ModesCompared:
        name, release = self.releases.release(request.dataset)
        known = modes_of(release)
        chosen = [find_mode(release, one) for one in dict.fromkeys(request.modes)] or [*known.values()]
        how = replace(self.how, dataset=name, within=read_within(request.within), sparql=self._desk())
        with release.reading():
            tried = try_modes(release, request.question, chosen, how, state_of(request))
        return records.ModesCompared(tried, shared_sources(tried), request.question, name, release.id)

    def themes(self, request: wire.ListThemes) -> records.Themes:
        name, release = self.releases.release(request.dataset)
        with release.reading():
            return list_themes(release, name, request)

    def graph_search(self, request: wire.GraphSearch) -> GraphFound:
        with self._tools(request) as tools:
            return tools.graph_search(request.query, request.limit, request.category)

    def graph_context(self, request: wire.GetContext) -> GraphContext:
        with self._tools(request) as tools:
            return tools.graph_context(request.entity, request.max_hops, request.limit)

    def graph_communities(self, request: wire.FindCommunities) -> GraphCommunities:
        with self._tools(request) as tools:
            return tools.graph_communities(request.query, request.level, request.limit)

    @contextmanager
    def _tools(
        self, request: wire.GraphSearch | wire.GetContext | wire.FindCommunities
    ) -> Iterator[StoreTools]:
        name, release = self.releases.release(request.dataset)
        with release.reading():
            yield StoreTools(open_store(release, request.language), name)

    def ask(self, request: wire.Ask) -> Answer:
        return answer_of(self.stream(request))

    def stream(self, request: wire.Ask) -> Generator[Event]:
        """The events of an answer; errors are raised where they happen."""
        name, release = self.releases.release(request.dataset)
        metered = None if self.how.model is None else Metered(self.how.model)
        how = replace(
            self.how,
            model=metered,
            dataset=name,
            mode=self._mode(release, request.mode),
            sparql=self._desk(),
            within=read_within(request.within),
        )
        yield from stream(release, request.question, how, state_of(request))

    def identity(self, request: wire.Ask) -> str:
        """What tells a question from others that are answered otherwise: all that its answer depends on, as JSON."""
        name, release = self.releases.release(request.dataset)
        mode, lesson = self._mode(release, request.mode), lesson_for(release, request.question)
        depends = {
            "asked": to_plain(replace(request, dataset=name, mode="")),
            "release": release.id,
            "mode": [mode.name, mode.model_dump(mode="json"), mode.limits.model_dump()],
            "model": "" if self.how.model is None else self.how.model.name,
            "wikidata": str(self.how.wikidata),
            "lesson": None if lesson is None else lesson.model_dump(mode="json"),
        }
        return json.dumps(depends, sort_keys=True)

    def retrieve(self, request: wire.Retrieve) -> records.Ranking:
        name, release = self.releases.release(request.dataset)
        if request.k is not None:
            bounds.check_range("k", request.k, 1, bounds.DOCUMENTS)
        how, mode = self.how, self._mode(release, request.mode)
        within, state = read_within(request.within), state_of(request)
        prepared = prepare(release, request.question, state, how.model, mode, how.wikidata, within)
        found, reading = prepared.retrieved, prepared.analysis.reading
        listed = SourceList(release, reading.language, scores_of(release, found))
        for source in prepared.context.sources:
            listed.cite(source.about, entities=source.entities)
        chosen = found.chosen if request.k is None else [*found.chosen, *found.rest][: request.k]
        return records.Ranking(
            prepared.understood.given,
            tuple(_ranked(release, reading, at, one) for at, one in enumerate(chosen, 1)),
            name,
            release.id,
            reading.form.value,
            prepared.context.render(),
            tuple(replace(source, cited=False) for source in listed.sources()),
            dict(prepared.timings),
            mode.name,
        )

    def _mode(self, release: Release, name: str) -> Mode:
        """The mode of that name; "" for the engine's own, else the default."""
        return find_mode(release, name) if name or self.how.mode is None else self.how.mode

    def entity(self, request: wire.GetEntity) -> records.Entity:
        name, release = self.releases.release(request.dataset)
        return describe_entity(release, name, request.iri, request.language)

    def neighbours(self, request: wire.GetNeighbours) -> records.Neighbours:
        name, release = self.releases.release(request.dataset)
        return list_neighbours(release, name, request.iri, request.limit, request.offset, request.language)

    def search(self, request: wire.Search) -> records.Found:
        name, release = self.releases.release(request.dataset)
        return search_entities(release, name, request.text, request.limit)

    def lineage(self, request: wire.GetLineage) -> Lineage:
        _, release = self.releases.release(request.dataset)
        return lineage(release, request.s, request.p, request.o, request.source)

    def plan(self, request: wire.MakePlan) -> records.PlanFound:
        asked = wire.Ask(request.question, request.dataset, request.history, request.conversation)
        for event in self.stream(asked):
            if isinstance(event, SetFound):
                found = event.set
                plan = dict(found.plan)
                return records.PlanFound(
                    plan, found.title, found.chips, found.exhaustive, found.unknown, found.language
                )
            if isinstance(event, Done):
                return records.PlanFound(None, "", (), False, (), event.answer.language)
        raise AssertionError("a stream ends with Done")

    def edit_plan(self, request: wire.EditPlan) -> records.PlanEdited:
        _, release, plan, language = self._planned(request)
        path = ""
        if request.change is not None:
            for iri in request.change.entities or ():
                find_node(release, iri)
            plan, path = changed(release, plan, request.change, language)
        plan = without(plan, request.remove) if request.remove else plan
        chips, title = describe_plan(release, plan, language), title_of(release, plan, language)
        return records.PlanEdited(plan_json(plan), title, chips, to_sparql(plan, release[World]), path)

    def choices(self, request: wire.GetChoices) -> Choices:
        _, release, plan, language = self._planned(request)
        bounds.check_text("The text", request.text)
        return choices(release, plan, request.path, request.what, request.text, request.limit, language)

    def marks(self, request: wire.GetMarks) -> Marks:
        name, release, plan, language = self._planned(request)
        return marks(release, plan, language, name)

    def sparql(self, request: wire.RunSparql) -> SparqlResult:
        _, release = self.releases.release(request.dataset)
        return self._desk().run(release, request.query, request.limit)

    def _desk(self) -> SparqlDesk:
        """Runs SPARQL; it starts no process before it is asked."""
        with self._lock:
            if self._sparql is None:
                self._sparql = SparqlDesk()
            return self._sparql

    def set(self, request: wire.GetSet) -> AnswerSet:
        name, release, plan, language = self._planned(request)
        limit = -1 if request.limit is None else request.limit
        bounds.check_range("offset", request.offset, 0, bounds.OFFSET)
        bounds.check_range("limit", limit, -1, bounds.MEMBERS)
        page = Page(request.offset, limit, request.sort, request.descending)
        if request.reason:
            return excluded_set(release, plan, request.reason, page, language, name=name)
        made = answer_set(release, plan, page, language, sparql=request.sparql, name=name)
        return with_columns(release, made, request.columns) if request.columns else made

    def columns(self, request: wire.GetColumns) -> Columns:
        name, release, plan, language = self._planned(request)
        return columns(release, plan, language, name)

    def facets(self, request: wire.GetFacets) -> Facets:
        name, release, plan, language = self._planned(request)
        return facets(release, plan, language, request.keys, name)

    def export(self, request: wire.GetExport, most: int = sys.maxsize) -> records.Export:
        """``most``: characters that it may have."""
        name, release, plan, language = self._planned(request)
        bounds.check_text("The question", request.question)
        pieces = export(
            release, plan, request.format, language, request.question, request.reason, request.sort, request.descending,
            name, request.inline, request.columns,
        )  # fmt: skip
        kind, ending = FORMATS[request.format]
        file = f"{name}-{request.reason or 'set'}-{release.id}{ending}"
        return records.Export("".join(_at_most(pieces, most)), kind, file, name, release.id)

    def _planned(self, request: OfAPlan) -> tuple[str, Release, SetPlan, str]:
        """Name and release of the data set that a plan is of, the plan, and the language of what is told of it."""
        name, release = self.releases.release(request.dataset)
        return name, release, read_plan(request.plan), request.language or LANGUAGE

    def close(self) -> None:
        """End what runs beside this process."""
        with self._lock:
            if self._sparql is not None:
                self._sparql.close()
                self._sparql = None


def _at_most(pieces: Iterator[str], characters: int) -> Iterator[str]:
    """The pieces of an export; QuestionError where they have more characters."""
    left = characters
    for piece in pieces:
        left -= len(piece)
        if left < 0:
            raise QuestionError(
                f"The export has more than {characters:,} characters.",
                "Narrow the set, or export it where the data is: crmrag set NAME PLAN --format csv --out FILE.",
            )
        yield piece


def state_of(request: wire.Ask | wire.Retrieve | wire.CompareModes) -> ConversationState:
    """The conversation before a question: its state, else the earlier questions. QuestionError for what is neither."""
    if request.conversation:
        return ConversationState.from_json(json.dumps(request.conversation))
    bounds.check_range("The number of earlier questions", len(request.history), 0, bounds.HISTORY)
    for one in request.history:
        bounds.check_text("An earlier question", one)
    return turns_of(request.history)


def _calibrated(release: Release) -> dict[str, float]:
    """The cosines that stand for the similarities of published thresholds; none where an API would have to be asked, and
    where the encoder may not be used or is not there: modes are listed all the same."""
    if not all(map(release.manifest.has, ("faiss_index", "encoder"))):
        return {}
    encoder = release[QueryEncoder]
    if encoder.withheld or encoder.settings.provider == "litellm":
        return {}
    calibration = release[Calibration]
    return {f"{one:g}": round(calibration.cosine(one), 3) for one in (BELOW, 0.5, ABOVE)}


def _dataset(name: str, release: Release) -> records.Dataset:
    manifest = release.manifest
    return records.Dataset(
        name,
        manifest.title,
        release.id,
        manifest.licence,
        manifest.attribution,
        manifest.languages,
        manifest.examples,
        manifest.relationships,
        {**manifest.counts, "encoded": manifest.encoded},
    )


def _ranked(release: Release, reading: Reading, rank: int, one: Candidate) -> records.RankedDocument:
    documents, graph = release[Documents], release[Graph]
    entity, text = documents.entity(one.document), documents.text(one.document)
    lines = [
        text[line.start : line.end] for line in documents.lines(one.document) if line.kind != Line.HEADER
    ]
    wanted = set(reading.content)
    best = max(lines, key=lambda line: len(wanted.intersection(tokenize(line))), default=text)
    return records.RankedDocument(
        rank,
        graph.iri(entity),
        documents.label(one.document),
        category_name(graph, entity),
        one.score,
        {name: place + 1 for name, place in one.ranks.items()},
        shorten(best, SNIPPET_CHARACTERS),
        dict(one.similarities),
    )


def open_engine(
    target: str,
    dataset: str | None = None,
    model: str | Model | None = None,
    api_base: str | None = None,
    trust: Sequence[str] = (),
) -> Engine:
    """The engine over a folder, or over the object store at an address; ``trust``: hosts that its releases may have questions
    sent to.

    ReleaseNotFound, ReleaseError for a folder that holds no release; ConfigError for what is no host.
    """
    folder = mirror_folder(target) if is_address(target) else Path(target)
    releases = Library(folder, dataset, Opener.here(trust))
    if isinstance(model, str):
        model = LiteLLM(model, api_base) if model else None
    return Engine(releases, Ask(model))


class AsyncLocalTransport:
    """In this process, in threads, so that an event loop is not held up."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def handle(self, route: Route[Q, T], request: Q) -> T:
        return await to_thread.run_sync(partial(self._engine.handle, route, request))

    async def stream(self, request: wire.Ask) -> AsyncIterator[Event]:
        with closing(self._engine.stream(request)) as events:
            while (event := await to_thread.run_sync(partial(next, events, None))) is not None:
                yield event

    async def close(self) -> None:
        self._engine.close()
