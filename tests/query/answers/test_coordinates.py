"""Coordinates are read from WKT, GeoJSON, pairs of degrees, degrees with minutes and hemispheres."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.entities.details import Angle, parse_angle, parse_point, point_of

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
        "35.0464,32.9731",
        "35,0464, 32,9731",
        "35,0464; 32,9731",
        "35,0464 32,9731",
        "POINT(32,9731 35,0464)",
        "POINT(32.9731,35.0464)",
        "35.0464 N, 32.9731 E",
        "E 32.9731, N 35.0464",
        "Lat. 35.0464, Long. 32.9731",
        "35,0464° Nord, 32,9731° Ost",
        '{"type": "Point", "coordinates": [32.9731, 35.0464]}',
        "POLYGON((32.9730 35.0463, 32.9732 35.0463, 32.9732 35.0465, 32.9730 35.0465, 32.9730 35.0463))",
    ],
)
def test_one_place_in_many_spellings(text: str) -> None:
    assert at(text) == pytest.approx(ASINOU)


def at(text: str) -> tuple[float, float] | None:
    point = parse_point(text)
    return None if point is None else (point.lat, point.lon)


@pytest.mark.parametrize(
    "text",
    [
        "35°02'47\"N 32°58'23\"E",
        "N 35° 02' 47\", E 32° 58' 23\"",
        "32°58′23″ E / 35°02′47″ N",
        "35°02'47''N 32°58'23''E",
        "35 02 47 N, 32 58 23 E",
        "35:02:47N 32:58:23E",
        "35 deg 2 min 47 sec North, 32 deg 58 min 23 sec East",
    ],
)
def test_degrees_minutes_and_seconds(text: str) -> None:
    assert at(text) == pytest.approx((35 + 2 / 60 + 47 / 3600, 32 + 58 / 60 + 23 / 3600))


def test_south_and_west_are_negative() -> None:
    assert at("33°52′ S, 70°30′ W") == pytest.approx((-33 - 52 / 60, -70.5))
    assert at("−33.5; −70.5") == (-33.5, -70.5)


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("35.05, 32.97", "order"),
        ("35.05, 132.97", ""),
        ("132.97, 35.05", ""),
        ("35.05 N, 32.97 E", ""),
        ("POINT(32.97 35.05)", ""),
        ("35.05 N, 32.97 O", "west"),
    ],
)
def test_what_a_text_leaves_open_is_told(text: str, doubt: str) -> None:
    point = parse_point(text)
    assert point and point.doubt == doubt and point.lat == 35.05


@pytest.mark.parametrize(
    ("text", "degrees", "axis"),
    [
        ("\"39°17' N\"", 39 + 17 / 60, "latitude"), ("°10' W", -1 / 6, "longitude"), ("16,37", 16.37, ""),
        ("48 12 30", 48 + 12.5 / 60, ""), ("S 33.5", -33.5, "latitude"), ("longitude: 16.37", 16.37, "longitude"),
    ],
)  # fmt: skip
def test_degrees_of_one_axis(text: str, degrees: float, axis: str) -> None:
    found = parse_angle(text)
    assert found and (found.degrees, found.axis) == (pytest.approx(degrees), axis)


@pytest.mark.parametrize(
    "text",
    [
        "", "Nikitari", "91, 91", "0, 181", "POINT(0 91)", "POINT EMPTY", "SRID=2100;POINT(1 2)", "12 x 30 cm", "1, 2, 3",
        "35,05", "48°70' N, 16° E",
        "<http://www.opengis.net/def/crs/EPSG/0/2100> POINT(1 2)", "POINT(x y)", "POINT(" + "1 " * 60_000 + ")",
    ],
)  # fmt: skip
def test_what_is_no_point_is_none(text: str) -> None:
    assert parse_point(text) is None


def test_two_angles_are_a_point_unless_both_are_of_one_axis() -> None:
    lat, lon = parse_angle("35.0464"), parse_angle(" 32.9731 E")
    assert lat and lon
    point = point_of(lon, lat)
    assert point and (point.lat, point.lon, point.doubt) == (*ASINOU, "")
    assert point_of(lon, Angle(10, "longitude")) is None and parse_angle("north") is None


@given(st.floats(-90, 90), st.floats(-180, 180))
def test_what_is_written_is_read(lat: float, lon: float) -> None:
    assert at(f"POINT({lon!r} {lat!r})") == (lat, lon)
    assert at(f"{lat!r}, {lon!r}") == (lat, lon)


@given(st.text(max_size=100))
def test_no_text_makes_reading_fail(text: str) -> None:
    parse_point(text)
    parse_angle(text)
