"""Coordinates are read from WKT, pairs of degrees and degrees in words; what is no point on earth is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.entities.details import parse_point, point_of

ASINOU = (35.0464, 32.9731)


@pytest.mark.parametrize(
    "text",
    [
        "POINT(32.9731 35.0464)",
        "Point (32.9731 35.0464)",
        "POINT Z (32.9731 35.0464 450)",
        "SRID=4326;POINT(32.9731 35.0464)",
        "<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POINT(32.9731 35.0464)",
        "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(35.0464 32.9731)",
        "35.0464, 32.9731",
        "35.0464 32.9731",
        "(35.0464; 32.9731)",
        "35.0464° 32.9731°",
        "POLYGON((32.9730 35.0463, 32.9732 35.0463, 32.9732 35.0465, 32.9730 35.0465, 32.9730 35.0463))",
    ],
)
def test_one_place_in_many_spellings(text: str) -> None:
    assert parse_point(text) == pytest.approx(ASINOU)


def test_degrees_minutes_and_seconds() -> None:
    assert parse_point("35°02'47\"N 32°58'23\"E") == pytest.approx(
        (35 + 2 / 60 + 47 / 3600, 32 + 58 / 60 + 23 / 3600)
    )
    assert parse_point("33°52′ S, 70°30′ W") == pytest.approx((-33 - 52 / 60, -70.5))


@pytest.mark.parametrize(
    "text",
    [
        "", "Nikitari", "91, 0", "0, 181", "POINT(0 91)", "POINT EMPTY", "SRID=2100;POINT(1 2)", "12 x 30 cm", "1, 2, 3",
        "<http://www.opengis.net/def/crs/EPSG/0/2100> POINT(1 2)", "POINT(x y)", "POINT(" + "1 " * 60_000 + ")",
    ],
)  # fmt: skip
def test_what_is_no_point_is_none(text: str) -> None:
    assert parse_point(text) is None


def test_two_numbers_of_degrees() -> None:
    assert point_of("35.0464", " 32.9731 ") == ASINOU
    assert point_of("north", "32") is None


@given(st.floats(-90, 90), st.floats(-180, 180))
def test_what_is_written_is_read(lat: float, lon: float) -> None:
    assert parse_point(f"POINT({lon!r} {lat!r})") == (lat, lon)
    assert parse_point(f"{lat!r}, {lon!r}") == (lat, lon)


@given(st.text(max_size=100))
def test_no_text_makes_reading_fail(text: str) -> None:
    parse_point(text)
