"""What changed between two harvests, against sets of triples."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.harvest.source import NONE, Changes, changes_between, read_chunk
from crmrag_assets.harvest.triples import IRI, LITERAL, distinct_sorted, to_table, write_triples

Row = tuple[str, str, str, int]
rows = st.frozensets(
    st.tuples(
        st.sampled_from("abcd"),
        st.sampled_from("pq"),
        st.sampled_from("abcx"),
        st.sampled_from((IRI, LITERAL)),
    ),
    max_size=12,
)


def frame(triples: frozenset[Row]) -> pl.DataFrame:
    columns = {name: [row[at] for row in triples] for at, name in enumerate(("s", "p", "o"))}
    made = pl.DataFrame(columns, schema=dict.fromkeys("spo", pl.String))
    kinds = pl.Series("kind", [row[3] for row in triples], dtype=pl.UInt8)
    return made.with_columns(kinds, datatype=pl.lit(""), lang=pl.lit(""), g=pl.lit(""))


def as_sets(changes: Changes) -> tuple[set[str], ...]:
    return tuple(set(series) for series in (changes.changed, changes.added, changes.removed, changes.touched))


@given(rows, rows)
def test_entities_that_changed_came_and_went(before: frozenset[Row], after: frozenset[Row]) -> None:
    moved = before ^ after
    was, now = {row[0] for row in before}, {row[0] for row in after}
    subjects = {row[0] for row in moved}
    expected = (
        subjects & was & now,
        subjects - was,
        subjects - now,
        {row[2] for row in moved if row[3] == IRI},
    )
    assert as_sets(changes_between(frame(before), frame(after))) == expected


@given(rows, rows)
def test_chunks_add_up_to_the_whole(before: frozenset[Row], after: frozenset[Row]) -> None:
    def part(triples: frozenset[Row], low: bool) -> pl.DataFrame:
        return frame(frozenset(row for row in triples if (row[0] < "c") == low))

    parts = [changes_between(part(before, low), part(after, low)) for low in (True, False)]
    assert as_sets(sum(parts, start=NONE)) == as_sets(changes_between(frame(before), frame(after)))


def test_a_chunk_is_read_as_it_was_written_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    triples = frame(frozenset({("a", "p", "b", IRI), ("a", "q", "x", LITERAL)}))
    write_triples(to_table(distinct_sorted(triples)), tmp_path / "triples.parquet")
    assert not len(changes_between(read_chunk(tmp_path / "triples.parquet"), triples))
    assert set(changes_between(read_chunk(tmp_path / "none.parquet"), triples).added) == {"a"}
