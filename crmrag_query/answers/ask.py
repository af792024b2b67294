"""From a question to an answer with sources: prepared, then written by a language model or from the lines themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from crmrag_query.answers.agent import (
    NOTHING,
    AgentTools,
    Gathered,
    context_of,
    require_tools,
    rows_of,
    stepped,
    work,
)
from crmrag_query.answers.exact import (
    Exact,
    add_members,
    choices_of,
    exact_set,
    find_exact,
    prove_members,
    restricts,
    stored,
    told_set,
    told_to_model,
    with_notes,
)
from crmrag_query.answers.extractive import (
    NEAR,
    Extracted,
    extract,
    is_denied,
    lost_words,
    nothing_of,
    refusal,
    speaks,
    told_lines,
)
from crmrag_query.answers.facts import (
    NAMED,
    PORTRAITS,
    Facts,
    any_known,
    history,
    nowhere,
    portrait,
    recorded,
    told_facts,
)
from crmrag_query.answers.facts import Asked as AskedFact
from crmrag_query.answers.generated import fitted, messages_for, most_documents, stream_answer
from crmrag_query.answers.records import (
    Answer,
    Cited,
    Done,
    Event,
    Evidence,
    Planned,
    Restart,
    SetFound,
    Source,
    Token,
    Used,
    answer_of,
    remarks_of,
)
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.subject import (
    REASONS,
    AskedFacts,
    compared,
    concept_of,
    facts_of,
    facts_of_found,
    greeting,
    named_alone,
    overview,
    subject_of,
    theme_words,
)
from crmrag_query.answers.support import Written, check_support, cited_numbers
from crmrag_query.answers.themes import tell_themes, themes_of, with_points
from crmrag_query.answers.understand import (
    FIRST,
    MODEL_STAGES,
    Understood,
    individuals,
    relied_on,
    understand,
)
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import LanguageLexicon, Mode, SetWords, quoted, sentences
from crmrag_query.context.assemble import WikidataTexts, assemble, images_of, paths_of
from crmrag_query.context.context import Context, Finding, KnownSet, community
from crmrag_query.context.evidence import Evidence as Line
from crmrag_query.context.evidence import gather, holds_all, rank_evidence
from crmrag_query.documents.documents import Documents
from crmrag_query.entities.details import category_name, type_nodes
from crmrag_query.errors import MissingExtraError, ModelError, QuestionError
from crmrag_query.graph.arrays import FLAG_LABELLED
from crmrag_query.graph.graph import Graph
from crmrag_query.language import LANGUAGES
from crmrag_query.language import language as spoken_language
from crmrag_query.linking import NameIndex, meant
from crmrag_query.llm.model import CannedModel, Metered, Model
from crmrag_query.notes import Note
from crmrag_query.ontology.load import Category
from crmrag_query.plans.records import Among, Anchor, Dated, Plan, Related, Target, parts_of
from crmrag_query.plans.sparql import to_sparql
from crmrag_query.plans.world import World
from crmrag_query.questions.followup import ConversationState, Focus, Kind, turns_of
from crmrag_query.questions.followup import Turn as Asked
from crmrag_query.questions.form import WITH_TIME, Analysis, Form
from crmrag_query.questions.lexicon import compiled
from crmrag_query.reading.catalogue import earlier_of
from crmrag_query.reading.items import WHOLE, analysed
from crmrag_query.reading.lexicon import Lexicon, vocabulary
from crmrag_query.reading.read import Parsed
from crmrag_query.retrieval.channels import default_mode
from crmrag_query.retrieval.channels.communities import things
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.pipeline import Retrieved, places_of, retrieve
from crmrag_query.retrieval.release_channels import LITTLE, ReleaseChannels
from crmrag_query.retrieval.scores import Candidate, interleave
from crmrag_query.sparql.desk import SparqlDesk
from crmrag_query.sparql.evaluate import SparqlResult
from crmrag_query.sparql.written import query_with_model
from crmrag_query.stores.opened import open_store
from crmrag_query.timing import Clock


def spoken_of(release: Release, understood: Understood) -> tuple[int, ...]:
    """Nodes that a question is about: those that its words refer to, then those that it names itself, of each mention the
    surest, no types."""
    meant = [release[Graph].node(one.iri) for one in understood.follow_up.focus]
    sure = sorted(relied_on(release, understood.own), key=lambda one: -one.entities[0].score)
    named = [one.entities[0].entity for one in sure if one.entities[0].entity not in understood.own.types]
    return tuple(dict.fromkeys(node for node in (*meant, *named) if node is not None))


def focus_of(release: Release, about: Sequence[int], answer: Answer) -> tuple[Focus, ...]:
    """Entities in focus, best first: those that the question is ``about``, those that its answer cites, in their order, and
    those that it tells of them: ends of their triples that its text names. Only what a person would speak of again as "it" or
    "those": not types, times, texts, or what has no name.
    """
    graph, language = release[Graph], answer.language
    cited = [source for source in answer.sources if source.cited]
    ends = [
        iri
        for source in cited
        for triple in source.triples
        for iri, label in ((triple.s, triple.s_label), (triple.o, triple.o_label))
        if label and label in answer.text
    ]
    known = (graph.node(iri) for iri in dict.fromkeys((*(source.iri for source in cited), *ends)))
    return focused(release, (*about, *(node for node in known if node is not None)), language)


def focused(release: Release, nodes: Sequence[int], language: str) -> tuple[Focus, ...]:
    """Those of the nodes that a person would speak of again."""
    graph, found = release[Graph], []
    for node in dict.fromkeys(nodes):
        classes = [int(number) for number in graph.types(node)]
        codes = set(map(graph.class_code, classes))
        if (
            graph.category(node) in (Category.Concept, Category.Time)
            or not graph.flags[node] & FLAG_LABELLED
            or (codes and codes <= LITTLE)
        ):
            continue
        types = [graph.label(kind, (language,)) for kind in type_nodes(graph, node)]
        words = dict.fromkeys((*types, *(graph.class_label(number, language) for number in classes)))
        label = graph.label(node, (language,))
        found.append(Focus(graph.iri(node), category_name(graph, node), label, tuple(filter(None, words))))
    return tuple(found)


HISTORY = 3  # earlier questions of which nothing else is known that are looked at for what they name


def with_focus(release: Release, state: ConversationState) -> ConversationState:
    """The state as it is; one of questions alone, such as a caller's history, with what its last questions name in focus."""
    if not state.turns or any(turn.plan or turn.shown or turn.focus for turn in state.turns):
        return state
    known: list[Asked] = []
    for turn in state.turns[-HISTORY:]:
        analysis = analysed(release, turn.question)
        named = (mention.entities[0] for mention in individuals(release, analysis))
        nodes = [one.entity for one in named if one.how in WHOLE]
        # A part of a name may say well enough what a fact was asked of.
        if not nodes and turn is state.turns[-1] and any(map(str.isalnum, turn.question)):
            asked = facts_of(release, understand(release, turn.question))
            nodes = list(asked.nodes) if asked is not None and asked.asked and not asked.unknown else []
        focus = focused(release, nodes, analysis.reading.language)
        # what its pronoun means is still spoken of: "Who was X?", "Which church did he build?"
        if not focus and known and any(map(str.isalnum, turn.question)):
            with suppress(QuestionError):  # what cannot be asked says nothing
                follow_up = understand(release, turn.question, replace(state, turns=tuple(known))).follow_up
                focus, turn = follow_up.focus, replace(turn, resolved=follow_up.resolved)
        known.append(replace(turn, focus=focus))
    return replace(state, turns=(*state.turns[:-HISTORY], *known))


@dataclass(frozen=True)
class Prepared:
    """All that an answer is written from; ``found``: the lines of the retrieved documents, ``ranked``: these, best first.

    ``images``: addresses of Wikidata's pictures of the context's sources, by node, where Wikidata is asked; ``exhausted``: of
    the set that is asked for, everything was shown before or is excluded.
    ``timings``: milliseconds by stage; ``retrieval`` is all up to the ranked documents, ``total`` all up to the context,
    the language model's part left out.
    """

    understood: Understood
    retrieved: Retrieved
    found: tuple[Line, ...]
    ranked: tuple[Line, ...]
    context: Context
    timings: Mapping[str, float]
    images: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    exhausted: bool = False

    @property
    def analysis(self) -> Analysis:
        return self.understood.analysis


def prepare(
    release: Release,
    question: str,
    state: ConversationState = FIRST,
    model: Model | None = None,
    mode: Mode | None = None,
    wikidata: WikidataTexts | bool | None = None,
    within: Plan | None = None,
) -> Prepared:
    """Everything for answering ``question`` after ``state``. Raises QuestionError; see ``understand``.

    ``mode``: None for the default; ``within``: the plan whose members alone it is asked of;
    ``wikidata``: whether its texts are wanted, None for what the data set says; or texts of one's own.
    """
    mode = mode or default_mode(release)
    return compose(
        release, understand(release, question, state, model, mode, within), mode, wikidata, model=model
    )


def compose(
    release: Release,
    understood: Understood,
    mode: Mode,
    wikidata: WikidataTexts | bool | None = None,
    known: KnownSet | None = None,
    findings: Sequence[Finding] = (),
    model: Model | None = None,
    gathered: Gathered = NOTHING,
) -> Prepared:
    """What an answer is written from: documents searched, their lines gathered and ranked, a context assembled.

    ``known``: the set that answers, as a language model is told it; its members then come before what was found besides.
    ``findings``: what else it may rest on, which comes before the documents; ``model``: the one that it is for, whose window
    the context fits; ``gathered``: what a model gathered itself, which is then all that the answer rests on.
    """
    clock, method = Clock(), release.method
    if mode.model == "steps" and mode.has(WALKER) and model is not None:
        with clock("steps"):
            understood = stepped(release, understood, mode, model)
    found = search(release, understood, mode)
    chosen = found.chosen if known is None else _beside(release, known, found.chosen)
    bounds = method.context
    if model is not None:
        chosen = chosen[: most_documents(bounds, model)]
        form = understood.analysis.form.value
        bounds = fitted(bounds, model, method.prompts.answer + getattr(method.prompts, form))
    extractive, reading = method.questions.extractive, understood.analysis.reading
    with clock("evidence"):
        named = individuals(release, understood.analysis)
        lines = gather(release, chosen, reading, extractive, named)
        # Of documents that are left out, the lines about what is named: a place stands in those of its things.
        about = {one.entity for mention in understood.analysis.mentions for one in mention.entities}
        left_out = gather(release, found.left_out, reading, extractive, named)
        lines += [line for line in left_out if line.line.entity in about]
        lines, exhausted = understood.excluded.of_lines(lines, reading)
        ranked = tuple(rank_evidence(lines, reading, release[QueryEncoder].encode, extractive))
    if mode.has(WALKER) and found.chosen and understood.scope is None:  # a path may lead through other parts
        with clock("paths"):
            query = replace(understood.queries[0], walk=mode.walk)
            documents = [one.document for one in chosen]
            findings = [*findings, *paths_of(release, query, documents, reading.language)]
    with clock("context"):
        wanted = release.manifest.wikidata if wikidata is None else wikidata
        texts = wanted if isinstance(wanted, WikidataTexts) else release[WikidataTexts] if wanted else None
        if gathered.findings:
            context = context_of(gathered, bounds)
        else:
            context = understood.excluded.of_context(
                assemble(release, understood.analysis, chosen, ranked, texts, known, findings, bounds)
            )
        entities = [source.about for source in context.sources if not isinstance(source.about, Finding)]
        if understood.scope is not None:  # counts are those of the whole data
            context = replace(context, counts=())
        images = images_of(release, entities, texts, reading.language) if texts else {}
    own = sum(spent for stage, spent in understood.timings.items() if stage not in MODEL_STAGES)
    retrieval = own + found.took
    timings = {
        **understood.timings, **found.timings, **clock.spent,
        "retrieval": retrieval, "total": retrieval + sum(clock.spent.values()),
    }  # fmt: skip
    return Prepared(understood, found, tuple(lines), ranked, context, timings, images, exhausted)


def _beside(release: Release, known: KnownSet, found: Sequence[Candidate]) -> list[Candidate]:
    """Documents beside a set: of its members, those first that were found, and as many others: those that tell a member among
    other things, and what was found."""
    held, most = release[Documents], release.method.context.set_sources
    there = {one.document for one in found}
    telling = {int(held.entity_document[node]) for node in known.numbers} - {-1}
    every = [*found, *(Candidate(one, 0.0) for one in sorted(telling.difference(there)))]
    inside = [one for one in every if held.entity(one.document) in known.numbers]
    outside = [one for one in every if held.entity(one.document) not in known.numbers]
    outside.sort(key=lambda one: one.document not in telling)
    return [*inside[:most], *outside[:most]]


def scores_of(release: Release, found: Retrieved) -> dict[int, float]:
    """The scores of the documents that were retrieved, by the node that each tells of."""
    return {release[Documents].entity(one.document): one.score for one in (*found.chosen, *found.rest)}


def search(release: Release, understood: Understood, mode: Mode | None = None) -> Retrieved:
    """The documents for a question: the rankings of its queries interleaved, without what it excludes; none for a question
    that nothing in the data meets."""
    if understood.unmet:
        return Retrieved([], [])
    config, mode = release.method.retrieval, mode or default_mode(release)
    k = places_of(understood.analysis.form, config, mode)
    found = [retrieve(release[ReleaseChannels], query, config, mode, k) for query in understood.queries]
    first, second = found[0], found[-1]
    scored = {one.document: one for one in (*first.chosen, *first.rest)}
    for one in (*second.chosen, *second.rest):
        # Tied to less than the whole question names, for all that is known.
        scored.setdefault(one.document, replace(one, tied=0.0))
    chosen = interleave([c.document for c in first.chosen], [c.document for c in second.chosen])
    order = list(dict.fromkeys([*chosen, *interleave(first.ranking, second.ranking)]))
    kept: list[Candidate] = []
    left_out: list[Candidate] = []
    for document in order:
        out = release[Documents].entity(document) in understood.excluded
        (left_out if out else kept).append(scored[document])
    channels, query = release[ReleaseChannels], understood.queries[0]
    anchors = channels.quoted(query.text) if mode.has("sparse") else []
    if mode.has("tied"):
        named = (mention.entities[0].entity for mention in individuals(release, understood.analysis))
        anchors += channels.holding(node for node in named if node not in understood.excluded)
    if query.within is not None:
        anchors = [one for one in anchors if query.within[one]]
    kept = _with_anchors(release, understood, kept, scored, k, list(dict.fromkeys(anchors)))
    documents = [one.document for one in kept[:k]]
    passages = channels.passages(query, documents, k, mode.limits.passages)
    kept = [replace(one, passages=passages.get(one.document, ())) for one in kept]
    timings: dict[str, float] = {}
    for each in found:
        for stage, spent in each.timings.items():
            timings[stage] = timings.get(stage, 0.0) + spent
    failed = tuple(dict.fromkeys(name for one in found for name in one.failed))
    return Retrieved(kept[:k], kept[k:], timings, left_out, failed, sum(one.took for one in found))


FEW = 8  # things that are told of one by one
ABSTRACT = frozenset({int(Category.Concept), int(Category.Time)})
"""Categories of what says little by itself."""
ANCHORS = 2  # documents that are brought in where they were not chosen


def _with_anchors(
    release: Release,
    understood: Understood,
    kept: Sequence[Candidate],
    scored: Mapping[int, Candidate],
    k: int,
    documents: Sequence[int],
) -> list[Candidate]:
    """The candidates with ``documents``, which say what the question says or are of what it names, among the first ``k``, for
    the last others of these."""
    there = {candidate.document for candidate in kept[:k]}
    there |= {one for one in documents if release[Documents].entity(one) in understood.excluded}
    wanted = [one for one in documents if one not in there][:ANCHORS]
    brought = [scored.get(one, Candidate(one, 0.0)) for one in wanted]
    others = [candidate for candidate in kept[:k] if candidate.document not in documents]
    least = others[max(0, len(others) - len(brought)) :] if len(kept) >= k and brought else []
    first = [candidate for candidate in kept[:k] if candidate not in least]
    return [*first, *brought, *least, *(one for one in kept[k:] if one.document not in wanted)]


WALKER = "walker"
"""The channel whose paths are told."""
EXTRACTIVE = "extractive"
TOOK_PART = {"P11", "P11i"}
PARTIAL = "The search by “{name}” failed, so that the answer rests on what the others found."
WITHOUT_MODEL = "The answer was made without it."


@dataclass(frozen=True)
class Ask:
    """How questions are answered: the language model if any (a ``Metered`` one tells at the end what it took), the mode (None
    for the default), and whether with Wikidata's texts (None: as the data set says; texts of one's own in place of those that
    the release keeps). ``dataset``: the name that answers give it, "" for that of the release; ``sparql``: runs what a model
    writes, None for a desk of its own; ``within``: the plan whose members alone are asked of."""

    model: Model | None = None
    wikidata: WikidataTexts | bool | None = None
    mode: Mode | None = None
    dataset: str = ""
    sparql: SparqlDesk | None = None
    within: Plan | None = None


def ask(
    release: Release,
    question: str,
    model: Model | None = None,
    state: ConversationState | Sequence[str] = FIRST,
) -> Answer:
    """Answer ``question`` from ``release``; ``state``: the conversation before it, or its earlier questions, oldest first.

    Without a model, or when it fails, the answer is extractive; a failure is told in ``notes``. Raises QuestionError for
    a question that is empty, has no words, or is longer than ``question_characters``.
    """
    before = state if isinstance(state, ConversationState) else turns_of(state)
    return answer_of(stream(release, question, Ask(model), before))


def stream(
    release: Release, question: str, how: Ask = Ask(), state: ConversationState = FIRST
) -> Iterator[Event]:
    """The answer as it comes: the plan and its set where the question has one, the sources found, pieces of text, what cites
    what, what it took of the model, the whole answer. Raises QuestionError before the first; ReleaseError where the release
    cannot be read."""
    with release.reading():
        for event in _events(release, question, how, state):
            if isinstance(event, Done):
                yield from (Cited(one.start, one.end, one.numbers) for one in event.answer.citations)
                if isinstance(how.model, Metered):
                    used = how.model.usage
                    yield Used(how.model.name, used.prompt_tokens, used.completion_tokens, used.cost)
            yield event


def _events(release: Release, question: str, how: Ask, state: ConversationState) -> Iterator[Event]:
    clock, dataset = Clock(), how.dataset or release.manifest.dataset
    mode = how.mode or default_mode(release)
    if mode.model == "tools":
        require_tools(release, mode, how.model, how.within)
    understood = understand(release, question, with_focus(release, state), how.model, mode, how.within)
    exact: Exact | Parsed = Parsed(None)
    model = None if understood.unmet else how.model
    if mode.plans != "never":
        with clock("exact"):
            exact = find_exact(release, understood, state, model, dataset)
    themes: tuple[int, ...] = ()
    if not (isinstance(exact, Exact) and exact.certain) and (themes := themes_of(release, understood, mode)):
        exact = Parsed(None)
    how = replace(how, mode=mode, model=how.model if themes else model)
    if isinstance(exact, Exact):
        yield Planned(exact.set.plan, exact.set.title, exact.set.chips)
        yield SetFound(exact.set)
    gathered = NOTHING
    if how.model is not None and mode.model in ("queries", "tools") and understood.scope is None:
        with clock("gathering"):
            gathered = gather_with_model(release, understood, exact, how.model, mode, how, state)
    turn = Turn.prepared_for(release, understood, exact, how, state, themes, gathered)
    listed = turn.no_sources()
    turn.add_context(listed)
    yield Evidence(tuple(replace(source, cited=False) for source in turn.with_images(listed)))
    notes = [*with_notes(understood.notes, exact), *gathered.notes]
    notes += [Note(PARTIAL.format(name=name), "search") for name in turn.prepared.retrieved.failed]
    written: Written | None = None
    written_by, cited = EXTRACTIVE, turn.no_sources()
    with clock("answer"):
        if how.model is not None and turn.has_evidence:
            try:
                for event in turn.by_model(how.model, cited):
                    if isinstance(event, Written):
                        written, written_by = event, how.model.name
                    else:
                        yield event
            except ModelError as error:
                notes.append(Note(f"{error} {WITHOUT_MODEL}", "model"))
                yield Restart(str(error))
        if written is None:
            cited = turn.no_sources()
            written = turn.without_model(cited)
            yield Token(written.text)
    answer = replace(
        turn.answer(written, cited, written_by, notes),
        timings={**turn.prepared.timings, **clock.spent},
        dataset=dataset,
    )
    yield Done(replace(answer, conversation=json.loads(turn.state_after(answer).to_json())))


def gather_with_model(
    release: Release,
    understood: Understood,
    exact: Exact | Parsed,
    model: Model,
    mode: Mode,
    how: Ask,
    state: ConversationState,
) -> Gathered:
    """What a model gathers for a question in a mode that has it do so; nothing where the question has its exact set."""
    language = understood.analysis.reading.language
    if mode.model == "queries" and isinstance(exact, Exact) and exact.certain:
        return NOTHING
    with (how.sparql and nullcontext(how.sparql)) or SparqlDesk() as desk:

        def run(query: str, limit: int) -> SparqlResult:
            return desk.run(release, query, min(limit, desk.config.rows))

        if mode.model == "queries":
            try:
                written = query_with_model(
                    release, understood.question, model, run, desk.config, earlier_of(state)
                )
            except MissingExtraError as error:
                return Gathered(notes=(Note(str(error), "query", passing=False),))
            return rows_of(release, written, language)
        tools = AgentTools(
            open_store(release, language), how.dataset, release=release, run=run, config=desk.config,
            find_set=partial(exact_set, release, dataset=how.dataset),
        )  # fmt: skip
        earlier = [turn.question for turn in state.topic]
        asked = {"question": understood.question} | ({"earlier": earlier} if earlier else {})
        return work(model, asked, tools, mode.bounds)


@dataclass(frozen=True)
class Turn:
    """A question that is prepared, with its exact set, where it has one, and what was understood of it, after ``state``;
    ``themes``: the communities that it is about; ``gathered``: what a model gathered for it itself."""

    release: Release
    prepared: Prepared
    exact: Exact | None
    parsed: Parsed
    state: ConversationState
    mode: Mode
    themes: tuple[int, ...] = ()
    gathered: Gathered = NOTHING

    @classmethod
    def prepared_for(
        cls,
        release: Release,
        understood: Understood,
        read: Exact | Parsed,
        how: Ask,
        state: ConversationState,
        themes: tuple[int, ...] = (),
        gathered: Gathered = NOTHING,
    ) -> Turn:
        """The turn with the documents for it; for a language model the set comes before these, or the themes do."""
        known, mode = None, how.mode or default_mode(release)
        exact, parsed = (read, read.parsed) if isinstance(read, Exact) else (None, read)
        if how.model is not None and exact is not None:
            known = told_to_model(release, exact, understood.own)
        language = understood.analysis.reading.language
        told = [community(release, one, language) for one in themes]
        prepared = compose(release, understood, mode, how.wikidata, known, told, how.model, gathered)
        return cls(release, prepared, exact, parsed, state, mode, themes, gathered)

    @property
    def language(self) -> str:
        return self.prepared.analysis.reading.language

    @property
    def own(self) -> Analysis:
        """The question by its words alone."""
        return self.prepared.understood.own

    @property
    def words(self) -> SetWords:
        """What is said of sets, in the question's language."""
        return self.release.method.sets.words(self.language)

    @property
    def lexicon(self) -> LanguageLexicon:
        return self.release.method.questions.languages[self.language]

    @property
    def sure(self) -> Exact | None:
        """The exact set, where it is all that was asked for."""
        return self.exact if self.exact is not None and self.exact.certain else None

    @property
    def has_evidence(self) -> bool:
        """Whether there is anything that a language model could answer from."""
        context = self.prepared.context
        return bool(self.prepared.retrieved.chosen or context.known is not None or context.sources)

    @cached_property
    def facts(self) -> AskedFacts | None:
        """The facts of one thing that are asked for, if no more is; none where a reading that is sure is of another one that
        is called so."""
        asked = facts_of(self.release, self.prepared.understood)
        if asked is not None and self.sure is not None and self.sure.set.size:
            named = {iri for iris in _named_in(self.sure.plan) for iri in iris}
            if named and named.isdisjoint(map(self.release[Graph].iri, asked.nodes)):
                return None
        return asked

    def no_sources(self) -> SourceList:
        return SourceList(self.release, self.language, *self._of_sources)

    @cached_property
    def _of_sources(self) -> tuple[dict[int, float], dict[int, Source]]:
        """What the lists of sources of this turn share: scores, and entities that are described."""
        return scores_of(self.release, self.prepared.retrieved), {}

    @cached_property
    def _leads_on(self) -> bool:
        """Whether the likeliest reading finds what is asked for, though the facts are recorded another way.

        Either by one of the relations asked for, the other way round, or by any relation, where all words are
        understood: a find that names its finder. The thing asked about is in the conditions, and what is found is of a
        category that is asked for.
        """
        exact, asked = self.exact, self.facts
        if asked is None or exact is None or not exact.set.size:
            return False
        wanted = sum(
            {int(category) for one in asked.asked for category in Category if one.expects & category}
        )
        wanted |= WITH_TIME if wanted & Category.Time else 0
        categories = self.release[Graph].adjacency.categories
        if wanted and not (categories[exact.outcome.members] & wanted).any():
            return False
        # Who merely took part in what made a thing, such as its patron, is not who made it.
        tied = [
            one
            for one in exact.plan.where
            if isinstance(one, Related | Dated)
            and not one.negated
            and not (one.way and one.way.paths and all(TOOK_PART & set(path) for path in one.way.paths))
        ]
        named = {iri for iris in _named_in(exact.plan) for iri in iris}
        if named.isdisjoint(map(self.release[Graph].iri, asked.nodes)):
            return False
        if not (self.parsed.guessed or self.parsed.unknown or self.parsed.unnamed):
            tying = {iri for iris in _named_in(Plan(where=tuple(tied))) for iri in iris}
            if not tying.isdisjoint(map(self.release[Graph].iri, asked.nodes)):
                return True
        ids = {id for one in asked.asked for id in one.relations}
        return any(one.way is not None and not ids.isdisjoint(one.way.relations) for one in tied)

    @cached_property
    def _tells_facts(self) -> bool:
        """Whether the answer is facts of one thing, or that they are not recorded."""
        asked = self.facts
        if asked is None or asked.unknown or self._is_list:
            return False
        return not self._leads_on or any_known(self.release, asked.nodes, asked.asked)

    def by_model(self, model: Model, cited: SourceList) -> Iterator[Token | Restart | Written]:
        """The model's answer. Raises ModelError."""
        prepared, method, exact = self.prepared, self.release.method, self.exact
        own, question = self.own.reading, prepared.understood.question
        asked = replace(prepared.analysis.reading, question=question, words=own.words, content=own.content)
        earlier = [turn.question[: method.retrieval.question_characters] for turn in self.state.turns]
        told = prepared.context.known
        known = exact.set if told is not None and exact is not None else None
        messages = messages_for(self.release, asked, prepared.context, earlier)
        notes: tuple[str, ...] = ()
        if self.mode.model == "themes":
            messages, notes = with_points(
                self.release, self.themes, model, asked.question, prepared.context, messages
            )
        writer = CannedModel(self.gathered.text, model.name) if self.gathered.text else model
        for event in stream_answer(writer, self.release, asked, prepared.context, messages, cited, known):
            yield replace(event, notes=(*notes, *event.notes)) if isinstance(event, Written) else event
        if told is not None and exact is not None:
            prove_members(exact, told.numbers, cited)

    def without_model(self, cited: SourceList) -> Written:
        """What can be said without a language model: the exact set, else that the data does not tell, else what was found.

        The set of a reading that is not sure is never the answer: it stands beside it, as a choice, and is told at most
        as what may be meant.
        """
        release, prepared, exact = self.release, self.prepared, self.exact
        language, understood, parsed = self.language, prepared.understood, self.parsed
        if self.gathered.query:
            rows = (f"- {one.texts[0]} [{cited.cite(one)}]" for one in self.gathered.findings)
            return self._checked("\n".join([*rows, self.lexicon.partial]), cited)
        # what is told of a thing, or of all of the data, is not told within a part of it
        if understood.scope is not None:
            by_plan = self.mode.plans == "only" or (self.mode.plans != "never" and self.sure is not None)
            return self._of_plan(cited) if by_plan else self._of_lines(cited)
        if (subject := subject_of(release, understood)) == "whole":
            lines = tell_themes(self.themes, cited, largest=True)
            text = "\n".join([overview(release, language, cited), *lines])
            return self._checked(text, cited)
        if subject == "greeting":
            return self._checked(greeting(release, understood, cited), cited)
        if self.themes:
            largest = not theme_words(release, understood) and subject == "themes"
            lines = tell_themes(self.themes, cited, largest, things(release, understood.queries[0]))
            return self._checked("\n".join(lines), cited)
        if self.mode.plans == "never":
            return self._of_lines(cited)
        if self.mode.plans == "only":
            return self._of_plan(cited)
        if subject == "why":
            return self._reasons(cited)
        if subject == "happened":
            nodes = named_alone(release, understood)
            told_each = (history(node, cited) for node in nodes[:PORTRAITS])
            text = "\n".join(filter(None, told_each)) or recorded(nodes, cited)
            return self._checked(text, cited)
        if subject == "compared":
            texts = (portrait([one], cited) for one in compared(release, understood))
            return self._checked("\n".join(f"- {text}" for text in texts), cited)
        if (asked := self.facts) is not None and not asked.unknown and not self._is_list:
            found = told_facts(asked.nodes, asked.asked, cited)
            text = " ".join(filter(None, (found.text, found.lacking)))
            if found.text:
                if found.lacking:
                    more = recorded(asked.nodes, cited, found.expects, found.text)
                    text = f"{text}\n{more}".rstrip()
                return self._checked(text, cited)
            found_as_set = self.sure is not None and self.sure.set.size > 0
            one_asked = prepared.analysis.form is Form.SPECIFIC
            # else a reading knows of it by another way
            if one_asked and not found_as_set and not self._leads_on:
                text = f"{text}\n{recorded(asked.nodes, cited, self._expects)}"
                return self._checked(text, cited, refused=True)
        if subject == "itself":
            where = bool(self.own.reading.expects & int(Category.Place))
            nodes = named_alone(release, understood)
            if where and (unknown := nowhere(release, nodes, language)):
                text = f"{unknown}\n{recorded(nodes, cited, self._expects)}"
                return self._checked(text, cited, refused=True)
            text = portrait(nodes, cited, "where" if where else "all")
            return self._checked(text, cited)
        # "Dolls" asks for all of them.
        if not self._is_of_kind and (concept := concept_of(release, understood)) is not None:
            found = told_facts(concept.nodes, concept.asked, cited)
            text = found.text or portrait(concept.nodes, cited)
            return self._checked(text, cited)
        if self.sure is not None:
            return self._of_plan(cited)
        # things of a kind are asked for, not one that is named beside it
        if not (self._offers and self._asks_for_kind) and (told := self._of_one_thing(cited)) is not None:
            return told
        if self._describes() and (told := self._of_each(cited)) is not None:
            return told
        says_no = is_denied(parsed, prepared.analysis)
        if (unmeasured := self._unmeasured(cited)) is not None:
            return unmeasured
        if refused := refusal(release, parsed, prepared.analysis, prepared.ranked):
            text = refused if says_no else f"{refused}\n{self._recorded_of_named(cited)}".rstrip()
            return self._checked(text, cited, refused=not says_no)
        if self._describes() and (told := self._of_found(cited)) is not None:
            return told
        if exact is not None and exact.words:
            return self._checked(told_set(exact, cited), cited)
        lost = lost_words(release, parsed, prepared.analysis, prepared.ranked)
        if self._means_set(lost):
            return self._checked(self._perhaps(cited, lost), cited)
        # No line counts or ranks anything, and what is left of "how many people did it save?" is another number.
        reading = prepared.analysis.reading
        computed = parsed.plan.compute.kind if parsed.plan is not None else "count" if reading.counts else ""
        if parsed.plan is None and reading.counts:  # "how many *plants*", which no kind is called
            lost = lost or tuple(reading.words[at] for at in reading.heads)
        said = quoted((*parsed.negations, *lost), language)
        unknown = self.words.unknown.replace("{first}", said)
        if parsed.negations or (lost and computed in ("count", "rank", "group")):
            text = f"{unknown}\n{self._recorded_of_named(cited)}".rstrip()
            return self._checked(text, cited, refused=not self._offers)
        if (told := self._of_named(cited, lost)) is not None:
            return told
        extracted = self._extracted(cited)
        unnamed = nothing_of(release, parsed, prepared.analysis, prepared.ranked)
        if extracted.refused and unnamed and not cited_numbers(extracted.text):
            return self._checked(unnamed, cited, refused=not says_no, notes=extracted.notes)
        text, perhaps = extracted.text, self._likeliest(cited)
        if perhaps:
            bare = (extracted.refused and not cited_numbers(text)) or not self._finds
            text = perhaps if bare else f"{perhaps}\n{text}"
        elif extracted.refused and not cited_numbers(text):
            left_out = quoted((*parsed.unknown, *parsed.left_out), language)
            if self._offers and left_out:
                text = self.words.unknown.replace("{first}", left_out)
            text = f"{text}\n{self._recorded_of_named(cited)}".rstrip()
        # said of the set that stands beside it as well
        elif lost and exact is not None and not extracted.refused:
            text += f"\n{unknown}"
        answers = self._offers or (bool(perhaps) and self._finds)
        return self._checked(text, cited, extracted.refused and not answers, extracted.notes)

    @property
    def _blurs(self) -> bool:
        """Whether the reading takes the name for that of other things as well as of those that have it whole."""
        if self.facts is None or self.exact is None:
            return False
        own = set(map(self.release[Graph].iri, self.facts.nodes))
        return any(own & set(some) and set(some) - own for some in _named_in(self.exact.plan))

    @property
    def _agrees(self) -> bool:
        """Whether the best reading gives just what the facts tell."""
        if self.facts is None or self.exact is None or self.exact.set.kind != "list":
            return False
        return bool(self._told_by_facts) and self._told_by_facts == set(self.exact.outcome.members.tolist())

    @cached_property
    def _told_by_facts(self) -> set[int]:
        """What the facts that are asked for lead to; none without any."""
        facts, asked = Facts(self.release, ""), self.facts
        known = () if asked is None else (one.of(facts, node) for node in asked.nodes for one in asked.asked)
        return {node for fact in known if fact is not None for node in fact.nodes}

    @property
    def _is_list(self) -> bool:
        """Whether the set is told as a whole rather than as facts: one of a kind that the question names, "which *artists*
        were born in New York", or of many; but no measures, of which a set names but the nodes."""
        exact = self.sure
        if exact is None or self._measures:
            return False
        if self._is_of_kind:
            return True
        if self._told_by_facts < set(exact.outcome.members.tolist()) and self._told_by_facts:
            return True  # of those who were born there facts know but some
        return exact.set.size > NAMED and not self._blurs

    @property
    def _is_of_kind(self) -> bool:
        """Whether the set is sure and holds several of a kind that the question names."""
        several = self.sure is not None and self.sure.set.size > 0
        return several and self._asks_for_kind and self.prepared.analysis.form is not Form.SPECIFIC

    @property
    def _asks_for_kind(self) -> bool:
        """Whether things of a kind are asked for."""
        target = self.exact.plan.target if self.exact is not None else Target()
        return bool(target.types or target.classes)

    @property
    def _measures(self) -> bool:
        """Whether nothing but values are asked for, measures or texts."""
        relations, asked = self.release.method.relations, self.facts.asked if self.facts else ()
        return all(relations[one.relations[0]].literals.value if one.relations else False for one in asked)

    @property
    def _expects(self) -> int:
        """The categories that the question words ask for, in all of its parts."""
        found = self.own.reading.expects
        for one in self.facts.asked if self.facts else ():
            found |= one.expects
        return found

    @property
    def _finds(self) -> bool:
        """Whether a reading has a set, though it is not sure, so that the data may well tell; not that of all there is."""
        exact = self.exact
        if exact is None or not exact.set.size:
            return False
        return bool(exact.plan.where or self._asks_for_kind or exact.plan.compute.kind in ("rank", "group"))

    @property
    def _offers(self) -> bool:
        """Whether such a set stands beside the answer to a question that asks for one."""
        return self._finds and self.prepared.analysis.form is not Form.SPECIFIC

    def _means_set(self, lost: Sequence[str]) -> bool:
        """Whether the set of the best reading is told as what may be meant, in place of what retrieval found.

        Of several things that are asked for, and of what is counted or ranked, it holds more of what is meant than what
        retrieval finds: over the 333 set questions of fourteen fields its mean F1 was .65 to .85 for lists and .77 for
        counts, against .57 to .66 and .10; and of what is asked with yes or no 17 of 21 were right that say every word. Not
        so where a number is asked for and words are not understood that are more than an aside, nor where all of a kind is
        left without them.
        """
        exact, parsed = self.exact, self.parsed
        if exact is None:
            return False
        kind = exact.set.kind
        if parsed.negations:  # what is found is as likely the contrary
            return False
        if kind == "ask":
            return bool(exact.plan.where) and not (parsed.unknown or parsed.unnamed or parsed.left_out)
        if not self._finds:
            return False
        if kind in ("list", "count") and (parsed.unknown or parsed.left_out) and not restricts(exact.plan):
            return False
        if kind == "list":
            return self._offers and not parsed.unnamed
        return parsed.firm or not (lost or parsed.left_out)

    @property
    def _is_likely(self) -> bool:
        """Whether such a reading is more likely meant than not."""
        return self._finds and self.parsed.likely

    def _likeliest(self, cited: SourceList) -> str:
        """The set of a likely reading, told as what may be meant, also that it is empty; "" where there is none, and where
        all of it is cited. A yes that is not sure is none."""
        exact = self.exact
        if exact is None or exact.set.kind == "ask":
            return ""
        empty = self.parsed.likely and not exact.set.size and bool(exact.plan.where)
        if not (self._is_likely or empty):
            return ""
        nodes = (self.release[Graph].node(one.iri) for one in exact.set.members)
        all_cited = all(node is not None and cited.has(node) for node in nodes)
        if exact.set.kind == "list" and not empty and all_cited:
            return ""
        return self._perhaps(cited)

    def _perhaps(self, cited: SourceList, lost: Sequence[str] = ()) -> str:
        """The set of the best reading as what may be meant, and the best lines that hold the words which it leaves out,
        unless these are ``lost``; "" without one."""
        if self.exact is None:
            return ""
        told = self.words.perhaps.replace("{what}", told_set(self.exact, cited))
        left_out = (*self.parsed.unknown, *self.parsed.left_out)
        if lost or not left_out:
            return told
        holding = [one for one in self.prepared.ranked[:NEAR] if holds_all(one, left_out)]
        lines = told_lines(self.prepared.analysis.reading, holding, cited) if holding else ""
        return f"{told}\n{lines}".rstrip()

    def _of_lines(self, cited: SourceList) -> Written:
        """What the lines say that were found, and nothing else."""
        found = self._extracted(cited)
        return self._checked(found.text, cited, found.refused, found.notes)

    def _extracted(self, cited: SourceList) -> Extracted:
        prepared = self.prepared
        ranked = () if prepared.exhausted else prepared.ranked
        chosen, excluded = prepared.retrieved.chosen, prepared.understood.excluded
        return extract(prepared.analysis, chosen, prepared.found, ranked, cited, excluded)

    def _of_plan(self, cited: SourceList) -> Written:
        """The exact set of a reading that is sure, and nothing else."""
        if self.sure is not None:
            return self._checked(told_set(self.sure, cited), cited, self._nothing_more())
        return self._checked(self.lexicon.none, cited, refused=True)

    def _recorded_of_named(self, cited: SourceList) -> str:
        """What is recorded of the one thing that the question names whole; "" where it names none or several."""
        whole = [one for one in individuals(self.release, self.own) if one.entities[0].how in WHOLE]
        nodes = named_alone(self.release, self.prepared.understood)
        if len(whole) != 1 or not 0 < len(nodes) <= PORTRAITS:
            return ""
        return recorded(nodes, cited, self._expects)

    def _of_named(self, cited: SourceList, lost: Sequence[str]) -> Written | None:
        """What is recorded of the one thing that a question names whole, where none of the best lines that were found says
        what is asked of it; None for others."""
        best = self.prepared.ranked[:NEAR]
        if (
            self.prepared.analysis.form is not Form.SPECIFIC
            or self._is_likely
            or any(one.cued for one in best)
        ):
            return None
        if lost and any(holds_all(one, lost) for one in best):
            return None
        text = self._recorded_of_named(cited)
        if not text:
            return None
        if lost:
            unknown = self.words.unknown.replace("{first}", quoted(lost, self.language))
            return self._checked(f"{unknown}\n{text}", cited)
        if self._finds:
            return self._checked(text, cited)
        return self._checked(f"{self.lexicon.none}\n{text}", cited, refused=True)

    def _unmeasured(self, cited: SourceList) -> Written | None:
        """That a number which a verb asks for is not recorded of the one thing that is named: "what did they *pay* for X"."""
        language, unknown = self.language, self.parsed.unknown
        whole = [one for one in individuals(self.release, self.own) if one.entities[0].how in WHOLE]
        if language not in LANGUAGES or len(whole) != 1 or not unknown:
            return None
        stems, relations = spoken_language(language).all_stems(unknown), self.release.method.relations
        ids = [
            id
            for id, words in vocabulary(language).relations.items()
            if stems & words.says and id in relations and relations[id].value == "number"
        ]
        nodes = [one.entity for one in whole[0].entities if one.how in WHOLE][:PORTRAITS]
        if not ids or any_known(self.release, nodes, [AskedFact((id,)) for id in ids]):
            return None
        facts = Facts(self.release, language)
        text = facts.lacking(nodes[0], facts.label(ids[0]))
        return self._checked(f"{text}\n{recorded(nodes, cited)}", cited, refused=True)

    def _reasons(self, cited: SourceList) -> Written:
        """Why something is, where the data tells it; else that it does not, and what it tells."""
        release, language = self.release, self.language
        nodes = named_alone(release, self.prepared.understood)
        if not nodes or not any(one.entities[0].how in WHOLE for one in individuals(release, self.own)):
            return self._checked(self.lexicon.none, cited, refused=True)
        found = told_facts(nodes, REASONS, cited)
        if found.text:
            return self._checked(found.text, cited)
        name = release[Graph].label(nodes[0], (language,))
        text = sentences().forms(language).no_reason.replace("{x}", name)
        return self._checked(f"{text}\n{recorded(nodes, cited)}", cited, refused=True)

    def _of_one_thing(self, cited: SourceList) -> Written | None:
        """Of one thing the facts that are asked for, where not every word is understood; where none is known and no line that
        was found holds those words, that they are not told, and what is recorded. None for any other question."""
        release, asked = self.release, self.facts
        if asked is None or not asked.unknown:
            return None
        language, words = self.language, self.words
        found = told_facts(asked.nodes, asked.asked, cited)
        said = quoted(asked.unknown, language)
        if found.text and (of_found := facts_of_found(release, self.prepared.understood, asked)) is not None:
            then = told_facts(of_found.nodes, of_found.asked, cited)
            text = " ".join(filter(None, (found.text, found.lacking, then.text, then.lacking)))
            return self._checked(text, cited)
        if found.text:
            text = " ".join(filter(None, (found.text, found.lacking, words.unknown.replace("{first}", said))))
            expects = self._expects if asked.expects is None else asked.expects
            told = found.text if expects or asked.expects is None else ""  # else it may be anything
            more = recorded(asked.nodes, cited, expects, told)
            return self._checked(f"{text}\n{more}".rstrip(), cited)
        if asked.telling or not speaks(release, language):
            text = portrait(asked.nodes, cited)
            text = f"{text} {words.unknown.replace('{first}', said)}"
            return self._checked(text, cited)
        elsewhere = self._is_likely or any(
            holds_all(line, asked.unknown) for line in self.prepared.ranked[:NEAR]
        )
        if elsewhere and not asked.besides:
            return None
        refusal = words.not_told.replace("{words}", said)
        text = f"{refusal}\n{recorded(asked.nodes, cited, self._expects)}"
        return self._checked(text, cited, refused=True)

    def _of_each(self, cited: SourceList) -> Written | None:
        """ "Tell me about the donors": each of the few things that the likeliest reading means; None for others."""
        exact, lost = self.exact, self.parsed.unknown or self.parsed.unnamed
        if exact is None or lost or exact.set.kind != "list" or not 0 < exact.set.size <= FEW:
            return None
        nodes = (self.release[Graph].node(one.iri) for one in exact.set.members)
        return self._portraits([node for node in nodes if node is not None], cited)

    def _describes(self) -> bool:
        """Whether the question asks to be told about something."""
        forms = compiled(self.release.method.questions).languages[self.language].forms
        return bool(forms.describing.at(self.own.reading.words, 0))

    def _portraits(self, nodes: Sequence[int], cited: SourceList) -> Written:
        """What is told of each of some things, which may not be all."""
        texts = dict.fromkeys(portrait([node], cited) for node in nodes)
        rows = [*(f"- {text}" for text in texts), self.lexicon.partial]
        return self._checked("\n".join(rows), cited)

    def _of_found(self, cited: SourceList) -> Written | None:
        """ "Tell me about the panel of Anastasia in the narthex": of the best things that were found, which are told to be no
        more than that; None for other questions, and where nothing was found."""
        release, facts = self.release, Facts(self.release, self.language)
        found = (release[Documents].entity(one.document) for one in self.prepared.retrieved.chosen)
        nodes = [
            node
            for node in found
            if not facts.is_untold(node) and release[Graph].category(node) not in ABSTRACT
        ]
        if not nodes:
            return None
        called = [node for node in nodes if self._is_called(node)]
        # the *donors* in the church, not the church; and all of them, where the data has few
        nodes = [*dict.fromkeys((*called, *self._few_of_kind()))] or nodes
        return self._portraits(nodes[:FEW], cited)

    def _few_of_kind(self) -> list[int]:
        """All things of the kind that the noun names which is asked about, where these are few."""
        reading = self.prepared.analysis.reading
        kinds, own = self.release[Lexicon].kinds(reading.language), spoken_language(reading.language)
        stems = list(map(own.stem, reading.words))
        found = (
            one.nodes
            for at in reading.heads
            for length, some in kinds.at(stems, reading.words, at)
            for one in some
            if length == 1 and not one.generic
        )
        return [int(node) for nodes in found if len(nodes) <= FEW for node in nodes]

    def _is_called(self, node: int) -> bool:
        """Whether a thing or a type of it is called by the noun that is asked about."""
        reading, graph = self.prepared.analysis.reading, self.release[Graph]
        own = spoken_language(reading.language)
        heads = {own.stem(reading.words[at]) for at in reading.heads}
        labels = (label.text for one in (node, *type_nodes(graph, node)) for label in graph.labels(one))
        return not heads.isdisjoint(own.all_stems(labels))

    def _nothing_more(self) -> bool:
        """Whether more was asked for, and everything was shown."""
        more = self.prepared.understood.follow_up.kind is Kind.MORE
        return more and self.exact is not None and not self.exact.set.size

    def _checked(
        self, text: str, cited: SourceList, refused: bool = False, notes: tuple[str, ...] = ()
    ) -> Written:
        """A text made of the data itself, so that none of it is unsupported."""
        words = self.release.method.sets.answers
        support = check_support(text, cited.said(), self.prepared.analysis.reading, words)
        notes = (*notes, *self._meant()) if refused else notes
        return Written(text, replace(support, refused=refused, unsupported=()), notes)

    def _meant(self) -> Iterator[str]:
        """What may be meant by the words of a question that nothing is known of, as names that are spelt like them."""
        lost = (*(self.facts.unknown if self.facts else ()), *self.parsed.unknown, *self.parsed.unnamed)
        words = (word for name in lost for word in name.split())
        nodes = (node for word in words for node in meant(self.release[NameIndex], word))
        if found := dict.fromkeys(self.release[Graph].label(node, (self.language,)) for node in nodes):
            yield self.words.meant.replace("{names}", quoted(found, self.language))

    def add_context(self, listed: SourceList, most: int | None = None) -> None:
        """Add the context's sources to a list, with the entities that the context shows of each; ``most`` sources in all."""
        for source in self.prepared.context.sources:
            if most is not None and len(listed) >= most and not listed.has(source.about):
                continue
            own = next((line.text for line in source.lines[1:]), source.lines[0].text if source.lines else "")
            listed.cite(source.about, entities=source.entities, snippet=own)

    def with_images(self, listed: SourceList) -> Iterator[Source]:
        """The sources of a list, with Wikidata's pictures after those of the data."""
        graph = self.release[Graph]
        added = {graph.iri(node): images for node, images in self.prepared.images.items()}
        for source in listed.sources():
            images = dict.fromkeys((*source.images, *added.get(source.iri, ())))
            yield replace(source, images=tuple(images))

    def answer(self, written: Written, cited: SourceList, written_by: str, notes: Sequence[str]) -> Answer:
        """The cited sources first; the context's others follow, as far as the form of question has places."""
        numbers, support, reading = len(cited), written.support, self.prepared.analysis.reading
        suspects = [
            Note(f"{label} may be several things merged under one IRI.", "merged", label=label)
            for label in cited.suspects()
        ]
        most = places_of(self.prepared.analysis.form, self.release.method.retrieval, self.mode)
        exact = self.exact
        tells_facts = written_by == EXTRACTIVE and self._tells_facts
        unlike = exact is not None and not self._agrees and (not exact.certain or self._blurs)
        if unlike and tells_facts:
            exact = None  # what one thing is asked for is told; a set that may be meant otherwise is no part of it
        if exact is not None and exact.certain:
            add_members(exact, cited, most)
        if exact is not None and self.mode.model == "queries" and not exact.set.sparql:
            query = to_sparql(exact.plan, self.release[World])
            exact = replace(exact, set=replace(exact.set, sparql=query))
        self.add_context(cited, None if self.gathered.findings else most)  # every call of a tool is a source
        sources = tuple(
            source if source.n <= numbers else replace(source, cited=False)
            for source in self.with_images(cited)
        )
        if read := [one.label for one in sources if one.read and one.cited]:
            labels = ", ".join(dict.fromkeys(read))
            notes = (*notes, Note(f"{labels}: {self.words.read}.", "read", labels=labels))
        told = (*notes, *written.notes, *suspects)
        return Answer(
            self.prepared.understood.given,
            written.text,
            sources,
            self.mode.name,
            self.release.id,
            exact is not None and exact.certain,
            written_by,
            tuple(map(str, told)),
            citations=support.citations,
            unsupported=support.unsupported,
            refused=support.refused,
            quality=support.quality,
            language=reading.language,
            form=reading.form.value,
            set=exact.set if exact is not None else None,
            asked=self.prepared.understood.follow_up.resolved,
            choices=choices_of(self.release, exact) if exact is not None and not tells_facts else (),
            query=self.gathered.query,
            remarks=remarks_of(told),
        )

    def state_after(self, answer: Answer) -> ConversationState:
        """The conversation with this turn; what a question is about is not shown by its answer."""
        release, understood, topic = self.release, self.prepared.understood, self.state.topic
        about = spoken_of(release, understood)
        named = {release[Graph].iri(node) for node in about}
        cited = (source.iri for source in answer.sources if source.cited and source.iri)
        shown = [iri for iri in cited if iri not in named]
        focus = focus_of(release, about, answer)
        turn = understood.follow_up.turn(understood.question, self.prepared.analysis.form, focus, shown)
        if self._nothing_more() and topic:  # it is still about that set
            turn = replace(turn, plan=topic[-1].plan, sure=topic[-1].sure)
        elif (exact := self.exact) is not None and (exact.certain or exact.set.size):
            turn = replace(turn, plan=stored(exact.plan), sure=exact.certain)
        return self.state.after(turn, release.method.conversation)


def _named_in(plan: Plan) -> list[tuple[str, ...]]:
    """The IRIs of each thing that a plan names."""
    return [one.iris for one in parts_of(plan) if isinstance(one, Anchor | Among) and one.iris]


def state_after(answer: Answer) -> ConversationState:
    """The conversation with the turn of an answer."""
    return ConversationState.from_json(json.dumps(answer.conversation))


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns so far; asking gives a new conversation and leaves this one as it was."""

    state: ConversationState = ConversationState()  # noqa: RUF009 -- frozen

    def ask(
        self, release: Release, question: str, how: Ask | Model | None = None
    ) -> tuple[Answer, Conversation]:
        """The answer, and the conversation that goes on from it; ``how``, or a model alone. Raises QuestionError."""
        answer = answer_of(self.stream(release, question, how if isinstance(how, Ask) else Ask(how)))
        return answer, Conversation(state_after(answer))

    def stream(self, release: Release, question: str, how: Ask) -> Iterator[Event]:
        """As ``answers.ask.stream``, after this conversation."""
        return stream(release, question, how, self.state)
