"""Reading coordinates as data states them: WKT of a point or a shape, or latitude and longitude."""

from __future__ import annotations

import re

Point = tuple[float, float]
"""Latitude and longitude in degrees of WGS 84."""

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_WKT = re.compile(
    r"\s*(?:<(?P<crs>[^>]*)>|SRID=(?P<srid>\d+);)?\s*"
    r"(?:MULTI)?(?:POINT|LINESTRING|POLYGON)\s*(?:Z|M|ZM)?\s*(?P<body>\([-+\d.eE,()\s]*\))\s*",
    re.IGNORECASE,
)
_PAIR = re.compile(rf"\s*\(?\s*({_NUMBER})\s*°?\s*(?:[,;]\s*|\s+)({_NUMBER})\s*°?\s*\)?\s*")
_DEGREES = re.compile(
    r"\s*(\d{1,2})\s*°\s*(?:(\d{1,2})\s*[′']\s*)?(?:(\d{1,2}(?:\.\d+)?)\s*(?:″|\"|'')\s*)?([NS])[\s,;]*"
    r"(\d{1,3})\s*°\s*(?:(\d{1,2})\s*[′']\s*)?(?:(\d{1,2}(?:\.\d+)?)\s*(?:″|\"|'')\s*)?([EWO])\s*",
    re.IGNORECASE,
)
# In EPSG:4326 the first axis is latitude; without a system, and in CRS84, it is longitude (OGC GeoSPARQL 1.1, 8.5.1).
_LATITUDE_FIRST = re.compile(r"EPSG/\d*[/.\d]*/?4326$|EPSG::?4326$", re.IGNORECASE)
_LONGITUDE_FIRST = re.compile(r"CRS84$", re.IGNORECASE)
LONGEST = 100_000  # characters; what is longer is not looked at


def parse_point(text: str) -> Point | None:
    """The point that a text states, of a shape the middle of its extent; None when it states none, or not in WGS 84.

    WKT (``POINT(32.97 35.05)``: x before y), ``35.05, 32.97`` (latitude first) and ``35°02'47"N 32°58'23"E``.
    """
    if len(text) > LONGEST:
        return None
    if shape := _WKT.fullmatch(text):
        return _of_shape(shape)
    if pair := _PAIR.fullmatch(text):
        return _checked(float(pair[1]), float(pair[2]))
    if degrees := _DEGREES.fullmatch(text):
        lat, lon = _decimal(degrees[1], degrees[2], degrees[3]), _decimal(degrees[5], degrees[6], degrees[7])
        return _checked(-lat if degrees[4] in "sS" else lat, -lon if degrees[8] in "wWoO" else lon)
    return None


def point_of(latitude: str, longitude: str) -> Point | None:
    """The point of two texts, each a number of degrees; None when one is none."""
    try:
        return _checked(float(latitude), float(longitude))
    except ValueError:
        return None


def _of_shape(shape: re.Match[str]) -> Point | None:
    system = shape["crs"] or ""
    latitude_first = bool(_LATITUDE_FIRST.search(system))
    if (system and not latitude_first and not _LONGITUDE_FIRST.search(system)) or shape["srid"] not in (
        None,
        "4326",
    ):
        return None
    corners = [
        [float(number) for number in re.findall(_NUMBER, part)] for part in re.split(r"[,()]+", shape["body"])
    ]
    corners = [corner for corner in corners if len(corner) >= 2]
    if not corners:
        return None
    x, y = ((min(c[axis] for c in corners) + max(c[axis] for c in corners)) / 2 for axis in (0, 1))
    return _checked(x, y) if latitude_first else _checked(y, x)


def _decimal(degrees: str, minutes: str | None, seconds: str | None) -> float:
    return int(degrees) + int(minutes or 0) / 60 + float(seconds or 0) / 3600


def _checked(lat: float, lon: float) -> Point | None:
    return (lat, lon) if -90 <= lat <= 90 and -180 <= lon <= 180 else None
