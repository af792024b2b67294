"""`crmrag set`, and what `crmrag ask` and `crmrag chat` show of sets, as a person and a program meet them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from crmrag_query.answers.records import (
    Answer,
    Done,
    Event,
    Planned,
    SetFound,
    Token,
    answer_text,
    facets_text,
)
from crmrag_query.artifacts.release import Release
from crmrag_query.cli.ask import ask, chat, set_of, tell
from crmrag_query.cli.look import set_
from crmrag_query.errors import QuestionError
from crmrag_query.plans.records import Plan
from crmrag_query.sets.build import Told, answer_set
from crmrag_query.sets.describe import plan_json
from crmrag_query.sets.facets import facets
from tests.support.set_world import ALL, BEFORE_1855, BY_ADA, MADE, MATERIAL, computed, iri, set_museum


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return set_museum(tmp_path_factory)


def call(museum: Release, plan: Plan | dict[str, Any] | str, *options: str) -> Result:
    """The command with its plan on the standard input, over the release's folder."""
    given = plan if isinstance(plan, str) else json.dumps(plan_json(plan) if isinstance(plan, Plan) else plan)
    return CliRunner().invoke(set_, [str(museum.folder), "-", *options], input=given, catch_exceptions=False)


def shown(museum: Release, plan: Plan, *options: str) -> str:
    result = call(museum, plan, *options)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_set_is_shown_with_its_size_members_and_what_is_left_out(museum: Release) -> None:
    text = shown(museum, BEFORE_1855)
    assert text.startswith("painting · ") and "\n2 members\n" in text
    assert f"   1  Harbour 2  ·  1840  <{iri('p1')}>" in text
    assert "undated: 2 more are left out" in text and "--excluded undated" in text


def test_a_plan_comes_from_a_file_too(museum: Release, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan_json(BY_ADA)), encoding="utf-8")
    result = CliRunner().invoke(set_, [str(museum.folder), str(file)], catch_exceptions=False)
    assert result.stdout == shown(museum, BY_ADA)
    missing = CliRunner().invoke(set_, [str(museum.folder), str(tmp_path / "none.json")])
    assert missing.exit_code == 2 and "none.json" in missing.output


def test_pages_follow_each_other_in_the_order_asked_for(museum: Release) -> None:
    first = shown(museum, ALL, "--sort", "label", "--limit", "3")
    assert "Shown: 1 to 3 of 7. The next page: --offset 3" in first
    last = shown(museum, ALL, "--sort", "label", "--limit", "3", "--offset", "6")
    assert "   7  Storm" in last and "The next page" not in last
    dated = shown(museum, ALL, "--sort", "date", "--descending")
    assert dated.index("1902") < dated.index("1901") < dated.index("1840")


def test_why_shows_the_triples_of_each_condition(museum: Release) -> None:
    text = shown(museum, BY_ADA, "--why")
    assert text.count("where.0  was produced by › carried out by: Ada Berg") == 3
    assert text.count(" — carried out by — Ada Berg  [http://example.org/north]") == 3


def test_sparql_gives_the_same_set(museum: Release) -> None:
    query = shown(museum, BY_ADA, "--sparql")
    assert "SELECT DISTINCT ?member" in query and "P14_carried_out_by" in query and iri("ada") in query


def test_what_is_left_out_can_be_listed_and_written(museum: Release, tmp_path: Path) -> None:
    listed = shown(museum, BEFORE_1855, "--excluded", "undated")
    assert "2 members" in listed and "Storm" in listed and "=SUM(A1:A9)" in listed
    file = tmp_path / "lists" / "undated.csv"
    assert shown(museum, BEFORE_1855, "--excluded", "undated", "--format", "csv", "--out", str(file)) == ""
    rows = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 3 and {row[1] for row in rows[1:]} == {"Storm", "'=SUM(A1:A9)"}


def test_a_reason_that_leaves_out_nothing_is_told_and_leaves_no_file(museum: Release, tmp_path: Path) -> None:
    file = tmp_path / "none.csv"
    with pytest.raises(QuestionError, match=r"'unmeasured'.*undated"):
        call(museum, BEFORE_1855, "--excluded", "unmeasured", "--format", "csv", "--out", str(file))
    assert not file.exists()


@pytest.mark.parametrize(
    ("format", "key"), [("json", "members"), ("jsonld", "@graph"), ("geojson", "features")]
)
def test_exports_are_whole_and_can_be_read(museum: Release, format: str, key: str) -> None:
    told = json.loads(shown(museum, ALL, "--format", format))
    without = told.get("without_coordinates", [])
    assert len(told[key]) + len(without) == 7 + (format == "jsonld")  # the set itself is a node


def test_facets_are_counted_and_carry_their_plans(museum: Release) -> None:
    text = shown(museum, ALL, "--facets")
    assert text.startswith("7 members\n") and f"7  painting  <{iri('painting')}>" in text
    found = json.loads(shown(museum, ALL, "--facets", "--format", "json"))
    value = found["facets"][0]["values"][0]
    assert f"{value['count']} members" in shown(museum, Plan.model_validate(value["plan"]))


def test_facets_of_a_set_too_large_say_so(museum: Release) -> None:
    whole = facets(museum, ALL)
    assert whole.complete
    assert facets_text(type(whole)(whole.plan, 20000, (), False)) == "20,000 members: too many for facets."


def test_rows_stand_in_columns(museum: Release) -> None:
    grouped = shown(museum, computed(ALL, kind="group", way=MATERIAL))
    assert "2 groups of 7 members" in grouped
    assert [line.split()[:2] for line in grouped.splitlines()[5:7]] == [["oil", "5"], ["ivory", "2"]]
    pairs = shown(museum, computed(ALL, kind="pairs", ways=(MADE,)), "--limit", "2")
    assert "Shown: 1 to 2 of 8." in pairs
    compared = shown(museum, computed(ALL, kind="compare", others=(BY_ADA,)))
    assert "2 sets, in common 3" in compared


def test_counts_tell_both_identities_where_they_differ(museum: Release) -> None:
    makers = Plan.model_validate({"target": {"classes": ["E21"]}, "compute": {"kind": "count"}})
    assert "count 4\ncounted by IRI: 4 by IRI, 3 distinct by stated identity" in shown(museum, makers)
    merged = computed(makers, kind="count", identity="same_as")
    assert "count 3\ncounted by stated identity: 4 by IRI, 3 distinct" in shown(museum, merged)


def test_yes_and_no(museum: Release) -> None:
    asked = computed(BY_ADA, kind="ask")
    assert "yes, 3 members" in shown(museum, asked)
    nobody = {"where": [{"kind": "among", "iris": [iri("nobody")]}], "compute": {"kind": "ask"}}
    assert "no, none is known" in call(museum, nobody).stdout


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ('{"where": [{"kind": "relatd"}]}', r"where\.0.*'related'"),
        ('{"whre": []}', "whre"),
        ("{", "plan"),
        ('{"where": [{"kind": "related", "way": {"relations": ["paintd_by"]}}]}', "'paintd_by'"),
        ('{"target": {"classes": ["E999"]}}', "E999"),
        ("\udcff", "plan"),
    ],
)
def test_a_mistake_in_a_plan_is_named(museum: Release, plan: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_bytes(plan.encode(errors="surrogateescape"))
    with pytest.raises(QuestionError, match=message):
        CliRunner().invoke(set_, [str(museum.folder), str(file)], catch_exceptions=False)


@pytest.mark.parametrize(
    "options",
    [
        ("--facets", "--sparql"),
        ("--format", "csv", "--limit", "3"),
        ("--facets", "--why"),
        ("--sparql", "--format", "json"),
        ("--facets", "--format", "csv"),
        ("--sort", "colour"),
    ],
)
def test_options_that_do_not_go_together_are_refused(museum: Release, options: tuple[str, ...]) -> None:
    assert call(museum, ALL, *options).exit_code == 2


def test_neither_data_nor_plan_can_steer_the_terminal(museum: Release) -> None:
    assert "  Calm sea  " in shown(museum, ALL)  # a line break in its label
    column = {"way": {"paths": [["P45"]]}, "title": "\x1b]0;owned\x07made of"}
    table = call(museum, plan_json(ALL) | {"compute": {"kind": "table", "columns": [column]}}).stdout
    assert "]0;ownedmade of" in table and "\x1b" not in table and "\x07" not in table


# What `ask` and `chat` show


QUESTION = "Which paintings were made by Ada Berg?"


def asked(museum: Release, *options: str, question: str = QUESTION) -> Result:
    return CliRunner().invoke(ask, [str(museum.folder), question, *options], catch_exceptions=False)


def test_an_exact_answer_tells_its_set(museum: Release) -> None:
    text = asked(museum).stdout
    assert "3 known to this data set" in text and "\nExact set: 3 members\n" in text
    told = json.loads(asked(museum, "--json").stdout)
    assert told["exhaustive"] and told["set"]["size"] == 3 and len(told["set"]["members"]) == 3


def test_the_plan_of_a_question_can_be_given_to_set(museum: Release) -> None:
    printed = asked(museum, "--plan").stdout
    assert "3 members" in call(museum, printed).stdout
    assert asked(museum, "--sparql").stdout == call(museum, printed, "--sparql").stdout


def test_plan_json_and_sparql_are_one_at_a_time(museum: Release) -> None:
    assert asked(museum, "--plan", "--json").exit_code == 2


def test_a_conversation_shows_plans_on_request(museum: Release) -> None:
    told = CliRunner().invoke(
        chat, [str(museum.folder), "--plan", "--sparql"], input=f"{QUESTION}\n\n", catch_exceptions=False
    )
    assert '"target": {' in told.stdout and "SELECT DISTINCT ?member" in told.stdout


def test_a_question_without_a_plan_says_so() -> None:
    with pytest.raises(QuestionError, match=r"no plan.*docs/plans\.md"):
        set_of(iter([Token("x")]))


def answer_with(museum: Release, told: Told, text: str = "A sentence.") -> tuple[Answer, list[Event]]:
    made = answer_set(museum, BEFORE_1855, told=told)
    answer = Answer("Q?", text, (), "crm", museum.id, told.exhaustive, "m", set=made)
    events: list[Event] = [Planned(made.plan, made.title, made.chips), SetFound(made), Token(text)]
    return answer, [*events, Done(answer)]


def test_the_plan_is_shown_while_a_model_writes(museum: Release, capsys: pytest.CaptureFixture[str]) -> None:
    answer, events = answer_with(museum, Told())
    assert answer.set is not None
    tell(iter(events), True)
    title, text, size = capsys.readouterr().out.splitlines()
    assert title == f"Plan: {answer.set.title}" and text == "A sentence."
    assert size == "Exact set: 2 members; left out: 2 undated"
    assert answer_text(answer).splitlines()[1] == title  # told once more where nothing was shown before


def test_a_plan_that_leaves_words_out_is_no_answer(museum: Release) -> None:
    answer, events = answer_with(museum, Told(False, ("quiet", "blue")))
    _, nearest, words = answer_text(answer).splitlines()
    assert nearest.startswith("Nearest plan, not all that was asked: painting · ") and "2 members" in nearest
    assert words == "  not understood: “quiet”, “blue”"
    assert not set_of(iter(events)).exhaustive


def test_the_plan_of_a_doubtful_question_comes_with_a_warning(museum: Release) -> None:
    doubtful = asked(museum, "--plan", question="Which quiet blorps were made by Ada Berg?")
    assert "Nearest plan, not all that was asked: " in doubtful.stderr and "“blorps”" in doubtful.stderr
    assert Plan.model_validate_json(doubtful.stdout)
