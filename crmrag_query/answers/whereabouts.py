"""Where and when many entities were, as arrays: what `details` tells of one entity, computed for a whole set at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from crmrag_query.answers.coordinates import Point, parse_point, point_of
from crmrag_query.artifacts.release import Release
from crmrag_query.config.models import AnswersConfig
from crmrag_query.graph.arrays import Ints, Longs, Rows
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END
from crmrag_query.plans.world import Mask, ranges

NOWHERE = -1


@dataclass
class Whereabouts:
    """Dates and places of the entities of a release; the points that were read are kept."""

    release: Release
    _points: dict[int, Point | None] = field(default_factory=dict)

    @property
    def _config(self) -> AnswersConfig:
        return self.release.method.answers

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        """Properties by code and by IRI."""
        graph = self.release.graph
        found: dict[str, list[int]] = {}
        for number, code in enumerate(graph.property_codes):
            for name in {code, graph.property_iri(number)} - {""}:
                found.setdefault(name, []).append(number)
        return found

    def _steps(self, names: Iterable[str]) -> Iterator[tuple[Rows, int]]:
        """Rows and property of each way that the names stand for: forwards, and the inverse backwards."""
        adjacency = self.release.graph.adjacency
        for name in names:
            back = name[:-1] if name.endswith("i") else f"{name}i"
            yield from ((adjacency.forward, number) for number in self._by_name.get(name, ()))
            yield from ((adjacency.backward, number) for number in adjacency.by_code.get(back, ()))

    # dates

    def dates(self, nodes: Ints) -> tuple[Longs, Longs]:
        """First and last day of each node, open where unknown: its own, else of the events that date it."""
        begin, end = self._own_dates(nodes)
        for group in self._config.dates.events:
            left = np.flatnonzero((begin == OPEN_BEGIN) & (end == OPEN_END))
            origin, event = self._reached(nodes[left], group)
            first, last = self._own_dates(event)
            dated = (first != OPEN_BEGIN) | (last != OPEN_END)
            place = left[origin[dated]]
            low, high = np.full(len(nodes), OPEN_END, np.int64), np.full(len(nodes), OPEN_BEGIN, np.int64)
            np.minimum.at(low, place, first[dated])
            np.maximum.at(high, place, last[dated])
            begin[place], end[place] = low[place], high[place]
        return begin, end

    def _reached(self, nodes: Ints, names: Iterable[str]) -> tuple[Longs, Ints]:
        steps = [rows.expand(prop, nodes) for rows, prop in self._steps(names)]
        origin = np.concatenate([np.empty(0, np.int64), *(one for one, _ in steps)])
        return origin, np.concatenate([np.empty(0, np.int32), *(one for _, one in steps)])

    def _own_dates(self, nodes: Ints) -> tuple[Longs, Longs]:
        """Dates stated on the nodes, else on the first of their time-spans that has any."""
        begin, end = (side[nodes].astype(np.int64) for side in self.release.world.extents)
        for rows, prop in self._steps(self._config.dates.time_span):
            left = np.flatnonzero((begin == OPEN_BEGIN) & (end == OPEN_END))
            origin, span = rows.expand(prop, nodes[left])
            dated = self.release.world.dated[span]
            place, first = np.unique(left[origin[dated]], return_index=True)
            begin[place], end[place] = (side[span[dated][first]] for side in self.release.world.extents)
        return begin, end

    # places

    def places(self, nodes: Ints) -> Longs:
        """For each node the one whose point is its: itself, else the first of its places that has any; ``NOWHERE``."""
        found = np.where(self._pointed(nodes), nodes, NOWHERE).astype(np.int64)
        for rows, prop in self._steps(self._config.coordinates.place):
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
        world, names = self.release.world, self._config.coordinates
        numbers = [n for name in (*names.point, *names.latitude) for n in self._by_name.get(name, ())]
        rows = np.flatnonzero(np.isin(world.literal_property, numbers))
        found = world.mask(np.searchsorted(self.release.graph.literal_ptr, rows, side="right") - 1)
        for side, prop in self._steps(names.shape):
            found[side.row[side.prop[prop] : side.prop[prop + 1]]] = True
        return found

    def _read(self, nodes: Ints) -> None:
        """Read the points that the nodes state, or the shapes that they lead to, by any property."""
        names, known = self._config.coordinates, self._points
        known.update(dict.fromkeys(nodes.tolist()))
        origin, shape = self._reached(nodes, names.shape)
        around = (nodes[origin], shape)
        for owner, text in (*self._texts(nodes, nodes, names.point), *self._texts(*around, None)):
            known[owner] = known[owner] or parse_point(text)
        for owners, held in ((nodes, nodes), around):
            latitudes = dict(reversed(list(self._texts(held, held, names.latitude))))
            longitudes = dict(reversed(list(self._texts(held, held, names.longitude)))) if latitudes else {}
            for owner, one in zip(owners.tolist(), held.tolist(), strict=True):
                if known[owner] is None and one in latitudes and one in longitudes:
                    known[owner] = point_of(latitudes[one], longitudes[one])

    def _texts(self, owners: Ints, nodes: Ints, names: Iterable[str] | None) -> Iterator[tuple[int, str]]:
        """(owner, text) of the literals of nodes by the properties, in the order of these; None: by any."""
        graph, world = self.release.graph, self.release.world
        ptr = graph.literal_ptr
        at = nodes.astype(np.int64)
        count = ptr[at + 1] - ptr[at]
        row, owner = ranges(ptr[at], count), np.repeat(owners, count)
        groups: list[Longs] = [np.arange(len(row))]
        if names is not None:
            numbers = [number for name in names for number in self._by_name.get(name, ())]
            groups = [np.flatnonzero(world.literal_property[row] == number) for number in numbers]
        for chosen in groups:
            texts = graph.literal_table.column("value").take(row[chosen]).to_pylist() if len(chosen) else []
            yield from zip(owner[chosen].tolist(), texts, strict=True)
