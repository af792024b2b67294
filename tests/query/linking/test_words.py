"""Words near a word, against a scan of the whole vocabulary with a distance of our own."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query import linking
from crmrag_query.linking import (
    SIMILAR_WORDS,
    SPELLING,
    VARIANT,
    alternatives,
    latin,
    rough,
    slips_allowed,
    words_at,
    words_of,
)
from crmrag_query.text import fold, tokenize
from tests.support.names import index_of


def edits(left: str, right: str) -> int:
    """Optimal string alignment by the textbook recurrence."""
    table = np.zeros((len(left) + 1, len(right) + 1), int)
    table[:, 0], table[0] = range(len(left) + 1), range(len(right) + 1)
    for i in range(1, len(left) + 1):
        for j in range(1, len(right) + 1):
            same = left[i - 1] == right[j - 1]
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (not same))
            if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return int(table[-1, -1])


def expected(word: str, vocabulary: set[str]) -> dict[str, float]:
    """Every word that ``word`` may be, with its likeness, by looking at all of them."""
    found = {}
    for other in vocabulary:
        allowed = min(slips_allowed(word, SPELLING), slips_allowed(other, SPELLING))
        spelt = slips_allowed(word, SPELLING) and rough(word, SPELLING.shortest) == rough(
            other, SPELLING.shortest
        )
        likeness = [1.0] if word == other else [VARIANT] if spelt else []
        if word not in vocabulary and (distance := edits(word, other)) <= allowed:
            likeness.append(1 - distance / max(len(word), len(other)))
        if likeness:
            found[other] = max(likeness)
    return found


FEW = st.text("abtxk", min_size=3, max_size=11)


@given(st.sets(FEW, min_size=1, max_size=60), FEW)
@settings(max_examples=150)
def test_alternatives_are_those_that_a_scan_finds(vocabulary: set[str], word: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(Path(folder), *sorted(vocabulary))
        known = {index.word(n) for n in range(index.words)}
        with patch.object(linking, "SIMILAR_WORDS", 10_000):
            found = {index.word(one.word): one.likeness for one in alternatives(index, word)}
        assert found == pytest.approx(expected(word, known))


def test_alternatives_are_few_and_the_likest_first(tmp_path: Path) -> None:
    index = index_of(tmp_path, *(f"bierstad{letter}" for letter in "abcdefghijklmnopqr"), "bierstadt")
    found = alternatives(index, "bierstadt")
    assert [index.word(found[0].word), found[0].likeness] == ["bierstadt", 1.0]
    near = alternatives(index, "biersatdt")
    assert index.word(near[0].word) == "bierstadt"
    assert len(near) <= SIMILAR_WORDS


def test_identifiers_and_short_words_have_no_slips(tmp_path: Path) -> None:
    index = index_of(tmp_path, "1986.12.3", "cat", "inv12345")
    for word in ("1986.12.4", "car", "inv12346"):
        assert alternatives(index, word) == []


@pytest.mark.parametrize(
    ("greek", "written"),
    [
        ("Παναγία", "panagia"),
        ("Ασίνου", "asinou"),
        ("Φορβιώτισσα", "forviotissa"),
        ("Άγιος Γεώργιος", "agios georgios"),
        ("Ευαγγελίστρια", "evangelistria"),
        ("Χριστός", "christos"),
        ("Θεοτόκος", "theotokos"),
        ("Μπαρμπαγιάννης", "barmpagiannis"),
        ("Λαμπαδιστής", "lampadistis"),
        ("Андрей Рублёв", "andrei rublev"),
        ("Чайковский", "chaikovskii"),
    ],
)
def test_greek_and_cyrillic_are_written_in_latin_letters(greek: str, written: str) -> None:
    assert " ".join(words_of(greek)) == written


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("forviotissa", "phorbiottisa"),
        ("asinou", "asinu"),
        ("agios", "hagios"),
        ("nikolaos", "nicolaos"),
        ("mueller", "muller"),
        ("pavlos", "paulos"),
        ("churches", "church"),
        ("bultos", "bulto"),
        ("keeffe", "keefe"),
        ("judgement", "judgment"),
        ("diamonds", "diamond"),
    ],
)
def test_spellings_of_one_word_are_spellings_of_one_another(one: str, other: str) -> None:
    near = rough(one, SPELLING.shortest) == rough(other, SPELLING.shortest)
    assert near or edits(one, other) <= min(slips_allowed(one, SPELLING), slips_allowed(other, SPELLING))


def test_words_that_differ_stay_apart() -> None:
    for one, other in (("vase", "base"), ("said", "saint"), ("sand", "sad"), ("1850", "1851")):
        assert rough(one, SPELLING.shortest) != rough(other, SPELLING.shortest)


def test_an_identifier_is_one_word_and_a_joined_name_its_parts() -> None:
    assert words_of("No. 1986.12.3 by Jean-Paul") == ["no", "1986.12.3", "by", "jean", "paul"]
    assert words_at(tokenize("BM-123/4 x"))[0] == (0, 4, "bm-123/4")


@given(st.text(max_size=60))
def test_any_text_has_words_that_cover_its_tokens_once(text: str) -> None:
    tokens = tokenize(text)
    spans = words_at(tokens)
    assert all(first < last <= len(tokens) for first, last, _ in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert latin(fold("Ω")) == "o"
