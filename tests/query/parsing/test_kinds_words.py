"""Inflection by paradigms, phrases, and the parts of a name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.parsing.kind_words import MANY, ONE, Inflection, Phrasebook, lexicon_of, named, parts_of
from crmrag_query.text import fold, tokenize

PART = load_method().kinds
LEXICON = lexicon_of(PART)


@pytest.mark.parametrize(("language", "singular", "plural"), [
    ("en", "church", "churches"), ("en", "gallery", "galleries"), ("en", "map", "maps"), ("en", "woman", "women"),
    ("en", "leaf", "leaves"), ("en", "knife", "knives"),
    ("fr", "tableau", "tableaux"), ("fr", "église", "églises"), ("fr", "vitrail", "vitraux"), ("fr", "journal", "journaux"),
    ("fr", "collectionneur", "collectionneuses"),
    ("de", "Kirche", "Kirchen"), ("de", "Bild", "Bildern"), ("de", "Fotografie", "Fotografien"), ("de", "Museum", "Museen"),
    ("de", "Malerin", "Malerinnen"), ("de", "Bildnis", "Bildnisse"), ("de", "Buch", "Bücher"),
    ("el", "πίνακας", "πίνακες"), ("el", "έργο", "έργων"), ("el", "άγαλμα", "αγάλματα"), ("el", "ναός", "ναούς"),
    ("el", "πόλη", "πόλεις"), ("el", "παιδί", "παιδιά"), ("el", "σκεύος", "σκεύη"), ("el", "βασιλέας", "βασιλείς"),
])  # fmt: skip
def test_singular_and_plural_share_a_paradigm(language: str, singular: str, plural: str) -> None:
    inflection = LEXICON.inflections[language]
    assert inflection.forms(fold(plural))[fold(singular)] & MANY
    assert inflection.forms(fold(singular))[fold(plural)] & ONE


@pytest.mark.parametrize(("language", "one", "other"), [
    ("el", "ζωγράφος", "ζωγραφιά"), ("el", "γλύπτης", "γλυπτό"), ("en", "painter", "painting"), ("en", "statue", "statuette"),
    ("de", "Maler", "male"), ("de", "Fotograf", "Fotografie"), ("fr", "peintre", "peinture"),
])  # fmt: skip
def test_a_maker_is_no_form_of_the_work(language: str, one: str, other: str) -> None:
    assert fold(other) not in LEXICON.inflections[language].forms(fold(one))


@given(st.text(min_size=1), st.sampled_from(sorted(PART.inflections)))
def test_every_word_is_a_form_of_itself_and_forms_are_mutual(word: str, language: str) -> None:
    inflection = LEXICON.inflections[language]
    forms = inflection.forms(word)
    assert forms[word]
    assert all(word in inflection.forms(form) for form in forms)


def test_a_stem_keeps_its_shortest_length() -> None:
    assert Inflection(["- / s"], 2).forms("gas") == {"gas": ONE | MANY, "gass": ONE, "ga": MANY}
    assert Inflection(["- / s"], 3).forms("gas") == {"gas": ONE, "gass": ONE}


def test_phrases_are_found_in_every_inflection_of_their_words() -> None:
    book: Phrasebook[str] = Phrasebook(longest=3)
    for phrase in ("oil painting", "painting", "house", "a b c d"):
        book.add(phrase.split(), phrase)
    inflection = LEXICON.inflections["en"]
    forms = [inflection.forms(word) for word in tokenize("two oil paintings houses")]
    assert sorted(book.at(forms, 1)) == [(3, "oil painting", MANY)]
    assert sorted(book.at(forms, 2)) == [(3, "painting", MANY)]
    assert list(book.at(forms, 9)) == []
    assert "a b c d" not in book.phrases  # longer than a name


@pytest.mark.parametrize(("name", "parts"), [
    ("basket with lid", [["basket"]]),
    ("Painting & Drawing", [["painting"], ["drawing"]]),
    ("Objects: Metals", [["objects"], ["metals"]]),
    ("Manuscripts and rare books", [["manuscripts"], ["rare", "books"]]),
    ("with", [["with"]]),
    ("and, and", []),
])  # fmt: skip
def test_parts_of_a_name_end_where_it_is_cut(name: str, parts: list[list[str]]) -> None:
    assert list(parts_of(name, LEXICON.joints, LEXICON.cuts["en"])) == parts


@pytest.mark.parametrize(("label", "name"), [
    ("paintings (visual works)", "paintings"), ("Galleries (Display Spaces) [On Display]", "Galleries"), ("plain", "plain"),
    ("odd (", "odd ("),
])  # fmt: skip
def test_qualifiers_are_no_part_of_a_name(label: str, name: str) -> None:
    assert named(label) == name
