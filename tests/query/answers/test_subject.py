"""Questions that ask for no set, about one thing or about all of the data; and readings that are not sure, as choices."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from crmrag_query.answers.ask import Conversation, ask
from crmrag_query.answers.records import Answer, answer_text
from crmrag_query.answers.subject import subject_of
from crmrag_query.answers.understand import understand
from crmrag_query.artifacts.release import Release
from crmrag_query.cli.ask import ask as ask_command
from crmrag_query.language import LANGUAGES
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.profile import Profile
from crmrag_query.plans.records import read_plan
from crmrag_query.plans.world import World

ITSELF = [
    "Where is Panagia Phorbiotissa?",
    "Where is the church of Asinou located?",
    "Who was Nikephoros Magistros?",
    "Who is Saint George?",
    "What is Panagia Phorbiotissa?",
    "Tell me about Panagia Phorbiotissa",
    "Wo ist Panagia Phorbiotissa?",
    "Wer war Nikephoros Magistros?",
    "Où se trouve Panagia Phorbiotissa ?",
    "Qui était Nikephoros Magistros ?",
    "Πού είναι η Παναγία Φορβιώτισσα;",
    "Waar is Panagia Phorbiotissa?",
]
WHOLE = [
    "What is this collection about?",
    "What does this data set contain?",
    "What is in the database?",
    "Give me an overview",
    "Worum geht es in dieser Sammlung?",
    "Was enthält dieser Datensatz?",
    "De quoi parle cette collection ?",
    "Τι περιέχει αυτή η συλλογή;",
    "Wat bevat deze collectie?",
]
UNSURE = "Which saints stand in the narthex?"
NEITHER = [
    "What is in Panagia Phorbiotissa?",
    "Which saints are in Panagia Phorbiotissa?",
    "Who painted Panagia Phorbiotissa?",
    "Where was Panagia Phorbiotissa built?",
    "Which churches are in the collection?",
    "How many churches does this data set contain?",
    "What is this?",
    "Where is it?",
    "",
]


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        *((one, "itself") for one in ITSELF),
        *((one, "whole") for one in WHOLE),
        *((one, "") for one in NEITHER if one),
    ],
)
def test_what_a_question_is_about(sample: Release, question: str, subject: str) -> None:
    assert subject_of(sample, understand(sample, question)) == subject


@pytest.mark.parametrize("question", ITSELF)
def test_a_thing_is_told_from_itself_and_not_from_what_leads_to_it(sample: Release, question: str) -> None:
    answer = ask(sample, question)
    assert answer.set is None and not answer.exhaustive and not answer.refused
    assert any(source.cited for source in answer.sources)


def test_where_a_church_is_is_not_what_lies_in_it(sample: Release) -> None:
    assert "Nikitari" in ask(sample, "Where is Panagia Phorbiotissa?").text


@pytest.mark.parametrize("question", WHOLE)
def test_the_whole_is_told_by_its_counts_and_its_best_connected(sample: Release, question: str) -> None:
    answer = ask(sample, question)
    assert answer.set is None and not answer.exhaustive and not answer.refused
    for category in ("Thing", "Place", "Actor"):
        assert str(sample[Profile].coverage[category].entities) in answer.text
    assert sample.manifest.title in answer.text
    assert len([one for one in answer.sources if one.cited]) > 3


def test_a_request_to_be_told_more_is_no_ranking(sample: Release) -> None:
    answer = ask(sample, "Tell me more about the saints depicted in Panagia Phorbiotissa")
    assert not answer.exhaustive
    assert answer.set is None or answer.set.kind == "list"


def test_this_collection_is_the_whole_after_other_questions_too(sample: Release) -> None:
    _, talk = Conversation().ask(sample, "Where is Panagia Phorbiotissa?")
    answer, _ = talk.ask(sample, "What is in this collection?")
    assert sample.manifest.title in answer.text and answer.set is None
    answer, _ = talk.ask(sample, "What is it about?")
    assert sample.manifest.title not in answer.text


def unsure(release: Release) -> Answer:
    answer = ask(release, UNSURE)
    assert answer.set is not None and answer.set.size and not answer.exhaustive
    return answer


def test_a_reading_that_gives_nothing_is_no_choice(sample: Release) -> None:
    answer = ask(sample, "Which quiet churches are in Nikitari?")
    assert not answer.exhaustive and all(one.size for one in answer.choices)


def test_an_unsure_set_is_a_choice_and_never_told_as_the_answer(sample: Release) -> None:
    answer = unsure(sample)
    assert answer.choices and answer.choices[0].title == answer.set.title  # type: ignore[union-attr]
    assert answer.set.text not in answer.text  # type: ignore[union-attr]
    members = members_of(sample[World], read_plan(answer.choices[0].plan))
    assert answer.choices[0].size == len(members)
    shown = answer_text(answer)
    assert "Did you mean:" in shown and f"  1. {answer.choices[0].title}" in shown


def test_a_reading_that_says_every_word_is_told_as_what_may_be_meant(sample: Release) -> None:
    """Before what was found of one thing; in its place, with the words that it leaves out, where several are asked for."""
    answer = ask(sample, "What did Minas do?")
    assert answer.set is not None and not answer.exhaustive and not answer.refused
    told, *lines = answer.text.removeprefix("This may be what is meant. ").splitlines()
    assert lines[0].startswith("Minas: ") and all(one.label in told for one in answer.set.members)
    assert {one.iri for one in answer.set.members} <= {one.iri for one in answer.sources if one.cited}
    told_in = {code: sample.method.sets.words(code).perhaps for code in LANGUAGES}
    assert len({*told_in.values()}) == len(told_in) and all("{what}" in one for one in told_in.values())
    answer = ask(sample, "Who had a mural restored?")
    assert answer.choices and "may be what is meant" not in answer.text
    answer = ask(sample, UNSURE)
    assert answer.text.startswith("This may be what is meant. ") and "Not understood: “stand”." in answer.text
    assert not answer.exhaustive and all(one.label in answer.text for one in answer.set.members)


def test_a_number_is_not_told_of_what_is_left_of_a_question(sample: Release) -> None:
    answer = ask(sample, "How many saints have been forgotten?")
    assert answer.text == "Not understood: “forgotten”." and not answer.exhaustive


def test_a_sure_set_offers_no_choice(sample: Release) -> None:
    answer = ask(sample, "Which churches were built before 1200?")
    assert answer.exhaustive and not answer.choices and "Did you mean" not in answer_text(answer)


def test_a_choice_is_shown_by_its_number(sample: Release) -> None:
    answer = unsure(sample)

    def run(*options: str) -> str:
        result = CliRunner().invoke(ask_command, [str(sample.folder), UNSURE, *options])
        return result.output

    assert answer.choices[0].title in run("--choice", "1")
    failed = CliRunner().invoke(ask_command, [str(sample.folder), UNSURE, "--choice", "9"])
    assert "The answer offers" in str(failed.exception) and failed.exit_code
    assert json.loads(run("--json"))["choices"][0]["title"] == answer.choices[0].title
    assert "different things" in run("--choice", "1", "--plan")


def test_the_question_is_returned_as_it_was_understood(sample: Release) -> None:
    first, talk = Conversation().ask(sample, "Where is Panagia Phorbiotissa?")
    assert first.asked == first.question == "Where is Panagia Phorbiotissa?"
    second, _ = talk.ask(sample, "When was it built?")
    assert second.question == "When was it built?" and "Phorbiotissa" in second.asked
