"""Asking questions with known answers, and scoring what is answered as sets."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from crmrag_query.answers.conversation import Conversation
from crmrag_query.artifacts.files import sha256_file
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.evaluation.exact import ExactScore, Said, score_exact
from crmrag_query.evaluation.questions import GoldQuestion, read_questions
from crmrag_query.evaluation.said import said_of
from crmrag_query.llm.model import Model

Advance = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, what was answered, and its score; ``milliseconds``: of its last turn."""

    question: GoldQuestion
    said: Said
    score: ExactScore
    milliseconds: float


@dataclass(frozen=True, slots=True)
class ExactEvaluation:
    """All questions of a file, asked of a release; ``sha256`` of the file."""

    dataset: str
    release: str
    encoder: str
    file: str
    sha256: str
    answered: tuple[Answered, ...]


def evaluate_exact_file(
    release: Release, path: Path, model: Model | None = None, advance: Advance = lambda done, total: None
) -> ExactEvaluation:
    """Ask and score every question of a file. Raises QuestionError for a mistake in it."""
    manifest = release.manifest
    return ExactEvaluation(
        manifest.dataset,
        release.id,
        str(manifest.embedding.get("model", "")),
        path.name,
        sha256_file(path),
        evaluate_exact(release, read_questions(path), model, advance),
    )


def evaluate_exact(
    release: Release,
    questions: Sequence[GoldQuestion],
    model: Model | None = None,
    advance: Advance = lambda done, total: None,
) -> tuple[Answered, ...]:
    """A question with history is asked in a conversation: its earlier questions are answered before it.

    The first question is asked once beforehand, so that opening the release's files counts for none.
    """
    for first in questions[:1]:
        with suppress(QuestionError):
            Conversation().ask(release, first.question, model)
    found = []
    for done, one in enumerate(questions):
        advance(done, len(questions))
        try:
            found.append(_answered(release, one, model))
        except QuestionError as error:
            raise QuestionError(f"Question {one.id}: {error.what}", error.remedy) from error
    advance(len(questions), len(questions))
    return tuple(found)


def _answered(release: Release, question: GoldQuestion, model: Model | None) -> Answered:
    talk = Conversation()
    for earlier in question.history:
        _, talk = talk.ask(release, earlier, model)
    started = time.perf_counter()
    answer, _ = talk.ask(release, question.question, model)
    spent = (time.perf_counter() - started) * 1000
    said = said_of(release, answer)
    score = score_exact(question, said, release.method.answers.abbreviations)
    return Answered(question, said, score, spent)
