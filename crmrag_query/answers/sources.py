"""Sources of an answer, down to the triple."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from crmrag_query.answers.details import Details
from crmrag_query.answers.naming import category_name
from crmrag_query.answers.records import Source, SourceLink, SourceTriple
from crmrag_query.artifacts.release import Release
from crmrag_query.context.text import shorten
from crmrag_query.documents.documents import Line
from crmrag_query.graph.arrays import FLAG_SUSPECT
from crmrag_query.relationships.explain import explain

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SHOWN_TARGETS = 50  # targets of one line whose triples are given as evidence; the text never names more


@dataclass
class SourceList:
    """Numbers entities in the order in which they are first cited, and collects the triples behind each citation.

    ``language``: the one that labels are given in where the data has it; ``scores``: how well the document of an entity
    fits the question, for those retrieved.
    """

    release: Release
    language: str
    scores: Mapping[int, float] = field(default_factory=dict)
    _triples: dict[int, dict[tuple[str, str, str], SourceTriple]] = field(default_factory=dict)
    _numbers: dict[int, int] = field(default_factory=dict)
    _shown: dict[int, dict[int, None]] = field(default_factory=dict)
    _snippets: dict[int, str] = field(default_factory=dict)

    @cached_property
    def details(self) -> Details:
        return Details(self.release, self.language)

    def cite(
        self,
        entity: int,
        triples: Iterable[SourceTriple] = (),
        lines: Iterable[Line] = (),
        entities: Iterable[int] = (),
        snippet: str = "",
    ) -> int:
        """The number (from 1) of ``entity`` as a source; ``triples`` are added to its evidence, each once.

        ``lines`` of its document are what was said of it, the best first: the first is its snippet where none is given,
        and whom they are about are entities shown with it, as ``entities`` are.
        """
        held = self._triples.setdefault(entity, {})
        for triple in triples:
            held.setdefault((triple.s, triple.p, triple.o), triple)
        about = list(lines)
        shown = self._shown.setdefault(entity, {})
        shown.update(
            dict.fromkeys(node for node in (*entities, *(one.entity for one in about)) if node != entity)
        )
        if snippet or about:
            self._snippets.setdefault(entity, snippet or self._text(about[0]))
        return self._numbers.setdefault(entity, len(self._numbers) + 1)

    def __len__(self) -> int:
        return len(self._numbers)

    def has(self, entity: int) -> bool:
        """Whether the entity is a source already."""
        return entity in self._numbers

    def sources(self) -> tuple[Source, ...]:
        """The sources in the order of their numbers."""
        return tuple(self._source(entity) for entity in self._triples)

    def _text(self, line: Line) -> str:
        return self.release.documents.text(line.document)[line.start : line.end]

    def _source(self, entity: int) -> Source:
        graph, details = self.release.graph, self.details
        licence, attribution = details.rights(entity)
        return Source(
            self._numbers[entity],
            graph.iri(entity),
            graph.label(entity, (self.language,)),
            category_name(graph, entity),
            tuple(self._triples[entity].values()),
            details.classes(entity),
            shorten(self._snippets.get(entity, ""), details.config.snippet_characters),
            tuple(details.named(other) for other in self._shown[entity]),
            tuple(graph.images(entity)),
            tuple(SourceLink(link.iri, link.kind) for link in graph.links(entity)),
            licence,
            attribution,
            details.coordinates(entity),
            details.dates(entity),
            score=self.scores.get(entity),
        )

    def suspects(self) -> list[str]:
        """Labels of the cited entities that may be several things merged under one IRI."""
        graph = self.release.graph
        return [graph.label(entity) for entity in self._triples if graph.flags[entity] & FLAG_SUSPECT]

    def line_triples(self, line: Line, targets: Sequence[int] | None = None) -> Iterator[SourceTriple]:
        """The triples that a line states, or those of it that lead to ``targets``."""
        chosen = list(line.targets if targets is None else targets)[:SHOWN_TARGETS]
        if line.kind == Line.FR:
            for target in chosen:
                yield from self._way(line, target)
        elif line.kind == Line.TYPE:
            yield from self.type_triples(line.entity)
        elif chosen:
            yield from self._between(line.entity, frozenset(chosen))
        else:
            yield from self._literals(line.entity, line.key)

    def type_triples(self, entity: int) -> Iterator[SourceTriple]:
        """What says of which classes and types (P2) the entity is."""
        graph = self.release.graph
        for number in graph.types(entity):
            label = graph.label(entity, (self.language,))
            class_iri, class_label = graph.class_iri(int(number)), graph.class_label(int(number))
            yield SourceTriple(graph.iri(entity), RDF_TYPE, class_iri, label, "is a", class_label)
        for prop in graph.adjacency.by_code.get("P2", ()):
            for kind in graph.adjacency.forward.neighbours(prop, entity):
                yield self._triple(entity, prop, int(kind))

    def _way(self, line: Line, target: int) -> Iterator[SourceTriple]:
        release = self.release
        relationship = release.catalogue[release.catalogue.number(line.key)]
        for hop in explain(release.graph.adjacency, release.ontology, relationship, line.entity, target):
            yield self._triple(hop.subject, hop.property, hop.object)

    def _between(self, entity: int, others: frozenset[int]) -> Iterator[SourceTriple]:
        for triple in self.release.triples.of(entity):
            if triple.s in others or triple.o in others:
                yield self._triple(triple.s, triple.p, triple.o)

    def _literals(self, entity: int, key: str) -> Iterator[SourceTriple]:
        graph = self.release.graph
        for literal in graph.literals(entity):
            if key in (graph.property_code(literal.property), graph.property_iri(literal.property)):
                yield SourceTriple(
                    graph.iri(entity),
                    graph.property_iri(literal.property),
                    literal.value,
                    graph.label(entity, (self.language,)),
                    graph.property_label(literal.property),
                    literal.value,
                    literal.graphs,
                )

    def _triple(self, s: int, p: int, o: int) -> SourceTriple:
        graph, language = self.release.graph, (self.language,)
        return SourceTriple(
            graph.iri(s),
            graph.property_iri(p),
            graph.iri(o),
            graph.label(s, language),
            graph.property_label(p, lang=self.language),
            graph.label(o, language),
            self.release.triples.graphs(graph.adjacency.forward.position(p, s, o)),
        )
