"""What the catalogue shows of every artifact agrees with the artifact."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.build.opened import documents_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.build.steps import STEPS
from crmrag_assets.glances import LOOKS, doublings, glance
from tests.support.builds import build_all, make_project


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuildContext:
    context = make_project(tmp_path_factory.mktemp("glances")).context()
    build_all(context)
    return context


@pytest.mark.parametrize("artifact", sorted(LOOKS))
def test_every_glance_shows_something_short(built: BuildContext, artifact: str) -> None:
    found = glance(artifact, built, "00" if STEPS[artifact].chunked else None)
    assert found.tables or found.plots
    assert all(len(table) <= 20 for table in found.tables.values())
    assert all(sum(count for _, count in bars) > 0 for bars in found.plots.values())


def test_predicates_are_counted_as_they_are_in_the_file(built: BuildContext) -> None:
    file: Path = built.folder("prefetch", "00") / "triples.parquet"
    expected = Counter(pq.read_table(file).column("p").to_pylist())
    shown = dict(glance("prefetch", built, "00").plots["most_used_predicates"])
    assert shown == dict(expected.most_common(len(shown)))


def test_edges_by_property_add_up(built: BuildContext) -> None:
    shown = glance("graph", built).plots["edges_by_property"]
    assert sum(count for _, count in shown) == built.finished("graph").stats["triples"]


def test_the_longest_documents_come_first(built: BuildContext) -> None:
    documents = documents_of(built)
    lengths = sorted((len(documents.text(i)) for i in range(documents.count)), reverse=True)
    shown = [row["characters"] for row in glance("documents", built).tables["longest"]]
    assert shown == lengths[: len(shown)]


@given(st.lists(st.integers(0, 5000)))
def test_doublings_count_every_value_in_its_span(values: list[int]) -> None:
    bars = doublings(np.array(values, np.int64))
    assert sum(count for _, count in bars) == len(values)
    assert all(bars[at][1] for at in (0, -1) if bars), "no empty bars at the ends"
    for name, count in bars:
        low, _, high = name.replace(",", "").partition("–")
        assert count == sum(int(low) <= value <= int(high or low) for value in values)
