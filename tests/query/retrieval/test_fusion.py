from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.retrieval.fusion import best, reciprocal_rank_fusion


def test_the_score_is_the_sum_of_reciprocal_ranks_from_one() -> None:
    assert reciprocal_rank_fusion([[7, 3], [3]], k=60) == [(3, 1 / 62 + 1 / 61), (7, 1 / 61)]


def test_a_ranking_counts_as_often_as_it_is_given() -> None:
    dense, named = [7, 3, 5], [5]
    assert dict(reciprocal_rank_fusion([dense, named, named], k=60)) == pytest.approx(
        {7: 1 / 61, 3: 1 / 62, 5: 1 / 63 + 2 / 61}
    )
    assert [document for document, _ in reciprocal_rank_fusion([dense, named, named])] == [5, 7, 3]


def test_ties_are_broken_by_number_whatever_the_order_of_the_rankings() -> None:
    assert reciprocal_rank_fusion([[9], [2]]) == reciprocal_rank_fusion([[2], [9]])
    assert [document for document, _ in reciprocal_rank_fusion([[9], [2]])] == [2, 9]


def test_no_ranking_gives_nothing() -> None:
    assert reciprocal_rank_fusion([]) == reciprocal_rank_fusion([[], []]) == []


@given(st.lists(st.lists(st.integers(0, 20), unique=True), max_size=4), st.integers(1, 100))
def test_fusion_ranks_all_and_only_what_is_ranked(rankings: list[list[int]], k: int) -> None:
    fused = reciprocal_rank_fusion(rankings, k)
    assert {document for document, _ in fused} == {document for ranking in rankings for document in ranking}
    assert sum(score for _, score in fused) == pytest.approx(
        sum(1 / (k + place) for ranking in rankings for place in range(1, len(ranking) + 1))
    )


@given(st.lists(st.integers(-3, 3)), st.integers(0, 12))
def test_best_equals_sorting_everything(scores: list[int], k: int) -> None:
    expected = sorted(((n * 2, float(s)) for n, s in enumerate(scores)), key=lambda row: (-row[1], row[0]))[
        :k
    ]
    assert best(np.arange(len(scores)) * 2, np.array(scores, np.float64), k) == expected
