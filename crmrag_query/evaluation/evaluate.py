"""Running questions with known answers through every system that is compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from crmrag_query.answers.ask import ask
from crmrag_query.answers.conversation import Conversation
from crmrag_query.answers.prepare import Prepared, prepare, search
from crmrag_query.answers.understand import Understood, understand
from crmrag_query.artifacts.files import sha256_file
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.evaluation.questions import GoldQuestion, read_questions
from crmrag_query.evaluation.records import AnswerScore, ContextScore, Evaluation, Scores
from crmrag_query.evaluation.runs import Names, Run, judged, measure, require_measures
from crmrag_query.evaluation.scores import score_answer, score_context
from crmrag_query.evaluation.systems import NAMES, System, systems
from crmrag_query.llm.model import Model

Advance = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured: the worth of ``stages``, and with ``answers`` what is answered, by ``model`` if given."""

    stages: Sequence[str] = NAMES
    answers: bool = False
    model: Model | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """An evaluation, and the runs and relevant documents that it was measured by."""

    evaluation: Evaluation
    runs: dict[str, Run]
    qrels: dict[str, frozenset[str]]


@dataclass
class _Found:
    """What has been measured so far."""

    runs: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    qrels: dict[str, frozenset[str]] = field(default_factory=dict)
    forms: dict[str, str] = field(default_factory=dict)
    contexts: dict[str, ContextScore] = field(default_factory=dict)
    answers: dict[str, AnswerScore] = field(default_factory=dict)
    latency: dict[str, list[float]] = field(default_factory=dict)


def evaluate_file(
    release: Release,
    path: Path,
    plan: Plan = Plan(),
    advance: Advance = lambda done, total: None,
) -> Outcome:
    """As ``evaluate``, with the questions of a file.

    Raises QuestionError for a mistake in it, or when the release holds nothing of what its questions ask for;
    MissingExtraError without ir_measures.
    """
    questions = read_questions(path)
    _about(release, questions, path)
    compared = systems(release.method.retrieval.stages, plan.stages)
    outcome = evaluate(release, questions, compared, plan, advance)
    named = replace(outcome.evaluation, file=path.name, sha256=sha256_file(path))
    return replace(outcome, evaluation=named)


def evaluate(
    release: Release,
    questions: Sequence[GoldQuestion],
    compared: Sequence[System],
    plan: Plan = Plan(),
    advance: Advance = lambda done, total: None,
) -> Outcome:
    """Retrieval of every system, the pipeline's context, and the answers that ``plan`` asks for.

    Retrieval and context are measured without the language model. A question with history is asked in a conversation: its
    earlier questions are answered before it. The first question is asked once beforehand, so that opening the release's
    files counts for none. ``advance`` is told (done, total). Raises QuestionError that names the question, MissingExtraError.
    """
    require_measures()
    names, found = Names(release), _Found()
    with suppress(QuestionError):
        for first in questions[:1]:
            prepare(release, first.question)
    for done, one in enumerate(questions):
        advance(done, len(questions))
        try:
            _question(release, one, compared, plan, names, found)
        except QuestionError as error:
            raise QuestionError(f"Question {one.id}: {error.what}", error.remedy) from error
    advance(len(questions), len(questions))
    manifest = release.manifest
    unheld = {one.id: names.unheld(one) for one in questions}
    retrieval: dict[str, Scores] = {name: measure(run, found.qrels) for name, run in found.runs.items()}
    evaluation = Evaluation(
        dataset=manifest.dataset,
        release=release.id,
        relationships=manifest.relationships,
        encoder=str(manifest.embedding.get("model", "")),
        file="",
        sha256="",
        asked={one.id: one.question for one in questions},
        kinds={one.id: one.kind for one in questions},
        unheld={id: entities for id, entities in unheld.items() if entities},
        retrieval=retrieval,
        form_expected={one.id: one.form.value for one in questions if one.form},
        form_found=found.forms,
        contexts=found.contexts,
        answers=found.answers,
        refusals=frozenset(one.id for one in questions if one.answer_form == "refuse"),
        latency=found.latency,
    )
    return Outcome(evaluation, dict(found.runs), found.qrels)


def _about(release: Release, questions: Sequence[GoldQuestion], path: Path) -> None:
    iris = [iri for one in questions for entity in one.gold for iri in entity]
    if iris and all(release.graph.node(iri) is None for iri in iris):
        raise QuestionError(
            f"Release {release.id} of {release.manifest.dataset} holds none of the {len(set(iris))} entities of {path}.",
            "Is this the data set that the questions are about?",
        )


def _question(
    release: Release,
    question: GoldQuestion,
    compared: Sequence[System],
    plan: Plan,
    names: Names,
    found: _Found,
) -> None:
    talk = _replayed(release, question, plan.model if plan.answers else None)
    _retrieval(release, question, understand(release, question.question, talk.state), compared, names, found)
    _context(release, question, prepare(release, question.question, talk.state), found)
    if plan.answers:
        answer = ask(release, question.question, plan.model, talk.state)
        found.answers[question.id] = score_answer(question, answer, release.method.answers.abbreviations)


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
    compared: Sequence[System],
    names: Names,
    found: _Found,
) -> None:
    found.forms[question.id] = understood.analysis.form.value
    relevant, neither = names.relevant(question), names.holding(question.also_ok)
    if relevant:
        found.qrels[question.id] = frozenset(relevant.values())
    for system in compared:
        ranking = [names.of(document) for document in search(release, understood, system.stages).ranking]
        found.runs.setdefault(system.name, {})[question.id] = judged(ranking, relevant, neither)


def _context(release: Release, question: GoldQuestion, prepared: Prepared, found: _Found) -> None:
    context, graph = prepared.context, release.graph
    entities = {graph.iri(entity) for source in context.sources for entity in source.entities}
    found.contexts[question.id] = score_context(question, context, entities)
    for stage, spent in prepared.timings.items():
        found.latency.setdefault(stage, []).append(spent)
