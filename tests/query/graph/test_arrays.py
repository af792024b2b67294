"""Rows and their two readings, against a plain list of triples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.graph.arrays import (
    Rows,
    load_rows,
    save_rows,
    shared,
    sorted_rows,
    united,
)
from tests.support.frgraphs import rows_from_triples

PROPERTIES, NODES = 4, 7
TRIPLES = st.sets(
    st.tuples(st.integers(0, PROPERTIES - 1), st.integers(0, NODES - 1), st.integers(0, NODES - 1))
)
Triples = set[tuple[int, int, int]]


def rows_of(triples: Triples) -> Rows:
    columns = np.array(sorted(triples, key=hash), np.int32).reshape(-1, 3).T
    return rows_from_triples(columns[0], columns[1], columns[2], PROPERTIES)


@given(TRIPLES)
def test_neighbours_are_the_objects_in_order(triples: Triples) -> None:
    rows = rows_of(triples)
    for prop in range(PROPERTIES):
        for node in range(NODES):
            expected = sorted(o for p, s, o in triples if (p, s) == (prop, node))
            assert rows.neighbours(prop, node).tolist() == expected


@given(TRIPLES, st.lists(st.integers(0, NODES - 1)), st.integers(0, PROPERTIES - 1))
def test_expanding_is_the_neighbours_of_each(triples: Triples, nodes: list[int], prop: int) -> None:
    rows = rows_of(triples)
    origin, reached = rows.expand(prop, np.array(nodes, np.int32))
    expected = [(at, o) for at, node in enumerate(nodes) for o in rows.neighbours(prop, node).tolist()]
    assert list(zip(origin.tolist(), reached.tolist(), strict=True)) == expected


def test_saved_rows_are_mapped_again(tmp_path: Path) -> None:
    rows = rows_of({(0, 1, 2), (3, 0, 6), (3, 0, 5)})
    save_rows(tmp_path, "forward", rows)
    loaded = load_rows(tmp_path, "forward")
    assert loaded.neighbours(3, 0).tolist() == [5, 6]
    assert isinstance(loaded.val.base, np.memmap)


@given(
    st.lists(st.tuples(*[st.integers(0, 2**31 - 1) | st.integers(0, 3)] * 3), max_size=20),
    st.sampled_from([0, 12, 30]),
)
def test_rows_are_sorted_whether_or_not_they_fit_one_number(
    rows: list[tuple[int, int, int]], cut: int
) -> None:
    small = [tuple(value >> cut for value in row) for row in rows]
    columns = np.array(small, np.int32).reshape(-1, 3).T
    made: list[int] = []

    def empty(shape: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        made.append(shape)
        return np.zeros(shape, dtype)

    ordered = sorted_rows(tuple(columns), empty)
    assert list(zip(*(column.tolist() for column in ordered), strict=True)) == sorted(small)
    assert set(made) <= {len(small)}


@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
def test_what_two_ascending_arrays_share_and_hold_together(some: set[int], others: set[int]) -> None:
    a, b = (np.array(sorted(one), np.int32) for one in (some, others))
    assert shared(a, b).tolist() == sorted(some & others)
    assert united(a, b).tolist() == sorted(some | others) and united(a, b).dtype == np.int32
