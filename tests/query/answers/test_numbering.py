"""Citations are renumbered while a text streams in, whatever its pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.answers.support import Renumberer


def renumbered(pieces: list[str], sources: int = 5) -> tuple[str, int]:
    order: dict[int, int] = {}

    def number(given: int) -> int | None:
        return order.setdefault(given, len(order) + 1) if 1 <= given <= sources else None

    renumberer = Renumberer(number)
    out = [text for piece in pieces for text in renumberer.feed(piece)] + list(renumberer.end())
    return "".join(out), renumberer.dropped


def test_numbers_follow_the_order_of_appearance() -> None:
    assert (
        renumbered(["He paid [3]. A noble [1, 3]; both [2–3]."])[0]
        == "He paid [1]. A noble [2][1]; both [3][1]."
    )


def test_citations_of_no_source_go_with_the_blank_before_them_and_are_counted() -> None:
    assert renumbered(["Surely so [99] [0]. And [1, 77]."]) == ("Surely so. And [1].", 3)


def test_other_brackets_stay() -> None:
    assert renumbered(["[sic] in [1940] [see below] a[i]"])[0] == "[sic] in [1940] [see below] a[i]"


def test_blanks_around_the_text_are_left_out() -> None:
    assert renumbered(["\n\n ", " Built.\n", "  "])[0] == "Built."


def test_half_a_citation_is_never_given() -> None:
    renumberer = Renumberer(lambda n: n)
    assert list(renumberer.feed("Built [1")) == ["Built"]
    assert list(renumberer.feed("2] there")) == [" [12] there"]


@given(
    st.data(),
    st.lists(st.sampled_from(["a", " ", "[", "]", "1", "2", ", ", "[3]", "[1, 2]", "[9]", "."]), max_size=30),
)
def test_the_pieces_do_not_matter(data: st.DataObject, parts: list[str]) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert renumbered(pieces) == renumbered([text])
