"""Two rankings as one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.retrieval.interleave import interleave

RANKINGS = st.lists(st.integers(0, 20), unique=True)


def test_items_alternate_and_stand_once() -> None:
    assert interleave([1, 2, 3], [4, 1, 5, 6]) == [1, 4, 2, 3, 5, 6]


@given(RANKINGS, RANKINGS)
def test_every_item_is_there_once_and_each_ranking_keeps_its_best_on_top(
    first: list[int], second: list[int]
) -> None:
    joined = interleave(first, second)
    assert sorted(joined) == sorted({*first, *second})
    for ranking, ahead in ((first, 1), (second, 2)):
        for rank, item in enumerate(ranking):
            assert joined.index(item) < 2 * rank + ahead


@given(RANKINGS)
def test_one_ranking_stays_as_it_is(ranking: list[int]) -> None:
    assert interleave(ranking, []) == interleave([], ranking) == interleave(ranking, ranking) == ranking
