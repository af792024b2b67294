"""What the graph tells of a node, as small frozen records."""

from __future__ import annotations

from dataclasses import dataclass

from crmrag_query.dates.calendar import Interval


@dataclass(frozen=True, slots=True)
class Label:
    """A name of a node; ``lang`` "" when untagged, ``kind`` one of schema.LABEL_KINDS."""

    text: str
    lang: str
    kind: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal of a node: property number, lexical value, datatype IRI ("" for strings), language, named graphs."""

    property: int
    value: str
    datatype: str
    lang: str
    graphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timespan:
    """The dates of a node in day numbers (0001-01-01 = 1, proleptic Gregorian), each end inclusive, None when unknown.

    It lasted at most from ``outer_begin`` to ``outer_end`` and at least from ``inner_begin`` to ``inner_end``;
    ``text`` is how the source states it.
    """

    outer_begin: int | None
    inner_begin: int | None
    inner_end: int | None
    outer_end: int | None
    text: str

    @property
    def interval(self) -> Interval | None:
        """The widest known extent, or None when nothing is known but the text."""
        begin = self.inner_begin if self.outer_begin is None else self.outer_begin
        end = self.inner_end if self.outer_end is None else self.outer_end
        if (begin is None and end is None) or (begin is not None and end is not None and begin > end):
            return None
        return Interval(begin, end)


@dataclass(frozen=True, slots=True)
class Link:
    """The same thing elsewhere; ``kind`` one of schema.LINK_KINDS."""

    iri: str
    kind: str
