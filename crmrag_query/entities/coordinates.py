"""Points as texts state them: WKT, GeoJSON, pairs of degrees, degrees with minutes and seconds; what of them is in doubt.

Degrees have a decimal point or a decimal comma. A hemisphere (``48°13' N``, ``E 16.37``, ``latitude 48.2``) says which axis a
number is of; without one, two numbers are latitude and longitude in this order, which is told as a doubt.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, Literal

from crmrag_query.entities.named import Doubt

Axis = Literal["", "latitude", "longitude"]
LATITUDE: Final[Axis] = "latitude"
LONGITUDE: Final[Axis] = "longitude"
LONGEST = 100_000  # characters; what is longer is not looked at
_NUMBER = r"[-+−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_COMMA = r"[-+−]?\d+,\d+"
_WKT = re.compile(
    r"\s*(?:<(?P<crs>[^>]*)>|SRID=(?P<srid>\d+);)?\s*"
    r"(?:MULTI)?(?P<kind>POINT|LINESTRING|POLYGON)\s*(?:Z|M|ZM)?\s*(?P<body>\([-+\d.eE,()\s]*\))\s*",
    re.IGNORECASE,
)
_CORNER = re.compile(rf"\(\s*({_COMMA}|{_NUMBER})(?:\s*,\s*|\s+)({_COMMA}|{_NUMBER})\s*\)")
# A comma without a space after it divides numbers with points, or two with decimal commas: "35,05" alone is one number.
_PAIR = re.compile(
    rf"\s*[(\[]?\s*(?:"
    rf"(?P<a>{_COMMA}|{_NUMBER})\s*°?(?:\s*;\s*|\s*/\s*|\s*,\s+|\s+)(?P<b>{_COMMA}|{_NUMBER})"
    rf"|(?P<c>[-+−]?\d+\.\d+)\s*,(?P<d>{_NUMBER})|(?P<e>{_COMMA}),(?P<f>{_COMMA})"
    rf")\s*°?\s*[)\]]?\s*"
)
_DIGITS = r"\d{1,2}(?:[.,]\d+)?"
_SIDE = r"(?:[NSEWO]|north|south|east|west|nord|s[uü]d|ost|ouest|lat[a-z]*|lon[a-z]*|lng)(?![^\W\d_])"
_ANGLE = re.compile(
    rf"""(?:(?P<before>{_SIDE})[.:=]?\s*)?(?P<sign>[-+−])?\s*
    (?:(?P<whole>\d{{1,3}}(?:[.,]\d+)?)?\s*(?P<mark>[°º˚]|deg(?:rees?)?\b\.?)\s*
        (?:(?P<minutes>{_DIGITS})\s*(?:['′’´ʹ](?!['′’´ʹ])|min\b\.?)\s*)?
        (?:(?P<seconds>{_DIGITS})\s*(?:["″”“ʺ]|''|′′|’’|sec\b\.?))?
    |(?P<spaced>\d{{1,3}}(?:[\s:]{_DIGITS}){{1,2}}(?!\d))
    |(?P<number>\d+(?:[.,]\d+)?(?:e[-+]?\d+)?))
    \s*(?(before)|(?P<after>{_SIDE})?)\.?""",
    re.IGNORECASE | re.VERBOSE,
)
# In EPSG:4326 the first axis is latitude; without a system, and in CRS84, it is longitude (OGC GeoSPARQL 1.1, 8.5.1).
_LATITUDE_FIRST = re.compile(r"EPSG/\d*[/.\d]*/?4326$|EPSG::?4326$", re.IGNORECASE)
_LONGITUDE_FIRST = re.compile(r"CRS84$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Point:
    """Latitude and longitude in degrees of WGS 84, north and east positive; ``doubt``: what of it the text leaves open."""

    lat: float
    lon: float
    doubt: Doubt = ""


@dataclass(frozen=True, slots=True)
class Angle:
    """Degrees, and of which axis they are where that is said."""

    degrees: float
    axis: Axis = ""
    doubt: Doubt = ""


def parse_point(text: str) -> Point | None:
    """The point that a text states, of a shape the middle of its extent; None when it states none, or not in WGS 84.

    WKT and GeoJSON (longitude first), ``35.05, 32.97`` and ``35,05; 32,97`` (latitude first, in doubt unless only that
    order can be), ``35°02'47"N 32°58'23"E`` in any order.
    """
    if len(text) > LONGEST:
        return None
    text = _bare(text)
    if text.startswith("{"):
        return _of_json(text)
    if shape := _WKT.fullmatch(text):
        return _of_shape(shape)
    if pair := _PAIR.fullmatch(text):
        return _in_order(*(_float(one) for one in pair.groups() if one))
    first = _ANGLE.match(text.lstrip("( ")) if len(text) <= 200 else None
    if first is None:
        return None
    second = _ANGLE.fullmatch(first.string[first.end() :].strip("\t ,;/)"))
    return point_of(_angle(first), _angle(second)) if second and _marked(first) and _marked(second) else None


def parse_angle(text: str) -> Angle | None:
    """The degrees that a text states, with the axis where it has a hemisphere; None when it states none."""
    text = _bare(text)
    found = _ANGLE.fullmatch(text) if len(text) <= 100 else None
    return _angle(found) if found else None


def point_of(one: Angle | None, other: Angle | None) -> Point | None:
    """The point of two angles, the first its latitude where neither says of which axis it is."""
    if one is None or other is None or (one.axis and one.axis == other.axis):
        return None
    if not one.axis and not other.axis:
        return _in_order(one.degrees, other.degrees)
    lat, lon = (other, one) if one.axis == LONGITUDE or other.axis == LATITUDE else (one, other)
    return _checked(lat.degrees, lon.degrees, one.doubt or other.doubt)


def _bare(text: str) -> str:
    """Without the quotation marks that some exports put around a text: those of two sides, not the sign of seconds."""
    text = text.strip()
    while len(text) > 1 and text[0] in "\"“'" and text[-1] in "\"”'":
        text = text[1:-1].strip()
    return text


def _float(text: str) -> float:
    return float(text.replace(",", ".").replace("−", "-"))


def _in_order(first: float, second: float) -> Point | None:
    """Latitude and longitude where the order is not said: the only one that there is, else the usual one, in doubt."""
    if abs(first) > 90:
        return _checked(second, first)
    return _checked(first, second, "" if abs(second) > 90 else "order")


def _of_json(text: str) -> Point | None:
    """A point of GeoJSON (RFC 7946: longitude first)."""
    try:
        found = json.loads(text)
        if found["type"] == "Feature":
            found = found["geometry"]
        lon, lat = (float(number) for number in found["coordinates"][:2])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return _checked(lat, lon) if found["type"] == "Point" else None


def _of_shape(shape: re.Match[str]) -> Point | None:
    system = shape["crs"] or ""
    latitude_first = bool(_LATITUDE_FIRST.search(system))
    if system and not latitude_first and not _LONGITUDE_FIRST.search(system):
        return None
    if shape["srid"] not in (None, "4326"):
        return None
    if shape["kind"].upper() == "POINT" and (corner := _CORNER.fullmatch(shape["body"])):
        x, y = map(_float, corner.groups())
    else:
        corners = [
            [float(n) for n in re.findall(_NUMBER, part)] for part in re.split(r"[,()]+", shape["body"])
        ]
        corners = [corner for corner in corners if len(corner) >= 2]
        if not corners:
            return None
        x, y = ((min(c[axis] for c in corners) + max(c[axis] for c in corners)) / 2 for axis in (0, 1))
    return _checked(x, y) if latitude_first else _checked(y, x)


def _marked(found: re.Match[str]) -> bool:
    """Whether an angle is one for its sign of degrees or its hemisphere: two plain numbers are a pair or none."""
    return bool(found["mark"] or found["before"] or found["after"])


def _angle(found: re.Match[str]) -> Angle | None:
    parts = [found["whole"] or "0", found["minutes"] or "0", found["seconds"] or "0"]
    if found["spaced"]:
        parts = re.split(r"[\s:]", found["spaced"])
    whole, *smaller = map(_float, [found["number"]] if found["number"] else parts)
    if any(part >= 60 for part in smaller):
        return None
    size = whole + sum(part / 60**power for power, part in enumerate(smaller, 1))
    side = (found["before"] or found["after"] or "").casefold()
    axis: Axis = "" if not side else LATITUDE if side.startswith(("n", "s", "la")) else LONGITUDE
    west = side in ("o", "ouest") or side.startswith("w")
    if found["sign"] in ("-", "−") or west or side.startswith("s"):
        size = -size
    return Angle(size, axis, "west" if side == "o" else "")


def _checked(lat: float, lon: float, doubt: Doubt = "") -> Point | None:
    return Point(lat, lon, doubt) if -90 <= lat <= 90 and -180 <= lon <= 180 else None
