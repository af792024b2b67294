"""Data is on one line, shows all that it holds, and holds no tag and no citation."""

from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.text import as_data, plain, shorten, tokens

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=200)
CITATION = re.compile(r"\[\s*\d[\d\s,]*\]")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("one\ntwo\r\nthree\u2028four\x85five\x0bsix", "one two three four five six"),
        ("  a \t b\u00a0c\u3000d ", "a b c d"),
        ("evil\u202egnp.exe\u202c", "evilgnp.exe"),
        ("zero\u200bwidth\ufeff\u2060", "zerowidth"),
        ("\x00\x1b[31mred\x7f", "[31mred"),
        ("tag\U000e0049\U000e0067nore", "tagnore"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("Παναγία τῆς Ἀσίνου", "Παναγία τῆς Ἀσίνου"),
        ("\ud800lone", "lone"),
        ("", ""),
    ],
)
def test_plain_text_is_one_line_without_hidden_characters(given: str, shown: str) -> None:
    assert plain(given) == shown


@given(TEXTS)
def test_plain_text_has_no_line_end_and_no_control_and_is_stable(text: str) -> None:
    shown = plain(text)
    assert len(shown.splitlines()) <= 1 and shown == shown.strip() and "  " not in shown
    assert not any(unicodedata.category(sign) in ("Cc", "Cs") for sign in shown)
    assert plain(shown) == shown
    shown.encode()


@given(TEXTS.map(plain) | st.text("[]<>&0123,; a-", max_size=30))
def test_data_holds_no_tag_and_no_citation_and_comes_back_whole(text: str) -> None:
    written = as_data(text)
    assert "<" not in written and ">" not in written
    assert not CITATION.search(written)
    assert html.unescape(written) == text


@pytest.mark.parametrize("text", ["[1]", "[12, 3]", "[ 7 ]", "[1;2]", "[1-3]", "[1–3]"])
def test_a_forged_citation_is_no_citation(text: str) -> None:
    assert "[" not in as_data(text) and html.unescape(as_data(text)) == text


def test_other_brackets_stay_legible() -> None:
    assert as_data("[Thing] Untitled [recto]") == "[Thing] Untitled [recto]"


@pytest.mark.parametrize(
    ("text", "characters", "cut"),
    [
        ("short", 5, "short"),
        ("painted in the narthex", 15, "painted in the…"),
        ("painted, in the narthex", 11, "painted…"),
        ("abcdefghijkl", 6, "abcde…"),
        ("a bcdefghijkl", 6, "a bcd…"),
    ],
)
def test_a_long_text_is_cut_at_a_word_and_says_so(text: str, characters: int, cut: str) -> None:
    assert shorten(text, characters) == cut


@given(TEXTS, st.integers(1, 60))
def test_a_cut_text_is_never_longer_and_never_cut_silently(text: str, characters: int) -> None:
    cut = shorten(text, characters)
    assert len(cut) <= characters
    assert cut == text or cut.endswith("…")


def test_tokens_are_counted_by_letters_digits_and_signs() -> None:
    assert tokens("") == 0
    assert tokens("church") == 2  # chur ch
    assert tokens("12 May 1885") == 1 + 1 + 2
    assert tokens("a\nb") == 3
    assert tokens("ναός ναός") == 4 + 1 + 4  # a space before a letter beyond ASCII counts
    assert tokens("教会") == 4  # three bytes each


@given(TEXTS, TEXTS)
def test_tokens_of_lines_add_up(first: str, second: str) -> None:
    assert tokens(f"{first}\n{second}") == tokens(first) + 1 + tokens(second)
