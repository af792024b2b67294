"""Rankings fused, interleaved, cut and made a pool of candidates; places kept in it, and the cap on what says little."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crmrag_query.retrieval.scores import (
    NOTHING,
    Candidate,
    Hits,
    best,
    cap,
    fuse,
    interleave,
    make_pool,
    reciprocal_rank_fusion,
    reserve,
)

RANKING = st.lists(st.integers(0, 30), unique=True, max_size=20)


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


def test_items_alternate_and_stand_once() -> None:
    assert interleave([1, 2, 3], [4, 1, 5, 6]) == [1, 4, 2, 3, 5, 6]


@given(RANKING, RANKING)
def test_every_item_is_there_once_and_each_ranking_keeps_its_best_on_top(
    first: list[int], second: list[int]
) -> None:
    joined = interleave(first, second)
    assert sorted(joined) == sorted({*first, *second})
    for ranking, ahead in ((first, 1), (second, 2)):
        for rank, item in enumerate(ranking):
            assert joined.index(item) < 2 * rank + ahead


@given(RANKING)
def test_one_ranking_stays_as_it_is(ranking: list[int]) -> None:
    assert interleave(ranking, []) == interleave([], ranking) == interleave(ranking, ranking) == ranking


FUSED = [(1, 0.9), (2, 0.8), (3, 0.7), (4, 0.6), (5, 0.5), (6, 0.4)]


def documents(fused: list[tuple[int, float]]) -> list[int]:
    return [document for document, _ in fused]


def test_typed_documents_take_the_places_of_the_last_others() -> None:
    # half of four are two: 1 is there, and 6 comes in for 4, the last other of the first four
    assert reserve(FUSED, [6, 1], 4, 0.5) == [(1, 0.9), (2, 0.8), (3, 0.7), (6, 0.4)]


def test_what_only_the_typed_channel_found_comes_last_with_the_lowest_relevance() -> None:
    assert reserve(FUSED, [30, 5, 20], 4, 0.75) == [(1, 0.9), (5, 0.5), (30, 0.4), (20, 0.4)]


def test_equal_relevance_keeps_the_order_of_the_fusion() -> None:
    equal = [(1, 0.5), (2, 0.5), (3, 0.5), (4, 0.5)]
    assert documents(reserve(equal, [4, 3], 2, 1.0)) == [3, 4]
    assert documents(reserve(equal, [8, 4], 2, 1.0)) == [4, 8]


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


FEW = [(7, 0.5), (2, 0.4), (9, 0.1)]
CHANNELS = {
    "dense": Hits.of([(2, 0.8), (7, -0.1)]),
    "sparse": Hits.of([(7, 12.5), (4, 3.0)]),
    "walked": NOTHING,
}


def test_each_candidate_tells_its_rank_and_raw_similarity_on_every_channel_that_found_it() -> None:
    assert make_pool(FEW, CHANNELS) == [
        Candidate(7, 0.5, {"dense": 1, "sparse": 0}, similarities={"dense": -0.1, "sparse": 12.5}),
        Candidate(2, 0.4, {"dense": 0}, similarities={"dense": 0.8}),
        Candidate(9, 0.1, {}),
    ]
    assert make_pool([], {"dense": NOTHING}) == []


def test_candidates_tell_how_much_they_are_tied_to_what_is_named() -> None:
    tied = np.linspace(0, 1, 11, dtype=np.float32)
    assert [one.tied for one in make_pool(FEW, {}, tied)] == [float(tied[n]) for n in (7, 2, 9)]


DISTINCT = st.lists(st.integers(0, 30), unique=True, max_size=12)


@given(st.lists(DISTINCT, max_size=3), DISTINCT)
def test_a_ranking_that_knows_every_document_is_fused_like_the_others(
    rankings: list[list[int]], nearest: list[int]
) -> None:
    assert fuse(rankings, nearest, 1.0, 12) == reciprocal_rank_fusion([nearest, *rankings])


@given(st.lists(DISTINCT, max_size=3), DISTINCT, st.floats(0.01, 0.99))
def test_what_a_ranking_of_some_documents_adds_is_what_their_places_among_all_would(
    rankings: list[list[int]], nearest: list[int], share: float
) -> None:
    fused, bare = dict(fuse(rankings, nearest, share, 12)), dict(reciprocal_rank_fusion(rankings))
    if not any(rankings):
        assert list(fused) == nearest, "nothing else is known: it stands as it is"
        return
    for document, score in fused.items():
        gain = score - bare.get(document, 0.0)
        place = (nearest.index(document) + 1) / share if document in nearest else math.inf
        within = document in nearest and nearest.index(document) < int(12 * share)
        assert gain == pytest.approx(1 / (60 + place) if within else 0.0, abs=1e-12)
        assert place <= 12 or not within, "none beyond the end of a whole ranking"


def test_the_nearest_of_a_hundredth_is_taken_for_the_hundredth_nearest() -> None:
    assert dict(fuse([[1, 2]], [9], 0.01, 100))[9] == pytest.approx(1 / 160)
    assert dict(fuse([[1, 2]], [9], 0.01, 99)) == dict(reciprocal_rank_fusion([[1, 2]]))
