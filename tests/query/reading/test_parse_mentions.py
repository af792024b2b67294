"""Words that stand in a text are told as such: a text that mentions a place makes nothing made there."""

from __future__ import annotations

import pytest

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
def test_a_place_or_a_gift_that_a_text_mentions_is_not_told_as_such(
    sheets: Museum, question: str, word: str, key: str
) -> None:
    assert not sheets.parse(question).certain, f"{key} has {word} in a text"


@pytest.mark.parametrize("question", [
    "Are there any works by Otto Kranz?", "Does the museum have works by Claude Monet?",
])  # fmt: skip
def test_of_whom_nothing_is_known_no_is_not_told_as_exact(sheets: Museum, question: str) -> None:
    """Nobody of that name is known: the answer names whom it could not find."""
    parsed = sheets.parse(question)
    assert not parsed.certain and parsed.unnamed


@pytest.mark.parametrize(("question", "keys"), [
    ("Which works are described as golden?", {"c"}), ("Which works have the word Sheet in the title?", set(WORKS)),
    ("Which works are made of clay?", {"c"}), ("Which works are made of oil?", {"d", "e"}),
])  # fmt: skip
def test_words_of_a_text_that_was_asked_for_are_right_or_not_told_as_exact(
    sheets: Museum, question: str, keys: set[str]
) -> None:
    parsed = sheets.parse(question)
    assert not parsed.certain or sheets.listed(parsed) == keys


def test_words_of_a_title_are_found(sheets: Museum) -> None:
    assert sheets.read("Which works have the word Sheet in the title?") == set(WORKS)
