"""What a materialisation says of itself is readable and harmless."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import dagster as dg

from crmrag_assets.build.step import Outcome
from crmrag_assets.build.store import Record
from crmrag_assets.glances import Glance
from crmrag_assets.harvest.report import traffic_stats
from crmrag_assets.harvest.traffic import Gathered, Traffic
from crmrag_assets.metadata import markdown_bars, markdown_table, metadata_of, summary_rows


def outcome(**stats: object) -> Outcome:
    return Outcome(Record("graph", "v", (), dict(stats)), False)


def test_counts_tables_and_plots_become_metadata() -> None:
    found = metadata_of(
        outcome(
            rows=3, seconds=0.5, samples={"first": [{"a": 1}]}, histograms={"sizes": [["0–9", 4], ["10+", 0]]}
        )
    )
    assert (found["rows"], found["seconds"], found["files"], found["reused"]) == (3, 0.5, 0, False)
    assert found["first"].value == "| a |\n| --- |\n| 1 |"
    assert found["sizes"].value == "```\n0–9  " + "█" * 40 + " 4\n10+   0\n```"


def test_data_cannot_break_a_table() -> None:
    assert markdown_table([{"x": "a|b\nc<script>"}]).splitlines()[2] == "| a\\|b c&lt;script> |"
    assert markdown_table([]) == markdown_bars([]) == "(none)"


def test_a_bar_is_seen_wherever_there_is_something() -> None:
    lines = markdown_bars([["many", 1000], ["one", 1], ["none", 0]]).splitlines()
    assert [line.count("█") for line in lines[1:4]] == [40, 1, 0]


def test_rows_are_told_in_the_way_that_dagster_lists_them() -> None:
    assert metadata_of(outcome(nodes=7))["dagster/row_count"].value == 7
    assert "dagster/row_count" not in metadata_of(outcome(triples=7))


def test_what_is_seen_in_the_files_is_shown_with_the_counts() -> None:
    found = metadata_of(outcome(nodes=1), Glance({"rows": [{"a": 1}]}, {"sizes": [("1", 2)]}))
    assert "| 1 |" in found["rows"].value and "█ 2" in found["sizes"].value


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
    assert (found["requests"], found["retries"], found["rows_received"], found["bytes_received"]) == (
        3,
        1,
        100,
        5000,
    )
    assert (found["request_seconds"], found["bytes"], found["seconds"]) == (0.5, 700, 4.0)
    assert "| batches \\| halved | 2 |" in found["notes"].value


def test_throughput_is_told_of_what_was_made_and_costs_only_where_they_arose() -> None:
    stats = {"nodes": 100, "seconds": 0.5, "encoded": 7, "usd": 0.02}
    made = metadata_of(outcome(**stats))
    assert (made["rows_per_second"], made["encoded"], made["usd"]) == (200.0, 7, 0.02)
    reused = metadata_of(Outcome(Record("graph", "v", (), stats), True))
    assert "rows_per_second" not in reused and (reused["encoded"], reused["usd"]) == (0, 0.0)
    assert "rows_per_second" not in metadata_of(outcome(nodes=100, seconds=0.0))


def test_places_and_pages_are_links() -> None:
    found = metadata_of(
        outcome(), Glance(places={"folder": Path("/data/work")}, pages={"page": "https://a.example/d/b"})
    )
    assert found["folder"] == dg.MetadataValue.path("/data/work")
    assert found["page"] == dg.MetadataValue.url("https://a.example/d/b")


def test_a_table_tells_its_columns_and_what_they_are_made_from() -> None:
    found = metadata_of(Outcome(Record("edges", "v", (), {"rows": 3}), False))
    assert [column.name for column in found["dagster/column_schema"].columns][:2] == ["s", "s_label"]
    assert found["dagster/column_lineage"].deps_by_column["p"][0].asset_key == dg.AssetKey("prefetch")
    chunk = metadata_of(Outcome(Record("prefetch", "v", (), {"triples": 3}), False, "00"))
    assert "dagster/column_schema" not in chunk, "the asset tells them once for all its chunks"
