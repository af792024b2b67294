"""Entities and what stands around them as RDF, in the one vocabulary that shapes are written for: see crm.ttl."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import rdflib
from rdflib import RDF, RDFS, XSD, URIRef

from crmrag_query.config.build import Dates
from crmrag_query.dates import parse_date
from crmrag_query.graph.arrays import FLAG_LABELLED, Ints, Rows
from crmrag_query.graph.graph import Graph
from crmrag_query.graph.records import Literal
from crmrag_query.ontology.tables import Ontology, Term

OURS = rdflib.Namespace("urn:crmrag:")
BOUNDS = {
    "outer_begin": "outerBegin",
    "outer_end": "outerEnd",
    "inner_begin": "innerBegin",
    "inner_end": "innerEnd",
}
BEGINS = ("outer_begin", "inner_begin")  # bounds of which a date's first day counts; of the others its last

Readings = tuple[tuple[URIRef, bool], ...]
"""Properties that a statement states, and whether in its own direction."""


@dataclass(frozen=True)
class View:
    """A graph as shapes see it; ``statements``: at most so many of one property of an entity, either way."""

    graph: Graph
    ontology: Ontology
    dates: Dates
    statements: int
    _readings: dict[int, Readings] = field(default_factory=dict)

    def around(self, entities: Ints) -> rdflib.Graph:
        """What the entities state and what points at them, and of what they are connected with classes and literals."""
        found = rdflib.Graph()
        with _quiet():
            near = [entities]
            for subjects, number, objects in self._links(entities):
                near += [subjects, objects]
                for s, o in zip(subjects.tolist(), objects.tolist(), strict=True):
                    self._add(found, number, self._iri(s), self._iri(o))
            for node in np.unique(np.concatenate(near)).tolist():
                self._describe(found, node)
            for node in entities.tolist():
                found.add((self._iri(node), RDF.type, OURS.Entity))
            for number in {n for node in entities.tolist() for n in self.graph.types(node).tolist()}:
                self._place(found, number)
        return found

    def _links(self, entities: Ints) -> Iterator[tuple[Ints, int, Ints]]:
        """(subjects, property, objects) of statements of the entities, and of those about them."""
        adjacency = self.graph.adjacency
        for number in range(len(adjacency.codes)):
            own, others = _first(adjacency.forward, number, entities, self.statements)
            yield own, number, others
            own, others = _first(adjacency.backward, number, entities, self.statements)
            yield others, number, own

    def _iri(self, node: int) -> URIRef:
        return URIRef(self.graph.iri(node))

    def _add(self, found: rdflib.Graph, number: int, subject: URIRef, value: rdflib.term.Node) -> None:
        """A statement, by every property that it states; one with a literal is not turned round."""
        for iri, forward in self._read(number):
            if forward:
                found.add((subject, iri, value))
            elif isinstance(value, URIRef):
                found.add((value, iri, subject))

    def _read(self, number: int) -> Readings:
        if number not in self._readings:
            own = URIRef(self.graph.property_iri(number)), True
            above = readings(self.ontology, self.graph.property_code(number))
            self._readings[number] = tuple(dict.fromkeys((own, *above)))
        return self._readings[number]

    def _describe(self, found: rdflib.Graph, node: int) -> None:
        """Classes, literals, name and dates of a node."""
        iri = self._iri(node)
        for number in self.graph.types(node).tolist():
            for name in self._class_iris(number):
                found.add((iri, RDF.type, name))
            if code := self.graph.class_code(number):
                found.add((iri, OURS["class"], rdflib.Literal(code)))
        if int(self.graph.flags[node]) & FLAG_LABELLED:
            found.add((iri, OURS["name"], rdflib.Literal(self.graph.label(node))))
        for literal in self.graph.literals(node)[: self.statements]:
            self._add(found, literal.property, iri, _literal(literal))
            self._date(found, iri, literal)

    def _date(self, found: rdflib.Graph, iri: URIRef, literal: Literal) -> None:
        bound = self._bounds.get(literal.property)
        interval = parse_date(literal.value, literal.datatype) if bound else None
        if bound and interval:
            day = interval.begin if bound in BEGINS else interval.end
            if day is not None:
                found.add((iri, OURS[BOUNDS[bound]], rdflib.Literal(day, datatype=XSD.integer)))

    @cached_property
    def _bounds(self) -> Mapping[int, str]:
        """Bound of a time-span by the number of the property that states it."""
        words = {word: bound for bound in BOUNDS for word in getattr(self.dates, bound)}
        graph = self.graph
        named = (
            (n, graph.property_code(n) or graph.property_iri(n)) for n in range(len(graph.property_codes))
        )
        return {number: words[word] for number, word in named if word in words}

    def _class_iris(self, number: int) -> tuple[URIRef, ...]:
        """A class as the data names it, and as its ontology does."""
        term = self.ontology.classes.get(self.graph.class_code(number))
        names = [self.graph.class_iri(number), *([term.iri] if term and term.iri else [])]
        return tuple(URIRef(name) for name in dict.fromkeys(names))

    def _place(self, found: rdflib.Graph, number: int) -> None:
        """What stands above a class."""
        code = self.graph.class_code(number)
        if code in self.ontology.classes:
            for above in self.ontology.superclasses(code):
                if name := self.ontology.classes[above].iri:
                    for own in self._class_iris(number):
                        found.add((own, RDFS.subClassOf, URIRef(name)))


def readings(ontology: Ontology, code: str) -> Readings:
    """What a statement of the property states too: it, all above it, and the inverses of these from the other end."""
    found: dict[tuple[str, bool], None] = {}
    waiting = [(code, True)] if code in ontology.properties else []
    while waiting:
        at = waiting.pop()
        if at in found:
            continue
        found[at] = None
        name, forward = at
        waiting += [(above, forward) for above in ontology.property_(name).parents]
        if inverse := ontology.inverse(name):
            waiting.append((inverse, not forward))
    terms: list[tuple[Term, bool]] = [(ontology.property_(name), forward) for name, forward in found]
    return tuple((URIRef(term.iri), forward) for term, forward in terms if term.iri)


def _first(rows: Rows, number: int, nodes: Ints, most: int) -> tuple[Ints, Ints]:
    """Steps from the nodes by a property, at most so many of each: (from, to)."""
    origin, reached = rows.expand(number, nodes)
    place = np.arange(len(origin)) - np.searchsorted(origin, origin)
    kept = place < most
    return nodes[origin[kept]], reached[kept]


def _literal(literal: Literal) -> rdflib.Literal:
    """The literal as it stands; one whose language is no language keeps its text."""
    datatype = URIRef(literal.datatype) if literal.datatype and not literal.lang else None
    try:
        return rdflib.Literal(literal.value, lang=literal.lang or None, datatype=datatype, normalize=False)
    except ValueError:
        return rdflib.Literal(literal.value)


@contextmanager
def _quiet() -> Iterator[None]:
    """rdflib logs every ill-formed literal and IRI of the data, which is not what is looked for here."""
    logger = logging.getLogger("rdflib")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
