"""What the data does not tell is said as such: a relation that nothing states, a name that it lacks, words not understood."""

from __future__ import annotations

import pytest

from crmrag_query.answers.ask import ask
from crmrag_query.answers.extractive import refusal
from crmrag_query.answers.understand import understand
from crmrag_query.artifacts.release import Release
from crmrag_query.reading.items import analysed
from crmrag_query.reading.read import Parsed, parse
from tests.support.small_world import Talk, cited, iri


def parsed(release: Release, question: str) -> Parsed:
    return parse(release, analysed(release, question))


def told(release: Release, question: str) -> str:
    """What is said where nothing was found."""
    return refusal(release, parsed(release, question), understand(release, question).analysis, ())


@pytest.mark.parametrize(
    ("question", "relation"),
    [
        ("Who owns Storm?", "owner"),
        ("What does Storm weigh?", "weight"),
        ("What is the price of Storm?", "price"),
    ],
)
def test_a_relation_that_the_data_lacks_is_named(museum: Release, question: str, relation: str) -> None:
    answer = ask(museum, question)
    refused, told_instead = answer.text.split("\n")
    assert answer.refused and not answer.exhaustive and relation in refused
    assert told_instead.startswith("What is recorded: Storm") and cited(answer) == [iri("p6")]


@pytest.mark.parametrize(
    "question", ["Which paintings are made of marble?", "Which paintings are in Narnia?"]
)
def test_a_name_that_the_data_lacks_is_refused_and_not_counted_as_none(
    museum: Release, question: str
) -> None:
    answer = ask(museum, question)
    assert answer.refused and not answer.exhaustive
    assert question.split()[-1].strip("?").casefold() in answer.text.casefold()


def test_a_person_whom_the_data_lacks_made_nothing_that_is_told(museum: Release) -> None:
    answer = ask(museum, "Which paintings did Zacharias Topelius make?")
    assert answer.refused and not answer.exhaustive and not cited(answer)
    assert "topelius" in " ".join((answer.text, *answer.notes)).casefold()


def test_words_that_are_not_understood_are_quoted(museum: Release) -> None:
    """What is asked was not understood: this is said, and is no evidence that the data does not tell."""
    answer = ask(museum, "Which paintings might Ada Berg have liked?")
    assert not answer.exhaustive and "“liked”" in answer.text


def test_whether_something_is_there_of_a_name_that_is_nowhere_is_a_no(museum: Release) -> None:
    answer = ask(museum, "Do you have paintings by Vermeer?")
    assert not answer.refused and not answer.exhaustive
    assert answer.text.startswith("No:") and "vermeer" in answer.text.casefold()


def test_an_aside_that_is_not_understood_is_no_reason_to_refuse_a_list(museum: Release) -> None:
    answer = ask(museum, "Which paintings did Ada Berg make, going by hearsay?")
    assert not answer.refused


def test_what_no_document_speaks_of_is_no_list_of_what_a_place_has(museum: Release) -> None:
    answer = ask(museum, "What are the humidity, salinity and temperature in Lund?")
    assert answer.refused and "“humidity”" in answer.text


def test_what_the_data_tells_is_not_refused(museum: Release) -> None:
    for question in ("Who made Storm?", "Which paintings are made of ivory?", "Is Calm sea in Lund?"):
        answer = ask(museum, question)
        assert not answer.refused and answer.text
        assert told(museum, question) == ""


def test_none_of_what_the_data_knows_is_an_answer_and_no_refusal(museum: Release) -> None:
    """Both ivory and Lund are known, and nothing is both: that is said as a set of none, of what is known."""
    answer = ask(museum, "Which paintings in Lund are made of ivory?")
    assert not answer.refused or "ivory" in answer.text
    if answer.exhaustive:
        assert answer.set is not None and answer.set.size == 0 and "known to this data set" in answer.text


def test_a_refusal_is_in_the_language_of_the_question(museum: Release, small: Release) -> None:
    words = small.method.sets
    answer = ask(small, "Ποιος είναι ο ιδιοκτήτης της Αγίας Άννας;")
    if answer.refused:
        assert answer.language == "el" and "does not tell" not in answer.text
    assert len({words.words(language).not_told for language in ("en", "fr", "de", "el")}) == 4
    assert len({words.words(language).absent for language in ("en", "fr", "de", "el")}) == 4
    assert "does not tell" in ask(museum, "Who owns Storm?").text


def test_a_question_without_a_plan_is_left_to_retrieval(museum: Release) -> None:
    question = "Tell me about Ada Berg."
    assert refusal(museum, Parsed(None), understand(museum, question).analysis, ()) == ""
    assert not ask(museum, question).refused


def test_what_a_part_tells_in_the_document_of_the_whole_is_told(small: Release) -> None:
    """Nobody painted the church itself; the document of the church tells who painted its mural."""
    talk = Talk(small)
    talk.ask("Where is Saint Dunstan?")
    answer = talk.ask("Who painted the church?")
    assert not answer.refused and "Mira Dolan" in answer.text and iri("mural-dunstan") in cited(answer)


def test_a_relation_stated_of_others_alone_is_refused_where_no_line_tells_it(small: Release) -> None:
    answer = ask(small, "Where was Saint Anna born?")
    assert not answer.exhaustive and "Varna" not in answer.text and "Tesk" not in answer.text


def test_nothing_more_of_a_set_is_told_as_such(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Which churches are in Orest?")
    answer = talk.ask("Are there any more?")
    assert answer.refused and not answer.citations and "known to this data set" in answer.text
