"""The lexicon of kinds as it ships, and mistakes in one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from pydantic import ValidationError

from crmrag_query.config import load_method
from crmrag_query.config.questions import KindEntry, KindsPart
from crmrag_query.ontology import load_ontology
from crmrag_query.text import tokenize
from crmrag_query.validation import check_method

PART = load_method().kinds
LANGUAGES = ("en", "fr", "de", "el")


def a_part(**kinds: dict[str, Any]) -> KindsPart:
    values = PART.model_dump() | {"kinds": kinds}
    return KindsPart.model_validate(values)


def a_kind(**more: Any) -> dict[str, Any]:
    return {"implies": ["Thing"], "words": {"en": ["thing"]}} | more


def test_classes_of_kinds_exist() -> None:
    found = check_method(load_method(), load_ontology())
    assert [str(one) for one in found if one.file == "kinds.yaml"] == []


def test_there_are_words_for_kinds_in_four_languages() -> None:
    for language in LANGUAGES:
        assert sum(language in entry.words for entry in PART.kinds.values()) >= 0.95 * len(PART.kinds), (
            language
        )
    assert all(entry.words.keys() <= PART.inflections.keys() for entry in PART.kinds.values())


def test_every_word_has_tokens() -> None:
    for id, entry in PART.kinds.items():
        for word in itertools.chain(*entry.words.values()):
            assert all(tokenize(side) for side in word.split("/")), (id, word)
            assert all(len(tokenize(side)) <= PART.longest_name for side in word.split("/")), (id, word)


def test_an_identifier_is_one_kind() -> None:
    numbers = [number for entry in PART.kinds.values() for number in entry.aat]
    assert len(numbers) == len(set(numbers))


def test_an_identifier_stands_for_no_two_kinds_and_every_language_has_heads() -> None:
    assert PART.heads.keys() == PART.inflections.keys()
    assert set(PART.compounds) <= PART.heads.keys()
    assert PART.cuts.keys() == PART.inflections.keys()


@pytest.mark.parametrize("wrong", [
    a_kind(generic=True),
    a_kind(classes=["E22"]),
    a_kind(aat=["30003361"]),
    a_kind(words={"en": ["a / b / c"]}),
    a_kind(words={"en": [""]}),
    a_kind(words={}),
    a_kind(implies=[]),
    a_kind(role="breaker"),
    a_kind(words={"en": [True]}),
])  # fmt: skip
def test_mistakes_in_a_kind_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KindEntry.model_validate(wrong)


@pytest.mark.parametrize("wrong", [a_kind(like=["nothing"]), a_kind(makes="nothing"), a_kind(like=["thing"])])
def test_kinds_name_other_kinds(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="no other kind"):
        a_part(thing=wrong)


def test_a_part_survives_being_stored() -> None:
    assert KindsPart.model_validate_json(PART.model_dump_json()) == PART
