"""Words that stand in a text are told as such: a text that mentions a place makes nothing made there."""

from __future__ import annotations

import pytest

from crmrag_query.config import load_method
from crmrag_query.sets.build import Told, answer_set
from tests.support.parse_world import PREFIXES, Museum, build_museum

# Key: its material as described, its credit line, its description.
WORKS = {
    "a": ("India-ink wash on paper", "Gift of Ida Holm", "A harbour with a golden sky"),
    "b": ("engraving after a fresco in Italy", "Bought with funds of a trust", "A bridge"),
    "c": ("clay from New Mexico", "Sold at auction in Vienna", "A jar with gold lines"),
    "d": ("oil on canvas", "Lent by the heirs", "A donated chapel in Mexico"),
    "e": ("oil on panel", "Acquired from the artist, 1901", "A garden"),
}
TEXTS = ("material statement", "credit line", "description")


def _world() -> str:
    rows = [PREFIXES, ':person a crm:E21_Person ; rdfs:label "Ida Holm" .',
            ':place a crm:E53_Place ; rdfs:label "Vienna" .']  # fmt: skip
    rows += [f':type{n} a crm:E55_Type ; rdfs:label "{name}"@en .' for n, name in enumerate(TEXTS)]
    for key, texts in WORKS.items():
        rows.append(f':{key} a crm:E22_Human-Made_Object ; rdfs:label "Sheet {key.upper()}" .')
        rows += [
            f":text{n}-{key} a crm:E33_Linguistic_Object ; crm:P2_has_type :type{n} ; crm:P67_refers_to :{key} ; "
            f'crm:P190_has_symbolic_content "{text}" .'
            for n, text in enumerate(texts)
        ]
    return "\n".join(rows)


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("sheets") / "project", _world())


MENTIONED = [
    ("Which works were made in Italy?", "Italy", "b"), ("Which works were made in India?", "India", "a"),
    ("Which works were made in Mexico?", "Mexico", "c"), ("How many works were made in Italy?", "Italy", "b"),
    ("Which works were given by Ida?", "Ida", "a"), ("Which works were sold?", "sold", "c"),
    ("Which works were lent?", "lent", "d"), ("Which works were acquired?", "acquired", "e"),
    ("Quelles œuvres ont été faites en India ?", "India", "a"),
    ("Quelles œuvres sont fabriquées en Italy ?", "Italy", "b"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "word", "key"), MENTIONED)
def test_a_place_or_a_gift_that_a_text_mentions_is_offered_and_not_told_as_such(
    sheets: Museum, question: str, word: str, key: str
) -> None:
    parsed = sheets.parse(question)
    assert not parsed.certain
    assert key in sheets.members(parsed)
    assert [one.casefold() for one in parsed.mentioned] == [word.casefold()]


@pytest.mark.parametrize("question", [
    "Are there any works by Otto Kranz?", "Does the museum have works by Claude Monet?",
])  # fmt: skip
def test_what_no_text_mentions_either_is_certainly_not_known(sheets: Museum, question: str) -> None:
    assert sheets.value(question) is False


LITERAL = [
    ("Which works are described as golden?", {"c"}), ("Which works have the word Sheet in the title?", set(WORKS)),
    ("Which works are made of clay?", {"c"}), ("Which works are made of oil?", {"d", "e"}),
]  # fmt: skip


@pytest.mark.parametrize(("question", "keys"), LITERAL)
def test_words_of_a_text_that_was_asked_for_are_what_was_asked(
    sheets: Museum, question: str, keys: set[str]
) -> None:
    parsed = sheets.parse(question)
    assert parsed.certain and parsed.mentioned == ()
    assert sheets.members(parsed) == keys


@pytest.mark.parametrize("language", ["en", "fr", "de", "el", "nl"])
def test_the_answer_says_that_it_found_words_only(sheets: Museum, language: str) -> None:
    parsed = sheets.parse("Which works were made in Italy?")
    assert parsed.plan is not None
    told = Told(parsed.certain, mentioned=parsed.mentioned)
    found = answer_set(sheets.release, parsed.plan, language=language, told=told)
    words = load_method().sets.words(language)
    assert found.mentioned == ("Italy",) and not found.exhaustive
    assert words.mentioned.replace("{first}", "“Italy”") in found.text
