"""Running questions with known answers through every system that is compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from crmrag_query.answers.ask import ask
from crmrag_query.answers.conversation import Conversation
from crmrag_query.answers.model import Model
from crmrag_query.answers.prepare import Prepared, prepare, search
from crmrag_query.answers.understand import Understood, understand
from crmrag_query.artifacts.release import Release
from crmrag_query.evaluation.questions import GoldQuestion
from crmrag_query.evaluation.records import AnswerScore, ContextScore, Evaluation, Scores
from crmrag_query.evaluation.runs import Names, Run, judged, measure, qrels_of
from crmrag_query.evaluation.scores import score_answer, score_context
from crmrag_query.evaluation.systems import System

Advance = Callable[[int, int], None]


@dataclass
class _Found:
    """What has been measured so far."""

    runs: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    forms: dict[str, str] = field(default_factory=dict)
    contexts: dict[str, ContextScore] = field(default_factory=dict)
    answers: dict[str, AnswerScore] = field(default_factory=dict)
    latency: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """An evaluation, and the runs and relevant documents that it was measured by."""

    evaluation: Evaluation
    runs: dict[str, Run]
    qrels: dict[str, frozenset[str]]


def evaluate(
    release: Release,
    questions: Sequence[GoldQuestion],
    systems: Sequence[System],
    answers: bool = False,
    model: Model | None = None,
    advance: Advance = lambda done, total: None,
) -> Outcome:
    """Retrieval of every system, the pipeline's context, and with ``answers`` what is answered, by ``model`` if given.

    A question with history is asked in a conversation: its earlier questions are asked before it. The first question is
    asked once beforehand, so that opening the release's files counts for none. ``advance`` is told (done, total).
    """
    names, found = Names(release), _Found()
    if questions:
        prepare(release, questions[0].question)
    for done, one in enumerate(questions):
        advance(done, len(questions))
        talk = _replayed(release, one, model if answers else None)
        _retrieval(release, one, understand(release, one.question, talk.state), systems, names, found)
        _context(release, one, prepare(release, one.question, talk.state), found)
        if answers:
            found.answers[one.id] = score_answer(one, ask(release, one.question, model, talk.state))
    qrels = qrels_of(questions, names)
    retrieval: dict[str, Scores] = {name: measure(run, qrels) for name, run in found.runs.items()}
    manifest = release.manifest
    evaluation = Evaluation(
        dataset=manifest.dataset,
        release=release.id,
        relationships=manifest.relationships,
        encoder=str(manifest.embedding.get("model", "")),
        questions=len(questions),
        kinds={one.id: one.kind for one in questions},
        retrieval=retrieval,
        form_expected={one.id: one.form.value for one in questions if one.form},
        form_found=found.forms,
        contexts=found.contexts,
        answers=found.answers,
        latency=found.latency,
        written_by=(model.name if model else "extractive") if answers else "",
    )
    return Outcome(evaluation, dict(found.runs), qrels)


def _replayed(release: Release, question: GoldQuestion, model: Model | None) -> Conversation:
    """The conversation up to the question: its earlier questions, asked and answered."""
    talk = Conversation()
    for earlier in question.history:
        _, talk = talk.ask(release, earlier, model)
    return talk


def _retrieval(
    release: Release,
    question: GoldQuestion,
    understood: Understood,
    systems: Sequence[System],
    names: Names,
    found: _Found,
) -> None:
    found.forms[question.id] = understood.analysis.form.value
    relevant = names.holding(iri for entity in question.gold for iri in entity)
    neither = names.holding(question.also_ok)
    for system in systems:
        ranking = [names.of(document) for document in search(release, understood, system.stages).ranking]
        found.runs.setdefault(system.name, {})[question.id] = judged(ranking, relevant, neither)


def _context(release: Release, question: GoldQuestion, prepared: Prepared, found: _Found) -> None:
    context, graph = prepared.context, release.graph
    entities = {graph.iri(entity) for source in context.sources for entity in source.entities}
    found.contexts[question.id] = score_context(question, context.render(), len(context.sources), entities)
    for stage, spent in prepared.timings.items():
        found.latency.setdefault(stage, []).append(spent)
