"""Nodes, literals and values as what people read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from crmrag_query.answers.details import Details
from crmrag_query.answers.named import Named
from crmrag_query.answers.naming import type_nodes
from crmrag_query.artifacts.release import Release
from crmrag_query.context.text import plain
from crmrag_query.dates import Interval, describe, parse_date
from crmrag_query.dates.calendar import civil, year_interval
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.outcome import cell
from crmrag_query.plans.records import Measure
from crmrag_query.sets.records import Cell, Member


@dataclass
class Reader:
    """Reads entities of a release in one language, each label once."""

    release: Release
    language: str
    _named: dict[int, Named] = field(default_factory=dict)

    @cached_property
    def details(self) -> Details:
        return Details(self.release, self.language)

    def named(self, node: int) -> Named:
        if node not in self._named:
            graph = self.release.graph
            self._named[node] = Named(graph.iri(node), plain(graph.label(node, (self.language,))))
        return self._named[node]

    def cell(self, number: int) -> Cell:
        """A cell of a table: a node, or n + the row of a literal."""
        world = self.release.world
        if number < world.size:
            named = self.named(number)
            return Cell(self._dated(number, named.label), named.iri)
        found = cell(world, number)
        assert not isinstance(found, str)
        return Cell(found.text, "", found.datatype, found.lang, number_of(found.text))

    def year(self, number: int) -> Cell:
        """A cell by its year, where it is written as a date of one year; as it is otherwise."""
        whole = self.cell(number)
        dated = parse_date(whole.label)
        if dated is None or dated.begin is None or dated.end is None:
            return whole
        first, last = (civil(day)[0] for day in (dated.begin, dated.end))
        if first != last:
            return whole
        return replace(whole, label=describe(year_interval(first), self.language), number=float(first))

    def _dated(self, node: int, label: str) -> str:
        """A time-span by its dates, after its name where that says something else; any other thing by its name."""
        world = self.release.world
        if not int(world.adjacency.categories[node]) & int(Category.Time) or not world.dated[node]:
            return label
        begin, end = (int(side[node]) for side in world.extents)
        if begin > end:
            return label  # the data has it end before it begins
        known = Interval(None if begin == OPEN_BEGIN else begin, None if end == OPEN_END else end)
        told = describe(known, self.language)
        named = self.release.graph.labels(node)
        return label if told in label else f"{label} ({told})" if named else told

    def member(self, node: int, value: float | None = None, measure: Measure | None = None) -> Member:
        """A member with all but its path."""
        graph, named = self.release.graph, self.named(node)
        dates = self.details.dates(node)
        return Member(
            named.iri,
            named.label,
            value,
            "" if value is None else self.shown(value, measure),
            dates.text if dates else "",
            next(iter(graph.images(node)), ""),
            tuple(self.named(kind) for kind in type_nodes(graph, node)),
            self.details.classes(node),
        )

    def shown(self, value: float, measure: Measure | None) -> str:
        """A value in words: a day number as its year, since a day is often only where a year begins."""
        if measure is not None and measure.kind in ("earliest", "latest"):
            return describe(year_interval(civil(int(value))[0]), self.language)
        return written(value)

    def all_named(self, nodes: Iterable[int]) -> tuple[Named, ...]:
        return tuple(map(self.named, nodes))


def count_cell(number: int) -> Cell:
    return Cell(str(number), "", "http://www.w3.org/2001/XMLSchema#integer", "", number)


def written(value: float) -> str:
    """A number without a fraction where it has none."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def number_of(text: str) -> float | None:
    """The finite number that a text writes, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(text) if text.strip().lstrip("+-").isdecimal() and len(text) < 16 else number
