"""The date index: small graphs worked out by hand, and a scan over all rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.indexes.aggregation import OWN, time_relationships, write_dates
from crmrag_query.config import load_method
from crmrag_query.dates import Interval, day_number, year_interval
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph, extents
from crmrag_query.ontology.load import Category, load_ontology
from crmrag_query.relationships.engine import Catalogue
from crmrag_query.retrieval.aggregation import DATED_BY, META, SCHEMA_VERSION, DateIndex
from tests.support.graphs import graph_from_turtle, node_of

RELATIONSHIPS = time_relationships(Catalogue.load(load_method(), DATED_BY))
CREATED, BORN, OCCURRED, TOOK_PART = (
    "thing_time_a_created", "actor_time_b_born", "event_time_a", "actor_time_a",
)  # fmt: skip


def span(begin: str = "", end: str = "", more: str = "") -> str:
    """A time-span by its outer bounds."""
    bounds = f'; crm:P82a_begin_of_the_begin "{begin}"^^xsd:date' if begin else ""
    bounds += f'; crm:P82b_end_of_the_end "{end}"^^xsd:date' if end else ""
    return f"[ a crm:E52_Time-Span {bounds} {more} ]"


def made(name: str, *spans: str, of: str = "icon") -> str:
    """A production of a thing with these time-spans."""
    times = "".join(f"; crm:P4_has_time-span {one} " for one in spans)
    return f":{of} a crm:E22_Human-Made_Object . :{name} a crm:E12_Production ; crm:P108_has_produced :{of} {times}."


def write(graph: Graph, folder: Path) -> dict[str, int]:
    folder.mkdir()
    return write_dates(graph, load_ontology(), RELATIONSHIPS, folder)


def dated(turtle: str, tmp_path: Path) -> tuple[Graph, DateIndex]:
    graph = graph_from_turtle(turtle, tmp_path)
    write(graph, tmp_path / "dates")
    return graph, DateIndex.open(tmp_path / "dates")


def test_the_relationships_are_those_that_lead_to_time_and_the_entity_itself(tmp_path: Path) -> None:
    assert {one.range for one in RELATIONSHIPS} == {Category.Time}
    assert {CREATED, BORN, OCCURRED, TOOK_PART} <= {one.id for one in RELATIONSHIPS}
    _, index = dated(made("painting"), tmp_path)
    assert index.relationships == (*(one.id for one in RELATIONSHIPS), OWN)


def test_a_thing_is_dated_by_its_production_and_the_production_itself(tmp_path: Path) -> None:
    graph = graph_from_turtle(made("painting", span("1500-03-01", "1510-12-31")), tmp_path)
    counted = write(graph, tmp_path / "dates")
    index = DateIndex.open(tmp_path / "dates")
    icon, painting = node_of(graph, "icon"), node_of(graph, "painting")
    assert index.of(icon, CREATED) == index.of(painting, OCCURRED)
    assert index.of(icon, CREATED) == Interval(day_number(1500, 3, 1), day_number(1510, 12, 31))
    assert index.of(icon, OCCURRED) is index.of(icon, "no_such_relationship") is None
    assert counted == {"dates": len(index.entity), "entities": len(set(index.entity.tolist()))}
    assert {icon, painting} <= set(index.entity.tolist())


def test_an_actor_is_dated_by_birth_and_by_taking_part(tmp_path: Path) -> None:
    turtle = f"""
    :painter a crm:E21_Person .
    :birth a crm:E67_Birth ; crm:P98_brought_into_life :painter ; crm:P4_has_time-span {span("1470-01-01", "1470-12-31")} .
    {made("painting", span("1500-01-01", "1500-12-31"))} :painting crm:P14_carried_out_by :painter .
    """
    graph, index = dated(turtle, tmp_path)
    painter = node_of(graph, "painter")
    assert index.of(painter, BORN) == year_interval(1470)
    assert index.of(painter, TOOK_PART) == year_interval(1500)


def year(begin: int, end: int | None = None) -> str:
    return span(f"{begin}-01-01", f"{end or begin}-12-31")


PART = ":painting crm:P9i_forms_part_of :works . :works a crm:E7_Activity ; crm:P4_has_time-span"
AGE = "crm:P86_falls_within :age . :age a crm:E52_Time-Span ; crm:P82_at_some_time_within '1453-1571' ."
INNER = (
    '; crm:P81a_end_of_the_begin "1501-01-01"^^xsd:date ; crm:P81b_begin_of_the_end "1502-12-31"^^xsd:date'
)
REVERSED = span("1600-01-01", "1500-12-31")
CROSSED = span("1600-01-01", more='; crm:P81b_begin_of_the_end "1500-01-01"^^xsd:date')
CASES = {
    "without a date, that of the whole it is part of": (
        f"""{made("painting")} :painting crm:P9i_forms_part_of :campaign . :campaign a crm:E7_Activity ;
        crm:P9i_forms_part_of :works . :works a crm:E7_Activity ; crm:P4_has_time-span {year(1480, 1499)} .""",
        year_interval(1480, 1499),
    ),
    "its own, not that of the whole": (
        f"{made('painting', year(1490))} {PART} {year(1480, 1499)} .", year_interval(1490)
    ),
    "the nearer, not the period that it falls within": (
        f"""{made("painting", ":year")} :year a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1500-01-01"^^xsd:date ;
        crm:P82b_end_of_the_end "1500-12-31"^^xsd:date ; {AGE}""",
        year_interval(1500),
    ),
    "of a time-span without dates, the period that it falls within": (
        f"{made('painting', ':year')} :year a crm:E52_Time-Span ; {AGE}", year_interval(1453, 1571)
    ),
    "of several productions, from the first to the last": (
        made("painting", year(1500)) + made("repainting", year(1650, 1651)), year_interval(1500, 1651)
    ),
    "of several time-spans, from the first to the last": (
        made("painting", year(1500, 1501), year(1490, 1495)), year_interval(1490, 1501)
    ),
    "open at the end": (made("painting", span("1500-01-01")), Interval(day_number(1500), None)),
    "open at the begin": (made("painting", span(end="1500-12-31")), Interval(None, day_number(1501) - 1)),
    "open where one is": (
        made("painting", span("1500-01-01"), year(1400)), Interval(day_number(1400), None)
    ),
    "open at both": (made("painting", span("1500-01-01"), span(end="1600-12-31")), Interval(None, None)),
    "before Christ": (
        made("throwing", "[ a crm:E52_Time-Span ; crm:P82_at_some_time_within '500-401 BC' ]"), year_interval(-499, -400)
    ),
    "outer bounds before inner ones": (
        made("painting", span("1500-01-01", "1510-12-31", INNER)), year_interval(1500, 1510)
    ),
    "inner bounds without outer ones": (made("painting", span(more=INNER)), year_interval(1501, 1502)),
    "none of reversed ones": (made("painting", REVERSED), None),
    "none of crossed ones": (made("painting", CROSSED), None),
    "those beside reversed ones": (made("painting", REVERSED, year(1400)), year_interval(1400)),
    "those beside crossed ones": (made("painting", CROSSED, year(1400)), year_interval(1400)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_thing_was_made_at(case: str, tmp_path: Path) -> None:
    turtle, expected = CASES[case]
    graph, index = dated(turtle, tmp_path)
    assert index.of(node_of(graph, "icon"), CREATED) == expected


def test_an_entity_that_states_its_dates_has_them_as_its_own(tmp_path: Path) -> None:
    graph, index = dated(
        ':siege a crm:E5_Event ; crm:P82a_begin_of_the_begin "1570-09-22"^^xsd:date ;'
        ' crm:P82b_end_of_the_end "1571-08-05"^^xsd:date .'
        + made("painting", ":span")
        + ' :span a crm:E52_Time-Span ; rdfs:label "1500" .',
        tmp_path,
    )
    assert index.of(node_of(graph, "siege"), OWN) == Interval(day_number(1570, 9, 22), day_number(1571, 8, 5))
    assert index.of(node_of(graph, "span"), OWN) == year_interval(1500)
    assert index.of(node_of(graph, "icon"), OWN) is None


def test_a_graph_without_dates_gives_an_index_that_finds_nothing(tmp_path: Path) -> None:
    graph, index = dated(made("painting"), tmp_path)
    assert (extents(graph)[0] == OPEN_BEGIN).all()
    sure, maybe = index.within(index.relationships, Interval(None, None))
    assert len(sure) == len(maybe) == 0
    assert sure.dtype == maybe.dtype == np.int32


def test_rows_of_a_relationship_are_sorted_by_begin_then_entity(tmp_path: Path) -> None:
    turtle = "".join(
        made(f"making{n}", span(f"{year}-01-01", f"{year}-12-31"), of=f"thing{n}")
        for n, year in enumerate([1500, 1400, 1500, 1300, 1400])
    )
    graph, index = dated(turtle, tmp_path)
    number = index.relationships.index(CREATED)
    rows = slice(*index.ptr[number : number + 2].tolist())
    assert index.entity[rows].tolist() == [node_of(graph, f"thing{n}") for n in (3, 1, 4, 0, 2)]
    assert isinstance(index.begin.base, np.memmap)


def test_a_missing_index_or_one_of_another_version_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="No date index"):
        DateIndex.open(tmp_path)
    _, _ = dated(made("painting"), tmp_path)
    meta = tmp_path / "dates" / META
    for content in ("[]", "{", "{}", json.dumps({"schema": SCHEMA_VERSION})):
        meta.write_text(content)
        with pytest.raises(ReleaseError, match="No date index"):
            DateIndex.open(tmp_path / "dates")
    meta.write_text(json.dumps({"schema": 99, "relationships": []}))
    with pytest.raises(ReleaseError, match="version 99"):
        DateIndex.open(tmp_path / "dates")


@pytest.mark.parametrize("array", ["ptr", "begin", "entity"])
def test_a_damaged_column_is_named(tmp_path: Path, array: str) -> None:
    dated(made("painting", span("1500-01-01", "1500-12-31")), tmp_path)
    file = tmp_path / "dates" / f"{array}.npy"
    sound = np.load(file)
    file.unlink()
    with pytest.raises(ReleaseError, match=array):
        DateIndex.open(tmp_path / "dates")
    for damaged in (sound.astype(np.float64), sound[:-1], np.append(sound, sound[-1:] + 1)):
        np.save(file, damaged)
        with pytest.raises(ReleaseError, match=r"date index|\.npy"):
            DateIndex.open(tmp_path / "dates")


DAY = st.integers(-5, 5)
BOUND = st.none() | DAY
ROW = st.tuples(st.integers(0, 2), st.integers(0, 6), BOUND, BOUND).filter(
    lambda row: row[2] is None or row[3] is None or row[2] <= row[3]
)
PERIOD = st.builds(
    lambda a, b: Interval(a, b) if a is None or b is None or a <= b else Interval(b, a), BOUND, BOUND
)
Row = tuple[int, int, int | None, int | None]


def index_of(rows: list[Row]) -> DateIndex:
    """An index of relationships r0 to r2 over rows (relationship, entity, begin, end)."""
    bounded = sorted(
        (number, OPEN_BEGIN if begin is None else begin, entity, OPEN_END if end is None else end)
        for number, entity, begin, end in rows
    )
    number, begin, entity, end = np.array(bounded, np.int64).reshape(-1, 4).T
    ptr = np.searchsorted(number, np.arange(4))
    return DateIndex(
        ("r0", "r1", "r2"), ptr, entity.astype(np.int32), begin.astype(np.int32), end.astype(np.int32)
    )


def possible_days(begin: int | None, end: int | None) -> Iterator[int]:
    """Days of an extent that is taken to be 100 days long where it is open."""
    return iter(range(-100 if begin is None else begin, (100 if end is None else end) + 1))


@given(
    st.lists(ROW, max_size=20, unique_by=lambda row: row[:2]),
    st.lists(st.sampled_from(["r0", "r1", "r2", "unknown"]), max_size=4),
    PERIOD,
)
def test_within_equals_a_scan_over_all_rows(rows: list[Row], asked: list[str], period: Interval) -> None:
    inside = set(possible_days(period.begin, period.end))
    certain, overlapping = set(), set()
    for number, entity, begin, end in rows:
        if f"r{number}" in asked:
            extent = set(possible_days(begin, end))
            if extent <= inside:
                certain.add(entity)
            if extent & inside:
                overlapping.add(entity)
    sure, maybe = index_of(rows).within(asked, period)
    assert sure.tolist() == sorted(certain)
    assert maybe.tolist() == sorted(overlapping - certain)


@given(st.lists(ROW, max_size=20, unique_by=lambda row: row[:2]))
def test_every_row_is_read_back(rows: list[Row]) -> None:
    index = index_of(rows)
    for number, entity, begin, end in rows:
        assert index.of(entity, f"r{number}") == Interval(begin, end)
    assert index.of(99, "r0") is None


def test_first_and_last_day_belong_to_extent_and_period() -> None:
    index = index_of([(0, 1, 5, 9), (0, 2, 1, 3), (0, 3, 3, 5), (0, 4, 6, 9), (0, 5, 1, 2)])
    sure, maybe = index.within(["r0"], Interval(3, 5))
    assert (sure.tolist(), maybe.tolist()) == ([3], [1, 2])


def test_a_period_may_reach_beyond_the_days_that_are_counted() -> None:
    index = index_of([(0, 1, 5, 6)])
    assert index.within(["r0"], Interval(-(10**12), 10**12))[0].tolist() == [1]
    assert index.within(["r0"], Interval(10**12, 10**13))[1].tolist() == []
