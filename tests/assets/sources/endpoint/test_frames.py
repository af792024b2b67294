"""Rows of terms become rows of triples; what is none is counted."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pyoxigraph as ox
from hypothesis import given

from crmrag_assets.harvest.triples import distinct_sorted, to_table
from crmrag_assets.sources.endpoint.frames import COLUMNS, SCHEMA, to_frame
from tests.support.endpoints import node
from tests.support.random_graphs import random_rows, store_of

S, P, O = node("s"), node("p"), node("o")  # noqa: E741


def frame_of(*rows: tuple[object, ...]) -> tuple[pl.DataFrame, Counter[str]]:
    notes = Counter[str]()
    return to_frame(rows, notes), notes  # type: ignore[arg-type]


@given(random_rows)
def test_rows_of_a_store_are_its_triples(rows: list[tuple[object, ...]]) -> None:
    frame, notes = frame_of(
        *((one.subject, one.predicate, one.object, one.graph_name) for one in store_of(rows))
    )  # type: ignore[arg-type]
    assert sorted(frame.rows()) == rows and not notes
    assert to_table(distinct_sorted(frame)).num_rows == len(rows)


def test_no_rows_are_an_empty_frame_of_the_same_columns() -> None:
    frame, notes = frame_of()
    assert (frame.columns, dict(frame.schema), len(frame), notes) == (list(COLUMNS), SCHEMA, 0, Counter())


def test_terms_keep_their_text_datatype_and_language() -> None:
    date = ox.Literal("0300-01-01", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#date"))
    frame, _ = frame_of(
        (S, P, O), (S, P, date), (S, P, ox.Literal("")), (S, P, ox.Literal("ναός", language="el"))
    )
    assert [row[2:] for row in frame.rows()] == [
        ("http://example.org/o", 0, "", "", ""),
        ("0300-01-01", 1, "http://www.w3.org/2001/XMLSchema#date", "", ""),
        ("", 1, "", "", ""),
        ("ναός", 1, "", "el", ""),
    ]


def test_graphs_are_named_unbound_or_blank() -> None:
    frame, notes = frame_of((S, P, O, node("g")), (S, P, O, None), (S, P, O, ox.BlankNode()), (S, P, O))
    assert frame.get_column("g").to_list() == ["http://example.org/g", "", "", ""] and not notes


def test_what_is_no_triple_between_named_things_is_left_out_and_counted() -> None:
    blank, quoted = ox.BlankNode(), ox.Triple(S, P, O)
    frame, notes = frame_of(
        (blank, P, O), (S, None, O), (None, P, O), (S, P, blank), (S, P, None), (S, P, quoted), (S, P, O)
    )
    assert len(frame) == 1 and sorted(notes.values()) == [3, 3]
