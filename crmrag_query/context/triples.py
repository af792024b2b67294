"""Triples that no line of the context states yet, by priority (facts: method, Query, Context)."""

from __future__ import annotations

import heapq
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.release import Release
from crmrag_query.config.models import Method
from crmrag_query.context.budget import Budget, pay
from crmrag_query.context.lines import Names, Read
from crmrag_query.context.records import ContextLine, Kind
from crmrag_query.context.stated import Fact, Facts, Row
from crmrag_query.context.text import plain
from crmrag_query.dates import describe
from crmrag_query.graph.arrays import FLAG_LABELLED
from crmrag_query.graph.graph import Graph

BOTH, HIGH_VALUE, LABELLED, OTHER = range(
    4
)  # priorities: both ends retrieved, high-value property, labelled, other


@dataclass(frozen=True)
class Enrichment:
    """Chooses and writes the triples around retrieved entities."""

    release: Release
    method: Method
    facts: Facts
    names: Names
    language: str
    _written: dict[int, str] = field(default_factory=dict)

    def lines(
        self, reads: Sequence[Read], given: set[Fact], budget: Budget, others: Sequence[Budget]
    ) -> list[ContextLine]:
        """Lines for the entities of ``reads``, best source first, of triples that are not among ``given``.

        An entity takes at most ``per_entity`` triples and max(``entity_characters``, characters / entities) characters.
        What is taken is paid from ``budget`` and the ``others``, and joins ``given``.
        """
        limits = self.method.context.triples
        home = {entity: read.n for read in reversed(reads) for entity in read.headers}
        retrieved = frozenset(home)
        share = max(limits.entity_characters, limits.characters // max(1, len(home)))
        found: list[ContextLine] = []
        for read in reads:
            for entity in read.headers:
                if home[entity] == read.n:
                    own = budget.part(share)
                    chosen = self.choose(entity, retrieved, given)
                    found += self._write(read.n, entity, chosen, given, [own, budget, *others])
        return found

    def choose(self, entity: int, retrieved: Container[int], given: Container[Fact]) -> list[Row]:
        """At most ``per_entity`` triples of an entity, by priority, then the order of ``high_value``, then number; without
        those ``given``."""
        rows = (row for row in self.facts.triples_of(entity) if row[0] not in given)
        shown = (row for row in rows if not self._excluded[row[2]])
        ranked = (((*self._priority(row, entity, retrieved), row[0]), row) for row in shown)
        return [row for _, row in heapq.nsmallest(self.method.context.triples.per_entity, ranked)]

    def _priority(self, row: Row, entity: int, retrieved: Container[int]) -> tuple[int, int]:
        """The priority of a triple, and the place of its property among the high-value ones."""
        _, s, p, o = row
        other, place = o if s == entity else s, self._value[p]
        if other in retrieved:
            return BOTH, place
        if place < len(self.method.context.triples.high_value):
            return HIGH_VALUE, place
        return (LABELLED if self._flags[other] & FLAG_LABELLED else OTHER), place

    def _write(
        self, n: int, entity: int, rows: Sequence[Row], given: set[Fact], budgets: Sequence[Budget]
    ) -> list[ContextLine]:
        """Lines of triples; those that read the same, as to things of one name, are one line with their number."""
        alike: dict[str, dict[Fact, Row]] = {}
        seen: set[Fact] = set()
        for row in rows:
            _, s, p, o = row
            fact = self._fact(s, p, o)
            if fact not in given and fact not in seen:
                seen.add(fact)
                text = f"{self._name(s)} — {self._property(p)} — {self._name(o)}"
                alike.setdefault(text, {})[fact] = row
        lines = []
        for text, found in alike.items():
            text += f" ×{len(found)}" if len(found) > 1 else ""
            if pay([text], budgets):
                numbers = tuple(row[0] for row in found.values())
                given.update(found, numbers)
                others = (o if s == entity else s for _, s, _, o in found.values())
                lines.append(
                    ContextLine(text, Kind.TRIPLE, n, tuple(dict.fromkeys((entity, *others))), None, numbers)
                )
        return lines

    def _fact(self, s: int, p: int, o: int) -> Fact:
        """The same for a triple and for its inverse, where the data states both."""
        code = self.release.graph.property_code(p)
        if not code:
            return ("triple", p, s, o)
        return ("triple", code[:-1], o, s) if code.endswith("i") else ("triple", code, s, o)

    def _name(self, node: int) -> str:
        """A node's name; of a time-span its dates, of an event its name with them. Kept for one question."""
        if node not in self._written:
            self._written[node] = self._with_dates(node)
        return self._written[node]

    def _with_dates(self, node: int) -> str:
        graph, name = self.release.graph, self.names.of(node)
        dates = self._dates(node)
        if dates and self._is_span(node):
            return dates
        if not dates:
            forward = graph.adjacency.forward
            spans = [span for p in self._span_properties for span in forward.neighbours(p, node).tolist()]
            dates = next(filter(None, map(self._dates, spans)), "")
        return f"{name} ({dates})" if dates and dates not in name else name

    def _dates(self, node: int) -> str:
        """The dates stated on a node; most have none, which is seen without reading the table."""
        at = int(np.searchsorted(self._dated, node))
        dated = at < len(self._dated) and self._dated[at] == node
        return dates_of(self.release.graph, node, self.language) if dated else ""

    @cached_property
    def _dated(self) -> npt.NDArray[np.int32]:
        """int32 [dates]: the nodes that have dates, ascending."""
        nodes: npt.NDArray[np.int32] = self.release.graph.timespan_table.column("node").to_numpy()
        return nodes

    def _property(self, number: int) -> str:
        graph = self.release.graph
        return plain(graph.property_label(number, lang=self.language)) or plain(graph.property_iri(number))

    def _is_span(self, node: int) -> bool:
        graph, ontology = self.release.graph, self.release.ontology
        codes = (graph.class_code(number) for number in graph.types(node).tolist())
        return any(code and ontology.is_a(code, "E52") for code in codes)

    @cached_property
    def _span_properties(self) -> tuple[int, ...]:
        by_code = self.release.graph.adjacency.by_code
        return tuple(n for code in self.method.dates.time_span_properties for n in by_code.get(code, ()))

    @cached_property
    def _excluded(self) -> list[bool]:
        """Of each property whether it is never shown, by exact IRI or code."""
        graph, excluded = self.release.graph, frozenset(self.method.context.triples.excluded)
        codes = enumerate(graph.property_codes)
        return [code in excluded or graph.property_iri(number) in excluded for number, code in codes]

    @cached_property
    def _value(self) -> list[int]:
        """Of each property its place among the high-value ones, their number for any other."""
        high = self.method.context.triples.high_value
        place = {code: at for at, code in reversed(list(enumerate(high)))}
        return [place.get(code, len(high)) for code in self.release.graph.property_codes]

    @cached_property
    def _flags(self) -> npt.NDArray[np.uint8]:
        return self.release.graph.flags.view(np.ndarray)


def dates_of(graph: Graph, node: int, language: str) -> str:
    """The dates stated on a node in the language, else in the source's words; "" for none."""
    span = graph.timespan(node)
    if span is None:
        return ""
    return (describe(span.interval, language) if span.interval else "") or plain(span.text)
