"""From a question to an answer with sources: read, retrieve, rank the lines, write."""

from __future__ import annotations

from collections.abc import Sequence

from crmrag_query.answers.evidence import gather, rank_evidence, unknown_words
from crmrag_query.answers.extractive import extract_answer
from crmrag_query.answers.generated import write_answer
from crmrag_query.answers.model import Model
from crmrag_query.answers.records import Answer
from crmrag_query.answers.sources import SourceList
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ModelError, QuestionError
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.form import read_question
from crmrag_query.retrieval.pipeline import retrieve
from crmrag_query.retrieval.query import Query

MODE = "crm"
EXTRACTIVE = "extractive"


def ask(release: Release, question: str, model: Model | None = None, history: Sequence[str] = ()) -> Answer:
    """Answer ``question`` from ``release``; ``history`` holds the earlier questions of the conversation, oldest first.

    Without a model, or when it fails, the answer is extractive; a failure is told in ``notes``. Raises QuestionError for
    a question that is empty or longer than ``question_characters``.
    """
    method = release.method
    question = _checked(question, method.retrieval.question_characters)
    reading = read_question(question, method.questions, release.manifest.languages)
    searched = " ".join([*history[-1:], question])
    query = Query.of(Analysis(reading), release.encoder.encode([searched])[0], method.retrieval.mentions, searched)
    candidates = retrieve(release.channels, query, method.retrieval).chosen
    extractive = method.questions.extractive
    found = gather(release, candidates, reading, extractive)
    ranked = rank_evidence(found, reading, release.encoder.encode, extractive)
    notes: list[str] = []
    if model is not None:
        cited = SourceList(release, reading.language)
        try:
            text = write_answer(model, release, reading, candidates, ranked, history, cited)
            if not cited.sources():
                notes.append("The model cited none of its sources.")
            return _answer(release, question, text, cited, model.name, notes)
        except ModelError as error:
            notes.append(f"{error} The answer was made without it.")
    unknown, words = unknown_words(found, reading), method.questions.languages[reading.language]
    if unknown:
        notes.append(words.unknown.format(words=", ".join(unknown)))
    cited = SourceList(release, reading.language)
    if len(unknown) == len(set(reading.content) - reading.cueing) > 0:
        return _answer(release, question, words.none, cited, EXTRACTIVE, notes)
    text = extract_answer(release, reading, candidates, ranked, cited)
    return _answer(release, question, text, cited, EXTRACTIVE, notes)


def _checked(question: str, limit: int) -> str:
    question = " ".join(question.split())
    if not question:
        raise QuestionError("The question is empty.", "Ask in words, such as: which churches are in Cyprus?")
    if len(question) > limit:
        raise QuestionError(f"The question has {len(question)} characters.", f"Ask in at most {limit}.")
    return question


def _answer(
    release: Release, question: str, text: str, cited: SourceList, written_by: str, notes: Sequence[str]
) -> Answer:
    suspects = [f"{label} may be several things merged under one IRI." for label in cited.suspects()]
    return Answer(question, text, cited.sources(), MODE, release.id, False, written_by, (*notes, *suspects))
