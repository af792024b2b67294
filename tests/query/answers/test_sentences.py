"""A text is cut into sentences and list items at the places where a reader would cut it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crmrag_query.answers.support import cited_numbers, numbers_of, split_sentences, without_citations

ABBREVIATIONS = frozenset({"st", "ca", "d", "ä", "μ.χ"})
SIGNS = st.sampled_from(
    [*"aB1 .;!?:-\n[]()\u037e·…\"'“”«»,|", "St. ", "ca. ", "12. Mai", "[1]", "[2, 3]", "\n- ", "α;"]
)


def cut(text: str) -> list[str]:
    return [text[piece.first : piece.last] for piece in split_sentences(text, ABBREVIATIONS)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two? Three!", ["One.", "Two?", "Three!"]),
        ("St. Nicholas, ca. 1105, by J. S. Bach. It is.", ["St. Nicholas, ca. 1105, by J. S. Bach.", "It is."]),
        ("Hans Holbein d. Ä. malte. Er starb.", ["Hans Holbein d. Ä. malte.", "Er starb."]),
        ("Am 12. Mai 1885. Im 12. Jahrhundert.", ["Am 12. Mai 1885.", "Im 12. Jahrhundert."]),
        ("It is 3.5 m high. See no. 12 there.", ["It is 3.5 m high.", "See no. 12 there."]),
        ("Πότε χτίστηκε; Το 1105 μ.Χ. έγινε.", ["Πότε χτίστηκε;", "Το 1105 μ.Χ. έγινε."]),
        ("One thing; another thing. End.", ["One thing; another thing.", "End."]),
        ("He said “so.” Then he left.", ["He said “so.”", "Then he left."]),
        ("Well... perhaps. Yes.", ["Well... perhaps.", "Yes."]),
        ("日本語。はい。", ["日本語。", "はい。"]),
        ("No end", ["No end"]),
    ],
)  # fmt: skip
def test_sentences_end_where_they_end(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences


def test_citations_after_the_point_belong_to_the_sentence_before() -> None:
    assert cut("It stands. [1] [2, 3] It fell [4].") == ["It stands. [1] [2, 3]", "It fell [4]."]


def test_each_line_of_a_list_is_an_item_and_its_mark_ends_nothing() -> None:
    text = "Two churches [1]:\n- Asinou [2]\n2. Kalopanayiotis [3]. It is old.\n\nThat is all."
    pieces = split_sentences(text, ABBREVIATIONS)
    assert [text[p.first : p.last] for p in pieces] == [
        "Two churches [1]:", "- Asinou [2]", "2. Kalopanayiotis [3].", "It is old.", "That is all.",
    ]  # fmt: skip
    assert [piece.item for piece in pieces] == [False, True, True, True, False]


@example("\n\nA. B.")
@given(st.lists(SIGNS, max_size=40).map("".join) | st.text(max_size=200))
def test_pieces_cover_the_text_in_order_without_overlap(text: str) -> None:
    pieces = split_sentences(text, ABBREVIATIONS)
    if not text.strip():
        assert pieces == []
        return
    assert "".join(text[piece.start : piece.end] for piece in pieces) == text
    for piece in pieces:
        assert piece.start <= piece.first < piece.last <= piece.end
        assert text[piece.start : piece.end].strip() == text[piece.first : piece.last]


def test_citations_give_their_numbers_once_in_order() -> None:
    assert cited_numbers("a [2, 1] b [1; 4] c [5–7] d [Source 9] [1940] [x]") == (2, 1, 4, 5, 6, 7, 9)


def test_a_range_backwards_or_too_long_gives_its_ends() -> None:
    assert numbers_of("7-5") == [7, 5]
    assert numbers_of("1-400") == [1, 400]


def test_without_citations_words_stay_apart() -> None:
    assert without_citations("built[1]in [2]").split() == ["built", "in"]
