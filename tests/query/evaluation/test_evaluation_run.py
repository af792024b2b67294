"""An evaluation from a file of questions to the files of its report, on a small release."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from crmrag_query.answers.ask import prepare
from crmrag_query.artifacts.manifest import PIPELINE
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.config import load_method
from crmrag_query.errors import MissingExtraError, QuestionError
from crmrag_query.evaluation.evaluate import Plan, evaluate_file
from crmrag_query.evaluation.report import write_report
from crmrag_query.evaluation.scores import BASELINES, Outcome
from crmrag_query.llm.model import CannedModel
from tests.support.builds import BASE
from tests.support.gold import QUESTIONS, WHO, gold_project, write_questions

pytest.importorskip("ir_measures")
CONFIG = load_method().evaluation


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return open_release("churches", gold_project(tmp_path_factory.mktemp("evaluated") / "project").data)


@pytest.fixture(scope="module")
def outcome(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    path = write_questions(tmp_path_factory.mktemp("questions"))
    return evaluate_file(release, path, Plan(("typed", "walked"), answers=True))


def test_every_question_and_system_is_measured(outcome: Outcome) -> None:
    found = outcome.evaluation
    assert (found.dataset, found.questions, found.file) == ("churches", len(QUESTIONS), "gold.json")
    assert [*found.retrieval] == [*outcome.runs] == [PIPELINE, *BASELINES, "without typed", "with walked"]
    assert found.encoder == "hash" and re.fullmatch("[0-9a-f]{64}", found.sha256)
    assert {*found.contexts} == {*found.answers} == {*found.form_found} == {one["id"] for one in QUESTIONS}


def test_only_questions_with_a_document_to_find_are_measured_by_rank(outcome: Outcome) -> None:
    found = outcome.evaluation
    measured = {"who", "which", "when", "then"}
    assert set(outcome.qrels) == measured
    assert all(set(values) == measured for scores in found.retrieval.values() for values in scores.values())
    assert found.unheld == {"lost": (f"{BASE}painter33",)}


def test_the_measures_follow_from_the_run_files(outcome: Outcome) -> None:
    for system, run in outcome.runs.items():
        for id, relevant in outcome.qrels.items():
            hit = any(document in relevant for document in run[id][:10])
            share = sum(document in relevant for document in run[id][: len(relevant)]) / len(relevant)
            scores = outcome.evaluation.retrieval[system]
            assert (scores["Success@10"][id], scores["Rprec"][id]) == (hit, pytest.approx(share))


def test_what_is_neither_right_nor_wrong_is_in_no_run(outcome: Outcome) -> None:
    neither = set(QUESTIONS[1]["also_ok_iris"])
    assert neither <= set(outcome.runs[PIPELINE]["who"])
    assert all(neither.isdisjoint(run["which"]) for run in outcome.runs.values())


def test_the_context_is_the_one_that_an_answer_is_written_from(outcome: Outcome, release: Release) -> None:
    context = prepare(release, WHO).context
    score = outcome.evaluation.contexts["who"]
    assert (score.sources, score.characters, score.tokens) == (
        len(context.sources), len(context.render()), context.tokens,
    )  # fmt: skip
    assert score.entities == 1.0 and score.facts is not None and score.facts >= 0.5
    assert outcome.evaluation.contexts["count"].entities is None


def test_answers_are_scored_by_the_form_that_is_asked_for(outcome: Outcome) -> None:
    answers = outcome.evaluation.answers
    assert answers["who"].facts is not None and answers["who"].f1 is None
    assert answers["which"].f1 is not None and answers["which"].number is None
    assert answers["count"].number is not None
    assert {answer.written_by for answer in answers.values()} == {"extractive"}
    assert outcome.evaluation.refusals == {"never"}


def test_a_model_writes_the_answers_and_changes_nothing_else(
    outcome: Outcome, release: Release, tmp_path: Path
) -> None:
    path = write_questions(tmp_path, [one for one in QUESTIONS if not one.get("history")])
    model = CannedModel("It was Painter 1 [1].")
    found = evaluate_file(release, path, Plan((), answers=True, model=model))
    assert {answer.written_by for answer in found.evaluation.answers.values()} == {model.name}
    assert found.evaluation.answers["who"].facts == 0.5
    assert found.runs[PIPELINE] == {id: outcome.runs[PIPELINE][id] for id in found.runs[PIPELINE]}
    assert found.evaluation.contexts == {
        id: outcome.evaluation.contexts[id] for id in found.evaluation.contexts
    }


def test_a_follow_up_is_asked_after_its_history(outcome: Outcome) -> None:
    assert outcome.evaluation.contexts["then"].facts == 1.0


def test_the_same_release_and_questions_give_the_same_but_for_time(
    outcome: Outcome, release: Release, tmp_path: Path
) -> None:
    again = evaluate_file(release, write_questions(tmp_path), Plan(("typed", "walked"), answers=True))
    assert (again.runs, again.qrels) == (outcome.runs, outcome.qrels)
    timeless = [replace(one.evaluation, latency={}) for one in (again, outcome)]
    assert timeless[0] == timeless[1]
    for name, one in (("a", again), ("b", outcome)):
        write_report(one, CONFIG, "crmrag evaluate", tmp_path / name)
    texts = [(tmp_path / name / "evaluation.md").read_text().partition("## Latency")[0] for name in "ab"]
    assert texts[0] == texts[1] and "## Question by question" in texts[0]


def test_a_report_holds_everything_and_nothing_of_an_earlier_one(outcome: Outcome, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "with-magic.run").write_text("")
    write_report(outcome, CONFIG, "crmrag evaluate churches", tmp_path)
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {
        "pipeline.run", "plain-BM25.run", "plain-dense.run", "plain-RRF.run", "without-typed.run", "with-walked.run",
    }  # fmt: skip
    stored = json.loads((tmp_path / "evaluation.json").read_text())
    assert stored["command"] == "crmrag evaluate churches" and [*stored][-1] == "latency"
    assert stored["retrieval"][PIPELINE] == outcome.evaluation.retrieval[PIPELINE]
    assert "which 0 http://example.org/mural3 1\n" in (tmp_path / "qrels.txt").read_text()
    first = (tmp_path / "runs" / "pipeline.run").read_text().splitlines()[0].split(" ")
    assert first[:2] == ["who", "Q0"] and first[3:] == [
        "1",
        str(len(outcome.runs[PIPELINE]["who"])),
        "pipeline",
    ]


def test_the_report_says_what_no_system_could_find_and_escapes_what_is_data(
    outcome: Outcome, tmp_path: Path
) -> None:
    write_report(outcome, CONFIG, "crmrag evaluate churches", tmp_path)
    text = (tmp_path / "evaluation.md").read_text()
    assert "No document of churches holds 1 of the gold entities, of these questions: lost." in text
    assert "And Mural 7 &lt;b>\\|?" in text and "<b>" not in text


def test_a_stage_of_which_the_release_has_nothing_is_left_out(release: Release, tmp_path: Path) -> None:
    assert not release.manifest.has("token_vectors")
    found = evaluate_file(release, write_questions(tmp_path), Plan(("typed", "walker")))
    assert "without typed" in found.runs and "with walker" not in found.runs


def test_questions_without_entities_are_reported_without_retrieval(release: Release, tmp_path: Path) -> None:
    path = write_questions(tmp_path, [{"id": "1", "question": WHO, "answer_form": "refuse"}])
    outcome = evaluate_file(release, path, Plan(()))
    write_report(outcome, CONFIG, "crmrag evaluate churches", tmp_path)
    text = (tmp_path / "evaluation.md").read_text()
    assert "retrieval cannot be measured" in text and "nan" not in text.lower()


def test_questions_about_another_data_set_are_refused(release: Release, tmp_path: Path) -> None:
    path = write_questions(tmp_path, [{"id": "1", "question": WHO, "gold_iris": ["http://other.org/a"]}])
    with pytest.raises(QuestionError, match=r"holds none of the 1 entities of .*gold\.json"):
        evaluate_file(release, path)


def test_a_question_that_cannot_be_asked_is_named(release: Release, tmp_path: Path) -> None:
    path = write_questions(tmp_path, [{"id": "silent", "question": "?!"}])
    with pytest.raises(QuestionError, match=r"Question silent: .*no words"):
        evaluate_file(release, path, Plan(()))


def test_without_ir_measures_it_is_told_what_to_install_before_anything_is_asked(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    asked: list[int] = []
    with pytest.raises(MissingExtraError, match=r"pip install 'crmrag\[evaluate\]'"):
        evaluate_file(release, write_questions(tmp_path), advance=lambda done, total: asked.append(done))
    assert asked == []
