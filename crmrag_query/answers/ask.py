"""From a question to an answer with sources: prepare, then write it, by a language model or from the lines themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from crmrag_query.answers.exact import Exact, add_members, find_exact, stored, told_set, with_notes
from crmrag_query.answers.extractive import extract
from crmrag_query.answers.focus import focus_of, spoken_of
from crmrag_query.answers.generated import Token, Written, stream_answer
from crmrag_query.answers.prepare import Prepared, prepare, scores_of
from crmrag_query.answers.records import Answer, Source
from crmrag_query.answers.refusal import nothing_of, refusal
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.support import check_support
from crmrag_query.answers.understand import FIRST
from crmrag_query.artifacts.release import Release
from crmrag_query.config.query import Stages
from crmrag_query.context.wikidata import WikidataTexts
from crmrag_query.errors import ModelError
from crmrag_query.llm.model import Model
from crmrag_query.parsing.parse import Parsed
from crmrag_query.questions.followup import ConversationState
from crmrag_query.questions.form import Form
from crmrag_query.questions.state import Kind, turns_of
from crmrag_query.retrieval.pipeline import k_of
from crmrag_query.sets.guard import misstated
from crmrag_query.sets.records import AnswerSet, Chip
from crmrag_query.timing import Clock

__all__ = ["Ask", "Done", "Event", "Found", "Planned", "Restart", "SetFound", "Token", "ask", "stream"]

MODE = "crm"
EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class Planned:
    """The question as a plan: ``title`` in words, ``chips`` part by part."""

    plan: dict[str, Any] = field(hash=False)
    title: str
    chips: tuple[Chip, ...]


@dataclass(frozen=True, slots=True)
class SetFound:
    """The exact set of the plan, its first page."""

    set: AnswerSet


@dataclass(frozen=True, slots=True)
class Found:
    """The sources of the context, before a word is written; none is cited yet."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Restart:
    """What was streamed so far is no answer, for this reason: another one follows."""

    reason: str


@dataclass(frozen=True, slots=True)
class Done:
    """The answer, and the conversation with its turn."""

    answer: Answer
    state: ConversationState


Event = Planned | SetFound | Found | Token | Restart | Done


@dataclass(frozen=True)
class Ask:
    """How questions are answered: the language model if any, other stages than configured, and whether with Wikidata's
    texts (None: as the data set says; texts of one's own in place of those that the release keeps)."""

    model: Model | None = None
    wikidata: WikidataTexts | bool | None = None
    stages: Stages | None = None


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
    for event in stream(release, question, Ask(model), before):
        if isinstance(event, Done):
            return event.answer
    raise AssertionError("a stream ends with Done")


def stream(
    release: Release,
    question: str,
    how: Ask = Ask(),
    state: ConversationState = FIRST,
) -> Iterator[Event]:
    """The answer as it comes: the plan and its set where the question has one, the sources found, pieces of text, the whole
    answer. Raises QuestionError before the first."""
    clock = Clock()
    prepared = prepare(release, question, state, how.model, how.stages, how.wikidata)
    with clock("exact"):
        exact = find_exact(release, prepared.understood, state, how.model)
    if isinstance(exact, Exact):
        yield Planned(exact.set.plan, exact.set.title, exact.set.chips)
        yield SetFound(exact.set)
    listed = _sources(release, prepared)
    _add_context(listed, prepared)
    yield Found(tuple(replace(source, cited=False) for source in _with_images(release, prepared, listed)))
    notes = with_notes(prepared.understood.notes, exact)
    cited = _sources(release, prepared)
    written: Written | None = None
    with clock("answer"):
        if how.model is not None:
            try:
                for event in _by_model(release, prepared, exact, how.model, state, cited):
                    if isinstance(event, Written):
                        written = event
                    else:
                        yield event
            except ModelError as error:
                notes.append(f"{error} The answer was made without it.")
                yield Restart(str(error))
        if written is None:
            cited = _sources(release, prepared)
            written = _without_model(release, prepared, exact, cited)
            yield Token(written.text)
            written_by = EXTRACTIVE
        else:
            written_by = how.model.name if how.model else EXTRACTIVE
    answer = _answer(release, prepared, exact, written, cited, written_by, notes)
    answer = replace(answer, timings={**prepared.timings, **clock.spent})
    yield Done(answer, _after(release, prepared, exact, answer, state))


def _sources(release: Release, prepared: Prepared) -> SourceList:
    return SourceList(release, prepared.analysis.reading.language, scores_of(release, prepared.retrieved))


def _by_model(
    release: Release,
    prepared: Prepared,
    exact: Exact | Parsed,
    model: Model,
    state: ConversationState,
    cited: SourceList,
) -> Iterator[Token | Written]:
    """The model's answer. Raises ModelError also where it states another size than the set's."""
    own = prepared.understood.own.reading
    told = replace(
        prepared.analysis.reading, question=prepared.understood.question, words=own.words, content=own.content
    )
    longest = release.method.retrieval.question_characters
    earlier = [turn.question[:longest] for turn in state.turns]
    known = exact.set if isinstance(exact, Exact) and exact.certain else None
    for event in stream_answer(model, release, told, prepared.context, earlier, cited, known):
        if isinstance(event, Written) and known is not None and misstated(event.text, known, release.method):
            raise ModelError(
                f"The model {model.name} stated another number than the set's.",
                "Read the set's own sentence.",
            )
        yield event


def _without_model(release: Release, prepared: Prepared, exact: Exact | Parsed, cited: SourceList) -> Written:
    """What can be said without a language model: the exact set, else that the data does not tell, else the set of a likely
    reading, told as such, else what was found."""
    if isinstance(exact, Exact) and exact.certain:
        return _checked(
            release, prepared, told_set(release, exact, cited), cited, _nothing_more(prepared, exact)
        )
    parsed = exact.parsed if isinstance(exact, Exact) else exact
    told = refusal(release, parsed, prepared.analysis, prepared.ranked)
    if told:
        return _checked(release, prepared, told, cited, refused=True)
    if isinstance(exact, Exact) and exact.likely and prepared.analysis.form is not Form.SPECIFIC:
        return _checked(release, prepared, told_set(release, exact, cited), cited, refused=False)
    written = _from_lines(release, prepared, cited)
    named = nothing_of(release, parsed, prepared.analysis, prepared.ranked)
    if written.support.refused and named and not written.support.citations:
        return _checked(release, prepared, named, cited, refused=True, notes=written.notes)
    return written


def _nothing_more(prepared: Prepared, exact: Exact) -> bool:
    """Whether more was asked for, and everything was shown."""
    return prepared.understood.follow_up.kind is Kind.MORE and not exact.set.size


def _checked(
    release: Release,
    prepared: Prepared,
    text: str,
    cited: SourceList,
    refused: bool,
    notes: tuple[str, ...] = (),
) -> Written:
    """A text made of the data itself, so that none of it is unsupported."""
    lines = {source.n: _said_of(source) for source in cited.sources()}
    support = check_support(text, lines, prepared.analysis.reading, release.method.answers)
    return Written(text, replace(support, refused=refused, unsupported=()), notes)


def _from_lines(release: Release, prepared: Prepared, cited: SourceList) -> Written:
    """An extractive answer: its sentences are lines of the data or composed of them, so none is unsupported."""
    ranked = () if prepared.exhausted else prepared.ranked
    extracted = extract(release, prepared.analysis, prepared.retrieved.chosen, prepared.found, ranked, cited)
    return _checked(release, prepared, extracted.text, cited, extracted.refused, extracted.notes)


def _said_of(source: Source) -> list[str]:
    """What a source of an extractive answer says: its label, snippet and triples in words."""
    return [source.label, source.snippet, *(str(triple) for triple in source.triples)]


def _add_context(listed: SourceList, prepared: Prepared, most: int | None = None) -> None:
    """Add the context's sources to a list, with the entities that the context shows of each; ``most`` sources in all."""
    for source in prepared.context.sources:
        if most is not None and len(listed) >= most and not listed.has(source.entity):
            continue
        own = next((line.text for line in source.lines[1:]), source.lines[0].text if source.lines else "")
        listed.cite(source.entity, entities=source.entities, snippet=own)


def _with_images(release: Release, prepared: Prepared, listed: SourceList) -> Iterator[Source]:
    """The sources of a list, with Wikidata's pictures after those of the data."""
    added = {release.graph.iri(node): images for node, images in prepared.images.items()}
    for source in listed.sources():
        images = dict.fromkeys((*source.images, *added.get(source.iri, ())))
        yield replace(source, images=tuple(images))


def _answer(
    release: Release,
    prepared: Prepared,
    exact: Exact | Parsed,
    written: Written,
    cited: SourceList,
    written_by: str,
    notes: Sequence[str],
) -> Answer:
    """The cited sources first; the context's others follow, as far as the form of question has places."""
    numbers = len(cited)
    suspects = [f"{label} may be several things merged under one IRI." for label in cited.suspects()]
    most = k_of(prepared.analysis.form, release.method.retrieval.k)
    known = exact if isinstance(exact, Exact) else None
    if known is not None and known.certain:
        add_members(release, known, cited, most)
    _add_context(cited, prepared, most)
    sources = [
        source if source.n <= numbers else replace(source, cited=False)
        for source in _with_images(release, prepared, cited)
    ]
    support, reading = written.support, prepared.analysis.reading
    return Answer(
        prepared.understood.question,
        written.text,
        tuple(sources),
        MODE,
        release.id,
        known is not None and known.certain,
        written_by,
        (*notes, *written.notes, *suspects),
        citations=support.citations,
        unsupported=support.unsupported,
        refused=support.refused,
        quality=support.quality,
        language=reading.language,
        form=reading.form.value,
        set=known.set if known is not None else None,
    )


def _after(
    release: Release,
    prepared: Prepared,
    exact: Exact | Parsed,
    answer: Answer,
    state: ConversationState,
) -> ConversationState:
    """The conversation with this turn; what a question is about is not shown by its answer."""
    understood = prepared.understood
    about = spoken_of(release, understood)
    named = {release.graph.iri(node) for node in about}
    shown = [source.iri for source in answer.sources if source.cited and source.iri not in named]
    focus = focus_of(release, about, answer)
    turn = understood.follow_up.turn(answer.question, prepared.analysis.form, focus, shown)
    if isinstance(exact, Exact) and _nothing_more(prepared, exact) and state.topic:
        turn = replace(
            turn, plan=state.topic[-1].plan, sure=state.topic[-1].sure
        )  # it is still about that set
    elif isinstance(exact, Exact) and (exact.certain or exact.set.size):
        turn = replace(turn, plan=stored(exact.plan), sure=exact.certain)
    return state.after(turn, release.method.conversation)
