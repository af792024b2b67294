"""What readings share, and readings that are left out early, change none of those that are kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.evaluation.questions import read_questions
from crmrag_query.reading import grammar, read
from crmrag_query.reading.grammar import Grammar, Reading, State
from crmrag_query.reading.items import analysed
from crmrag_query.reading.records import Memory

T = TypeVar("T")
ROOT = Path(__file__).parents[3]
QUESTIONS = [
    *(one.question for one in read_questions(ROOT / "data/sample/questions.yaml")),
    "Which three painters painted the most churches?",
    "How many churches are there per village and who painted them?",
    "Which churches with at least two icons were not painted before 1500?",
    "Which saints are shown in churches in villages of the Troodos by painters of the 15th century?",
]


@pytest.mark.parametrize("questions", [QUESTIONS[::-12], pytest.param(QUESTIONS, marks=pytest.mark.slow)])
def test_readings_that_come_too_late_would_not_have_been_kept(
    churches: Release, monkeypatch: pytest.MonkeyPatch, questions: list[str]
) -> None:
    made = [0]
    computed = Grammar._computed

    def counted(self: Grammar, *parts: Any) -> State:
        made[0] += 1
        return computed(self, *parts)

    def anew(self: Memory, make: Callable[[], T], parts: object, *more: object) -> T:
        return make()

    monkeypatch.setattr(Grammar, "_computed", counted)
    found = [told(read.readings(churches, analysed(churches, one))) for one in questions]
    some, made[0] = made[0], 0
    monkeypatch.setattr(grammar, "insort", lambda highest, score: None)  # none is known to come before
    monkeypatch.setattr(Grammar, "_gained_at_most", lambda *parts: math.inf)  # and none is hopeless
    monkeypatch.setattr(Memory, "once", anew)
    assert [told(read.readings(churches, analysed(churches, one))) for one in questions] == found
    assert some < 0.7 * made[0]  # about half


def told(readings: list[Reading]) -> list[tuple[object, ...]]:
    return [
        (
            one.plan, one.score, one.size, one.result, one.settled, one.doubt, one.uncovered, one.named,
            one.same,
        )
        for one in readings
    ]  # fmt: skip
