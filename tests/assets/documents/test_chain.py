from __future__ import annotations

from collections.abc import Collection

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.documents.chain import Chained, chain
from crmrag_assets.documents.csr import Csr, csr_from_pairs
from crmrag_query.config.build import Chaining

THIN, LIMIT = 40, 100


def rules(strategy: str = "richest") -> Chaining:
    return Chaining.model_validate(
        {
            "thin_characters": THIN,
            "limit_characters": LIMIT,
            "strategy": strategy,
            "exempt_categories": ("Event",),
        }
    )


def joined(
    lengths: list[int], pairs: list[tuple[int, int]], strategy: str = "richest", exempt: Collection[int] = ()
) -> Chained:
    thin = np.array([i not in exempt for i in range(len(lengths))])
    return chain(np.array(lengths, np.int64), thin, both_ways(pairs, len(lengths)), rules(strategy))


def both_ways(pairs: list[tuple[int, int]], count: int) -> Csr:
    one = np.array([a for a, b in pairs] + [b for a, b in pairs], np.int32)
    other = np.array([b for a, b in pairs] + [a for a, b in pairs], np.int32)
    return csr_from_pairs(one, other, count)


def test_a_thin_document_joins_the_richest_neighbour_with_room() -> None:
    chained = joined([10, 95, 60, 50], [(0, 1), (0, 2), (0, 3)])
    assert chained.alive.tolist() == [False, True, True, True]
    assert chained.blocks == {2: (2, 0)}
    assert chained.home.tolist() == [2, 1, 2, 3]


def test_the_smallest_goes_first_and_takes_what_joined_it_along() -> None:
    chained = joined([12, 10, 60], [(0, 1), (0, 2)])
    assert chained.blocks == {2: (2, 0, 1)}


def test_ties_are_broken_by_iri() -> None:
    assert joined([10, 60, 60], [(0, 1), (0, 2)]).blocks == {1: (1, 0)}


def test_exempt_documents_stay_and_may_be_joined() -> None:
    chained = joined([10, 10], [(0, 1)], exempt={0})
    assert chained.alive.tolist() == [True, False] and chained.blocks == {0: (0, 1)}


def test_without_room_or_neighbours_a_document_stays() -> None:
    assert joined([10, 99, 10], [(0, 1)]).alive.all()


def test_strategy_all_joins_every_neighbour_with_room_and_lives_at_the_richest() -> None:
    chained = joined([10, 60, 70, 95], [(0, 1), (0, 2), (0, 3)], "all")
    assert chained.blocks == {1: (1, 0), 2: (2, 0)}
    assert chained.home.tolist() == [2, 1, 2, 3]


def slow(lengths: list[int], pairs: list[tuple[int, int]], exempt: set[int]) -> dict[int, tuple[int, ...]]:
    """The definition of the richest strategy, looking at everything each time."""
    blocks = {i: [i] for i in range(len(lengths))}
    stuck: set[tuple[int, int]] = set()

    def size(document: int) -> int:
        return sum(lengths[b] for b in blocks[document]) + 2 * (len(blocks[document]) - 1)

    while True:
        thin = sorted(
            (size(i), i) for i in blocks if i not in exempt and size(i) < THIN and (size(i), i) not in stuck
        )
        if not thin:
            return {i: tuple(b) for i, b in blocks.items()}
        length, document = thin[0]
        near = {
            other
            for other in blocks
            for a, b in pairs
            if other != document
            and (
                (a in blocks[document] and b in blocks[other])
                or (b in blocks[document] and a in blocks[other])
            )
        }
        roomy = [other for other in near if size(other) + 2 + length <= LIMIT]
        if not roomy:
            stuck.add((length, document))
            continue
        best = min(roomy, key=lambda other: (-size(other), other))
        blocks[best] += blocks.pop(document)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]], set[int]]:
    lengths = draw(st.lists(st.integers(1, 110), min_size=1, max_size=10))
    node = st.integers(0, len(lengths) - 1)
    pairs = draw(st.lists(st.tuples(node, node).filter(lambda pair: pair[0] != pair[1]), max_size=15))
    return lengths, pairs, draw(st.sets(node, max_size=3))


@settings(max_examples=400, deadline=None)
@given(cases())
def test_richest_equals_its_definition(case: tuple[list[int], list[tuple[int, int]], set[int]]) -> None:
    lengths, pairs, exempt = case
    chained = joined(lengths, pairs, "richest", exempt)
    assert {i: chained.blocks_of(i) for i in np.flatnonzero(chained.alive).tolist()} == slow(
        lengths, pairs, exempt
    )


@settings(max_examples=300, deadline=None)
@given(cases(), st.sampled_from(["richest", "all"]))
def test_every_block_lives_somewhere_and_no_document_outgrows_the_limit(
    case: tuple[list[int], list[tuple[int, int]], set[int]], strategy: str
) -> None:
    lengths, pairs, exempt = case
    chained = joined(lengths, pairs, strategy, exempt)
    held: dict[int, set[int]] = {i: set() for i in range(len(lengths))}
    for document in np.flatnonzero(chained.alive).tolist():
        blocks = chained.blocks_of(document)
        assert len(set(blocks)) == len(blocks) and blocks[0] == document
        size = sum(lengths[b] for b in blocks) + 2 * (len(blocks) - 1)
        assert size <= LIMIT or len(blocks) == 1
        for block in blocks:
            held[block].add(document)
    for block, documents in held.items():
        assert int(chained.home[block]) in documents
        assert strategy == "all" or len(documents) == 1
    assert chained.alive[sorted(exempt)].all()


def test_a_long_chain_of_thin_documents_takes_time_in_proportion() -> None:
    count = 20_000
    chained = joined([10] * count, [(i, i + 1) for i in range(count - 1)])
    assert chained.alive.sum() < count / 2
