"""What is told of a source besides its triples: where it is, when it was, its licence, what it is of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from crmrag_query.answers.coordinates import Point, parse_point, point_of
from crmrag_query.answers.records import Coordinates, Dates, Named
from crmrag_query.artifacts.release import Release
from crmrag_query.config.models import AnswersConfig
from crmrag_query.dates import Interval, civil, describe
from crmrag_query.graph.graph import Graph

Values = dict[int, list[str]]
"""Values of one node's literals by property number."""


@dataclass
class Details:
    """Reads the details of a release's entities, told in ``language``; the cost of each is bounded by ``neighbours``."""

    release: Release
    language: str
    _values: dict[int, Values] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        return self.release.graph

    @cached_property
    def config(self) -> AnswersConfig:
        return self.release.method.answers

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        """Properties by code and by IRI."""
        found: dict[str, list[int]] = {}
        for number, code in enumerate(self.graph.property_codes):
            for name in {code, self.graph.property_iri(number)} - {""}:
                found.setdefault(name, []).append(number)
        return found

    def named(self, node: int) -> Named:
        return Named(self.graph.iri(node), self.graph.label(node, (self.language,)))

    def classes(self, node: int) -> tuple[str, ...]:
        """Names of the node's classes in the language where the data set has them, each once."""
        labels = (self.graph.class_label(int(number), self.language) for number in self.graph.types(node))
        return tuple(dict.fromkeys(labels))

    def coordinates(self, node: int) -> Coordinates | None:
        """Coordinates of a node, else of the first of its places that has any."""
        if (own := self._point(node)) is not None:
            return Coordinates(*own)
        for place in self._reached(node, self.config.coordinates.place):
            if (point := self._point(place)) is not None:
                return Coordinates(*point, of=self.named(place))
        return None

    def dates(self, node: int) -> Dates | None:
        """When a node was: its own dates or its time-span's, else those of the events that ``dates.events`` give."""
        if (own := self._interval(node)) is not None:
            return self._dates(own)
        for group in self.config.dates.events:
            events = (self._interval(event) for event in self._reached(node, group))
            found = [interval for interval in events if interval is not None]
            if found:
                return self._dates(_hull(found))
        return None

    def rights(self, node: int) -> tuple[str, str]:
        """Licence and attribution: the node's own (a text, or an IRI), else the data set's."""
        manifest = self.release.manifest
        return (
            self._first(node, self.config.licence) or manifest.licence,
            self._first(node, self.config.attribution) or manifest.attribution,
        )

    def _reached(self, node: int, names: Iterable[str]) -> list[int]:
        """At most ``neighbours`` nodes by each of the properties: codes, whose inverses are read backwards, or IRIs."""
        rows, limit = self.graph.adjacency, self.config.neighbours
        found: dict[int, None] = {}
        for name in names:
            back = name[:-1] if name.endswith("i") else f"{name}i"
            for prop in self._by_name.get(name, ()):
                found.update(dict.fromkeys(rows.forward.neighbours(prop, node)[:limit].tolist()))
            for prop in rows.by_code.get(back, ()):
                found.update(dict.fromkeys(rows.backward.neighbours(prop, node)[:limit].tolist()))
        return list(found)

    def _of(self, node: int) -> Values:
        if node not in self._values:
            read: Values = {}
            for literal in self.graph.literals(node):
                read.setdefault(literal.property, []).append(literal.value)
            self._values[node] = read
        return self._values[node]

    def _texts(self, node: int, names: Iterable[str]) -> list[str]:
        """Values of the node's literals by the properties, in the order of these."""
        numbers = [number for name in names for number in self._by_name.get(name, ())]
        return [text for number in numbers for text in self._of(node).get(number, ())] if numbers else []

    def _first(self, node: int, names: Sequence[str]) -> str:
        for name in names:
            if texts := self._texts(node, (name,)):
                return texts[0]
            if reached := self._reached(node, (name,)):
                return self.graph.iri(reached[0])
        return ""

    def _point(self, node: int) -> Point | None:
        """The point that a node states, or the shape that it leads to, which may state it by any property."""
        names = self.config.coordinates
        texts = self._texts(node, names.point)
        shapes = self._reached(node, names.shape)
        texts += [text for shape in shapes for held in self._of(shape).values() for text in held]
        for text in texts:
            if (point := parse_point(text)) is not None:
                return point
        for one in (node, *shapes):
            latitudes, longitudes = self._texts(one, names.latitude), self._texts(one, names.longitude)
            if latitudes and longitudes:
                return point_of(latitudes[0], longitudes[0])
        return None

    def _interval(self, node: int) -> Interval | None:
        for one in (node, *self._reached(node, self.config.dates.time_span)):
            if (span := self.graph.timespan(one)) is not None and span.interval is not None:
                return span.interval
        return None

    def _dates(self, interval: Interval) -> Dates | None:
        text = describe(interval, self.language)
        return Dates(text, _year(interval.begin), _year(interval.end)) if text else None


def _hull(intervals: Sequence[Interval]) -> Interval:
    whole = intervals[0]
    for interval in intervals[1:]:
        whole = whole.hull(interval)
    return whole


def _year(day: int | None) -> str | None:
    """The year of a day number as ISO 8601 writes it: four digits, ``0000`` for 1 BC."""
    if day is None:
        return None
    year = civil(day)[0]
    return f"-{-year:04d}" if year < 0 else f"{year:04d}"
