"""What a materialisation says of itself agrees with the artifact, is readable and harmless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.build.step import BuildContext, Outcome
from crmrag_assets.build.store import Record
from crmrag_assets.harvest.report import Gathered, Traffic, traffic_stats
from crmrag_assets.metadata import (
    COLUMNS,
    LOOKS,
    Glance,
    columns_of,
    doublings,
    glance,
    markdown_bars,
    markdown_table,
    materialized,
    metadata_of,
    summary_rows,
)
from crmrag_assets.opened import documents_of
from crmrag_assets.steps.registry import STEPS
from crmrag_query.artifacts.manifest import read_manifest
from crmrag_query.documents.documents import open_table
from crmrag_query.retrieval.dense import open_chunk
from tests.support.builds import build_all, make_project, with_small_parts


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuildContext:
    project = make_project(tmp_path_factory.mktemp("glances"), graph_partitions=True)
    context = with_small_parts(project.context(), 3)
    build_all(context)
    return context


def outcome(artifact: str = "graph", **stats: object) -> Outcome:
    return Outcome(Record(artifact, "v", (), dict(stats)), False)


@pytest.mark.parametrize("artifact", sorted(LOOKS))
def test_every_glance_shows_something_short(built: BuildContext, artifact: str) -> None:
    found = glance(artifact, built, "00" if STEPS[artifact].chunked else None)
    assert found.tables or found.plots
    assert all(len(table) <= 20 for table in found.tables.values())
    assert all(sum(count for _, count in bars) > 0 for bars in found.plots.values())


def test_a_glance_counts_what_the_files_hold(built: BuildContext) -> None:
    predicates = pq.read_table(built.folder("prefetch", "00") / "triples.parquet").column("p").to_pylist()
    shown = dict(glance("prefetch", built, "00").plots["most_used_predicates"])
    assert shown == dict(Counter(predicates).most_common(len(shown)))
    edges = glance("graph", built).plots["edges_by_property"]
    assert sum(count for _, count in edges) == built.finished("graph").stats["triples"]
    release = glance("release", built).tables["pinned_files"]
    entries = read_manifest(built.folder("release")).files
    assert sum(row["files"] for row in release) == len(entries)
    assert sum(row["bytes"] for row in release) == sum(entry.bytes for entry in entries)
    documents = documents_of(built)
    lengths = sorted((len(documents.text(i)) for i in range(documents.count)), reverse=True)
    longest = [row["characters"] for row in glance("documents", built).tables["longest"]]
    assert longest == lengths[: len(longest)]


@given(st.lists(st.integers(0, 5000)))
def test_doublings_count_every_value_in_its_span(values: list[int]) -> None:
    bars = doublings(np.array(values, np.int64))
    assert sum(count for _, count in bars) == len(values)
    assert all(bars[at][1] for at in (0, -1) if bars), "no empty bars at the ends"
    for name, count in bars:
        low, _, high = name.replace(",", "").partition("–")
        assert count == sum(int(low) <= value <= int(high or low) for value in values)


def test_columns_are_those_of_the_files_and_come_from_columns_of_what_the_artifact_is_made_from(
    built: BuildContext,
) -> None:
    vectors, windows = open_chunk(built.folder("embeddings", "00"))
    found = {
        "prefetch": pq.read_schema(built.folder("prefetch", "00") / "triples.parquet").names,
        "edges": pq.read_schema(built.folder("edges") / "edges.parquet").names,
        "fr_documents": open_table(built.folder("fr_documents", "00"), "fr_documents").schema.names,
        "documents": open_table(built.folder("documents"), "documents").schema.names,
        "embeddings": [*windows.schema.names, "vector"],
    }
    assert found == {artifact: schema.names for artifact, (schema, _) in COLUMNS.items()}
    vector = COLUMNS["embeddings"][0].field("vector").type.value_type
    assert pa.types.is_float32(vector) and vectors.dtype == "float32"
    for artifact, (schema, columns) in COLUMNS.items():
        assert list(columns) == schema.names and all(meaning for meaning, _ in columns.values())
        for source in " ".join(sources for _, sources in columns.values()).split():
            asset, _, name = source.partition(".")
            assert name in COLUMNS[asset][0].names and asset in upstream(artifact), f"{artifact}: {source}"
    assert columns_of("faiss_index") == {}


def upstream(artifact: str) -> set[str]:
    """What an artifact is made from, near and far."""
    needs = set(STEPS[artifact].needs)
    return needs.union(*(upstream(need) for need in needs))


def test_counts_tables_and_plots_become_metadata() -> None:
    stats = {"samples": {"first": [{"a": 1}]}, "histograms": {"sizes": [["0–9", 4], ["10+", 0]]}}
    found = metadata_of(outcome(rows=3, seconds=0.5, **stats))
    assert (found["rows"], found["seconds"], found["files"], found["reused"]) == (3, 0.5, 0, False)
    assert found["first"].value == "| a |\n| --- |\n| 1 |"
    assert found["sizes"].value == "```\n0–9  " + "█" * 40 + " 4\n10+   0\n```"
    seen = Glance(
        {"rows": [{"a": 1}]},
        {"sizes": [("1", 2)]},
        {"folder": Path("/data/work")},
        {"page": "https://a.example/d/b"},
    )
    found = metadata_of(outcome(nodes=1), seen)
    assert "| 1 |" in found["rows"].value and "█ 2" in found["sizes"].value
    assert found["folder"] == dg.MetadataValue.path("/data/work")
    assert found["page"] == dg.MetadataValue.url("https://a.example/d/b")


def test_numbers_bear_the_name_of_their_data_set_so_that_no_line_of_a_plot_joins_two() -> None:
    of_one, of_another = (
        materialized(outcome(nodes=nodes, seconds=0.5), Glance(), name).metadata or {}
        for name, nodes in (("coins", 3), ("walters", 7))
    )
    assert of_one["nodes (coins)"] == 3 and of_another["nodes (walters)"] == 7

    def numbers(metadata: Mapping[str, Any]) -> set[str]:
        plain = {name: getattr(value, "value", value) for name, value in metadata.items()}
        return {
            name for name, one in plain.items() if isinstance(one, int | float) and not isinstance(one, bool)
        }

    assert numbers(of_one) and not numbers(of_one) & numbers(of_another)


def test_data_cannot_break_a_table_and_a_bar_is_seen_wherever_there_is_something() -> None:
    assert markdown_table([{"x": "a|b\nc<script>"}]).splitlines()[2] == "| a\\|b c&lt;script> |"
    assert markdown_table([{"x": 1, "y": None}]).splitlines()[2] == "| 1 |  |"
    assert markdown_table([]) == markdown_bars([]) == "(none)"
    lines = markdown_bars([["many", 1000], ["one", 1], ["none", 0]]).splitlines()
    assert [line.count("█") for line in lines[1:4]] == [40, 1, 0]


def test_a_summary_has_a_row_an_asset_and_adds_chunks() -> None:
    chunks = [
        Outcome(Record("prefetch", "v", (), {"triples": 2, "bytes": 10, "seconds": 1.0}), reused, key)
        for key, reused in (("00", False), ("80", True))
    ]
    expected = {"asset": "prefetch", "chunks": 2, "unchanged": 1, "rows": 4, "bytes": 20, "seconds": "1.0"}
    assert summary_rows(chunks) == [expected]


def test_what_a_source_was_asked_is_shown_beside_the_size_of_the_files() -> None:
    gathered = Gathered(Traffic(3, 1, 100, 5000, 0.5, 0.25), notes=Counter({"batches | halved": 2}))
    found = metadata_of(outcome(triples=90, bytes=700, seconds=4.0, **traffic_stats(gathered)))
    expected = {"requests": 3, "retries": 1, "rows_received": 100, "bytes_received": 5000}
    expected |= {"bytes": 700, "seconds": 4.0, "request_seconds": 0.5}
    assert {name: found[name] for name in expected} == expected
    assert "| batches \\| halved | 2 |" in found["notes"].value


def test_throughput_is_told_of_what_was_made_and_costs_only_where_they_arose() -> None:
    stats = {"nodes": 100, "seconds": 0.5, "encoded": 7, "usd": 0.02}
    made = metadata_of(outcome(**stats))
    assert (made["rows_per_second"], made["encoded"], made["usd"]) == (200.0, 7, 0.02)
    reused = metadata_of(Outcome(Record("graph", "v", (), stats), True))
    assert "rows_per_second" not in reused and (reused["encoded"], reused["usd"]) == (0, 0.0)
    assert "rows_per_second" not in metadata_of(outcome(nodes=100, seconds=0.0))


def test_a_table_tells_its_columns_and_what_they_are_made_from() -> None:
    found = metadata_of(outcome("edges", rows=3))
    assert [column.name for column in found["dagster/column_schema"].columns][:2] == ["s", "s_label"]
    assert found["dagster/column_lineage"].deps_by_column["p"][0].asset_key == dg.AssetKey("prefetch")
    chunk = metadata_of(Outcome(Record("prefetch", "v", (), {"triples": 3}), False, "00"))
    assert "dagster/column_schema" not in chunk, "the asset tells them once for all its chunks"
