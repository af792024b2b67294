"""The harvest is whole, and its files are what was harvested."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality.graph import chunks_are_readable, few_lines_are_broken, harvest_is_whole
from tests.support.builds import make_project, turtle
from tests.support.quality import build_up_to, rewriting, with_checks


def test_what_was_harvested_whole_and_can_be_read_is_found_so(sound: BuildContext) -> None:
    assert harvest_is_whole(sound).holds and harvest_is_whole(sound).counts["missing"] == 0
    assert few_lines_are_broken(sound).holds and few_lines_are_broken(sound).counts["broken"] == 0
    found = chunks_are_readable(sound)
    assert found.holds and found.counts["chunks"] == 4 and found.counts["unreadable"] == 0
    assert found.counts["triples"] == harvest_is_whole(sound).counts["triples"]


def test_lines_that_cannot_be_read_are_counted_and_shown(tmp_path: Path) -> None:
    rdf = turtle(4) + "\nex:nobody crm:P1_is_identified_by <an iri with spaces> .\n"
    context = build_up_to(make_project(tmp_path / "project", rdf).context(), "harvest_report")
    found = few_lines_are_broken(context)
    assert not found.holds and found.counts["broken"] == 1
    assert found.counts["share_broken"] == pytest.approx(
        1 / (1 + harvest_is_whole(context).counts["triples"])
    )
    [row] = found.tables["first_broken"]
    assert row["line"] == len(rdf.splitlines()) and "spaces" not in found.says
    assert few_lines_are_broken(with_checks(context, broken_share=0.5)).holds


def test_a_chunk_that_lost_rows_is_named(copied: BuildContext) -> None:
    with rewriting(copied, "prefetch", "40") as folder:
        table = pq.read_table(folder / "triples.parquet")
        pq.write_table(table.slice(0, table.num_rows - 2), folder / "triples.parquet")
    found = chunks_are_readable(copied)
    assert not found.holds and found.counts["unreadable"] == 1
    assert f"40 has {table.num_rows - 2} rows, not {table.num_rows}" in found.says
    assert str(copied.folder("prefetch", "40")) in found.remedy


def test_a_chunk_that_was_cut_off_or_has_other_columns_is_named(copied: BuildContext) -> None:
    with rewriting(copied, "prefetch", "00") as folder:
        whole = (folder / "triples.parquet").read_bytes()
        (folder / "triples.parquet").write_bytes(whole[: len(whole) // 2])
    with rewriting(copied, "prefetch", "80") as folder:
        pq.write_table(pq.read_table(folder / "triples.parquet").drop(["lang"]), folder / "triples.parquet")
    found = chunks_are_readable(copied)
    rows = {row["chunk"]: row["fault"] for row in found.tables["first_unreadable"]}
    assert "cannot be read" in rows["00"] and rows["80"] == "has other columns"
