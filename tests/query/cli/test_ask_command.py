"""`crmrag ask` and `crmrag chat` as a person and a program meet them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from crmrag_query.answers.records import (
    Answer,
    Done,
    Evidence,
    Restart,
    Source,
    Token,
    Unsupported,
    answer_text,
)
from crmrag_query.cli.ask import ask, chat, tell
from crmrag_query.cli.look import modes
from crmrag_query.errors import QuestionError, ReleaseNotFound
from crmrag_query.shown import SourceTriple
from crmrag_query.text import printable
from tests.support.builds import Project, build_all, make_project
from tests.support.modes import SHIPPED, THERE_ARE

QUESTION = "Who painted Mural 4?"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = make_project(tmp_path_factory.mktemp("asked") / "project", examples=[QUESTION])
    build_all(made.context())
    return made


def run(command: object, project: Project, *arguments: str, typed: str = "") -> str:
    options = ["churches", *arguments, "--data", str(project.data)]
    result = CliRunner().invoke(command, options, input=typed, catch_exceptions=False)  # type: ignore[arg-type]
    assert result.exit_code == 0, result.output
    return result.output


def test_an_answer_and_its_sources_are_printed(project: Project) -> None:
    shown = run(ask, project, QUESTION)
    assert "Painter 1" in shown and "\nSources\n" in shown
    assert "[1]" in shown and "<http://example.org/" in shown


def test_json_holds_the_same_typed(project: Project) -> None:
    told = json.loads(run(ask, project, QUESTION, "--json"))
    assert told["question"] == QUESTION and told["exhaustive"] is True and told["set"]["size"] == 1
    assert told["sources"][0]["n"] == 1 and told["sources"][0]["triples"]


def test_a_conversation_answers_line_by_line_and_ends_with_an_empty_one(project: Project) -> None:
    shown = run(chat, project, typed=f"{QUESTION}\nAnd Mural 5?\n\n")
    assert f"for example: {QUESTION}" in shown
    assert shown.count("\nSources\n") == 2


def test_a_conversation_goes_on_after_a_question_that_is_too_long(project: Project) -> None:
    shown = run(chat, project, typed=f"{'why ' * 5000}\n{QUESTION}\n\n")
    assert "Error: The question has" in shown and "\nSources\n" in shown


def test_an_unknown_data_set_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ReleaseNotFound, match=r"nowhere.*crmrag build"):
        CliRunner().invoke(ask, ["nowhere", "Who?", "--data", str(tmp_path)], catch_exceptions=False)


def test_an_empty_question_is_refused(project: Project) -> None:
    with pytest.raises(QuestionError, match="empty"):
        run(ask, project, "  ")


def test_data_cannot_steer_the_terminal() -> None:
    assert printable("red \x1b[31mBell\x07\r\u202e") == "red [31mBell"
    triple = SourceTriple("s", "p", "o", "s", "p", "\x1b]0;owned\x07", ("http://g",))
    answer = Answer(
        "?", "Bell\x1b[2J", (Source(1, "i", "l\x1b", "Thing", (triple,)),), "crm", "r", False, "x"
    )
    assert "\x1b" not in answer_text(answer) and "[http://g]" in answer_text(answer)


def test_more_sources_and_triples_than_fit_are_counted() -> None:
    triples = tuple(SourceTriple(str(n), "p", "o", str(n), "p", "o") for n in range(5))
    sources = tuple(Source(n, f"i{n}", "l", "Thing", triples) for n in range(1, 5))
    shown = answer_text(Answer("?", "t", sources, "crm", "r", False, "x"), triples=2, sources=3)
    assert shown.count("… 3 more (--json shows all)") == 3
    assert "… 1 more sources" in shown


def test_an_answer_is_shown_as_it_comes_and_what_it_lacks_after_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    doubtful = Unsupported(0, 12, ("1250",), "missing")
    source = Source(1, "http://e/bell", "Bell", "Thing", ())
    answer = Answer("Q?", "It is of 1250 [1].", (source,), "crm", "r", False, "m", unsupported=(doubtful,))
    events = iter([Evidence(()), Token("It is "), Token("of 1250 [1]."), Done(answer)])
    assert tell(events, True) is answer
    shown = capsys.readouterr().out
    assert shown.startswith("It is of 1250 [1].\n") and shown.count("of 1250 [1].") == 1
    assert "It is of 125 (unsupported: not in what it cites: 1250)" in shown and "[1] Bell" in shown


def test_an_answer_that_fails_half_way_is_followed_by_another(capsys: pytest.CaptureFixture[str]) -> None:
    answer = Answer("Q?", "A bell.", (), "crm", "r", False, "extractive", notes=("The model failed.",))
    events = [Token("It i"), Restart("cut"), Token("A bell."), Done(answer)]
    tell(iter(events), True)
    assert capsys.readouterr().out == (
        "It i\n(This is no answer; another one follows.)\nA bell.\nNote: The model failed.\n"
    )
    assert tell(iter(events), None) is answer
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("command", [ask, chat])
def test_a_mode_is_chosen_by_name(project: Project, command: object) -> None:
    typed = f"{QUESTION}\n\n" if command is chat else ""
    arguments = ["--mode", "fulltext"] if command is chat else [QUESTION, "--mode", "fulltext"]
    shown = run(command, project, *arguments, typed=typed)
    assert "Painter 1" in shown and "Exact set" not in shown
    assert "Exact set" in run(command, project, *arguments[:-2], typed=typed)
    told = json.loads(run(ask, project, QUESTION, "--mode", "vector", "--json"))
    assert (told["mode"], told["set"]) == ("vector", None)


def test_an_unknown_mode_is_refused_with_those_that_there_are(project: Project) -> None:
    with pytest.raises(QuestionError, match=f"no mode 'best'. {THERE_ARE}"):
        run(ask, project, QUESTION, "--mode", "best")


@pytest.mark.parametrize("command", [ask, chat])
def test_a_part_of_the_data_is_asked(project: Project, command: object, tmp_path: Path) -> None:
    def told(*within: str) -> str:
        typed = f"{QUESTION}\n\n" if command is chat else ""
        arguments = [part for one in within for part in ("--within", one)]
        return run(command, project, *([] if command is chat else [QUESTION]), *arguments, typed=typed)

    assert "Painter 1" in told() and "Painter 1" in told("category=Actor")
    assert "Painter 1" not in told("iri=urn:none")
    plan = tmp_path / "plan.json"
    plan.write_text('{"where": [{"kind": "among", "iris": ["urn:none"]}]}', encoding="utf-8")
    assert told(f"plan={plan}") == told("iri=urn:none")
    for wrong in ("kind=church", "category", "category="):
        typed = ["--within", wrong] if command is chat else [QUESTION, "--within", wrong]
        result = CliRunner().invoke(command, ["churches", *typed, "--data", str(project.data)])  # type: ignore[arg-type]
        assert result.exit_code == 2 and "give category=…" in result.output


def test_modes_are_listed_and_stand_side_by_side(project: Project) -> None:
    listed = run(modes, project)
    assert all(f"  {name} " in listed for name in SHIPPED) and "a similarity of 0.3 is" in listed
    assert "()" not in listed
    shown = run(modes, project, QUESTION)
    assert all(f"\n{name}: " in shown for name in SHIPPED)
    assert "Painter 1" in shown and " ms" in shown and "found by it alone" in shown
    told = json.loads(run(modes, project, QUESTION, "--mode", "fulltext", "--mode", "crm", "--json"))
    assert [one["mode"] for one in told["modes"]] == ["fulltext", "crm"]
    both = [one["label"] for one in told["sources"] if len(one["modes"]) == 2]
    assert both and all(
        label in run(modes, project, QUESTION, "--mode", "fulltext", "--mode", "crm") for label in both
    )
