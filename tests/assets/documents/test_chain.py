from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.documents.build import Chained, chain
from crmrag_assets.documents.satellites import Csr, csr_from_pairs
from crmrag_query.config.loading import Chaining

THIN, LIMIT = 40, 100
RULES = Chaining(thin_characters=THIN, limit_characters=LIMIT)


def joined(lengths: list[int], pairs: list[tuple[int, int]], exempt: Collection[int] = ()) -> Chained:
    thin = np.array([i not in exempt for i in range(len(lengths))])
    return chain(np.array(lengths, np.int64), thin, both_ways(pairs, len(lengths)), RULES)


def held(chained: Chained) -> dict[int, list[int]]:
    """The blocks of each document, read from the rows that are written."""
    rows = chained.rows()
    return {i: rows.of(i).tolist() for i in np.flatnonzero(chained.alive).tolist()}


def both_ways(pairs: list[tuple[int, int]], count: int) -> Csr:
    one = np.array([a for a, b in pairs] + [b for a, b in pairs], np.int32)
    other = np.array([b for a, b in pairs] + [a for a, b in pairs], np.int32)
    return csr_from_pairs(one, other, count)


@pytest.mark.parametrize(
    ("lengths", "pairs", "exempt", "expected"),
    [
        ([10, 95, 60, 50], [(0, 1), (0, 2), (0, 3)], (), {2: [2, 0]}),  # the richest neighbour with room
        (
            [12, 10, 60],
            [(0, 1), (0, 2)],
            (),
            {2: [2, 0, 1]},
        ),  # the smallest first, and what joined it goes along
        ([10, 60, 60], [(0, 1), (0, 2)], (), {1: [1, 0]}),  # ties by IRI
        ([10, 10], [(0, 1)], {0}, {0: [0, 1]}),  # exempt documents stay, and may be joined
        ([10, 99, 10], [(0, 1)], (), {}),  # without room or neighbours a document stays
    ],
)
def test_a_thin_document_joins_its_richest_neighbour_with_room(
    lengths: list[int], pairs: list[tuple[int, int]], exempt: Collection[int], expected: dict[int, list[int]]
) -> None:
    assert joined(lengths, pairs, exempt).blocks == expected


def slow(lengths: list[int], pairs: list[tuple[int, int]], exempt: set[int]) -> dict[int, list[int]]:
    """The definition, looking at everything each time."""
    blocks = {i: [i] for i in range(len(lengths))}
    stuck: set[tuple[int, int]] = set()

    def size(document: int) -> int:
        return sum(lengths[b] for b in blocks[document]) + 2 * (len(blocks[document]) - 1)

    while True:
        thin = sorted(
            (size(i), i) for i in blocks if i not in exempt and size(i) < THIN and (size(i), i) not in stuck
        )
        if not thin:
            return blocks
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
def test_chaining_equals_its_definition(case: tuple[list[int], list[tuple[int, int]], set[int]]) -> None:
    lengths, pairs, exempt = case
    chained = joined(lengths, pairs, exempt)
    blocks = held(chained)
    assert blocks == slow(lengths, pairs, exempt)
    assert {block: i for i, own in blocks.items() for block in own} == dict(enumerate(chained.home.tolist()))
    for own in blocks.values():
        assert len(own) == 1 or sum(lengths[b] for b in own) + 2 * (len(own) - 1) <= LIMIT


def test_a_long_chain_of_thin_documents_takes_time_in_proportion() -> None:
    count = 20_000
    chained = joined([10] * count, [(i, i + 1) for i in range(count - 1)])
    assert chained.alive.sum() < count / 2
