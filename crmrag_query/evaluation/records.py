"""The outcome of an evaluation as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Scores = Mapping[str, Mapping[str, float]]
"""Measure -> question id -> value."""


@dataclass(frozen=True, slots=True)
class ContextScore:
    """What of the answer stands in the context of one question.

    ``entities``: share of the gold entities among the sources' entities; ``facts``: share of the gold facts in its text;
    None where the question has none.
    """

    entities: float | None
    facts: float | None
    sources: int
    characters: int


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """One answer against what is known of it.

    ``precision``, ``recall``, ``f1``: of the cited entities against the gold set, for questions that ask for one;
    ``facts``: share of the gold facts in the text; ``refused``: it says that the data does not say; ``unsupported``:
    sentences that their sources do not support; None where it cannot be told.
    """

    precision: float | None
    recall: float | None
    f1: float | None
    facts: float | None
    refused: bool
    unsupported: int
    quality: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything measured on one data set with one file of questions.

    ``kinds``: question id -> kind; ``retrieval``: system -> scores; ``form_expected`` and ``form_found``: question id ->
    query type; ``latency``: stage -> milliseconds of each question.
    """

    dataset: str
    release: str
    relationships: str
    encoder: str
    questions: int
    kinds: Mapping[str, str]
    retrieval: Mapping[str, Scores]
    form_expected: Mapping[str, str]
    form_found: Mapping[str, str]
    contexts: Mapping[str, ContextScore] = field(default_factory=dict)
    answers: Mapping[str, AnswerScore] = field(default_factory=dict)
    latency: Mapping[str, list[float]] = field(default_factory=dict)
    written_by: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)
