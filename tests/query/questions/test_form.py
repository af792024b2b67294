"""What a question asks for is read from its words, in four languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.questions.form import Form, read_question

LEXICON = load_method().questions


@pytest.mark.parametrize(
    ("question", "form", "language"),
    [
        ("Who painted the apse of Asinou?", Form.SPECIFIC, "en"),
        ("Which churches are in Cyprus?", Form.ENUMERATION, "en"),
        ("How many murals show Saint George?", Form.AGGREGATION, "en"),
        ("Πόσες εκκλησίες υπάρχουν;", Form.AGGREGATION, "el"),
        ("Ποιες εκκλησίες είναι στην Κύπρο;", Form.ENUMERATION, "el"),
        ("Combien d'églises sont à Chypre ?", Form.AGGREGATION, "fr"),
        ("Quelles églises sont à Chypre ?", Form.ENUMERATION, "fr"),
        ("Wie viele Kirchen sind auf Zypern?", Form.AGGREGATION, "de"),
        ("Wer hat die Kirche gestiftet?", Form.SPECIFIC, "de"),
    ],
)
def test_form_and_language(question: str, form: Form, language: str) -> None:
    reading = read_question(question, LEXICON)
    assert (reading.form, reading.language) == (form, language)


def test_stop_words_are_no_content() -> None:
    assert read_question("Where is the church of Asinou?", LEXICON).content == ("church", "asinou")


def test_a_word_inside_another_is_no_phrase() -> None:
    assert read_question("Tell me about the percussion", LEXICON).form is Form.SPECIFIC  # "per" is within


@given(st.text(max_size=200))
def test_any_text_can_be_read(question: str) -> None:
    reading = read_question(question, LEXICON)
    assert reading.language in LEXICON.languages
    assert set(reading.content) <= set(reading.words)
