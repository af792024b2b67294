"""The table of candidates."""

from __future__ import annotations

import numpy as np

from crmrag_query.retrieval.pool import Candidate, make_pool

FUSED = [(7, 0.5), (2, 0.4), (9, 0.1)]
CHANNELS = {"dense": [2, 7], "sparse": [7, 4], "walked": []}


def test_each_candidate_tells_its_rank_on_every_channel_that_found_it() -> None:
    assert make_pool(FUSED, CHANNELS).candidates() == [
        Candidate(7, 0.5, {"dense": 1, "sparse": 0}),
        Candidate(2, 0.4, {"dense": 0}),
        Candidate(9, 0.1, {}),
    ]


def test_columns_are_as_long_as_the_pool_and_typed() -> None:
    pool = make_pool(FUSED, CHANNELS)
    assert len(pool) == 3
    assert (pool.documents.dtype, pool.relevance.dtype) == (np.dtype("int32"), np.dtype("float64"))
    assert {name: ranks.tolist() for name, ranks in pool.ranks.items()} == {
        "dense": [1, 0, -1],
        "sparse": [0, -1, -1],
        "walked": [-1, -1, -1],
    }


def test_rows_are_taken_in_the_order_asked_for_with_all_their_columns() -> None:
    pool = make_pool(FUSED, CHANNELS)
    assert pool.take([2, 0]).candidates() == [pool.candidates()[2], pool.candidates()[0]]
    assert pool.take([1], np.array([0.9])).candidates() == [Candidate(2, 0.9, {"dense": 0})]
    assert len(pool) == 3


def test_candidates_tell_how_much_they_are_tied_to_what_is_named() -> None:
    tied = np.linspace(0, 1, 11, dtype=np.float32)
    found = make_pool(FUSED, {}, tied).take([2, 0]).candidates()
    assert [(one.document, one.tied) for one in found] == [(9, float(tied[9])), (7, float(tied[7]))]
    assert [one.tied for one in make_pool(FUSED, {}).candidates()] == [0.0, 0.0, 0.0]


def test_an_empty_pool_has_no_candidates() -> None:
    assert make_pool([], {"dense": []}).candidates() == make_pool([], {}).take([]).candidates() == []
