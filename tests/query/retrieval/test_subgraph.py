"""The coherent subset; its oracle is the formula written out in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config.loading import Subgraph
from crmrag_query.retrieval.release_channels import normalise, scaled, select

FACTS = Subgraph(relevance=0.7, connectivity=0.3, redundancy=0.2)
"""The weights of the facts (method, Query), whatever the configuration has come to."""


def rows(
    relevance: list[float],
    *,
    joined: dict[tuple[int, int], float] | None = None,
    vectors: Sequence[Sequence[float]] | None = None,
    modifiers: list[float] | None = None,
    k: int = 10,
    config: Subgraph = FACTS,
) -> list[int]:
    """The choice; nothing is joined, alike or modified unless given."""
    n = len(relevance)
    matrix = np.zeros((n, n))
    for (a, b), weight in (joined or {}).items():
        matrix[a, b] = matrix[b, a] = weight
    return select(
        np.array(relevance, np.float64),
        matrix,
        np.eye(n, dtype=np.float32) if vectors is None else np.array(vectors, np.float32),
        np.array(modifiers or [0.0] * n),
        k,
        config,
    )


def test_relevance_is_scaled_to_0_and_1() -> None:
    assert scaled(np.array([0.04, 0.02, 0.03])).tolist() == pytest.approx([1, 0, 0.5])
    assert scaled(np.array([0.3, 0.3])).tolist() == [1, 1]
    assert scaled(np.array([])).tolist() == []


def test_relevance_alone_ranks_by_relevance_whatever_its_scale() -> None:
    assert rows([0.2, 0.9, 0.5]) == rows([20, 90, 50]) == [1, 2, 0]
    assert rows([3, 2, 1], k=0) == rows([]) == []


@pytest.mark.parametrize("modifier", [0.05, 0.03, 0.10, -0.15, -0.20, -0.25, -0.35, -0.40])
def test_a_modifier_is_added_to_the_weighted_relevance(modifier: float) -> None:
    # it weighs as much as modifier / 0.7 of scaled relevance: row 1 has a little less, or a little more
    even = 0.6 + modifier / 0.7
    assert rows([0.6, even - 0.01, 1, 0], modifiers=[modifier, 0, 5, -5]) == [2, 0, 1, 3]
    assert rows([0.6, even + 0.01, 1, 0], modifiers=[modifier, 0, 5, -5]) == [2, 1, 0, 3]


def product(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def plainly(
    relevance: list[float],
    joined: list[list[float]],
    vectors: list[list[float]],
    modifiers: list[float],
    k: int,
    weights: tuple[float, float, float],
) -> list[int]:
    low, high = min(relevance), max(relevance)
    chosen: list[int] = []
    while len(chosen) < min(k, len(relevance)):
        values = {}
        for row in range(len(relevance)):
            if row in chosen:
                continue
            value = weights[0] * ((relevance[row] - low) / (high - low) if high > low else 1.0)
            value += modifiers[row]
            if chosen:
                value += weights[1] * sum(joined[row][one] for one in chosen) / len(chosen)
                value -= weights[2] * max(product(vectors[row], vectors[one]) for one in chosen)
            values[row] = value
        chosen.append(max(values, key=lambda row: values[row]))
    return chosen


@given(st.integers(1, 12), st.integers(0, 14), st.integers(0, 2**32))
def test_select_equals_the_formula_in_plain_python(n: int, k: int, seed: int) -> None:
    random = Random(seed)
    relevance = [random.random() for _ in range(n)]
    upper = [[random.choice([0, random.random()]) for _ in range(n)] for _ in range(n)]
    matrix = normalise(np.triu(np.array(upper), 1) + np.triu(np.array(upper), 1).T)
    drawn = np.random.default_rng(seed).normal(size=(n, 4))
    vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    modifiers = [random.choice([0, 0.05, -0.2, random.uniform(-0.4, 0.2)]) for _ in range(n)]
    weights = (random.random(), random.random(), random.random())
    config = Subgraph(relevance=weights[0], connectivity=weights[1], redundancy=weights[2])
    found = select(np.array(relevance), matrix, vectors, np.array(modifiers), k, config)
    expected = plainly(relevance, matrix.tolist(), vectors.astype(float).tolist(), modifiers, k, weights)
    assert found == expected


@given(st.lists(st.sampled_from([0.25, 0.5, 0.75]), min_size=1, max_size=10), st.integers(1, 10))
def test_ties_are_the_same_whatever_else_is_equal(relevance: list[float], k: int) -> None:
    first = rows(relevance, k=k)
    assert first == rows(relevance, k=k)
    assert first == sorted(range(len(relevance)), key=lambda row: (-relevance[row], row))[:k]


def test_a_candidate_without_a_vector_is_taken_to_be_as_redundant_as_the_others_are() -> None:
    """It is not chosen for being like nothing."""
    config = Subgraph(relevance=0.0, connectivity=0.0, redundancy=1.0)
    vectors, modifiers = [[1, 0], [1, 0], [0, 1], [0.6, 0.8], [0, 0]], [9.0, 0, 0, 0, 0]
    assert rows([1] * 5, vectors=vectors, modifiers=modifiers, config=config) == [0, 2, 3, 1, 4]
    assert rows([1] * 5, vectors=vectors[:2] + [[0, 0]] * 3, modifiers=modifiers, config=config)[1:] == [
        1,
        2,
        3,
        4,
    ]
