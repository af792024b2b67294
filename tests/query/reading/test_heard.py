"""What of a text is the question: no brackets, no sentences that only lead up to it, no examples."""

from __future__ import annotations

import pytest

from crmrag_query.reading.items import analysed, question_of
from tests.support.parse_world import Museum


@pytest.mark.parametrize(("text", "question"), [
    ("Who painted Nocturne?", "Who painted Nocturne?"),
    ("Who painted Nocturne", "Who painted Nocturne"),
    ("list the prints", "list the prints"),
    # brackets
    ("Which prints (etchings or not) are there?", "Which prints are there?"),
    ("Which prints (of the 19th century) and paintings (all) are there?", "Which prints and paintings are there?"),
    ("(prints)", "(prints)"),
    ("Which prints ( are there?", "Which prints ( are there?"),
    # sentences before
    ("I am writing a book. Who painted Nocturne?", "Who painted Nocturne?"),
    ("Good morning! Who painted Nocturne?", "Who painted Nocturne?"),
    ("Nocturne is lovely. Who painted it? Please tell me.", "Who painted it? Please tell me."),
    ("Who painted Nocturne? And where?", "Who painted Nocturne? And where?"),
    ("Καλημέρα. Ποιος ζωγράφισε το Nocturne;", "Ποιος ζωγράφισε το Nocturne;"),
    # no sentence asks: all of them count
    ("List the prints. Sort them by date.", "List the prints. Sort them by date."),
    # an initial or "St." ends no sentence
    ("Which works by William T. Walters are there?", "Which works by William T. Walters are there?"),
    ("Which works show St. George?", "Which works show St. George?"),
    ("Was J. S. Bach painted?", "Was J. S. Bach painted?"),
    # examples of what all are meant of, and only these
    ("For each office - abbess, prioress - how many nuns held it?", "For each office how many nuns held it?"),
    ("Which works - paintings, drawings - are by Berg?", "Which works - paintings, drawings - are by Berg?"),
    ("How many prints of each kind - etchings, woodcuts and so on?", "How many prints of each kind?"),
    ("Wie viele Drucke jeder Art - Holzschnitte, Radierungen usw.?", "Wie viele Drucke jeder Art?"),
    ("Πόσα χαρακτικά κάθε είδους - ξυλογραφίες, χαλκογραφίες κλπ.;", "Πόσα χαρακτικά κάθε είδους;"),
    ("", ""),
])  # fmt: skip
def test_the_question_of_a_text(text: str, question: str) -> None:
    assert question_of(text) == question


def test_a_question_is_made_ready_once(gallery: Museum) -> None:
    for text in ("I see. Who painted (if anyone) Nocturne?", "Which prints are there?", "a. b? c"):
        assert question_of(question_of(text)) == question_of(text)


def test_what_leads_up_to_a_question_is_linked_to_nothing(gallery: Museum) -> None:
    analysis = analysed(gallery.release, "I love Harvest. Who painted Nocturne?")
    assert analysis.reading.question == "Who painted Nocturne?"
    assert [mention.text for mention in analysis.mentions if mention.entities] == ["nocturne"]


def test_the_language_is_that_of_the_question(gallery: Museum) -> None:
    for question, code in (
        ("Which artists were born in Leiden?", "en"), ("Quels artistes sont nés à Leyde ?", "fr"),
        ("Welche Künstler wurden in Leiden geboren?", "de"), ("Ποιοι καλλιτέχνες γεννήθηκαν στο Λάιντεν;", "el"),
    ):  # fmt: skip
        assert analysed(gallery.release, question).reading.language == code
