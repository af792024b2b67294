"""Notes of an answer say what they are of, so that the page tells each in the language that it speaks."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from crmrag_query.answers.records import remarks_of
from crmrag_query.language import LANGUAGES
from crmrag_query.notes import PASSING, Note, NoteKind
from tests.conftest import ROOT

PAGE = ROOT / "crmrag_query" / "service" / "static" / "js" / "words"


def sentences(language: str) -> dict[str, str]:
    """The page's sentences for notes, by kind."""
    text = (PAGE / f"{language}.js").read_text(encoding="utf-8")
    return dict(re.findall(r'^  "note\.(\w+)": "(.+)",$', text, re.MULTILINE))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_has_a_sentence_for_each_kind_in_each_of_its_languages(language: str) -> None:
    told, english = sentences(language), sentences("en")
    assert set(told) == set(get_args(NoteKind))
    for kind, sentence in told.items():
        assert set(re.findall(r"\{\w+\}", sentence)) == set(re.findall(r"\{\w+\}", english[kind])), kind
        assert language == "en" or sentence != english[kind]


def test_a_note_is_a_text_and_a_remark_says_what_it_is_of() -> None:
    notes = (
        "Did you mean Asinou?",
        Note("The model read 3 of 5 themes: busy.", "themes", n=3, all=5),
        Note("The plan gives nothing.", "plan", passing=False),
    )
    themes, plan = remarks_of(notes)
    assert (themes.note, themes.values, themes.passing) == (notes[1], {"n": "3", "all": "5"}, True)
    assert "plan" in PASSING and not plan.passing
