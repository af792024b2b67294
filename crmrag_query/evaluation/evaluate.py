"""Running questions with known answers through every system that is compared: the pipeline, the pipeline without (or with)
each stage, and plain baselines with the same encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from crmrag_query.answers.ask import Ask, Conversation, prepare, search, stream
from crmrag_query.answers.exact import Lesson, lessons_of
from crmrag_query.answers.records import Answer, answer_of
from crmrag_query.answers.understand import understand
from crmrag_query.artifacts.manifest import PIPELINE, sha256_file
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import EXPANSIONS, Mode
from crmrag_query.errors import ModelError, QuestionError
from crmrag_query.evaluation.questions import GoldQuestion, read_questions
from crmrag_query.evaluation.scores import (
    BASELINES,
    AnswerScore,
    ContextScore,
    Evaluation,
    Names,
    Outcome,
    Scores,
    judge,
    judged,
    measure,
    require_measures,
    score_answer,
    score_context,
)
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import Model
from crmrag_query.llm.pool import ModelPool
from crmrag_query.plans.execute import execute
from crmrag_query.plans.world import World
from crmrag_query.reading.items import analysed
from crmrag_query.reading.read import parse
from crmrag_query.retrieval.channels import Channel, channel_names, channel_of, find_mode, lacking
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.text import parts_of

ORDER = ("dense", "sparse", "named", "tied", "dated", "walked", "typed")
"""Of channels in tables; those of other packages follow."""


def stage_names(elsewhere: bool = False) -> tuple[str, ...]:
    """Channels and what is done with their candidates, in the order of tables; ``elsewhere``: those channels too that search
    something beside a release."""
    others = [name for name in channel_names() if name not in ORDER]
    apart = [name for name in others if isinstance(one := channel_of(name), Channel) and one.elsewhere]
    inside = [name for name in others if name not in apart]
    return (*ORDER, *inside, *(apart if elsewhere else ()), *EXPANSIONS)


@dataclass(frozen=True, slots=True)
class System:
    """A way to retrieve: its name in reports, and the mode, as it is configured or with stages that are switched."""

    name: str
    mode: Mode


def systems(mode: Mode, ablated: Sequence[str] | None = None) -> tuple[System, ...]:
    """The pipeline of a mode, the baselines, and for each of ``ablated`` (all stages unless given) the pipeline with that
    stage the other way round."""
    found = [System(PIPELINE, mode)]
    found += [System(name, mode.only(*on)) for name, on in BASELINES.items()]
    for name in stage_names() if ablated is None else ablated:
        found.append(System(f"{'without' if mode.has(name) else 'with'} {name}", mode.switched(name)))
    return tuple(found)


def parse_stages(text: str) -> tuple[str, ...]:
    """Names of stages: ``all``, ``none``, or a list with commas. Raises QuestionError for an unknown one."""
    if text in ("all", "none"):
        return stage_names() if text == "all" else ()
    known = stage_names(elsewhere=True)
    chosen = tuple(dict.fromkeys(parts_of(text)))
    for name in chosen:
        if name not in known:
            raise QuestionError(
                f"There is no stage '{name}'.", f"Stages are: {', '.join(known)}; or all, none."
            )
    return chosen


Advance = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured: the ``mode`` of that name ("": the default), the worth of ``stages`` (None: of all), and with
    ``answers`` what is answered, by ``model`` if given; ``judge`` says what it thinks of these."""

    stages: Sequence[str] | None = None
    answers: bool = False
    model: Model | None = None
    mode: str = ""
    judge: Model | None = None


@dataclass
class _Found:
    """What has been measured so far."""

    runs: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    qrels: dict[str, frozenset[str]] = field(default_factory=dict)
    forms: dict[str, str] = field(default_factory=dict)
    contexts: dict[str, ContextScore] = field(default_factory=dict)
    answers: dict[str, AnswerScore] = field(default_factory=dict)
    written: dict[str, Answer] = field(default_factory=dict)
    latency: dict[str, list[float]] = field(default_factory=dict)


def evaluate_file(
    release: Release,
    path: Path,
    plan: Plan = Plan(),
    advance: Advance = lambda done, total: None,
) -> Outcome:
    """As ``evaluate``, with the questions of a file, for those systems of which the release has all that they read.

    Raises QuestionError for a mistake in it, or when the release holds nothing of what its questions ask for;
    MissingExtraError without ir_measures; ModelError where the release's encoder may not be used.
    """
    if release[QueryEncoder].withheld:
        raise ModelError(
            "This release cannot be measured without its encoder.", release[QueryEncoder].withheld
        )
    questions = read_questions(path)
    iris = [iri for one in questions for entity in one.gold for iri in entity]
    if iris and all(release[Graph].node(iri) is None for iri in iris):
        raise QuestionError(
            f"Release {release.id} of {release.manifest.dataset} holds none of the {len(set(iris))} entities of {path}.",
            "Is this the data set that the questions are about?",
        )
    compared = [
        one for one in systems(find_mode(release, plan.mode), plan.stages) if not lacking(release, one.mode)
    ]
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
    names, found, mode = Names(release), _Found(), find_mode(release, plan.mode)
    with suppress(QuestionError):
        for first in questions[:1]:
            prepare(release, first.question, mode=mode)
    for done, one in enumerate(questions):
        advance(done, len(questions))
        try:
            _question(release, one, compared, plan, mode, names, found)
        except QuestionError as error:
            raise QuestionError(f"Question {one.id}: {error.what}", error.remedy) from error
    advance(len(questions), len(questions))
    if plan.judge is not None:
        instructions = release.method.prompts.judge
        for id, one_judged in judge(ModelPool(plan.judge), instructions, found.written).items():
            found.answers[id] = replace(found.answers[id], judged=one_judged)
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


def _question(
    release: Release,
    question: GoldQuestion,
    compared: Sequence[System],
    plan: Plan,
    mode: Mode,
    names: Names,
    found: _Found,
) -> None:
    talk = Conversation()
    for earlier in question.history:
        _, talk = talk.ask(release, earlier, Ask(plan.model if plan.answers else None, mode=mode))
    understood = understand(release, question.question, talk.state, mode=mode)
    found.forms[question.id] = understood.analysis.form.value
    relevant, neither = names.relevant(question), names.holding(question.also_ok)
    if relevant:
        found.qrels[question.id] = frozenset(relevant.values())
    for system in compared:
        ranking = [names.of(document) for document in search(release, understood, system.mode).ranking]
        found.runs.setdefault(system.name, {})[question.id] = judged(ranking, relevant, neither)
    prepared, graph = prepare(release, question.question, talk.state, mode=mode), release[Graph]
    context = prepared.context
    entities = {graph.iri(entity) for source in context.sources for entity in source.entities}
    found.contexts[question.id] = score_context(question, context, entities)
    for stage, spent in prepared.timings.items():
        found.latency.setdefault(stage, []).append(spent)
    if plan.answers:
        answer = answer_of(stream(release, question.question, Ask(plan.model, mode=mode), talk.state))
        found.written[question.id] = answer
        found.answers[question.id] = score_answer(question, answer, release.method.sets.answers.abbreviations)


@dataclass(frozen=True, slots=True)
class Replayed:
    """A lesson tried on a release: ``size`` of its set, None for a refused question; ``mistake``: why it cannot be executed;
    ``alone``: whether the question is read so without having been taught."""

    lesson: Lesson
    size: int | None = None
    mistake: str = ""
    alone: bool = False


def replay(release: Release) -> Iterator[Replayed]:
    """Every lesson, tried on a release. Raises ConfigError."""
    for lesson in lessons_of(release):
        own = parse(release, analysed(release, lesson.question))
        try:
            plan = lesson.read()
            size = None if plan is None else execute(plan, release[World]).size
        except QuestionError as error:
            yield Replayed(lesson, mistake=str(error))
            continue
        alone = own.plan == plan and own.certain if plan is not None else not own.certain
        yield Replayed(lesson, size, alone=alone)
