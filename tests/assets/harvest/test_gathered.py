"""What is gathered beside triples survives being written, and what differs from run to run is no content."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from crmrag_assets.harvest.prefetch import ChunkReport, prefetch_chunk, write_prefetch
from crmrag_assets.harvest.report import (
    Gathered,
    HarvestReport,
    Missing,
    Traffic,
    gathered_as_dict,
    traffic_from,
    traffic_stats,
)
from crmrag_assets.harvest.source import Counted, Discovery, Fetched
from crmrag_assets.harvest.triples import TRIPLES
from crmrag_query.config.loading import load_method
from tests.support.builds import CRM, contents

METHOD = load_method()
numbers = st.integers(0, 10**12)
seconds = st.integers(0, 10**9).map(lambda n: n / 1000)
traffics = st.builds(Traffic, numbers.map(lambda n: n + 1), numbers, numbers, numbers, seconds, seconds)
missings = st.builds(Missing, st.text(), st.text(), st.text(), st.none() | numbers)
notes = st.dictionaries(st.text(), st.integers(1, 10**6)).map(Counter)
gathereds = st.builds(Gathered, traffics, st.lists(missings).map(tuple), numbers, notes)


@given(gathereds)
def test_what_was_gathered_reads_back_from_json(gathered: Gathered) -> None:
    assert TypeAdapter(Gathered).validate_json(json.dumps(gathered_as_dict(gathered))) == gathered


@given(gathereds)
def test_traffic_and_notes_read_back_from_a_steps_counts(gathered: Gathered) -> None:
    """The store adds the seconds and bytes of the files that were written, which are others."""
    stats = json.loads(json.dumps(traffic_stats(gathered))) | {"seconds": 1.5, "bytes": 77, "entities": 5}
    assert traffic_from(stats) == replace(gathered, missing=(), repaired=0)


def test_a_source_that_is_not_asked_has_no_traffic_to_tell() -> None:
    assert traffic_stats(Gathered()) == {}


def test_a_discovery_reads_back_with_counts_and_what_it_met(tmp_path: Path) -> None:
    gathered = Gathered(
        Traffic(3, 1, 20, 400, 0.125, 2.5), (Missing("time-out", "http://x/1"),), 2, Counter(halved=4)
    )
    for counted in (None, Counted(), Counted(20, None), Counted(20, 5)):
        found = Discovery(5, 20, 0, HarvestReport(triples=20, entities=5), gathered, counted)
        found.save(tmp_path)
        assert Discovery.load(tmp_path) == found


class Once:
    """One triple, fetched with whatever was gathered."""

    def __init__(self, gathered: Gathered) -> None:
        self._gathered = gathered

    def fetch(self, folder: Path, buckets: range) -> Fetched:
        row = ("http://x/1", f"{CRM}P2_has_type", "http://x/t", 0, "", "", "")
        schema = {name: pl.UInt8 if name == "kind" else pl.String for name in TRIPLES.names}
        return Fetched(pl.DataFrame([row], schema=schema, orient="row"), self._gathered)


def written(gathered: Gathered, folder: Path) -> dict[str, str]:
    folder.mkdir()
    source = Once(gathered)
    write_prefetch(*prefetch_chunk(source, folder, "00", 0, METHOD), folder)  # type: ignore[arg-type]
    return contents(folder)


def test_a_chunk_harvested_again_with_the_same_triples_is_the_same_artifact(tmp_path: Path) -> None:
    missing = (Missing("status 500", "http://x/2", "http://p", 3),)
    quick = Gathered(Traffic(2, 0, 10, 100, 0.1, 0), missing)
    slow = Gathered(Traffic(9, 7, 99, 900, 8.1, 60), missing, notes=Counter(halved=2))
    assert written(quick, tmp_path / "quick") == written(slow, tmp_path / "slow")
    assert written(replace(quick, missing=()), tmp_path / "whole") != written(quick, tmp_path / "again")


def test_a_chunks_report_reads_back_with_the_counts_of_its_step(tmp_path: Path) -> None:
    gathered = Gathered(
        Traffic(2, 1, 10, 100, 0.5, 0.25), (Missing("gone", "http://x/2"),), 4, Counter(halved=1)
    )
    tmp_path.joinpath("c").mkdir()
    table, report = prefetch_chunk(Once(gathered), tmp_path, "00", 0, METHOD)  # type: ignore[arg-type]
    write_prefetch(table, report, tmp_path / "c")
    assert (report.entities, report.triples) == (1, 1) == (1, table.num_rows)
    assert ChunkReport.read(tmp_path / "c", traffic_stats(gathered)) == report
