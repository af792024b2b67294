"""Exact answers scored by form, worked out by hand; tables as bags of rows against a plain search."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

from exact_scores import (
    ExactScore,
    Item,
    Said,
    folded_name,
    matched_columns,
    same_value,
    score_exact,
    yes_no,
)
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.evaluation.questions import AnswerForm, GoldQuestion


def question(form: AnswerForm, value: Any = None, gold: str = "", also_ok: str = "") -> GoldQuestion:
    entities = tuple(frozenset([iri]) for iri in gold.split())
    return GoldQuestion(
        "q", "kind", form, "Which?", (), entities, frozenset(also_ok.split()), (), value, None
    )


def members(iris: str, confident: bool = True) -> Said:
    return Said("", tuple((iri,) for iri in iris.split()), by_set=True, confident=confident)


def items(*rows: tuple[str, str, float]) -> Said:
    found = tuple(Item(iri, frozenset([folded_name(name)]), value) for iri, name, value in rows)
    return Said("", items=found, by_set=True, confident=True)


def value(given_value: float | bool | None, confident: bool = True) -> Said:
    return Said("", value=given_value, by_set=True, confident=confident)


def outcome(score: ExactScore) -> tuple[bool | None, float | None, bool]:
    return score.exact, score.f1, score.wrong


# sets of entities


def test_a_set_is_exact_when_it_holds_all_and_nothing_else() -> None:
    asked = question("iris", gold="a b c")
    assert outcome(score_exact(asked, members("c a b"))) == (True, 1.0, False)
    exact, f1, wrong = outcome(score_exact(asked, members("a b")))
    assert (exact, wrong) == (False, True)
    assert f1 == 2 * 1.0 * (2 / 3) / (1 + 2 / 3)


def test_what_is_neither_right_nor_wrong_counts_as_neither() -> None:
    asked = question("iris", gold="a b", also_ok="x y")
    assert score_exact(asked, members("a b x")).exact
    assert not score_exact(asked, members("a x")).exact
    assert not score_exact(asked, members("a b z")).exact


def test_a_wrong_set_that_is_not_given_as_the_whole_is_not_sure_and_wrong() -> None:
    score = score_exact(question("iris", gold="a b"), members("a", confident=False))
    assert (score.exact, score.wrong) == (False, False)


# numbers, yes and no


def test_a_number_is_right_when_it_equals() -> None:
    asked = question("number", 12)
    assert outcome(score_exact(asked, value(12))) == (True, 1.0, False)
    assert outcome(score_exact(asked, value(11))) == (False, 0.0, True)
    assert score_exact(asked, value(11, confident=False)).wrong is False
    assert score_exact(asked, value(None)).exact is False
    large = question("number", 2_000_000)
    assert score_exact(large, value(2_000_001)).exact is False


def test_a_mean_is_right_to_the_decimals_of_the_known_one() -> None:
    asked = question("number", 259.9412)
    assert score_exact(asked, value(259.941176)).exact is True
    assert score_exact(asked, value(259.9419)).exact is False


def test_one_is_not_yes_and_yes_is_not_one() -> None:
    assert score_exact(question("number", 1), value(True)).exact is False
    assert score_exact(question("bool", True), value(1)).exact is False
    assert score_exact(question("bool", False), value(False)).exact is True


def test_without_a_set_the_text_is_read() -> None:
    assert score_exact(question("number", 1234), Said("There are 1,234 [1]. Of these 5 are red.")).exact
    assert not score_exact(question("number", 5), Said("There are 1,234 [1]. Of these 5 are red.")).exact
    assert score_exact(question("bool", True), Said("Yes, two of them.")).exact
    assert score_exact(question("bool", False), Said("Όχι: δεν υπάρχει.")).exact
    assert not score_exact(question("bool", False), Said("Nothing is known of it.")).exact
    assert [yes_no(text) for text in ("Oui.", "nee", "**No**", "Nobody", "")] == [
        True, False, False, None, None,
    ]  # fmt: skip


# rankings

RANKED = [
    {"iri": "a", "label": "A", "value": "10"},
    {"iri": "b", "label": "B", "value": "6"},
    {"iri": "c", "label": "C", "value": "6"},
]


def test_ties_of_a_ranking_may_swap() -> None:
    asked = question("ranking", RANKED)
    assert score_exact(asked, items(("a", "A", 10), ("c", "C", 6), ("b", "B", 6))).exact
    assert not score_exact(asked, items(("b", "B", 6), ("a", "A", 10), ("c", "C", 6))).exact


def test_a_ranking_has_to_have_the_values_and_the_length() -> None:
    asked = question("ranking", RANKED)
    assert outcome(score_exact(asked, items(("a", "A", 9), ("b", "B", 6), ("c", "C", 6)))) == (
        False, 2 / 3, True,
    )  # fmt: skip
    assert outcome(score_exact(asked, items(("a", "A", 10), ("b", "B", 6)))) == (False, 0.8, True)
    assert not score_exact(asked, items(("a", "A", 10), ("b", "B", 6), ("c", "C", 6), ("d", "D", 6))).exact


def test_years_before_christ_may_be_counted_with_a_year_0_or_without() -> None:
    assert same_value("-1500", -1499)
    assert same_value("-1500", -1500.0)
    assert not same_value("-1500", -1498)
    assert not same_value("1500", 1499)
    assert same_value("x", "x")
    assert not same_value(None, 3)


# tables


def test_keys_of_a_table_are_matched_by_iri_or_any_name() -> None:
    gold = [{"key": "Print", "iri": "p", "value": 3}, {"key": "Basket", "iri": None, "value": 2}]
    asked = question("table", gold)
    said = Said(
        "",
        items=(
            Item("x", frozenset({"basket with lid", "basket"}), 2),
            Item("p", frozenset({"prints"}), 3),
        ),
        by_set=True,
    )
    assert score_exact(asked, said).exact
    assert score_exact(asked, items(("", "PRINT", 3), ("", "basket", 2))).exact


def test_rows_of_nought_may_be_there_or_not() -> None:
    asked = question("table", [{"key": "a", "iri": "a", "value": 3}, {"key": "z", "iri": "z", "value": 0}])
    assert score_exact(asked, items(("a", "a", 3))).exact
    assert score_exact(asked, items(("a", "a", 3), ("z", "z", 0), ("y", "y", 0))).exact
    assert outcome(score_exact(asked, items(("a", "a", 3), ("y", "y", 1)))) == (False, 2 / 3, True)


def test_a_row_that_is_neither_right_nor_wrong_may_be_missing() -> None:
    rows = [{"key": "a", "iri": "a", "value": 3}, {"key": "u", "iri": "u", "value": 1}]
    asked = question("table", rows, also_ok="u w")
    assert score_exact(asked, items(("a", "a", 3))).exact
    assert score_exact(asked, items(("a", "a", 3), ("u", "u", 1), ("w", "w", 4))).exact
    assert not score_exact(asked, items(("u", "u", 1))).exact


def test_a_decade_is_named_by_its_first_year() -> None:
    asked = question("table", [{"key": "1870", "iri": None, "value": 5}])
    assert score_exact(asked, items(("", "1870s", 5))).exact
    assert not score_exact(asked, items(("", "1880s", 5))).exact


# forms that no set answers


def test_facts_and_refusals_are_not_exact_or_wrong() -> None:
    for form in ("facts", "refuse"):
        score = score_exact(question(form), Said("Nobody knows.", refused=True, confident=True))
        assert outcome(score) == (None, None, False)
        assert score.refused


# bags of rows

tables = st.lists(st.tuples(*[st.sampled_from("ab")] * 3), min_size=1, max_size=5)


@given(tables, st.permutations(range(3)), st.randoms(use_true_random=False), st.integers(1, 3))
def test_a_table_matches_itself_with_rows_and_columns_in_any_order(
    rows: list[tuple[str, ...]], order: list[int], random: Any, kept: int
) -> None:
    shuffled = [tuple(row[place] for place in order) for row in rows]
    random.shuffle(shuffled)
    gold = list(zip(*rows, strict=True))[:kept]
    answer = list(zip(*shuffled, strict=True))
    chosen = matched_columns(gold, answer)
    assert chosen is not None
    assert Counter(zip(*(answer[place] for place in chosen), strict=True)) == Counter(zip(*gold, strict=True))


@given(tables, tables)
def test_tables_match_as_a_search_over_all_orders_of_columns_says(
    gold_rows: list[tuple[str, ...]], rows: list[tuple[str, ...]]
) -> None:
    gold = list(zip(*gold_rows, strict=True))[:2]
    answer = list(zip(*rows, strict=True))
    wanted = Counter(zip(*gold, strict=True))
    any_order = any(
        Counter(zip(*(answer[place] for place in order), strict=True)) == wanted
        for order in permutations(range(3), 2)
    )
    assert (matched_columns(gold, answer) is not None) == any_order


def test_a_row_too_many_or_too_few_columns_do_not_match() -> None:
    assert matched_columns([["a"]], [["a", "a"]]) is None
    assert matched_columns([["a"], ["b"]], [["a"]]) is None
    assert matched_columns([["a"], ["a"]], [["a"], ["b"]]) is None, "no column stands for two"
    assert matched_columns([["a"]], [["b"], ["a"]]) == (1,)
