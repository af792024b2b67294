from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.text import LONGEST_IDENTIFIER, fold, tokenize, with_singulars


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Church of Asinou", "the church of asinou"),
        ("Εκκλησία της Παναγίας", "εκκλησια τησ παναγιασ"),
        ("ΕΚΚΛΗΣΙΑ ΤΗΣ ΠΑΝΑΓΙΑΣ", "εκκλησια τησ παναγιασ"),
        ("ἐκκλησίᾳ", "εκκλησια"),
        ("Musée d'Orsay, Łódź, Straße, Ærø", "musee d orsay lodz strasse aero"),
        ("ﬁne m² №7", "fine m2 no7"),
        ("संग्रहालय музей", "संग्रहालय музеи"),
        ("Man-Made Object", "man made object"),
        ("1986.12.3", "1986.12.3 1986 12 3"),
        ("E22_Man-Made", "e22-man-made e22 man made"),
        ("painted 1105/6.", "painted 1105/6 1105 6"),
        ("1180–1192", "1180-1192 1180 1192"),
        ("O’Brien", "o brien"),
        ("", ""),
        (" - ... '_' ", ""),
    ],
)
def test_words_are_folded_and_identifiers_kept_whole_and_in_parts(text: str, words: str) -> None:
    assert tokenize(text) == words.split()


def test_accents_and_case_never_keep_a_question_from_its_document() -> None:
    assert tokenize("Άγιος Γεώργιος") == tokenize("ΑΓΙΟΣ ΓΕΩΡΓΙΟΣ") == tokenize("αγιος γεωργιος")
    assert tokenize("Cafe\u0301") == tokenize("CAFÉ") == ["cafe"]


def test_an_overlong_compound_is_kept_in_parts_only() -> None:
    compound = "/".join(["a1"] * LONGEST_IDENTIFIER)
    assert set(tokenize(compound)) == {"a1"}


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_tokens_are_words_of_the_folded_text(text: str) -> None:
    folded = fold(text)
    assert all(token and token in folded for token in tokenize(text))


@given(st.text(), st.text())
def test_a_space_separates(left: str, right: str) -> None:
    assert tokenize(left + " " + right) == tokenize(left) + tokenize(right)


def test_plurals_give_what_they_may_be_the_plural_of() -> None:
    assert with_singulars(["churches", "paintings", "gas"]) == {
        "churches", "churche", "church", "paintings", "painting", "gas",
    }  # fmt: skip
