from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.indexes.encoder import split, windows


def words(texts: Sequence[str]) -> list[int]:
    """A tokenizer that takes three letters of a word for a token."""
    return [sum(-(-len(word) // 3) for word in text.split()) for text in texts]


LINE = st.lists(st.text("abcde", min_size=1, max_size=12), max_size=30).map(" ".join)
TEXT = st.lists(LINE, min_size=1, max_size=12).map("\n".join)


@given(TEXT, st.integers(4, 40))
def test_no_window_holds_more_than_the_model_reads(text: str, room: int) -> None:
    assert all(count <= room for count in words(windows(text, words, room)))


@given(TEXT, st.integers(4, 40))
def test_every_word_is_in_a_window_and_in_order(text: str, room: int) -> None:
    found = windows(text, words, room)
    if len(found) == 1:
        assert found == [text]
        return
    repeated = found[0].split("\n")[0]
    assert all(window.split("\n")[0] == repeated for window in found)
    body = repeated + "".join("".join(window.split("\n")[1:]) for window in found)
    assert "".join(body.split()) == "".join(text.split())


HEADER, PAINTED = "[Thing] Icon", "was painted by the master"


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        ("", 10, [""]),
        (f"{HEADER}\nType: icon", 50, [f"{HEADER}\nType: icon"]),
        (
            "\n".join([HEADER, *[PAINTED] * 5]),
            28,
            [f"{HEADER}\n{PAINTED}\n{PAINTED}", f"{HEADER}\n{PAINTED}\n{PAINTED}", f"{HEADER}\n{PAINTED}"],
        ),
    ],
)
def test_lines_stay_whole_behind_the_repeated_header(text: str, room: int, expected: list[str]) -> None:
    assert windows(text, words, room) == expected


def test_a_header_longer_than_a_quarter_is_repeated_in_part_and_kept_whole() -> None:
    text = "\n".join([" ".join(["long"] * 30), "end of it"])
    found = windows(text, words, 20)
    assert all(window.startswith("long long") for window in found)
    assert sum(window.count("long") for window in found) - 2 * (len(found) - 1) == 30


def test_a_line_and_a_word_too_long_are_cut() -> None:
    assert split("aaa bbb ccc", words, 2) == ["aaa bbb ", "ccc"]
    assert split("a" * 12, words, 2) == ["a" * 6, "a" * 6]
    assert "".join(split("é" * 100, words, 1)) == "é" * 100
