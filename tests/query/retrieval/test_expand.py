"""Adaptive expansion against a search of all paths: how far, by which ways, in which order, and at what cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.retrieval import release_channels
from crmrag_query.retrieval.release_channels import (
    BRANCHES,
    SCORE,
    STRONGEST,
    Way,
    hops_of,
    reach,
    scored,
    ways_from,
)

Weights = dict[tuple[int, int], float]


def graph_of(documents: int, edges: Weights) -> EntityGraph:
    both = edges | {(b, a): weight for (a, b), weight in edges.items()}
    ordered = sorted(both)
    ptr = np.searchsorted([a for a, _ in ordered], np.arange(documents + 1)).astype(np.int64)
    return EntityGraph(
        ptr, np.array([b for _, b in ordered], np.int32), np.array([both[one] for one in ordered], np.float32)
    )


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Weights, list[float]]:
    """Documents, edges, and how near each is to the question; values are few, so that many ways are equally strong,
    and powers of two, so that their products are exact."""
    documents = draw(st.integers(1, BRANCHES))
    pairs = draw(
        st.sets(st.tuples(st.integers(0, documents - 1), st.integers(0, documents - 1)), max_size=150)
    )
    values = st.sampled_from([0.125, 0.25, 0.5, 1.0])
    edges = {(min(pair), max(pair)): draw(values) for pair in pairs if pair[0] != pair[1]}
    return documents, edges, [draw(st.sampled_from([0.25, 0.5, 1.0])) for _ in range(documents)]


def every_way(edges: Weights, near: list[float], seed: int, hops: int) -> list[tuple[float, int]]:
    """The strength of the best path of at most so many hops to each end, the strongest first."""
    weight = edges | {(b, a): value for (a, b), value in edges.items()}
    ends: dict[int, float] = {}
    for (a, b), first in weight.items():
        if a != seed:
            continue
        ends[b] = max(ends.get(b, 0), first * near[b])
        for (c, d), second in weight.items() if hops > 1 else ():
            if c == b and d != seed:
                ends[d] = max(ends.get(d, 0), first * second * near[d])
    return sorted(((strength, end) for end, strength in ends.items()), key=lambda one: (-one[0], one[1]))


@given(graphs(), st.sampled_from([1, 2]))
@settings(max_examples=200)
def test_the_strongest_ways_are_those_that_a_search_of_all_paths_finds(
    given_: tuple[int, Weights, list[float]], hops: int
) -> None:
    documents, edges, near = given_
    found = ways_from(graph_of(documents, edges), 0, hops, lambda ends: np.array(near)[ends])
    expected = every_way(edges, near, 0, hops)[: {1: 20, 2: 40}[hops]]
    assert [(way.strength, way.end) for way in found] == expected
    weight = edges | {(b, a): value for (a, b), value in edges.items()}
    for way in found:
        assert way.seed == 0 and way.end != 0
        steps = [(0, way.end)] if way.via < 0 else [(0, way.via), (way.via, way.end)]
        assert np.prod([weight[step] for step in steps]) * near[way.end] == pytest.approx(way.strength)


@pytest.mark.parametrize(
    ("similarity", "hops"),
    [(0.0, 0), (0.2999, 0), (0.3, 1), (0.6, 1), (0.9, 1), (0.9001, 2), (1.0, 2), (None, 1)],
)
def test_how_far_is_said_by_the_published_bounds(similarity: float | None, hops: int) -> None:
    assert hops_of(similarity) == hops


def test_a_document_that_is_near_reaches_farther() -> None:
    graph = graph_of(4, {(0, 1): 1.0, (1, 2): 0.5, (2, 3): 1.0})

    def ends(similarity: float | None) -> list[int]:
        return [way.end for way in reach(graph, [(0, similarity)], lambda ends: np.ones(len(ends)))]

    assert (ends(0.2), ends(0.5), ends(None), ends(0.95)) == ([], [1], [1], [1, 2])


@given(graphs(), st.lists(st.sampled_from([0.1, 0.5, 0.95, None]), min_size=1, max_size=4))
@settings(max_examples=100)
def test_of_several_the_strongest_way_to_each_counts_and_none_leads_back(
    given_: tuple[int, Weights, list[float]], similarities: list[float | None]
) -> None:
    documents, edges, near = given_
    seeds = [*enumerate(similarities)][:documents]
    best: dict[int, float] = {}
    for seed, similarity in seeds:
        hops = hops_of(similarity)
        for strength, end in every_way(edges, near, seed, hops)[: {0: 0, 1: 20, 2: 40}[hops]] if hops else ():
            if end >= len(seeds):
                best[end] = max(best.get(end, 0), strength)
    found = reach(graph_of(documents, edges), seeds, lambda ends: np.array(near)[ends])
    assert [(way.end, way.strength) for way in found] == sorted(
        best.items(), key=lambda one: (-one[1], one[0])
    )


def test_a_hub_costs_no_more_than_its_strongest_edges() -> None:
    """Of a hub with 100,000 neighbours, each with 1,000 more, a bounded number is compared with the question."""
    hub = 100_000
    weights = np.linspace(1, 0.5, hub).astype(np.float32)
    ptr = np.concatenate([[0], np.arange(hub, 2 * hub + 1)])
    neighbour = np.concatenate([np.arange(1, hub + 1), np.zeros(hub)]).astype(np.int32)
    graph = EntityGraph(ptr.astype(np.int64), neighbour, np.concatenate([weights, weights]))
    compared: list[int] = []

    def nearness(ends: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        compared.append(len(ends))
        return np.ones(len(ends))

    assert len(ways_from(graph, 0, 2, nearness)) == 40
    assert sum(compared) <= STRONGEST + BRANCHES * BRANCHES
    far = ways_from(graph, 1, 2, nearness)  # over the hub
    assert far[0] == Way(1, -1, 0, pytest.approx(1.0)) and len(far) == 40


def test_what_was_reached_has_the_published_score_in_the_order_of_its_ways() -> None:
    hits = scored([7, 3, 5])
    assert (hits.ranking, hits.scores.tolist()) == ([7, 3, 5], [0.8] * 3)
    assert release_channels.WAYS == {0: 0, 1: 20, 2: 40} and SCORE == 0.8
