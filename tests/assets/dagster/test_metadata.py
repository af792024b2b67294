"""What a materialisation says of itself is readable and harmless."""

from __future__ import annotations

from crmrag_assets.build.step import Outcome
from crmrag_assets.build.store import Record
from crmrag_assets.metadata import markdown_bars, markdown_table, metadata_of


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
