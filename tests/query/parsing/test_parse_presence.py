"""That anything at all is stated is certain only where the question asks for that: by a noun that is had or lacked.

A verb alone says more than that: who signed a picture did not only date it.
"""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.parsing.heard import analysed
from crmrag_query.parsing.parse import parse
from tests.support.parse_world import Museum
from tests.support.shared import sample_release

WORK = "?x a crm:E22_Human-Made_Object . "
PAINTING = "?x @type :painting . "


def lacks(pattern: str) -> str:
    return f"FILTER NOT EXISTS {{ {pattern} }}"


ALONE = [
    "Which paintings are signed?", "Which artists were killed?", "Which works were photographed?",
    "Which prints were published?", "Which works were visited?", "How many paintings are signed?",
    "Is Nocturne signed?", "Has Nocturne been exhibited?", "Which works were not signed?",
    "Quels tableaux sont signés ?", "Quelles estampes ont été publiées ?", "Quelles œuvres ont été vendues ?",
    "Welche Gemälde sind signiert?", "Welche Werke wurden verkauft?", "Welche Drucke wurden veröffentlicht?",
    "Ποιοι πίνακες είναι υπογεγραμμένοι;", "Ποια έργα εκδόθηκαν;", "Ποια έργα πουλήθηκαν;",
]  # fmt: skip


@pytest.mark.parametrize("question", ALONE)
def test_a_verb_alone_is_never_certain(gallery: Museum, question: str) -> None:
    assert not gallery.parse(question).certain


@pytest.mark.parametrize("question", [
    "What is in the apse?", "Which paintings are in the nave?", "Which churches were visited?",
    "Which churches were built?", "Which churches were painted?", "Which images were photographed?",
    "Quelles églises ont été construites ?", "Welche Kirchen wurden gebaut?", "Ποιες εκκλησίες χτίστηκαν;",
])  # fmt: skip
def test_a_verb_alone_is_never_certain_of_churches(churches: Release, question: str) -> None:
    assert not parse(churches, analysed(churches, question)).certain


ASKED_FOR = [
    ("Which paintings have a date?", PAINTING + "?x @made_on ?o"),
    ("Which paintings have a maker?", PAINTING + "?x @maker ?o"),
    ("Which works with an owner are there?", WORK + "?x @owner ?o"),
    ("Which works have no date?", WORK + lacks("?x @made_on ?o")),
    ("Which works without an owner are there?", WORK + lacks("?x @owner ?o")),
    ("Quelles œuvres ont un propriétaire ?", WORK + "?x @owner ?o"),
    ("Quelles œuvres ont une date ?", WORK + "?x @made_on ?o"),
    ("Quelles œuvres n'ont pas de date ?", WORK + lacks("?x @made_on ?o")),
    ("Welche Gemälde haben ein Datum?", PAINTING + "?x @made_on ?o"),
    ("Welche Werke ohne Besitzer gibt es?", WORK + lacks("?x @owner ?o")),
    ("Welche Werke haben keinen Besitzer?", WORK + lacks("?x @owner ?o")),
    ("Ποια έργα έχουν ημερομηνία;", WORK + "?x @made_on ?o"),
    ("Ποια έργα δεν έχουν ημερομηνία;", WORK + lacks("?x @made_on ?o")),
    ("Ποια έργα δεν έχουν ιδιοκτήτη;", WORK + lacks("?x @owner ?o")),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), ASKED_FOR)
def test_presence_is_certain_where_it_is_asked_for(gallery: Museum, question: str, pattern: str) -> None:
    gold = gallery.gold(pattern)
    assert gold
    assert gallery.sure(question) == gold


@pytest.mark.parametrize("question", [
    "Which churches have an inscription?", "Quelles églises ont une inscription ?",
    "Welche Kirchen haben eine Inschrift?", "Ποιες εκκλησίες έχουν επιγραφή;",
])  # fmt: skip
def test_an_inscription_that_is_had_is_the_same_set_in_every_language(
    churches: Release, question: str
) -> None:
    parsed = parse(churches, analysed(churches, question))
    english = parse(churches, analysed(churches, "Which churches have an inscription?"))
    assert (parsed.plan, parsed.doubts) == (english.plan, ()) and english.certain


@pytest.mark.parametrize("question", [
    "When was Nocturne painted?", "How many works were made per century?",
    "Which artists were born in Tuscany?", "Which works did Rosa Castelli make?",
])  # fmt: skip
def test_a_verb_of_something_is_as_certain_as_before(gallery: Museum, question: str) -> None:
    assert gallery.parse(question).doubts == ()


@pytest.fixture(scope="session")
def churches(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The sample data set."""
    return sample_release(tmp_path_factory)
