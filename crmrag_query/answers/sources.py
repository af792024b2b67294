"""Sources of an answer, down to the triple: numbered, with the triples that lines state; and the lineage of a triple.

The lineage tells where a triple comes from and where it shows: document line, way of the relationship, chunk, source and
fetch time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from crmrag_query.answers.records import (
    Lineage,
    LineageLine,
    Origin,
    Source,
    SourceLink,
    Step,
)
from crmrag_query.artifacts.manifest import chunk_of
from crmrag_query.artifacts.release import Release
from crmrag_query.config.sources import file_of_graph
from crmrag_query.context.context import ContextLine, Finding, Kind
from crmrag_query.documents.documents import KIND_NAMES, Documents, Line
from crmrag_query.documents.pages import Pages, is_read
from crmrag_query.entities.details import Details, category_name
from crmrag_query.graph.arrays import FLAG_SUSPECT
from crmrag_query.graph.graph import Graph, Literal, TriplesIndex
from crmrag_query.plans.world import World
from crmrag_query.relationships.engine import Hop, Path, Relationship, explain, legs_of, way_by
from crmrag_query.shown import Coordinates, Dates, Named, SourceTriple
from crmrag_query.syntax import RDF_TYPE
from crmrag_query.text import ELLIPSIS, plain, shorten

SNIPPET_CHARACTERS = 300
WAYS = 1000  # of relationships looked at for one triple, so that no triple takes for ever
SHOWN_TARGETS = 50  # targets of one line whose triples are given as evidence; the text never names more


@dataclass
class _Held:
    """What is held of a source: its number, its triples, each once, the entities shown with it, what was said of it."""

    n: int
    triples: dict[tuple[str, str, str], SourceTriple] = field(default_factory=dict)
    shown: dict[int, None] = field(default_factory=dict)
    snippet: str = ""


@dataclass
class SourceList:
    """Numbers entities and findings in the order in which they are first cited, and collects the triples behind each.

    ``language``: the one that labels are given in where the data has it; ``scores``: how well the document of an entity
    fits the question, for those retrieved; ``described``: entities with all that does not depend on what is cited of them,
    which the lists of one answer share.
    """

    release: Release
    language: str
    scores: Mapping[int, float] = field(default_factory=dict)
    described: dict[int, Source] = field(default_factory=dict, repr=False)
    _held: dict[int | Finding, _Held] = field(default_factory=dict)

    @cached_property
    def details(self) -> Details:
        return Details(self.release, self.language)

    def cite(
        self,
        about: int | Finding,
        triples: Iterable[SourceTriple] = (),
        entities: Iterable[int] = (),
        snippet: str = "",
    ) -> int:
        """The number (from 1) of an entity or finding as a source; ``triples`` are added to its evidence, each once.

        ``entities`` are shown with it; ``snippet``: what was said of it.
        """
        held = self._held.setdefault(about, _Held(len(self._held) + 1))
        for triple in triples:
            held.triples.setdefault((triple.s, triple.p, triple.o), triple)
        held.shown.update(dict.fromkeys(node for node in entities if node != about))
        held.snippet = held.snippet or snippet
        return held.n

    def __len__(self) -> int:
        return len(self._held)

    def has(self, about: int | Finding) -> bool:
        """Whether the entity or finding is a source already."""
        return about in self._held

    def sources(self) -> tuple[Source, ...]:
        """The sources in the order of their numbers."""
        details, new = self.details, [one for one in self._entities() if one not in self.described]
        told = zip(
            new, details.all_rights(new), details.all_coordinates(new), details.all_dates(new), strict=True
        )
        self.described.update((one[0], self._described(*one)) for one in told)
        return tuple(
            self._found(one, held) if isinstance(one, Finding) else self._source(one, held)
            for one, held in self._held.items()
        )

    def _entities(self) -> list[int]:
        return [one for one in self._held if not isinstance(one, Finding)]

    def said(self) -> dict[int, list[str]]:
        """All that each source says, by its number: name, snippet, text, triples."""
        graph, found = self.release[Graph], dict[int, list[str]]()
        for about, held in self._held.items():
            if isinstance(about, Finding):
                one = self._found(about, held)
                lines = [one.label, one.snippet, one.text, *map(str, one.triples)]
            else:
                snippet = shorten(held.snippet, SNIPPET_CHARACTERS)
                lines = [graph.label(about, (self.language,)), snippet, *map(str, held.triples.values())]
            found[held.n] = lines
        return found

    def _found(self, finding: Finding, held: _Held) -> Source:
        named, graph = self.details.named, self.release[Graph]
        stated = {(one.s, one.p, one.o): one for number in finding.triples for one in self._numbered(number)}
        return Source(
            held.n,
            finding.id,
            finding.label,
            finding.kind.capitalize(),
            tuple((stated | held.triples).values()),
            snippet=shorten(held.snippet or finding.texts[0], SNIPPET_CHARACTERS),
            entities=tuple(map(named, dict.fromkeys((*finding.entities, *held.shown)))),
            kind=finding.kind,
            text="\n".join(finding.texts),
            origin=finding.origin,
            read=bool(finding.entities) and all(is_read(graph.iri(one)) for one in finding.entities),
        )

    def _pages(self, iris: Iterable[str]) -> tuple[Named, ...]:
        """The pages that these are, or that a machine read them from."""
        pages, graph = self.release[Pages], self.release[Graph]
        found = dict.fromkeys(
            page for iri in iris for page in ((iri,) if iri in pages.by_iri else pages.of_things.get(iri, ()))
        )
        nodes = (graph.node(page) for page in found)
        return tuple(self.details.named(node) for node in nodes if node is not None)

    def _source(self, entity: int, held: _Held) -> Source:
        return replace(
            self.described[entity],
            n=held.n,
            triples=tuple(held.triples.values()),
            snippet=shorten(held.snippet, SNIPPET_CHARACTERS),
            entities=tuple(map(self.details.named, held.shown)),
            score=self.scores.get(entity),
        )

    def _described(
        self, entity: int, rights: tuple[str, str], coordinates: Coordinates | None, dates: Dates | None
    ) -> Source:
        graph, iri = self.release[Graph], self.release[Graph].iri(entity)
        licence, attribution = rights
        return Source(
            0,
            iri,
            graph.label(entity, (self.language,)),
            category_name(graph, entity),
            (),
            self.details.classes(entity),
            images=tuple(graph.images(entity)),
            links=tuple(SourceLink(link.iri, link.kind) for link in graph.links(entity)),
            licence=licence,
            attribution=attribution,
            coordinates=coordinates,
            dates=dates,
            read=is_read(iri),
            pages=self._pages((iri,)),
        )

    def suspects(self) -> list[str]:
        """Labels of the cited entities that may be several things merged under one IRI."""
        graph = self.release[Graph]
        return [graph.label(one) for one in self._entities() if graph.flags[one] & FLAG_SUSPECT]

    def line_triples(self, line: Line, targets: Sequence[int] | None = None) -> Iterator[SourceTriple]:
        """The triples that a line states, or those of it that lead to ``targets``."""
        release, graph = self.release, self.release[Graph]
        chosen = list(line.targets if targets is None else targets)[:SHOWN_TARGETS]
        if line.kind == Line.FR:
            relationship = (
                release[World].catalogue[release[World].catalogue.number(line.key)].as_told(line.label)
            )
            for target in chosen:
                hops = explain(graph.adjacency, release.ontology, relationship, line.entity, target)
                yield from (self._triple(hop.subject, hop.property, hop.object) for hop in hops)
        elif line.kind == Line.TYPE:
            yield from self.type_triples(line.entity)
        elif line.kind == Line.PASSAGE:
            (source,) = line.targets or (line.entity,)
            if source != line.entity:
                for triple in release[TriplesIndex].between(source, (line.entity,)):
                    yield self._triple(triple.s, triple.p, triple.o)
            yield from self._literals(source, line.key)
        elif chosen:
            for triple in release[TriplesIndex].between(line.entity, chosen):
                yield self._triple(triple.s, triple.p, triple.o)
        else:
            yield from self._literals(line.entity, line.key)

    def _literals(self, entity: int, key: str) -> Iterator[SourceTriple]:
        """The literals of a node by a property, its code or IRI."""
        graph = self.release[Graph]
        for literal in graph.literals(entity):
            if key in (graph.property_code(literal.property), graph.property_iri(literal.property)):
                yield self._literal(entity, literal)

    def type_triples(self, entity: int) -> Iterator[SourceTriple]:
        """What says of which classes and types (P2) the entity is."""
        graph = self.release[Graph]
        for number in graph.types(entity):
            label = graph.label(entity, (self.language,))
            class_iri, class_label = graph.class_iri(int(number)), graph.class_label(int(number))
            yield SourceTriple(graph.iri(entity), RDF_TYPE, class_iri, label, "is a", class_label)
        for prop in graph.adjacency.by_code.get("P2", ()):
            for kind in graph.adjacency.forward.neighbours(prop, entity):
                yield self._triple(entity, prop, int(kind))

    def trace(self, line: ContextLine) -> Iterator[SourceTriple]:
        """The triples that a line of the context states, each once.

        A header gives the triples of the classes, types and names that it holds; a time-span or name comes with its literals.
        Counts and texts from Wikidata state no triple of the data: none.
        """
        seen: set[tuple[str, str, str]] = set()
        for triple in self._traced(line):
            if (triple.s, triple.p, triple.o) not in seen:
                seen.add((triple.s, triple.p, triple.o))
                yield triple

    def _traced(self, line: ContextLine) -> Iterator[SourceTriple]:
        for number in line.triples:
            yield from self._numbered(number)
        told = line.line
        if told is None:
            return
        if line.kind is Kind.HEADER:
            yield from self.type_triples(told.entity)
            yield from self._names(told.entity, line.text)
        if line.kind is Kind.HEADER or told.kind == Line.SATELLITE:
            for node in line.shown or told.targets:  # how it is joined to the satellites, and what these say
                yield from self._way(told.entity, node)
                yield from (self._literal(node, one) for one in self.release[Graph].literals(node))
        if line.kind is not Kind.DOCUMENT:
            return
        if told.kind == Line.SATELLITE:
            own = list(self._names(told.entity, line.text))
            yield from own or ([] if told.targets else self._near(told.entity, line.text))
        else:
            yield from self.line_triples(told, None if told.kind == Line.LITERAL else line.shown or None)

    def _names(self, entity: int, text: str) -> Iterator[SourceTriple]:
        """Literals of an entity whose value stands in a text, whole or as far as the text was cut."""
        for literal in self.release[Graph].literals(entity):
            value = plain(literal.value)
            if (
                (len(value) >= SHORTEST and value in text)
                or text.endswith(f" {value}")
                or any(len(part) > SHORTEST and value.startswith(part) for part in _before_ellipses(text))
            ):
                yield self._literal(entity, literal)

    def _near(self, entity: int, text: str) -> Iterator[SourceTriple]:
        """Names that stand in a text and are literals of what an entity's triples lead to, with those triples."""
        for triple in self.release[TriplesIndex].of(entity, LOOKED_AT):
            found = list(self._names(triple.o if triple.s == entity else triple.s, text))
            if found:
                yield from self._numbered(triple.number)
                yield from found

    def _way(self, entity: int, node: int) -> Iterator[SourceTriple]:
        """The triples between two nodes, else the first way over one node between them."""
        index = self.release[TriplesIndex]
        own = index.of(entity, LOOKED_AT)
        direct = [triple.number for triple in own if node in (triple.s, triple.o)]
        for number in direct:
            yield from self._numbered(number)
        if direct:
            return
        near = {triple.o if triple.s == entity else triple.s: triple.number for triple in reversed(own)}
        for triple in index.of(node, LOOKED_AT):
            between = triple.o if triple.s == node else triple.s
            if between in near:
                yield from self._numbered(near[between])
                yield from self._numbered(triple.number)
                return

    def _numbered(self, number: int) -> Iterator[SourceTriple]:
        """A triple by its number; with the literals of its object where that is a time-span."""
        graph, one = self.release[Graph], self.release[TriplesIndex].triple(number)
        yield self._triple(one.s, one.p, one.o)
        if graph.timespan(one.o) is not None:
            yield from (self._literal(one.o, literal) for literal in graph.literals(one.o))

    def _triple(self, s: int, p: int, o: int) -> SourceTriple:
        graph, language = self.release[Graph], (self.language,)
        return SourceTriple(
            graph.iri(s),
            graph.property_iri(p),
            graph.iri(o),
            graph.label(s, language),
            graph.property_label(p, lang=self.language),
            graph.label(o, language),
            self.release[TriplesIndex].graphs(graph.adjacency.forward.position(p, s, o)),
        )

    def _literal(self, entity: int, literal: Literal) -> SourceTriple:
        graph = self.release[Graph]
        return SourceTriple(
            graph.iri(entity),
            graph.property_iri(literal.property),
            literal.value,
            graph.label(entity, (self.language,)),
            graph.property_label(literal.property, lang=self.language),
            literal.value,
            literal.graphs,
        )


LOOKED_AT = 2000  # triples of a node that are looked through for a way to a satellite of a satellite
SHORTEST = 3  # characters of a value that is recognised within a longer text


def _before_ellipses(text: str) -> list[str]:
    """What stands before each ellipsis, from the last separator on."""
    parts = text.split(ELLIPSIS)[:-1]
    return [part.rpartition("; ")[2].partition(": ")[2] or part.rpartition("; ")[2] for part in parts]


def lineage(release: Release, s: str, p: str, o: str, source: str = "") -> Lineage:
    """The lineage of a triple given by IRIs; of a literal ``o`` is its text.

    Looked at are the document of ``source``, the IRI of a source that shows it, and those that hold the facts of its subject
    and of its object. A triple that the data does not state has no lines. At most ``WAYS`` ways are walked.
    """
    graph = release[Graph]
    subject, target, found = graph.node(s), graph.node(o), graph.node(source) if source else None
    stated, graphs = _stated(release, subject, p, o, target)
    lines: list[LineageLine] = []
    complete = True
    if stated and subject is not None:
        search = _Search(release, subject, p, o, target, WAYS)
        near = [node for node in (found, subject, target) if node is not None]
        documents = (release[Documents].document_of(node) for node in near)
        for document in dict.fromkeys(document for document in documents if document is not None):
            lines += search.lines_of(document)
        complete = search.left > 0
    chunk = chunk_of(s, release.manifest.counts.get("chunks", 1))
    on = release[Pages].statements.get((s, p, o), ())
    pages = (Named(page, graph.label(node)) for page in on if (node := graph.node(page)) is not None)
    return Lineage(
        s, p, o, stated, graphs, chunk, tuple(lines), origin(release, chunk, graphs), complete, tuple(pages)
    )  # fmt: skip


def origin(release: Release, chunk: str, graphs: Sequence[str] = ()) -> Origin | None:
    """Where the release's triples were read, and when those of ``chunk`` were; None without provenance.

    Of several sources those that a triple of these ``graphs`` is from; all of them where none has such a graph.
    """
    told = release.provenance
    if told is None:
        return None
    source, harvest = told.get("source", {}), told.get("harvest", {})
    stated = [one for one in source.get("sources", ()) if one.get("graph") in graphs] or [source]
    places = [[one["endpoint"]] if one.get("endpoint") else one.get("declared", ()) for one in stated]
    read = (harvest.get("reading") or {}).get("files", ())
    told_apart = tuple(dict.fromkeys(filter(None, map(file_of_graph, graphs))))
    return Origin(
        tuple(str(place) for one in places for place in one),
        told_apart or tuple(str(one.get("file", "")) for one in read),
        any(one.get("endpoint") for one in stated),
        str((told.get("fetched") or {}).get(chunk, "")),
        str(told.get("built", "")),
        str(source.get("fingerprint", "")),
    )


def _stated(
    release: Release, subject: int | None, p: str, o: str, target: int | None
) -> tuple[bool, tuple[str, ...]]:
    """Whether the data states a triple, and the named graphs that do; those of types are not held."""
    graph = release[Graph]
    if subject is None:
        return False, ()
    if p == RDF_TYPE and any(graph.class_iri(int(number)) == o for number in graph.types(subject)):
        return True, ()
    if target is not None:
        with suppress(KeyError):  # no such property, or no such triple
            number = graph.adjacency.forward.position(release[World].property_numbers[p], subject, target)
            return True, release[TriplesIndex].graphs(number)
    for literal in graph.literals(subject):
        if literal.value == o and graph.property_iri(literal.property) == p:
            return True, literal.graphs
    return False, ()


@dataclass
class _Search:
    """Looks for one triple in the lines of documents; ``left`` ways may still be walked."""

    release: Release
    subject: int
    p: str
    o: str
    target: int | None
    left: int
    _held: dict[str, bool] = field(default_factory=dict)

    def lines_of(self, document: int) -> Iterator[LineageLine]:
        """The lines of a document that state the triple, in order."""
        store = self.release[Documents]
        text = store.text(document)
        for line in store.lines(document):
            if line.kind == Line.FR:
                if (found := self._by_way(line)) is not None:
                    relationship, path, way = found
                    yield self._line(document, text, line, relationship.id, path.id, way)
            elif self._states(line):
                yield self._line(document, text, line)

    def _states(self, line: Line) -> bool:
        """Whether a line that states triples directly states this one."""
        ends, names = {self.subject, self.target}, {self.p}
        if (number := self.release[World].property_numbers.get(self.p)) is not None:
            names.add(self.release[Graph].property_code(number))
        if line.kind in (Line.HEADER, Line.NOTE):
            return False
        if line.kind == Line.TYPE and self.p == RDF_TYPE:
            return line.entity == self.subject and line.key == "rdf:type"
        if line.kind == Line.SATELLITE:
            return bool(ends.intersection(line.targets)) and (
                line.entity in ends or self.subject in line.targets
            )
        if self.target is None:
            return line.entity == self.subject and line.key in names
        other = self.target if line.entity == self.subject else self.subject
        keyed = any(line.key in (name, f"{name}i", name.removesuffix("i")) for name in names if name)
        return line.entity in ends and other in line.targets and keyed

    def _by_way(self, line: Line) -> tuple[Relationship, Path, list[Hop]] | None:
        """The relationship and path by which the triple came into a line, and the way; None when by none."""
        catalogue = self.release[World].catalogue
        relationship = catalogue[catalogue.number(line.key)]
        ends = {self.subject, self.target}
        # A way to an end of the triple is likelier to run over it than others are; the line tells a time-span's dates.
        targets = sorted(line.targets, key=lambda node: node not in ends)
        dates = self.target is None and self.release[Graph].timespan(self.subject) is not None
        if self.target is None:
            targets = [self.subject] if dates and self.subject in targets else []
        for target in targets:
            for path in filter(self._may_hold, relationship.paths):
                if self.left <= 0:
                    return None
                self.left -= 1
                way = way_by(self.release[Graph].adjacency, self.release.ontology, path, line.entity, target)
                stated = {
                    (hop.subject, self.release[Graph].property_iri(hop.property), hop.object) for hop in way
                }
                if (self.subject, self.p, self.target) in stated or (way and dates):
                    return relationship, path, way
        return None

    def _may_hold(self, path: Path) -> bool:
        """Whether a step of the path can be the triple's property; any path may tell the dates of a literal's subject."""
        if self.target is None:
            return True
        if path.id not in self._held:
            legs = legs_of(self.release[Graph].adjacency, self.release.ontology, path.steps) or ()
            walked = {prop for leg in legs for prop, _ in leg.moves}
            self._held[path.id] = self.release[World].property_numbers.get(self.p) in walked
        return self._held[path.id]

    def _line(
        self,
        document: int,
        text: str,
        line: Line,
        relationship: str = "",
        path: str = "",
        way: Sequence[Hop] = (),
    ) -> LineageLine:
        graph, store = self.release[Graph], self.release[Documents]
        steps = (
            Step(
                graph.iri(hop.subject), graph.property_iri(hop.property), graph.iri(hop.object),
                graph.label(hop.subject), graph.property_label(hop.property), graph.label(hop.object), hop.forward,
            )
            for hop in way
        )  # fmt: skip
        return LineageLine(
            graph.iri(store.entity(document)), store.label(document), graph.iri(line.entity), KIND_NAMES[line.kind],
            text[line.start : line.end], line.start, line.end, relationship, path, tuple(steps),
        )  # fmt: skip
