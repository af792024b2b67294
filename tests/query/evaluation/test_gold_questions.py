"""Questions with known answers: what is read from a file, and how mistakes in one are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crmrag_query.errors import ConfigError, QuestionError
from crmrag_query.evaluation.questions import GoldQuestion, declared_questions, read_questions
from crmrag_query.questions.form import Form
from tests.conftest import ROOT
from tests.support.builds import make_project


def write(folder: Path, content: object) -> Path:
    path = folder / "questions.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def one(folder: Path, **keys: object) -> GoldQuestion:
    (question,) = read_questions(write(folder, [{"id": "1", "question": "Who?", **keys}]))
    return question


@pytest.mark.parametrize(
    ("answer_form", "form"),
    [
        ("facts", Form.SPECIFIC),
        ("bool", Form.SPECIFIC),
        ("iris", Form.ENUMERATION),
        ("number", Form.AGGREGATION),
        ("ranking", Form.AGGREGATION),
        ("table", Form.AGGREGATION),
        ("refuse", None),
    ],
)
def test_the_form_of_the_answer_tells_the_query_type(
    tmp_path: Path, answer_form: str, form: Form | None
) -> None:
    assert one(tmp_path, answer_form=answer_form).form is form


def test_a_stated_query_type_counts_more(tmp_path: Path) -> None:
    assert one(tmp_path, answer_form="facts", query_type="ENUMERATION").form is Form.ENUMERATION


def test_iris_of_a_fact_are_of_one_entity_and_iris_of_a_set_are_each_one(tmp_path: Path) -> None:
    assert one(tmp_path, answer_form="facts", gold_iris=["a", "b"]).gold == (frozenset("ab"),)
    assert one(tmp_path, answer_form="iris", gold_iris=["a", "b"]).gold == (frozenset("a"), frozenset("b"))


def test_entities_with_several_iris_count_once(tmp_path: Path) -> None:
    entities = [{"label": "A", "any_of": ["a", "A"]}, {"any_of": ["b"]}]
    found = one(tmp_path, answer_form="iris", gold_iris=["a", "b"], gold_entities=entities)
    assert found.gold == (frozenset("aA"), frozenset("b"))


def test_a_list_may_stand_in_an_object(tmp_path: Path) -> None:
    path = write(tmp_path, {"title": "T", "questions": [{"id": "1", "question": "Who?"}]})
    assert [question.id for question in read_questions(path)] == ["1"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"a": 1}, "whole file"),
        ([{"id": "1"}], "0.question"),
        ([{"id": "1", "question": ""}], "0.question"),
        ([{"id": "1", "question": "Who?", "answer_form": "poem"}], "0.answer_form"),
        ([{"id": "1", "question": "Who?", "gold_entities": [{"any_of": []}]}], "any_of"),
        ([{"id": "1", "question": "Who?"}] * 2, "several questions with the id 1"),
        (3, "whole file"),
        ([], "holds no question"),
        ([{"id": "a b", "question": "Who?"}], "0.id"),
        ([{"id": "1", "question": "  "}], "0.question"),
        ([{"id": "1", "question": "Who?", "answer_form": "number", "gold_value": "3"}], "must be a number"),
        ([{"id": "1", "question": "Who?", "answer_form": "number", "gold_value": True}], "must be a number"),
        ([{"id": "1", "question": "Who?", "answer_form": "bool", "gold_value": 1}], "true or false"),
        (
            [{"id": "1", "question": "Who?", "answer_form": "table", "gold_value": [{"label": "a"}]}],
            "have a key",
        ),
        ([{"id": "1", "question": "Who?", "answer_form": "ranking", "gold_value": {}}], "have a label"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, content: object, told: str) -> None:
    with pytest.raises(QuestionError, match=told):
        read_questions(write(tmp_path, content))


@pytest.mark.parametrize("content", [b"\xff{", b"{", b"", b"[" * 100_000])
@pytest.mark.parametrize("name", ["questions.json", "questions.yaml"])
def test_a_file_that_is_neither_json_nor_yaml_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(QuestionError, match=name.replace(".", r"\.")):
        read_questions(path)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match=r"gone\.json: No such file"):
        read_questions(tmp_path / "gone.json")


def test_yaml_is_read_as_json_is(tmp_path: Path) -> None:
    path = tmp_path / "questions.yaml"
    path.write_text("- id: one\n  question: Who?\n  gold_iris: [a]\n", encoding="utf-8")
    assert read_questions(path) == (one(tmp_path, id="one", gold_iris=["a"]),)


def test_rows_of_rankings_and_tables_give_their_labels(tmp_path: Path) -> None:
    rows = [{"label": "A", "value": 2}, {"label": "B", "value": 1}, {"label": "A", "value": 0}]
    assert one(tmp_path, answer_form="ranking", gold_value=rows).labels == ("A", "B")
    table = [{"key": 12, "value": 2}]
    assert one(tmp_path, answer_form="table", gold_value=table).labels == ("12",)


def test_the_sample_declares_its_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRMRAG_CONFIG", str(ROOT / "config"))
    assert len(read_questions(declared_questions("sample"))) == 20


@pytest.mark.parametrize(
    ("dataset", "questions", "told"),
    [
        ("churches", "", "declares no questions for 'churches'.*crmrag evaluate churches QUESTIONS"),
        ("nowhere", "", "declares no questions for 'nowhere'"),
        ("churches", "gone.yaml", r"datasets\.churches\.questions: no such file: 'gone\.yaml'"),
    ],
)
def test_a_data_set_without_questions_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dataset: str, questions: str, told: str
) -> None:
    project = make_project(tmp_path / "project", questions=questions)
    monkeypatch.setenv("CRMRAG_CONFIG", str(project.config))
    with pytest.raises((QuestionError, ConfigError), match=told):
        declared_questions(dataset)


def test_the_shared_questions_are_read(shared_data: Path) -> None:
    files = [*(shared_data / "eval").glob("dev_*.json"), shared_data / "eval" / "asinou_published.json"]
    for path in files:
        written = json.loads(path.read_text(encoding="utf-8"))
        assert len(read_questions(path)) == len(written) > 0, path.name
