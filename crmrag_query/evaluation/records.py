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
    None where the question has none. ``tokens`` are estimated.
    """

    entities: float | None
    facts: float | None
    sources: int
    characters: int
    tokens: int


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """One answer against what is known of it; None where there is nothing to tell it by.

    ``precision``, ``recall``, ``f1``: of the cited sources against the gold set, for questions that ask for a set;
    ``facts``: share of the gold facts in the text; ``number``: the gold number stands in its first sentence; ``labels``:
    share of the labels of a gold ranking or table that stand in the text, in whatever order and with whatever values;
    ``refused``: it says that the data does not say; ``unsupported``: sentences that their sources do not support.
    """

    precision: float | None
    recall: float | None
    f1: float | None
    facts: float | None
    number: bool | None
    labels: float | None
    refused: bool
    unsupported: int
    quality: float | None
    written_by: str
    text: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything measured on one data set with one file of questions.

    ``file``, ``sha256``: the questions' file; by question id: ``asked``, the question; ``kinds``; ``unheld``, gold entities
    that no document holds; ``form_expected`` and ``form_found``, query types; ``contexts``; ``answers``. ``retrieval``:
    system -> scores; ``refusals``: ids of questions that are to be refused; ``latency``: stage -> milliseconds of each
    question, the only part that differs from run to run.
    """

    dataset: str
    release: str
    relationships: str
    encoder: str
    file: str
    sha256: str
    asked: Mapping[str, str]
    kinds: Mapping[str, str]
    unheld: Mapping[str, tuple[str, ...]]
    retrieval: Mapping[str, Scores]
    form_expected: Mapping[str, str]
    form_found: Mapping[str, str]
    contexts: Mapping[str, ContextScore]
    answers: Mapping[str, AnswerScore] = field(default_factory=dict)
    refusals: frozenset[str] = frozenset()
    latency: Mapping[str, list[float]] = field(default_factory=dict)

    @property
    def questions(self) -> int:
        return len(self.kinds)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; ``latency`` last."""
        return asdict(self) | {"refusals": sorted(self.refusals), "latency": dict(self.latency)}
