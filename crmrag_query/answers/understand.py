"""A question read within its conversation: what it names, what it asks for, what is searched for and what is left out."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from crmrag_query.answers.asked import asked_for
from crmrag_query.answers.exclusion import Exclusion
from crmrag_query.answers.naming import type_nodes
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.linking.link import link
from crmrag_query.linking.question import plain_words, stop_words
from crmrag_query.linking.records import LinkedEntity, Mention
from crmrag_query.llm.model import Model
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.analysis import Analysis, analyse
from crmrag_query.questions.followup import ConversationState, Focus, FollowUp, Kind, follow
from crmrag_query.questions.form import Form
from crmrag_query.questions.pivot import name_breaks
from crmrag_query.questions.rewriting import rewrite_with_model
from crmrag_query.questions.structured import analyse_with_model
from crmrag_query.retrieval.query import Query, telling
from crmrag_query.retrieval.tokenizer import same_stem, tokenize
from crmrag_query.timing import Clock

FIRST = ConversationState()
MODEL_STAGES = frozenset({"rewriting", "model analysis"})
"""Stages that are a language model's time."""


ZERO_WIDTH_SPACE = "\u200b"


@dataclass(frozen=True)
class Understood:
    """A question as analysed within its conversation.

    ``analysis``: with what went before, from which it is answered; ``own``: by its words alone; ``queries``: what is searched
    for, one or two (with what went before, then by itself), whose rankings are interleaved; ``excluded``: what must not come
    back; ``notes``: what the reader should know; ``timings``: milliseconds by stage.
    """

    question: str
    analysis: Analysis
    own: Analysis
    queries: tuple[Query, ...]
    follow_up: FollowUp
    excluded: Exclusion
    notes: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)


def checked(question: str, limit: int) -> str:
    """The question on one line, without signs that are not seen (controls, marks of direction, halves of surrogate pairs).

    Raises QuestionError when it is empty, says nothing, or is longer than ``limit`` characters.
    """
    if len(question) > limit:
        raise QuestionError(f"The question has {len(question)} characters.", f"Ask in at most {limit}.")
    question = " ".join("".join(map(_seen, question)).split())
    if not any(character.isalnum() for character in question):
        what = f"The question has no words: {question[:40]!r}." if question else "The question is empty."
        raise QuestionError(what, "Ask in words, such as: which churches are in Cyprus?")
    return question


def _seen(character: str) -> str:
    """A character that is shown, as it is; one that joins or directs what is around it as nothing; any other as a space."""
    if character.isprintable():
        return character
    return "" if unicodedata.category(character) == "Cf" and character != ZERO_WIDTH_SPACE else " "


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
        whole = _in_context(release, told, analysis, state)
    if model is not None:
        with clock("model analysis"):
            whole, note = analyse_with_model(model, told.contextual or told.raw, whole, method.prompts)
        notes += [note] if note else []
    with clock("encoding"):
        queries = _queries(release, told, analysis, whole)
    nodes = (release.graph.node(iri) for iri in told.excluded)
    excluded = Exclusion(
        release, frozenset(node for node in nodes if node is not None), frozenset(told.excluded_types)
    )
    return Understood(question, whole, analysis, queries, told, excluded, tuple(notes), clock.spent)


def named(release: Release, text: str) -> tuple[Mention, ...]:
    """The entities that a text names; of a text with a pivot each of its parts by itself."""
    method = release.method
    stop = stop_words(method.questions)
    breaks = name_breaks(text, method.questions, method.conversation, release.manifest.languages)
    if not breaks:
        return link(release.names, text, stop, method.linking)
    words = tokenize(text)
    parts = zip((0, *breaks), (*breaks, len(words)), strict=True)
    return tuple(
        replace(mention, first=mention.first + first, last=mention.last + first)
        for first, last in parts
        for mention in link(release.names, words[first:last], stop, method.linking)
    )


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


def _in_context(release: Release, told: FollowUp, analysis: Analysis, state: ConversationState) -> Analysis:
    return asked_for(
        analysis,
        told,
        state,
        release.method.conversation,
        lambda text: _analysed(release, text, named(release, text)),
        _as_mention(release, told.focus),
    )


def _as_mention(release: Release, focus: Sequence[Focus]) -> Mention | None:
    """What is in focus as one mention: any of it may be meant by "those"."""
    entities = tuple(
        LinkedEntity(node, 1.0, one.label, "label")
        for one in focus
        if (node := release.graph.node(one.iri)) is not None
    )
    return Mention(0, 0, ", ".join(one.name for one in entities), entities) if entities else None


def relied_on(release: Release, analysis: Analysis) -> tuple[Mention, ...]:
    """The mentions of an analysed question that can be relied on (see ``retrieval.query.telling``).

    Not a type that only says what something else that is named is: "the *church* of Panagia Phorbiotissa".
    """
    method, asked = release.method, frozenset(analysis.types)
    mentions = telling(analysis, method.retrieval.mentions, plain_words(method.linking))
    concepts = [m for m in mentions if _is_concept(release, m)]
    heads = {
        tokenize(label.text)[-1:][0]
        for mention in mentions
        if mention not in concepts
        for kind in type_nodes(release.graph, mention.entities[0].entity)
        for label in release.graph.labels(kind)
        if tokenize(label.text)
    }
    return tuple(
        mention
        for mention in mentions
        if mention not in concepts
        or not asked.isdisjoint(_nodes(mention))
        or not any(same_stem(head, word) for head in heads for word in tokenize(mention.text)[-1:])
    )


def individuals(release: Release, analysis: Analysis) -> tuple[Mention, ...]:
    """Those of the mentions that can be relied on that name individuals: no types, and not the noun that is asked for."""
    reading = analysis.reading
    asked = {reading.words[at] for at in reading.heads} if reading.form is not Form.SPECIFIC else set()
    return tuple(
        mention
        for mention in relied_on(release, analysis)
        if not _is_concept(release, mention) and not asked.issuperset(tokenize(mention.text))
    )


def _is_concept(release: Release, mention: Mention) -> bool:
    categories = release.graph.adjacency.categories
    return all(int(categories[node]) == Category.Concept for node in _nodes(mention))


def _nodes(mention: Mention) -> tuple[int, ...]:
    return tuple(one.entity for one in mention.entities)


def _queries(release: Release, told: FollowUp, analysis: Analysis, whole: Analysis) -> tuple[Query, ...]:
    texts = [told.contextual] if told.contextual else []
    if told.kind is not Kind.VAGUE or not texts:
        texts.append(told.raw)
    vectors = release.encoder.encode(texts)
    read = {told.contextual: whole, told.raw: analysis if told.contextual else whole}
    return tuple(
        Query.of(read[text], vector, relied_on(release, read[text]), text)
        for text, vector in zip(texts, vectors, strict=True)
    )
