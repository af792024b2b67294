"""Exact answers asked and scored on a small release: sets read whole, follow-ups after their history, the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from exact_scores import ExactEvaluation, Said, evaluate_exact_file, said_by, score_exact
from exact_tables import markdown, said_in_short

from crmrag_query.answers.ask import ask
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.errors import QuestionError
from crmrag_query.evaluation.questions import read_questions
from crmrag_query.plans.records import read_plan
from crmrag_query.sets.build import answer_set
from crmrag_query.sets.records import AnswerSet, Page
from tests.support.builds import BASE
from tests.support.gold import QUESTIONS, WHO, gold_project, write_questions

MURALS = {"classes": ["E22"], "categories": []}
BY_PAINTER: dict[str, Any] = {"paths": [["P108i", "P14"]]}
WORKS: dict[str, Any] = {"paths": [["P14i", "P108"]]}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return open_release("churches", gold_project(tmp_path_factory.mktemp("exact") / "project").data)


@pytest.fixture(scope="module")
def evaluation(release: Release, tmp_path_factory: pytest.TempPathFactory) -> ExactEvaluation:
    return evaluate_exact_file(release, write_questions(tmp_path_factory.mktemp("questions")))


def said(release: Release, plan: dict[str, Any], **changes: Any) -> Said:
    found = answer_set(release, read_plan(plan), Page(limit=2))
    return said_by(release, ask(release, WHO), replace(found, **changes))


def painted_by(number: int) -> dict[str, Any]:
    return {"kind": "related", "way": BY_PAINTER, "to": {"iris": [f"{BASE}painter{number}"]}}


def test_a_set_is_scored_whole_whatever_page_of_it_is_shown(release: Release) -> None:
    found = said(release, {"target": MURALS, "where": [painted_by(1)]})
    assert {iri for (iri,) in found.members} == {f"{BASE}mural{n}" for n in (3, 4, 5)}
    assert (found.value, found.by_set, found.confident) == (3, True, True)


def test_a_count_and_a_yes_keep_their_value(release: Release) -> None:
    where = [painted_by(2)]
    assert said(release, {"where": where, "compute": {"kind": "count"}}).value == 3
    assert said(release, {"where": where, "compute": {"kind": "ask"}}).value is True
    assert said(release, {"where": [painted_by(77)], "compute": {"kind": "ask"}}).value is False


def test_a_ranking_has_its_entities_and_values_in_order(release: Release) -> None:
    most = {"kind": "rank", "first": 3, "measure": {"kind": "count", "way": WORKS}}
    found = said(release, {"target": {"classes": ["E21"]}, "compute": most})
    assert [(item.iri, item.value) for item in found.items] == [(f"{BASE}painter{n}", 3) for n in range(4)]
    assert found.items[0].names == {"painter 0"}


def test_days_of_a_ranking_are_compared_as_years(release: Release) -> None:
    time = {"paths": [["P108i", "P4"]]}
    oldest = {"kind": "rank", "first": 2, "ascending": True, "measure": {"kind": "earliest", "way": time}}
    found = said(release, {"target": MURALS, "compute": oldest})
    assert [(item.iri, item.value) for item in found.items] == [
        (f"{BASE}mural0", 1100),
        (f"{BASE}mural1", 1101),
    ]


def test_a_group_has_all_its_rows(release: Release) -> None:
    group = {"kind": "group", "way": BY_PAINTER}
    found = said(release, {"target": MURALS, "compute": group})
    assert sorted((item.iri, item.value) for item in found.items) == [
        (f"{BASE}painter{n}", 3) for n in range(4)
    ]


def test_a_set_that_is_not_the_whole_is_not_confident(release: Release) -> None:
    answer = replace(ask(release, WHO), exhaustive=False)
    found = answer_set(release, read_plan({"where": [painted_by(1)]}))
    partial: AnswerSet = replace(found, exhaustive=False, unknown=("red",))
    told = said_by(release, answer, partial)
    assert not told.confident and told.unknown == ("red",)
    assert said_by(release, answer, None).by_set is False


def test_every_question_is_asked_and_follow_ups_after_their_history(
    evaluation: ExactEvaluation, release: Release
) -> None:
    by_id = {one.question.id: one for one in evaluation.answered}
    assert [*by_id] == [one["id"] for one in QUESTIONS]
    assert by_id["then"].score.facts == 1.0
    for one in evaluation.answered:
        assert one.score == score_exact(one.question, one.said, release.method.sets.answers.abbreviations)
        assert (one.score.exact is None) == (one.question.answer_form in ("facts", "refuse"))


def test_the_report_sums_what_was_scored(evaluation: ExactEvaluation) -> None:
    text = markdown([evaluation, replace(evaluation, dataset="again")], "python it.py")
    exact = sum(bool(one.score.exact) for one in evaluation.answered)
    wrong = sum(one.score.wrong for one in evaluation.answered)
    row = next(line for line in text.splitlines() if line.startswith("| all | 6 |"))
    assert f"| {2 * exact} (" in row and f"| {2 * wrong} (" in row
    assert "python it.py" in text and "## Sure and wrong" in text
    assert said_in_short(Said("It says [1].", refused=True)) == "refused"


def test_a_mistake_in_the_file_is_told(release: Release, tmp_path: Path) -> None:
    path = write_questions(tmp_path, [{"id": "a b", "question": "?"}])
    with pytest.raises(QuestionError, match=r"entry 0\.id"):
        read_questions(path)
    with pytest.raises(QuestionError, match=r"entry 0\.id"):
        evaluate_exact_file(release, path)
