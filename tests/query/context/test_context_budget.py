"""A budget is never overdrawn, and what does not fit costs nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.context.context import Budget, pay
from crmrag_query.text import as_data, tokens


def test_a_line_costs_its_escaped_length_and_its_line_end() -> None:
    budget = Budget(100, 100)
    assert pay(["a < b"], [budget])
    assert budget == Budget(100 - len("a &lt; b") - 1, 100 - tokens("a &lt; b") - 1)


def test_a_frame_is_written_as_it_is() -> None:
    budget = Budget(100, 100)
    assert pay([], [budget], frame=["<counts>", "</counts>"])
    assert budget.characters == 100 - len("<counts>\n</counts>\n")


def test_what_does_not_fit_one_budget_costs_none() -> None:
    wide, narrow = Budget(100, 100), Budget(3, 100)
    assert not pay(["four"], [wide, narrow])
    assert (wide, narrow) == (Budget(100, 100), Budget(3, 100))


def test_tokens_bind_as_characters_do() -> None:
    budget = Budget(100, 3)
    assert not pay(["ναός"], [budget]) and pay(["nave"], [budget])


def test_a_line_in_the_place_of_another_costs_the_difference() -> None:
    budget = Budget(20, 20)
    assert pay(["short"], [budget]) and pay(["a little longer"], [budget], instead="short")
    assert budget.characters == 20 - len("a little longer") - 1


def test_a_part_is_never_more_than_the_whole() -> None:
    assert Budget(10, 8).part(25, 0.5) == Budget(10, 4)
    assert Budget(10, 8).part(-5) == Budget(0, 8)


@given(st.lists(st.text(max_size=30)), st.integers(0, 200), st.integers(0, 200), st.integers(0, 200))
def test_what_was_paid_is_what_was_written(texts: list[str], characters: int, some: int, count: int) -> None:
    whole, part = Budget(characters, count), Budget(some, count)
    written = [as_data(text) for text in texts if pay([text], [whole, part])]
    assert whole.characters == characters - sum(len(text) + 1 for text in written)
    assert whole.tokens == count - sum(tokens(text) + 1 for text in written)
    assert min(whole.characters, whole.tokens, part.characters, part.tokens) >= 0
