"""Responses of triples as cells: the quick way gives what the careful one gives, or leaves it to it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.harvest.triples import distinct_sorted, to_table
from crmrag_assets.sources.endpoint.results import JSON, TSV, Mangled, NotResults, read_body
from crmrag_assets.sources.endpoint.triples import COLUMNS, SCHEMA, cells_of, read_triples
from tests.support.endpoints import SPECIMENS, node, quad
from tests.support.random_graphs import random_rows, store_of

S, P, O = node("s"), node("p"), node("o")  # noqa: E741
SPOG = ("s", "p", "o", "g")
XSD = "http://www.w3.org/2001/XMLSchema#"


def body_of(quads: Any, format: ox.QueryResultsFormat = TSV) -> bytes:
    store = quads if isinstance(quads, ox.Store) else ox.Store()
    if not isinstance(quads, ox.Store):
        store.extend(quads)
    query = "SELECT ?s ?p ?o ?g WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
    found = store.query(query).serialize(format=format)  # type: ignore[union-attr]
    assert found is not None
    return found


BODY = body_of(quad("s", f"p{n:02}", value, "g" if n % 2 else "") for n, value in enumerate(SPECIMENS))


def carefully(body: bytes) -> tuple[Counter[Any], int]:
    """The triples by the reader of terms, and how many rows are none."""
    rows = [cells_of(row) for row in read_body(body, "", SPOG).rows]
    return Counter(row for row in rows if row is not None), rows.count(None)


@given(random_rows)
def test_rows_of_a_store_are_its_triples(rows: list[Any]) -> None:
    for format in (TSV, JSON):
        table = read_triples(body_of(store_of(rows), format), "", SPOG)
        assert sorted(table.frame.rows()) == rows and (table.skipped, table.format) == (0, format)
        assert to_table(distinct_sorted(table.frame)).num_rows == len(rows)


@pytest.mark.parametrize("format", [TSV, JSON])
def test_both_ways_give_the_same(format: ox.QueryResultsFormat) -> None:
    body = body_of((quad("s", f"p{n:02}", value) for n, value in enumerate(SPECIMENS)), format)
    table = read_triples(body, format.media_type.partition(";")[0], SPOG)
    assert (Counter(table.frame.rows()), table.skipped) == carefully(body)
    assert (table.skipped, table.format, table.labelled) == (1, format, True)
    assert not read_triples(body, "text/plain", SPOG).labelled


@settings(max_examples=100)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), min_size=1, max_size=6),
    st.booleans(),
)
def test_every_character_survives(texts: list[str], tagged: bool) -> None:
    values = [ox.Literal(text, language="el") if tagged else ox.Literal(text) for text in texts]
    table = read_triples(body_of(quad("s", f"p{n}", value) for n, value in enumerate(values)), "", SPOG)
    assert [row[2:6] for row in sorted(table.frame.rows())] == [
        (text, 1, "", "el" if tagged else "") for text in texts
    ]


@settings(max_examples=400)
@given(st.lists(st.tuples(st.integers(0, len(BODY)), st.integers(0, 3), st.binary(max_size=2) | st.sampled_from(
    [b'"', b"\\", b"\t", b"\n", b"\r", b"\r\n", b"<", b">", b"@", b"^^", b" ", b"_:", b"\\u0041", b"\\u0020", b'"@', b"1"]
)), min_size=1, max_size=3))  # fmt: skip
def test_damaged_bodies_are_read_as_the_careful_reader_does(changes: list[tuple[int, int, bytes]]) -> None:
    body = BODY
    for at, width, new in changes:
        body = body[:at] + new + body[at + width :]
    try:
        expected = carefully(body)
    except (Mangled, NotResults) as error:
        with pytest.raises(type(error)):
            read_triples(body, "", SPOG)
        return
    table = read_triples(body, "", SPOG)
    assert (Counter(table.frame.rows()), table.skipped) == expected


def test_a_body_cut_anywhere_but_at_a_line_end_is_refused() -> None:
    whole = Counter(read_triples(BODY, "", SPOG).frame.rows())
    for end in range(len(BODY)):
        try:
            found = read_triples(BODY[:end], "", SPOG)
        except (Mangled, NotResults):
            continue
        assert BODY[:end].endswith(b"\n") and Counter(found.frame.rows()) <= whole


def test_other_columns_are_refused() -> None:
    for variables in (("s", "p", "o"), ("s", "p", "g", "o"), ("a", "p", "o", "g")):
        with pytest.raises(Mangled):
            read_triples(BODY, "", variables)


def test_no_rows_are_an_empty_frame_of_the_same_columns() -> None:
    frame = read_triples(b"?s\t?p\t?o\t?g\n", "", SPOG).frame
    assert (frame.columns, dict(frame.schema), len(frame)) == (list(COLUMNS), SCHEMA, 0)


def test_graphs_are_named_unbound_or_blank() -> None:
    rows = [(S, P, O, node("g")), (S, P, O, None), (S, P, O, ox.BlankNode()), (S, P, O)]
    assert [cells_of(row)[6] for row in rows] == ["http://example.org/g", "", "", ""]  # type: ignore[index]


def test_what_is_no_triple_between_named_things_is_none() -> None:
    blank, quoted = ox.BlankNode(), ox.Triple(S, P, O)
    for row in (
        (blank, P, O),
        (S, None, O),
        (None, P, O),
        (S, P, blank),
        (S, P, None),
        (S, P, quoted),
        (S, blank, O),
    ):
        assert cells_of(row) is None
