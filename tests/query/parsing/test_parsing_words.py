"""The phrases that give a question its form, and what the reader knows of relations."""

from __future__ import annotations

import pytest

from crmrag_query.config import load_method
from crmrag_query.config.parts import References
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.vocabulary import Vocabulary, mask_of
from crmrag_query.parsing.words import narrows, roles_of, with_references
from crmrag_query.text import tokenize

METHOD = load_method()
PART = METHOD.parsing
ACTOR, PLACE, THING, TIME = (
    int(one) for one in (Category.Actor, Category.Place, Category.Thing, Category.Time)
)


@pytest.mark.parametrize(("language", "text", "role"), [
    ("en", "without", "negation"), ("en", "with the exception of", "exclusion"), ("en", "at least", "least"),
    ("en", "oldest", "earliest"), ("en", "in the title", "titles"), ("fr", "sans", "negation"),
    ("fr", "le plus ancien", "earliest"),
    ("de", "ohne", "negation"), ("de", "abgesehen von", "exclusion"), ("el", "χωρίς", "negation"),
    ("el", "παλαιότερος", "earliest"),
])  # fmt: skip
def test_words_have_their_role_in_each_language(language: str, text: str, role: str) -> None:
    words = tokenize(text)
    found = [role for at in range(len(words)) for _, role in roles_of(PART, language).at(words, at)]
    assert role in found


def test_the_longest_phrase_of_a_role_counts() -> None:
    found = roles_of(PART, "en").at(["with", "the", "exception", "of"], 0)
    assert (4, "exclusion") in found


def test_a_language_without_words_has_those_of_the_first() -> None:
    first = roles_of(PART, next(iter(PART.languages)))
    for words in (["without"], ["at", "least"], ["ohne"]):
        assert roles_of(PART, "xx").at(words, 0) == first.at(words, 0)


def test_roles_are_made_once() -> None:
    assert roles_of(PART, "en") is roles_of(PART, "en")


def test_references_are_roles_in_a_conversation_only() -> None:
    plain = roles_of(PART, "en")
    spoken = with_references(
        plain,
        References(
            person=("she", "her"),
            place=("there",),
            many=("them", "their"),
            thing=("it",),
            own=("her", "their"),
        ),
    )
    for word, role in (
        ("them", "earlier"),
        ("their", "theirs"),
        ("she", "single"),
        ("it", "single"),
        ("her", "its"),
        ("there", "there"),
    ):
        assert (1, role) in spoken.at([word], 0)
        assert (1, role) not in plain.at([word], 0)


@pytest.mark.parametrize(("question", "language", "expected"), [
    ("only the prints", "en", True), ("Only those from Delft", "en", True), ("just the paintings", "en", True),
    ("seulement les estampes", "fr", True), ("nur die Drucke", "de", True), ("μόνο τα χαρακτικά", "el", True),
    ("the prints only", "en", False), ("Which prints are there?", "en", False),
    ("", "en", False), ("nur die Drucke", "en", False),
    ("only", "en", True),
])  # fmt: skip
def test_a_question_that_begins_with_only_narrows_what_went_before(
    question: str, language: str, expected: bool
) -> None:
    assert narrows(question, PART, language) is expected


# what relations join


@pytest.fixture(scope="module")
def know() -> Vocabulary:
    return Vocabulary(METHOD.relations, lambda node: {1: ACTOR, 2: PLACE}.get(node, 0))


def test_masks_join_categories_once() -> None:
    assert mask_of(["Actor", "Place", "Actor"]) == ACTOR | PLACE
    assert mask_of([]) == 0


@pytest.mark.parametrize(("relation", "near", "far", "expected"), [
    ("created_by", THING, ACTOR, (True, False)),
    ("created_by", ACTOR, THING, (False, True)),
    ("created_by", PLACE, ACTOR, (False, False)),
    ("created_by", 0, 0, (True, True)),  # nothing is known of either end
    ("created_by", 0, ACTOR, (True, False)),
    ("parent", ACTOR, ACTOR, (True, True)),
    ("born_on", ACTOR, TIME, (True, False)),
    ("contact", ACTOR, 0, (False, False)),  # its end is a text
])  # fmt: skip
def test_a_relation_fits_its_ends(
    know: Vocabulary, relation: str, near: int, far: int, expected: tuple[bool, bool]
) -> None:
    assert know.fits(relation, near, far) == expected


def test_relations_of_the_same_happening_are_kin(know: Vocabulary) -> None:
    assert "died_in" in know.kin(["died_on"])
    assert "died_on" not in know.kin(["died_on"])
    assert not {"born_in", "created_in"} & set(know.kin(["died_on"]))


def test_relations_are_ordered_as_in_the_lexicon(know: Vocabulary) -> None:
    assert know.ordered(["died_in", "created_by", "born_in", "created_by"]) == (
        "created_by",
        "born_in",
        "died_in",
    )


def test_the_end_of_a_date_is_a_time_and_that_of_a_text_no_entity(know: Vocabulary) -> None:
    assert know.ranges["born_on"] == TIME
    assert know.ranges["contact"] == 0
    assert know.ranges["created_by"] == ACTOR
