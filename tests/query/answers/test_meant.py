"""A refusal says which names may be meant by the words of which nothing is known."""

from __future__ import annotations

import pytest

from crmrag_query.answers.ask import ask
from crmrag_query.artifacts.release import Release
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import NameIndex, meant
from tests.support.shared import sample_release


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return sample_release(tmp_path_factory)


def test_a_refusal_asks_whether_a_name_that_is_spelt_like_it_is_meant(sample: Release) -> None:
    answer = ask(sample, "Who painted Asinuo?")
    assert answer.refused and any("Did you mean" in note and "Asinou" in note for note in answer.notes)
    assert not any("Did you mean" in note for note in ask(sample, "Who founded Foobarville?").notes)


def test_only_words_that_no_name_has_are_taken_for_others(sample: Release) -> None:
    names = sample[NameIndex]
    assert any("Asinou" in sample[Graph].label(node, ("en",)) for node in meant(names, "Asinuo"))
    assert meant(names, "Asinou") == meant(names, "foobarville") == meant(names, "oil") == ()


def test_a_word_of_a_long_name_stands_for_no_whole_name(sample: Release) -> None:
    """That of a book, "… The Paintings and Their Painterly Significance"."""
    names = sample[NameIndex]
    assert names.number("significance") is not None and meant(names, "significanze") == ()


def test_words_of_a_question_are_quoted_as_each_language_does(sample: Release) -> None:
    for question, told in (
        ("Who carved the zorbules of the church of Asinou?", "“zorbules”"),
        ("Wer malte die Wandgemetzel von Asinou?", "„wandgemetzel“"),
        ("Qui a payé les zorbules de l'église d'Asinou ?", "« zorbules »"),
    ):
        answer = ask(sample, question)
        assert told in "\n".join((answer.text, *answer.notes)), answer.text


def test_a_label_of_a_portrait_in_french_stands_before_a_blank_and_a_colon(sample: Release) -> None:
    assert "Représente : " in ask(sample, "Parlez-moi d'Asinou").text
