"""From a line of the context to the triples that it states."""

from __future__ import annotations

from collections.abc import Iterator

from crmrag_query.answers.records import SourceTriple
from crmrag_query.answers.sources import SourceList
from crmrag_query.artifacts.release import Release
from crmrag_query.context.records import ContextLine, Kind
from crmrag_query.context.text import ELLIPSIS, plain
from crmrag_query.documents.documents import Line
from crmrag_query.graph.records import Literal

LOOKED_AT = 2000  # triples of a node that are looked through for a way to a satellite of a satellite
SHORTEST = 3  # characters of a value that is recognised within a longer text


def trace(release: Release, line: ContextLine, sources: SourceList) -> Iterator[SourceTriple]:
    """The triples that a line states, in the language of ``sources``, each once.

    A header gives the triples of the classes, types and names that it holds; a time-span or name comes with its literals.
    Counts and texts from Wikidata state no triple of the data: none.
    """
    seen: set[tuple[str, str, str]] = set()
    for triple in _all(release, line, sources):
        if (triple.s, triple.p, triple.o) not in seen:
            seen.add((triple.s, triple.p, triple.o))
            yield triple


def _all(release: Release, line: ContextLine, sources: SourceList) -> Iterator[SourceTriple]:
    for number in line.triples:
        yield from _triple(release, number, sources.language)
    if line.line is None:
        return
    if line.kind is Kind.HEADER:
        yield from sources.type_triples(line.line.entity)
        yield from _names(release, line.line.entity, line.text, sources.language)
    if line.kind is Kind.HEADER or line.line.kind == Line.SATELLITE:
        yield from _satellites(release, line, sources.language)
    if line.kind is Kind.DOCUMENT:
        yield from _document(release, line, line.line, sources)


def _document(release: Release, line: ContextLine, said: Line, sources: SourceList) -> Iterator[SourceTriple]:
    if said.kind == Line.SATELLITE:
        own = list(_names(release, said.entity, line.text, sources.language))
        yield from own or ([] if said.targets else _near(release, said.entity, line.text, sources.language))
    elif said.kind == Line.LITERAL:
        yield from sources.line_triples(said)
    else:
        yield from sources.line_triples(said, line.shown or said.targets)


def _names(release: Release, entity: int, text: str, language: str) -> Iterator[SourceTriple]:
    """Literals of an entity whose value stands in a text, whole or as far as the text was cut."""
    for literal in release.graph.literals(entity):
        value = plain(literal.value)
        if (len(value) >= SHORTEST and value in text) or text.endswith(f" {value}") or _was_cut(value, text):
            yield _literal(release, entity, literal, language)


def _near(release: Release, entity: int, text: str, language: str) -> Iterator[SourceTriple]:
    """Names that stand in a text and are literals of what an entity's triples lead to, with those triples."""
    for triple in release.triples.of(entity, LOOKED_AT):
        found = list(_names(release, triple.o if triple.s == entity else triple.s, text, language))
        if found:
            yield from _triple(release, triple.number, language)
            yield from found


def _was_cut(value: str, text: str) -> bool:
    return any(len(part) > SHORTEST and value.startswith(part) for part in _before_ellipses(text))


def _before_ellipses(text: str) -> list[str]:
    """What stands before each ellipsis, from the last separator on."""
    parts = text.split(ELLIPSIS)[:-1]
    return [part.rpartition("; ")[2].partition(": ")[2] or part.rpartition("; ")[2] for part in parts]


def _satellites(release: Release, line: ContextLine, language: str) -> Iterator[SourceTriple]:
    """How an entity is joined to the satellites that a line names, and what these say."""
    assert line.line is not None
    for node in line.shown or line.line.targets:
        yield from _way(release, line.line.entity, node, language)
        for literal in release.graph.literals(node):
            yield _literal(release, node, literal, language)


def _way(release: Release, entity: int, node: int, language: str) -> Iterator[SourceTriple]:
    """The triples between two nodes, else the first way over one node between them."""
    index = release.triples
    own = index.of(entity, LOOKED_AT)
    direct = [triple.number for triple in own if node in (triple.s, triple.o)]
    for number in direct:
        yield from _triple(release, number, language)
    if direct:
        return
    near = {triple.o if triple.s == entity else triple.s: triple.number for triple in reversed(own)}
    for triple in index.of(node, LOOKED_AT):
        between = triple.o if triple.s == node else triple.s
        if between in near:
            yield from _triple(release, near[between], language)
            yield from _triple(release, triple.number, language)
            return


def _triple(release: Release, number: int, language: str) -> Iterator[SourceTriple]:
    """A triple by its number; with the literals of its object where that is a time-span."""
    graph, one = release.graph, release.triples.triple(number)
    yield SourceTriple(
        graph.iri(one.s),
        graph.property_iri(one.p),
        graph.iri(one.o),
        graph.label(one.s, (language,)),
        graph.property_label(one.p, lang=language),
        graph.label(one.o, (language,)),
        release.triples.graphs(number),
    )
    if graph.timespan(one.o) is not None:
        for literal in graph.literals(one.o):
            yield _literal(release, one.o, literal, language)


def _literal(release: Release, entity: int, literal: Literal, language: str) -> SourceTriple:
    graph = release.graph
    return SourceTriple(
        graph.iri(entity),
        graph.property_iri(literal.property),
        literal.value,
        graph.label(entity, (language,)),
        graph.property_label(literal.property, lang=language),
        literal.value,
        literal.graphs,
    )
