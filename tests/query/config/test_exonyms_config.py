"""The table of exonyms as it ships, and mistakes in one."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from pydantic import ValidationError

from crmrag_query.config import load_method
from crmrag_query.config.loading import read_stored_method
from crmrag_query.config.questions import ExonymsPart
from crmrag_query.text import fold, tokenize

METHOD = load_method()
PART = METHOD.exonyms
LANGUAGES = ("en", "fr", "de", "el")
NAMES = {
    **{f"places.{id}": PART.names(cells) for id, cells in PART.places.items()},
    **{f"cultures.{id}": PART.names(cells) for id, cells in PART.cultures.items()},
    **{f"materials.{id}": PART.names(cells) for id, cells in PART.materials.items()},
}


def a_part(**more: Any) -> ExonymsPart:
    return ExonymsPart.model_validate(PART.model_dump() | more)


def test_everything_is_named_in_four_languages() -> None:
    assert all(set(LANGUAGES) <= names.keys() for names in NAMES.values())
    assert set(PART.endings) == set(LANGUAGES)


def test_it_holds_the_world_that_museums_speak_of() -> None:
    assert (len(PART.places) >= 180, len(PART.cultures) >= 100, len(PART.materials) >= 80) == (
        True,
        True,
        True,
    )


def test_every_name_has_tokens_and_is_no_longer_than_names_are() -> None:
    for id, names in NAMES.items():
        for name in itertools.chain(*names.values()):
            assert 0 < len(tokenize(name)) <= PART.longest_name, (id, name)


def test_words_of_its_lists_are_in_the_table() -> None:
    for code in LANGUAGES:
        known = {word for names in NAMES.values() for name in names[code] for word in tokenize(name)}
        known |= {fold(name) for names in NAMES.values() for name in names[code]}
        for word in PART.asked_only.get(code, ()):
            assert fold(word) in known, (code, word)


def test_a_part_is_the_same_after_it_was_stored() -> None:
    assert ExonymsPart.model_validate_json(PART.model_dump_json()) == PART


def test_a_release_that_is_older_than_the_table_takes_the_one_that_ships() -> None:
    stored = METHOD.model_dump(mode="json")
    del stored["exonyms"]
    assert read_stored_method(json.dumps(stored).encode()).exonyms == PART


def test_cells_are_read_by_language_and_further_ones_by_none() -> None:
    assert PART.names("Rome | Rome | Rom, Roms | Ρώμη | Roma") == {
        "en": ("Rome",), "fr": ("Rome",), "de": ("Rom", "Roms"), "el": ("Ρώμη",), "": ("Roma",),
    }  # fmt: skip


@pytest.mark.parametrize("wrong", [
    {"homes": {"french": "gallia"}},
    {"homes": {"gaul": "france"}},
    {"places": {"france": "France | France | Frankreich"}},
    {"places": {"france": "France | France | Frankreich | Γαλλία | Francia | Frankrijk"}},
    {"materials": {"silver": "silver | | Silber | ασήμι"}},
    {"endings": {"en": ["s"]}},
    {"longest_name": 0},
])  # fmt: skip
def test_a_mistake_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        a_part(**wrong)
