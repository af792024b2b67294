"""What is told of entities: the smallest parts of an answer (an entity by name, a triple in words, coordinates, dates), what
an entity is, in a word; and besides their triples where they are, when they were, their licence, what they are of; how data
states coordinates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import AnswersConfig
from crmrag_query.dates import Interval, civil, describe
from crmrag_query.graph.arrays import Ints, Longs, Rows, spread
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph
from crmrag_query.ontology.load import Category
from crmrag_query.plans.world import Mask, World
from crmrag_query.relationships.engine import Move, moves_of, read_step
from crmrag_query.shown import Coordinates, Dates, Doubt, Named

UNCATEGORISED = "Entity"


def category_name(graph: Graph, node: int) -> str:
    """Name of the node's primary Fundamental Category, "Entity" when it is unknown."""
    bit = graph.category(node)
    return str(Category(bit).name) if bit else UNCATEGORISED


def type_nodes(graph: Graph, node: int) -> Iterator[int]:
    """The types (P2 has type) of a node."""
    adjacency = graph.adjacency
    for prop in adjacency.by_code.get("P2", ()):
        yield from (int(kind) for kind in adjacency.forward.neighbours(prop, node))


def has_things(graph: Graph, kinds: Iterable[int]) -> bool:
    """Whether anything has one of the types (P2)."""
    props = graph.adjacency.by_code.get("P2", ())
    return any(len(graph.adjacency.backward.neighbours(prop, kind)) for kind in kinds for prop in props)


def type_label(graph: Graph, node: int, language: str) -> str:
    """What a node is in a word or two: the first of its types, else of its classes, else its category."""
    for kind in type_nodes(graph, node):
        return graph.label(kind, (language,))
    for number in graph.types(node):
        return graph.class_label(int(number))
    return category_name(graph, node)


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
_SYSTEM_LATITUDE_FIRST = re.compile(r"EPSG/\d*[/.\d]*/?4326$|EPSG::?4326$", re.IGNORECASE)
_SYSTEM_LONGITUDE_FIRST = re.compile(r"CRS84$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Angle:
    """Degrees, and of which axis they are where that is said."""

    degrees: float
    axis: Axis = ""
    doubt: Doubt = ""


def parse_point(text: str) -> Coordinates | None:
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


def point_of(one: Angle | None, other: Angle | None) -> Coordinates | None:
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


def _in_order(first: float, second: float) -> Coordinates | None:
    """Latitude and longitude where the order is not said: the only one that there is, else the usual one, in doubt."""
    if abs(first) > 90:
        return _checked(second, first)
    return _checked(first, second, "" if abs(second) > 90 else "order")


def _of_json(text: str) -> Coordinates | None:
    """A point of GeoJSON (RFC 7946: longitude first)."""
    try:
        found = json.loads(text)
        if found["type"] == "Feature":
            found = found["geometry"]
        lon, lat = (float(number) for number in found["coordinates"][:2])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return _checked(lat, lon) if found["type"] == "Point" else None


def _of_shape(shape: re.Match[str]) -> Coordinates | None:
    system = shape["crs"] or ""
    latitude_first = bool(_SYSTEM_LATITUDE_FIRST.search(system))
    if system and not latitude_first and not _SYSTEM_LONGITUDE_FIRST.search(system):
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


def _checked(lat: float, lon: float, doubt: Doubt = "") -> Coordinates | None:
    return Coordinates(lat, lon, doubt=doubt) if -90 <= lat <= 90 and -180 <= lon <= 180 else None


NEIGHBOURS = 8  # places, shapes or events of a source that are looked at
NEAR = 0.02  # degrees, a minute of arc: texts that differ by less state the same point
# The documentation of these says that latitude comes first.
_LATITUDE_FIRST = frozenset(
    {"http://www.w3.org/2003/01/geo/wgs84_pos#lat_long", "http://www.georss.org/georss/point"}
)
_COORDINATES = re.compile(r"[#/:]E(?:47|94)_[^/#]*$")
"""Classes of nodes that hold coordinates: E47 Spatial Coordinates until CRM 6, E94 Space Primitive since."""
_AXIS = re.compile(r"(?<![^\W_])(?P<axis>lat|lon)(?:[ig]?t[uü]d\w*|g)?(?![^\W_])", re.IGNORECASE)
IDENTIFIED = "P1"
NOWHERE = -1


@dataclass
class _Stated:
    """What texts state of where a place is: points, and degrees by their axis."""

    points: list[Coordinates] = field(default_factory=list)
    angles: dict[Axis, list[Angle]] = field(default_factory=lambda: {LATITUDE: [], LONGITUDE: [], "": []})

    def add(self, angle: Angle, axis: Axis) -> None:
        self.angles[axis].append(replace(angle, axis=axis))

    def point(self) -> Coordinates | None:
        """The first point, one without doubt where there is any; in doubt where another differs."""
        found = [*self.points, *self._pairs()]
        found = [point for point in found if not point.doubt] or found
        if not found:
            return None
        first = found[0]
        apart = any(max(abs(one.lat - first.lat), abs(one.lon - first.lon)) > NEAR for one in found)
        return replace(first, doubt="several") if apart else first

    def _pairs(self) -> Iterator[Coordinates]:
        """Latitudes with the longitudes beside them. Of two numbers of unknown axis only one beyond 90° says which it is."""
        latitudes, longitudes, either = (self.angles[axis] for axis in (LATITUDE, LONGITUDE, ""))
        if not latitudes and not longitudes and len(either) == 2:
            small, large = sorted(either, key=lambda angle: abs(angle.degrees))
            latitudes, longitudes = ([small], [large]) if abs(large.degrees) > 90 else ([], [])
        elif bool(latitudes) != bool(longitudes):
            latitudes, longitudes = latitudes or either, longitudes or either
        for n in range(max(len(latitudes), len(longitudes)) if latitudes and longitudes else 0):
            point = point_of(latitudes[min(n, len(latitudes) - 1)], longitudes[min(n, len(longitudes) - 1)])
            if point is not None:
                yield point


@dataclass
class Whereabouts:
    """Dates and places of the entities of a release, for many at once; the points that were read are kept."""

    release: Release
    _points: dict[int, Coordinates | None] = field(default_factory=dict)
    _moves: dict[str, tuple[Move, ...]] = field(default_factory=dict)

    @classmethod
    def from_release(cls, release: Release) -> Whereabouts:
        return cls(release)

    @property
    def config(self) -> AnswersConfig:
        return self.release.method.answers

    def _steps(self, names: Iterable[str]) -> Iterator[tuple[Rows, int]]:
        """Rows and property of each way in which the data states one of the properties, which are codes or IRIs."""
        adjacency = self.release[Graph].adjacency
        for name in names:
            for prop, forward in self.moves(name):
                yield adjacency.forward if forward else adjacency.backward, prop

    def moves(self, name: str) -> tuple[Move, ...]:
        """How the data states a property by its code, or that of its inverse, or by its IRI: it alone, forwards first."""
        if name not in self._moves:
            world, step = self.release[World], replace(read_step(name), alone=True)
            found = moves_of(world.adjacency, world.ontology, step, world.property_numbers)
            self._moves[name] = tuple(sorted(found, key=lambda move: (not move[1], move[0])))
        return self._moves[name]

    def reached(self, nodes: Ints, names: Iterable[str]) -> tuple[Longs, Ints]:
        """What the nodes lead to by any of the properties: (index into ``nodes``, node)."""
        steps = [rows.expand(prop, nodes) for rows, prop in self._steps(names)]
        origin = np.concatenate([np.empty(0, np.int64), *(index for index, _ in steps)])
        return origin, np.concatenate([np.empty(0, np.int32), *(node for _, node in steps)])

    # dates

    def dates(self, nodes: Ints) -> tuple[Longs, Longs]:
        """First and last day of each node, open where unknown: its own, else of the events that date it."""
        begin, end = self._own_dates(nodes)
        for group in self.config.dates.events:
            left = np.flatnonzero((begin == OPEN_BEGIN) & (end == OPEN_END))
            if not len(left):
                break
            origin, event = self.reached(nodes[left], group)
            first, last = self._own_dates(event)
            dated = (first != OPEN_BEGIN) | (last != OPEN_END)
            place = left[origin[dated]]
            low, high = np.full(len(nodes), OPEN_END, np.int64), np.full(len(nodes), OPEN_BEGIN, np.int64)
            np.minimum.at(low, place, first[dated])
            np.maximum.at(high, place, last[dated])
            begin[place], end[place] = low[place], high[place]
        return begin, end

    def _own_dates(self, nodes: Ints) -> tuple[Longs, Longs]:
        """Dates stated on the nodes, else on the first of their time-spans that has any."""
        begin, end = (side[nodes].astype(np.int64) for side in self.release[World].extents)
        for rows, prop in self._steps(self.config.dates.time_span):
            left = np.flatnonzero((begin == OPEN_BEGIN) & (end == OPEN_END))
            origin, span = rows.expand(prop, nodes[left])
            dated = self.release[World].dated[span]
            place, first = np.unique(left[origin[dated]], return_index=True)
            begin[place], end[place] = (side[span[dated][first]] for side in self.release[World].extents)
        return begin, end

    # places

    def places(self, nodes: Ints) -> Longs:
        """For each node the one whose point is its: itself, else the first of its places that has any, else of the places of
        the events that made it, or began and ended it; ``NOWHERE``."""
        names = self.config.coordinates.place
        found = np.where(self._pointed(nodes), nodes, NOWHERE).astype(np.int64)
        self._place_by(found, np.arange(len(nodes)), nodes, names)
        for group in self.config.dates.events:
            left = np.flatnonzero(found == NOWHERE)
            origin, event = self.reached(nodes[left], group)
            self._place_by(found, left[origin], event, names)
        return found

    def _place_by(self, found: Longs, at: Longs, nodes: Ints, names: Iterable[str]) -> None:
        """Fill the gaps of ``found`` at ``at`` with the first places that the nodes lead to by the properties."""
        for rows, prop in self._steps(names):
            left = np.flatnonzero(found[at] == NOWHERE)
            origin, place = rows.expand(prop, nodes[left])
            pointed = self._pointed(place)
            where, first = np.unique(at[left[origin[pointed]]], return_index=True)
            found[where] = place[pointed][first]

    def point(self, place: int) -> Coordinates:
        """The point of a node that `places` gave."""
        point = self._points[place]
        assert point is not None
        return point

    def _pointed(self, nodes: Ints) -> Mask:
        """Which of the nodes have a point."""
        found: Mask = self._stating[nodes]
        asked = nodes[found].tolist()
        new = [node for node in dict.fromkeys(asked) if node not in self._points]
        if new:
            self._read(np.array(new, np.int32))
        found[found] = [self._points[node] is not None for node in asked]
        return found

    @cached_property
    def _stating(self) -> Mask:
        """Nodes that may state a point: by a literal, or by a node that they lead to."""
        world, names = self.release[World], self.config.coordinates
        numbers = self._numbers((*names.point, *names.latitude))
        rows = np.flatnonzero(np.isin(world.literal_property, numbers))
        found = world.mask(np.searchsorted(self.release[Graph].literal_ptr, rows, side="right") - 1)
        for side, prop in self._steps(names.shape):
            found[side.row[side.prop[prop] : side.prop[prop + 1]]] = True
        holders = np.flatnonzero(self._holding).astype(np.int32)
        for prop, forward in self.moves(IDENTIFIED):
            adjacency = self.release[Graph].adjacency
            found[(adjacency.backward if forward else adjacency.forward).expand(prop, holders)[1]] = True
        return found

    @cached_property
    def _holding(self) -> Mask:
        """Nodes of the classes of coordinates, which older data gives places as appellations."""
        graph, world = self.release[Graph], self.release[World]
        numbers = (n for n in range(len(graph.class_codes)) if _COORDINATES.search(graph.class_iri(n)))
        return world.of_classes(numbers)

    def _read(self, nodes: Ints) -> None:
        """Read the points that the nodes state by their own literals, or by those of the nodes that they lead to."""
        stated, config = [_Stated() for _ in nodes], self.config.coordinates
        self._state(stated, np.arange(len(nodes)), nodes, config.point)
        at, shape = self.reached(nodes, config.shape)
        named_at, name = self.reached(nodes, (IDENTIFIED,))
        holding = self._holding[name]
        at, shape = np.concatenate([at, named_at[holding]]), np.concatenate([shape, name[holding]])
        # From the shape on as well: as from a place that approximates it to its geometry.
        index, beyond = self.reached(shape, config.shape)
        self._state(stated, np.concatenate([at, at[index]]), np.concatenate([shape, beyond]), None)
        self._points.update(zip(nodes.tolist(), (one.point() for one in stated), strict=True))

    def _state(self, stated: list[_Stated], at: Longs, nodes: Ints, names: tuple[str, ...] | None) -> None:
        """Add to ``stated[at]`` what literals of the nodes state: degrees, and points by the properties (None: by any)."""
        holders = np.arange(len(nodes), dtype=np.int32)
        config, sides = self.config.coordinates, set[tuple[int, str]]()
        for axis, side in ((LATITUDE, config.latitude), (LONGITUDE, config.longitude)):
            for holder, text in self.texts(holders, nodes, side):
                sides.add((holder, text))
                if (angle := parse_angle(text)) is not None:
                    stated[at[holder]].add(angle, axis)
        for name in (None,) if names is None else names:
            for holder, text in self.texts(holders, nodes, None if name is None else (name,)):
                point = parse_point(text)
                if point is not None:
                    said = name in _LATITUDE_FIRST and point.doubt == "order"
                    stated[at[holder]].points.append(replace(point, doubt="") if said else point)
                elif (
                    name is None and (holder, text) not in sides and (angle := parse_angle(text)) is not None
                ):
                    stated[at[holder]].add(angle, angle.axis or self._axis_of(int(nodes[holder])))

    def _axis_of(self, node: int) -> Axis:
        """Of which axis the degrees of a node are, by its type or its name: ``…/vienna/latitude``."""
        graph, config = self.release[Graph], self.config.coordinates
        kinds = list(type_nodes(graph, node))
        iris = [graph.iri(kind) for kind in kinds]
        for axis, known in ((LATITUDE, config.latitude), (LONGITUDE, config.longitude)):
            if not set(known).isdisjoint(iris):
                return axis
        for name in (*(graph.label(one) for one in (*kinds, node)), *iris, graph.iri(node)):
            found = {one["axis"].casefold() for one in _AXIS.finditer(name)}
            if len(found) == 1:
                return LATITUDE if found == {"lat"} else LONGITUDE
        return ""

    # texts

    def _numbers(self, names: Iterable[str]) -> list[int]:
        return [prop for name in names for prop, forward in self.moves(name) if forward]

    def texts(self, owners: Ints, nodes: Ints, names: Iterable[str] | None) -> Iterator[tuple[int, str]]:
        """(owner, text) of the literals of nodes by the properties, in the order of these; None: by any."""
        graph, world = self.release[Graph], self.release[World]
        index, row = spread(graph.literal_ptr, nodes)
        owner = owners[index]
        groups: list[Longs] = [np.arange(len(row))]
        if names is not None:
            groups = [np.flatnonzero(world.literal_property[row] == prop) for prop in self._numbers(names)]
        for chosen in groups:
            texts = graph.literal_table.column("value").take(row[chosen]).to_pylist() if len(chosen) else []
            yield from zip(owner[chosen].tolist(), texts, strict=True)


@dataclass(frozen=True)
class Details:
    """The details of one entity after another, told in ``language``."""

    release: Release
    language: str

    @property
    def _graph(self) -> Graph:
        return self.release[Graph]

    @property
    def config(self) -> AnswersConfig:
        return self.release.method.answers

    def named(self, node: int) -> Named:
        return Named(self._graph.iri(node), self._graph.label(node, (self.language,)))

    def classes(self, node: int) -> tuple[str, ...]:
        """Names of the node's classes in the language where the data set has them, each once."""
        labels = (self._graph.class_label(int(number), self.language) for number in self._graph.types(node))
        return tuple(dict.fromkeys(labels))

    def coordinates(self, node: int) -> Coordinates | None:
        """Coordinates of a node, else of the first of its places that has any."""
        return self.all_coordinates([node])[0]

    def all_coordinates(self, nodes: Sequence[int]) -> list[Coordinates | None]:
        """`coordinates` of many nodes at once."""
        where = self.release[Whereabouts]
        found: list[Coordinates | None] = []
        for node, place in zip(nodes, where.places(np.array(nodes, np.int32)).tolist(), strict=True):
            at = None if place == NOWHERE else where.point(place)
            found.append(at if at is None or place == node else replace(at, of=self.named(place)))
        return found

    def dates(self, node: int) -> Dates | None:
        """When a node was: its own dates or its time-span's, else those of the events that ``dates.events`` give."""
        return self.all_dates([node])[0]

    def all_dates(self, nodes: Sequence[int]) -> list[Dates | None]:
        """`dates` of many nodes at once."""
        found: list[Dates | None] = []
        begins, ends = self.release[Whereabouts].dates(np.array(nodes, np.int32))
        for first, last in zip(begins.tolist(), ends.tolist(), strict=True):
            begin, end = None if first == OPEN_BEGIN else first, None if last == OPEN_END else last
            text = describe(Interval(begin, end), self.language)
            found.append(Dates(text, _year(begin), _year(end)) if text else None)
        return found

    def rights(self, node: int) -> tuple[str, str]:
        """Licence and attribution: the node's own (a text, or an IRI), else the data set's."""
        return self.all_rights([node])[0]

    def all_rights(self, nodes: Sequence[int]) -> list[tuple[str, str]]:
        """`rights` of many nodes at once."""
        manifest, many = self.release.manifest, np.array(nodes, np.int32)
        licences = self._firsts(many, self.config.licence)
        attributions = self._firsts(many, self.config.attribution)
        return [
            (licences.get(at, manifest.licence), attributions.get(at, manifest.attribution))
            for at in range(len(nodes))
        ]

    def _firsts(self, nodes: Ints, names: Iterable[str]) -> dict[int, str]:
        """By the place of each node the first that a property gives it, text or IRI, in the order of the properties."""
        where, places = self.release[Whereabouts], np.arange(len(nodes), dtype=np.int32)
        found: dict[int, str] = {}
        for name in names:
            for at, text in where.texts(places, nodes, (name,)):
                if text:
                    found.setdefault(at, text)
            index, reached = where.reached(nodes, (name,))
            for at, node in zip(index.tolist(), reached.tolist(), strict=True):
                found.setdefault(at, self._graph.iri(node))
        return found


def _year(day: int | None) -> str | None:
    """The year of a day number as ISO 8601 writes it: four digits, ``0000`` for 1 BC."""
    if day is None:
        return None
    year = civil(day)[0]
    return f"-{-year:04d}" if year < 0 else f"{year:04d}"
