"""Looks at long arrays find what going over the values one by one finds, wherever a block ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.verify import check as arrays
from crmrag_query.verify import graph, indexes
from crmrag_query.verify.check import Faults, ascending, equal, owned, pointers, sorted_texts, within
from crmrag_query.verify.run import REFERENCES, verify_folder
from tests.support.spoiling import Spoil, put

Small = st.lists(st.integers(-1, 4), max_size=12)
WHOLE = 17
"""Values of a block where whole releases are looked at, whose columns have hundreds."""


@pytest.fixture(autouse=True, scope="module")
def small_blocks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(arrays, "BLOCK", 3)
        patched.setattr(graph, "ROWS_AT_ONCE", 2)
        patched.setattr(graph, "BATCH_ROWS", 5)
        patched.setattr(indexes, "ROWS", 2)
        yield


def found(faults: Faults) -> tuple[int, list[str]]:
    """How many values are wrong, and what is said of them."""
    said = []
    try:
        while True:
            said.append(next(faults))
    except StopIteration as end:
        return int(end.value), said


def ints(values: list[int], kind: str = "int32") -> arrays.Array:
    return np.array(values, kind)


@given(Small)
def test_within(values: list[int]) -> None:
    wrong = [value for value in values if not 0 <= value < 3]
    count, said = found(within("x", ints(values), 0, 3))
    assert count == len(wrong) and bool(said) == bool(wrong)


@given(Small, st.booleans())
def test_ascending(values: list[int], strict: bool) -> None:
    wrong = [b for a, b in pairwise(values) if b < a or (strict and a == b)]
    assert found(ascending("x", ints(values), strict=strict))[0] == len(wrong)


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=6))
def test_ascending_within_ranges(rows: list[list[int]]) -> None:
    ptr = ints([0, *np.cumsum([len(row) for row in rows]).tolist()], "int64")
    wrong = [b for row in rows for a, b in pairwise(row) if b <= a]
    values = ints([value for row in rows for value in row])
    assert found(ascending("x", values, ptr))[0] == len(wrong)


@given(st.lists(st.integers(0, 4), max_size=8), Small)
def test_owned(sizes: list[int], other: list[int]) -> None:
    ptr = ints([0, *np.cumsum(sizes).tolist()], "int64")
    wanted = [owner for owner, size in enumerate(sizes) for _ in range(size)]
    owners = [*other, *wanted][: len(wanted)] if len(other) < len(wanted) else wanted
    wrong = [one for one, other_one in zip(owners, wanted, strict=True) if one != other_one]
    assert found(owned("x", ptr, ints(owners)))[0] == len(wrong)


@given(Small, st.integers(0, 8))
def test_pointers(values: list[int], total: int) -> None:
    right = bool(values) and values[0] == 0 and values[-1] == total and values == sorted(values)
    count, said = found(pointers("x", ints(values, "int64"), len(values) - 1, total))
    assert (count == 0) == (said == []) == right


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=3), max_size=10))
def test_sorted_texts(texts: list[str]) -> None:
    encoded = [text.encode() for text in texts]
    wrong = [b for a, b in pairwise(encoded) if b <= a]
    assert found(sorted_texts("x", pa.array(texts, pa.large_utf8())))[0] == len(wrong)


@given(Small, Small)
def test_equal(one: list[int], other: list[int]) -> None:
    count, said = found(equal("x", ints(one), ints(other)))
    assert (count == 0) == (said == []) == (one == other)


def test_places_of_the_first_faults_are_told_across_blocks() -> None:
    _, said = found(within("x", ints([0, 9, 0, 0, 9, 0, 9, 9]), 0, 3))
    assert said == ["x: not within 0 … 2: 4 of 8 (first: 9 at 1, 9 at 4, 9 at 6)"]


@pytest.mark.slow
def test_whole_releases_are_whole_in_small_blocks(
    flat: Path, coded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "BLOCK", WHOLE)
    assert verify_folder(flat).faults == verify_folder(coded).faults == ()


@pytest.mark.parametrize(
    ("path", "check", "at"),
    [
        ("graph/forward_val.npy", "triples", 0),
        ("graph/forward_val.npy", "triples", WHOLE),
        ("graph/forward_val.npy", "triples", -1),
        ("triples_index/tri_s.npy", "triples index", 0),
        ("triples_index/tri_p.npy", "triples index", -1),
        ("sparse/indices.csc.index.npy", "postings", WHOLE - 1),
        ("documents/entity_document.npy", "entities in documents", -1),
    ],
)
def test_one_wrong_number_anywhere_is_found_in_small_blocks(
    flat: Path,
    rewritten: Callable[[Path, Spoil], Path],
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    check: str,
    at: int,
) -> None:
    monkeypatch.setattr(arrays, "BLOCK", WHOLE)
    report = verify_folder(rewritten(flat, put(path, at, 77)), checks=REFERENCES)
    assert check in {one.name for one, finding in report.found if finding.faults}
