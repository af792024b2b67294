"""Raw similarities, and the scales that others state them in: each against vectors compared by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.retrieval.encoder import hash_vectors
from crmrag_query.retrieval.scores import NOTHING, VIEWS, Hits

VECTORS = st.lists(st.floats(-10, 10), min_size=3, max_size=3).filter(lambda one: math.hypot(*one) > 1e-3)
PAIRS = st.lists(st.tuples(st.integers(0, 99), st.floats(-1, 1)), unique_by=lambda pair: pair[0], max_size=20)


@given(VECTORS, VECTORS)
def test_views_are_those_of_the_two_unit_vectors(a: list[float], b: list[float]) -> None:
    one, other = (np.array(vector) / math.hypot(*vector) for vector in (a, b))
    cosine, distance = float(one @ other), math.dist(one, other)
    hits = Hits.of([(0, cosine)])
    assert hits.view("cosine") == pytest.approx([cosine])
    assert hits.view("half_cosine") == pytest.approx([(1 + cosine) / 2])
    assert hits.view("inverse_distance") == pytest.approx([1 / (1 + distance)], abs=1e-6)
    assert hits.view("inverse_square") == pytest.approx([1 / (1 + distance**2)], abs=1e-6)


def test_views_of_equal_orthogonal_and_opposite_vectors() -> None:
    hits = Hits.of([(0, 1.0), (1, 0.0), (2, -1.0)])
    assert hits.view("half_cosine").tolist() == [1, 0.5, 0]
    assert hits.view("inverse_distance") == pytest.approx([1, 1 / (1 + math.sqrt(2)), 1 / 3])
    assert hits.view("inverse_square") == pytest.approx([1, 1 / 3, 1 / 5])


@given(st.lists(st.floats(-1, 1), min_size=2), st.sampled_from(sorted(VIEWS)))
def test_no_view_changes_a_ranking(cosines: list[float], name: str) -> None:
    ordered = sorted(cosines, reverse=True)
    seen = Hits.of(enumerate(ordered)).view(name)
    assert all(a >= b for a, b in itertools.pairwise(seen))


def test_a_cosine_above_one_by_rounding_is_no_distance_below_nothing() -> None:
    assert Hits.of([(0, 1.0000002)]).view("inverse_distance").tolist() == [1.0]


@given(PAIRS, st.floats(-1, 1))
def test_a_threshold_keeps_what_reaches_it_in_its_order(pairs: list[tuple[int, float]], least: float) -> None:
    hits = Hits.of(pairs)
    assert list(hits) == pairs and hits.ranking == [document for document, _ in pairs]
    assert list(hits.at_least(least)) == [pair for pair in pairs if pair[1] >= least]
    assert hits.at_least(None) is hits


def test_nothing_is_no_hits() -> None:
    assert (len(NOTHING), list(NOTHING), NOTHING.ranking, list(Hits.of([]))) == (0, [], [], [])


def test_words_that_cancel_each_other_in_a_stand_in_vector_leave_it_of_length_one() -> None:
    """All words are of one place here, and each of a sign: some two cancel."""
    pairs = [f"{one} {other}" for one in ("axe", "bowl", "coin") for other in ("pin", "sheet", "tug")]
    assert np.abs(hash_vectors(pairs, 1)).tolist() == [[1.0]] * len(pairs)
    assert not hash_vectors([""], 1).any()
