"""Numbers of a chunk's own stand for the same nodes in any graph that has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.documents.portable import Numbering, open_nodes, remapped, save_tables
from crmrag_query.documents.documents import SCHEMAS
from crmrag_query.errors import BuildError, ReleaseError

IRIS = [f"http://example.org/{letter}" for letter in "abcdefghij"]
some = st.sets(st.sampled_from(IRIS), min_size=1)


def write(iris: Sequence[str], nodes: Iterable[int], folder: Path) -> None:
    """A table that speaks of these nodes of a graph."""
    table = pa.table(
        {"entity": pa.array(nodes, pa.int32()), "text": ["…"] * len(list(nodes))}, SCHEMAS["fr_documents"]
    )
    save_tables(folder, Numbering.of(pa.array(iris)), {"fr_documents": (table, ["entity"])})


@given(some, some)
def test_a_list_names_the_same_iris_in_a_larger_graph(
    tmp_path_factory: pytest.TempPathFactory, spoken: set[str], others: set[str]
) -> None:
    folder = tmp_path_factory.mktemp("nodes")
    small, large = sorted(spoken), sorted(spoken | others)
    write(small, range(len(small)), folder)
    found = open_nodes(folder, Numbering.of(pa.array(large)))
    assert [large[node] for node in found.tolist()] == small


@given(
    st.lists(st.lists(st.integers(0, 4), max_size=3), max_size=5),
    st.integers(0, 2),
    st.permutations(range(5)),
)
def test_values_and_lists_are_mapped_one_by_one(rows: list[list[int]], cut: int, order: list[int]) -> None:
    to = np.array(order, np.int32)
    lists = pa.array(rows, pa.list_(pa.int32()))[cut:]
    assert remapped(lists, to).to_pylist() == [[order[value] for value in row] for row in rows[cut:]]
    plain = pa.array([value for row in rows for value in row], pa.int32())
    assert remapped(plain, to).to_pylist() == [order[value] for row in rows for value in row]


def test_a_chunk_of_another_graph_or_without_its_list_is_named(tmp_path: Path) -> None:
    write(IRIS, [1, 2], tmp_path)
    with pytest.raises(BuildError, match=f"chunk in {tmp_path} speaks of nodes"):
        open_nodes(tmp_path, Numbering.of(pa.array(IRIS[:2])))
    with pytest.raises(ReleaseError, match=r"nodes\.npy cannot be read"):
        open_nodes(tmp_path / "none", Numbering.of(pa.array(IRIS)))
