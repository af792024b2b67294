"""Places kept for the asked categories, and the cap on what says little by itself."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from crmrag_query.retrieval.quota import cap, reserve

FUSED = [(1, 0.9), (2, 0.8), (3, 0.7), (4, 0.6), (5, 0.5), (6, 0.4)]


def documents(fused: list[tuple[int, float]]) -> list[int]:
    return [document for document, _ in fused]


def test_typed_documents_take_the_places_of_the_last_others() -> None:
    # half of four are two: 1 is there, and 6 comes in for 4, the last other of the first four
    assert reserve(FUSED, [6, 1], 4, 0.5) == [(1, 0.9), (2, 0.8), (3, 0.7), (6, 0.4)]


def test_what_only_the_typed_channel_found_comes_last_with_the_lowest_relevance() -> None:
    assert reserve(FUSED, [30, 5, 20], 4, 0.75) == [(1, 0.9), (5, 0.5), (30, 0.4), (20, 0.4)]


def test_enough_typed_documents_change_nothing() -> None:
    assert reserve(FUSED, [2, 3, 30], 4, 0.5) == FUSED[:4]
    assert reserve(FUSED, [], 4, 0.5) == FUSED[:4]
    assert reserve(FUSED, [30], 4, 0.0) == FUSED[:4]


def test_free_places_are_filled_before_any_document_is_dropped() -> None:
    assert documents(reserve(FUSED[:3], [8, 9], 4, 0.5)) == [1, 2, 8, 9]
    assert documents(reserve(FUSED[:2], [8, 9], 4, 0.5)) == [1, 2, 8, 9]
    assert reserve([], [8, 9], 4, 0.5) == [(8, 0.0), (9, 0.0)]


def test_equal_relevance_keeps_the_order_of_the_fusion() -> None:
    equal = [(1, 0.5), (2, 0.5), (3, 0.5), (4, 0.5)]
    assert documents(reserve(equal, [4, 3], 2, 1.0)) == [3, 4]
    assert documents(reserve(equal, [8, 4], 2, 1.0)) == [4, 8]


RANKING = st.lists(st.integers(0, 30), unique=True, max_size=20)


@given(RANKING, RANKING, st.integers(1, 12), st.floats(0, 1))
def test_the_share_is_kept_and_no_more_is_displaced_than_it_takes(
    ranking: list[int], typed: list[int], size: int, share: float
) -> None:
    fused = [(document, 1 / (at + 1)) for at, document in enumerate(ranking)]
    found = documents(reserve(fused, typed, size, share))
    first, wanted = ranking[:size], min(round(size * share), len(typed))
    assert len(found) <= size
    assert len(set(found)) == len(found)
    assert len(set(found) & set(typed)) == max(wanted, len(set(first) & set(typed)))
    assert [document for document in found if document in ranking] == [d for d in ranking if d in found]
    others = [document for document in first if document not in typed]
    left = [document for document in found if document not in typed]
    assert left == others[: len(left)]
    assert len(left) == len(others) or len(found) == size
    alone = [document for document in found if document not in ranking]
    assert alone == found[len(found) - len(alone) :]
    assert alone == [document for document in typed if document in alone]


@given(RANKING, RANKING, st.integers(1, 12), st.floats(0, 1))
def test_relevance_falls_and_stays_what_the_fusion_gave(
    ranking: list[int], typed: list[int], size: int, share: float
) -> None:
    fused = [(document, 1 / (at + 1)) for at, document in enumerate(ranking)]
    found = reserve(fused, typed, size, share)
    assert all(a[1] >= b[1] for a, b in itertools.pairwise(found))
    assert all(pair in fused for pair in found if pair[0] in ranking)


def flags(*little: int) -> np.ndarray:
    return np.isin(np.arange(40), little)


def test_a_quarter_of_the_pool_may_say_little() -> None:
    fused = [(n, 1 - n / 10) for n in range(9)]
    assert documents(cap(fused, flags(0, 1, 2, 5, 7), 8, 0.25)) == [0, 1, 3, 4, 6, 8]
    assert documents(cap(fused, flags(0, 1, 2, 5, 7), 4, 0.25)) == [0, 3, 4, 6]


def test_one_document_that_says_little_is_always_let_in() -> None:
    assert documents(cap([(1, 0.9), (2, 0.8), (3, 0.7)], flags(1, 2, 3), 3, 0.25)) == [1]
    assert documents(cap([(1, 0.9), (2, 0.8)], flags(1), 60, 0.0)) == [1, 2]


def test_nothing_is_capped_where_nothing_says_little() -> None:
    assert cap(FUSED, flags(), 60, 0.25) == FUSED
    assert cap([], flags(1), 60, 0.25) == []


@given(RANKING, st.sets(st.integers(0, 30)), st.integers(1, 12), st.floats(0, 1))
@example(list(range(20)), set(range(20)), 4, 0.25)
def test_the_cap_is_on_the_pool_and_others_move_up(
    ranking: list[int], little: set[int], size: int, share: float
) -> None:
    fused = [(document, 1 / (at + 1)) for at, document in enumerate(ranking)]
    found = cap(fused, flags(*little), size, share)
    most = max(1, int(min(size, len(ranking)) * share))
    allowed = [document for document in ranking if document in little][:most]
    expected = [pair for pair in fused if pair[0] not in little or pair[0] in allowed][:size]
    assert found == expected
    assert sum(document in little for document in documents(found)) <= most
