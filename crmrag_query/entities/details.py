"""What is told of entities besides their triples: where they are, when they were, their licence, what they are of.

Coordinates are read as data states them: WKT of a point or a shape, or latitude and longitude.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import AnswersConfig
from crmrag_query.dates import Interval, civil, describe
from crmrag_query.entities.named import Coordinates, Dates, Named
from crmrag_query.graph.arrays import Ints, Longs, Rows, spread
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph
from crmrag_query.plans.world import Mask, World
from crmrag_query.relationships.catalogue import read_step
from crmrag_query.relationships.engine import Move, moves_of

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
NEIGHBOURS = 8  # places, shapes or events of a source that are looked at
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


NOWHERE = -1


@dataclass
class Whereabouts:
    """Dates and places of the entities of a release, for many at once; the points that were read are kept."""

    release: Release
    _points: dict[int, Point | None] = field(default_factory=dict)
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
        """For each node the one whose point is its: itself, else the first of its places that has any; ``NOWHERE``."""
        found = np.where(self._pointed(nodes), nodes, NOWHERE).astype(np.int64)
        for rows, prop in self._steps(self.config.coordinates.place):
            left = np.flatnonzero(found == NOWHERE)
            origin, place = rows.expand(prop, nodes[left])
            pointed = self._pointed(place)
            at, first = np.unique(left[origin[pointed]], return_index=True)
            found[at] = place[pointed][first]
        return found

    def point(self, place: int) -> Point:
        """Latitude and longitude of a node that `places` gave."""
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
        """Nodes that may state a point: by a literal, or by a shape that they lead to."""
        world, names = self.release[World], self.config.coordinates
        numbers = self._numbers((*names.point, *names.latitude))
        rows = np.flatnonzero(np.isin(world.literal_property, numbers))
        found = world.mask(np.searchsorted(self.release[Graph].literal_ptr, rows, side="right") - 1)
        for side, prop in self._steps(names.shape):
            found[side.row[side.prop[prop] : side.prop[prop + 1]]] = True
        return found

    def _read(self, nodes: Ints) -> None:
        """Read the points that the nodes state, or the shapes that they lead to, by any property."""
        names, points = self.config.coordinates, dict[int, Point | None].fromkeys(nodes.tolist())
        origin, shape = self.reached(nodes, names.shape)
        around = (nodes[origin], shape)
        for owner, text in (*self.texts(nodes, nodes, names.point), *self.texts(*around, None)):
            points[owner] = points[owner] or parse_point(text)
        for owners, held in ((nodes, nodes), around):
            latitudes = dict(reversed(list(self.texts(held, held, names.latitude))))
            longitudes = dict(reversed(list(self.texts(held, held, names.longitude)))) if latitudes else {}
            for owner, holder in zip(owners.tolist(), held.tolist(), strict=True):
                if points[owner] is None and holder in latitudes and holder in longitudes:
                    points[owner] = point_of(latitudes[holder], longitudes[holder])
        self._points.update(points)

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
        places = where.places(np.array(nodes, np.int32)).tolist()
        return [
            None
            if place == NOWHERE
            else Coordinates(*where.point(place), of=None if place == node else self.named(place))
            for node, place in zip(nodes, places, strict=True)
        ]

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
