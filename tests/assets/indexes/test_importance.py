"""The order in which documents get vectors, against its words: named first, then central and rich."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.indexes.encoder import SHARES, by_importance, shares_of
from crmrag_query.graph.arrays import FLAG_LABELLED


@dataclass
class Nodes:
    flags: Any


@dataclass
class Told:
    """What the order reads of documents: whose they are, and their texts."""

    entities: Any
    table: pa.Table
    graph: Nodes


# named, PageRank, characters: few values, so that there are ties
ROWS = st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=60)


def told(rows: list[tuple[bool, int, int]]) -> tuple[Any, Any]:
    count = len(rows)
    entities = np.arange(count)[::-1].copy()  # numbers of nodes are others than those of documents
    flags, rank = np.zeros(count, np.uint16), np.zeros(count, np.float32)
    for document, (named, central, _) in enumerate(rows):
        flags[entities[document]] = FLAG_LABELLED if named else 0
        rank[entities[document]] = central / 100
    table = pa.table({"text": pa.array(["é" * characters for _, _, characters in rows], pa.large_utf8())})
    return Told(entities, table, Nodes(flags)), rank


def places(values: list[int]) -> list[int]:
    """From 1, the highest first, equals in order."""
    order = sorted(range(len(values)), key=lambda at: -values[at])
    return [order.index(at) + 1 for at in range(len(values))]


@settings(max_examples=50)
@given(ROWS)
def test_the_order_is_that_of_its_words(rows: list[tuple[bool, int, int]]) -> None:
    documents, rank = told(rows)
    central, rich = (places([row[column] for row in rows]) for column in (1, 2))
    joined = [1 / (60 + a) + 1 / (60 + b) for a, b in zip(central, rich, strict=True)]
    expected = sorted(range(len(rows)), key=lambda at: (not rows[at][0], -joined[at], at))
    assert by_importance(documents, rank).tolist() == expected


@settings(max_examples=50)
@given(st.permutations(range(40)), st.integers(1, 40))
def test_each_share_has_the_first_of_the_order_rounded_up(order: list[int], count: int) -> None:
    order = [one for one in order if one < count]
    found = shares_of(np.array(order, np.int32))
    for share in SHARES:
        assert {*np.flatnonzero(found <= share).tolist()} == set(order[: -(-count * share // 100)])
