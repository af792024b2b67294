"""A question read within its conversation: what it names, what it asks for, what is searched for and what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from crmrag_query.answers.model import Model
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.linking.link import link
from crmrag_query.linking.question import stop_words
from crmrag_query.linking.records import LinkedEntity, Mention
from crmrag_query.questions.analysis import Analysis, analyse
from crmrag_query.questions.followup import ConversationState, Focus, FollowUp, Kind, follow
from crmrag_query.questions.rewriting import rewrite_with_model
from crmrag_query.questions.structured import analyse_with_model
from crmrag_query.retrieval.query import Query
from crmrag_query.timing import Clock

FIRST = ConversationState()
MODEL_STAGES = frozenset({"rewriting", "model analysis"})
"""Stages that are a language model's time."""


@dataclass(frozen=True)
class Understood:
    """A question as analysed within its conversation.

    ``queries``: what is searched for, one or two (with what went before, then by itself), whose rankings are interleaved;
    ``excluded``: nodes that must not come back; ``excluded_types``: nodes of types whose entities must not; ``notes``: what
    the reader should know; ``timings``: milliseconds by stage.
    """

    question: str
    analysis: Analysis
    queries: tuple[Query, ...]
    follow_up: FollowUp
    excluded: frozenset[int] = frozenset()
    excluded_types: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)


def checked(question: str, limit: int) -> str:
    """The question with its white space in order. Raises QuestionError when it is empty, says nothing, or is too long."""
    if len(question) > limit:
        raise QuestionError(f"The question has {len(question)} characters.", f"Ask in at most {limit}.")
    question = " ".join("".join(c if c.isprintable() else " " for c in question).split())
    if not any(character.isalnum() for character in question):
        what = f"The question has no words: {question[:40]!r}." if question else "The question is empty."
        raise QuestionError(what, "Ask in words, such as: which churches are in Cyprus?")
    return question


def understand(
    release: Release, question: str, state: ConversationState = FIRST, model: Model | None = None
) -> Understood:
    """Read ``question`` after ``state``; with a model, by one structured call and, in a conversation, its rewriting.

    Without a model, or when it fails (told in ``notes``), by words. Raises QuestionError; see ``checked``.
    """
    method, clock, notes = release.method, Clock(), []
    question = checked(question, method.retrieval.question_characters)
    asked = question
    if model is not None and state.turns:
        with clock("rewriting"):
            rewritten = rewrite_with_model(model, question, state, method.prompts, method.conversation)
        asked = rewritten or question
    with clock("linking"):
        mentions = named(release, asked)
    with clock("analysis"):
        told = _followed(release, asked, state, mentions)
        analysis = _analysed(release, told.raw, told.mentions)
        whole = analysis if told.contextual is None else _in_context(release, told, analysis)
    if model is not None:
        with clock("model analysis"):
            whole, note = analyse_with_model(model, told.contextual or told.raw, whole, method.prompts)
        notes += [note] if note else []
    with clock("encoding"):
        queries = _queries(release, told, analysis, whole)
    nodes = (release.graph.node(iri) for iri in told.excluded)
    return Understood(
        question,
        whole,
        queries,
        told,
        frozenset(node for node in nodes if node is not None),
        frozenset(told.excluded_types),
        tuple(notes),
        clock.spent,
    )


def named(release: Release, text: str) -> tuple[Mention, ...]:
    """The entities that a text names."""
    method = release.method
    return link(release.names, text, stop_words(method.questions), method.linking)


def _followed(
    release: Release, question: str, state: ConversationState, mentions: Sequence[Mention]
) -> FollowUp:
    method = release.method
    return follow(
        question, state, mentions, method.questions, method.conversation,
        release.graph.iri, lambda node: int(release.graph.adjacency.categories[node]), release.manifest.languages,
    )  # fmt: skip


def _analysed(release: Release, question: str, mentions: Sequence[Mention]) -> Analysis:
    categories = release.graph.adjacency.categories
    return analyse(
        question,
        release.method.questions,
        release.manifest.languages,
        mentions,
        lambda node: int(categories[node]),
    )


def _in_context(release: Release, told: FollowUp, analysis: Analysis) -> Analysis:
    """The analysis with what went before: entities, period and target categories that the question itself leaves open."""
    text = told.contextual or told.raw
    before = _analysed(release, text, named(release, text))
    focus = _as_mentions(release, told.focus)
    known = {one.entity for mention in focus for one in mention.entities}
    rest = tuple(m for m in before.mentions if known.isdisjoint(one.entity for one in m.entities))
    return replace(
        before,
        reading=replace(analysis.reading, cues=analysis.reading.cues or before.reading.cues),
        targets=analysis.targets or before.targets,
        contexts=analysis.contexts or before.contexts,
        mentions=(*focus, *rest),
        period=analysis.period or before.period,
    )


def _as_mentions(release: Release, focus: Sequence[Focus]) -> tuple[Mention, ...]:
    """What is in focus as one mention: any of it may be meant by "those"."""
    entities = tuple(
        LinkedEntity(node, 1.0, one.label, "label")
        for one in focus
        if (node := release.graph.node(one.iri)) is not None
    )
    return (Mention(0, 0, ", ".join(one.name for one in entities), entities),) if entities else ()


def _queries(release: Release, told: FollowUp, analysis: Analysis, whole: Analysis) -> tuple[Query, ...]:
    config = release.method.retrieval.mentions
    texts = [told.contextual] if told.contextual else []
    if told.kind is not Kind.VAGUE or not texts:
        texts.append(told.raw)
    vectors = release.encoder.encode(texts)
    read = {told.contextual: whole, told.raw: analysis if told.contextual else whole}
    return tuple(
        Query.of(read[text], vector, config, text) for text, vector in zip(texts, vectors, strict=True)
    )
