"""Where a triple comes from and where it shows: document line, way of the relationship, chunk, source and fetch time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from crmrag_query.artifacts.chunks import chunk_of
from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Line
from crmrag_query.documents.schema import KIND_NAMES
from crmrag_query.graph.graph import Graph
from crmrag_query.relationships.catalogue import Path, Relationship
from crmrag_query.relationships.explain import Hop, way_by
from crmrag_query.relationships.plan import legs_of

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


@dataclass(frozen=True, slots=True)
class Step:
    """A triple on a way, in words; ``forward`` when the way leads from its subject to its object."""

    s: str
    p: str
    o: str
    s_label: str
    p_label: str
    o_label: str
    forward: bool


@dataclass(frozen=True, slots=True)
class LineageLine:
    """A line of a document that states the triple.

    ``document``: IRI of the entity whose document it is, ``entity``: of the one that the line is about; ``start``, ``end``:
    characters of the document's text; ``relationship``, ``path``: id of the Fundamental Relationship and of the path by which
    the triple came into the line, "" for a line that states it directly; ``way``: that path in this data.
    """

    document: str
    document_label: str
    entity: str
    kind: str
    text: str
    start: int
    end: int
    relationship: str = ""
    path: str = ""
    way: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a release's triples were read: ``places`` are files as given, or the endpoint's address.

    ``files``: those that were read, of several no triple tells which it stood in; ``fetched``: when, "" where the provenance
    does not tell; ``built``: when the release was.
    """

    places: tuple[str, ...]
    files: tuple[str, ...]
    endpoint: bool
    fetched: str
    built: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a triple comes from and where it shows.

    ``stated``: the data states it; ``graphs``: the named graphs that do; ``chunk``: key of the chunk that harvested it, its
    subject's; ``origin``: None in a release whose provenance was left out; ``complete``: every line of the documents looked
    at was tried (else ``lineage_ways`` ended it).
    """

    s: str
    p: str
    o: str
    stated: bool
    graphs: tuple[str, ...]
    chunk: str
    lines: tuple[LineageLine, ...]
    origin: Origin | None
    complete: bool = True

    def as_dict(self) -> dict[str, Any]:
        """The record as plain values, ready for JSON."""
        return asdict(self)


def lineage(release: Release, s: str, p: str, o: str, source: str = "") -> Lineage:
    """The lineage of a triple given by IRIs; of a literal ``o`` is its text.

    Looked at are the document of ``source``, the IRI of a source that shows it, and those that hold the facts of its subject
    and of its object. A triple that the data does not state has no lines. At most ``lineage_ways`` ways are walked.
    """
    graph = release.graph
    subject, target, found = graph.node(s), graph.node(o), graph.node(source) if source else None
    stated, graphs = _stated(release, subject, p, o, target)
    lines: list[LineageLine] = []
    complete = True
    if stated and subject is not None:
        search = _Search(release, subject, p, o, target, release.method.answers.lineage_ways)
        near = [node for node in (found, subject, target) if node is not None]
        documents = (release.documents.document_of(node) for node in near)
        for document in dict.fromkeys(document for document in documents if document is not None):
            lines += search.lines_of(document)
        complete = search.left > 0
    chunk = chunk_of(s, release.manifest.counts.get("chunks", 1))
    return Lineage(
        s, p, o, stated, graphs, chunk, tuple(lines), origin(release, chunk), complete
    )  # fmt: skip


def origin(release: Release, chunk: str) -> Origin | None:
    """Where the release's triples were read, and when those of ``chunk`` were; None without provenance."""
    told = release.provenance
    if told is None:
        return None
    source, harvest = told.get("source", {}), told.get("harvest", {})
    endpoint = source.get("endpoint", "")
    read = (harvest.get("reading") or {}).get("files", ())
    return Origin(
        (endpoint,) if endpoint else tuple(map(str, source.get("declared", ()))),
        tuple(str(one.get("file", "")) for one in read),
        bool(endpoint),
        str((told.get("fetched") or {}).get(chunk, "")),
        str(told.get("built", "")),
        str(source.get("fingerprint", "")),
    )


def _stated(
    release: Release, subject: int | None, p: str, o: str, target: int | None
) -> tuple[bool, tuple[str, ...]]:
    """Whether the data states a triple, and the named graphs that do; those of types are not held."""
    graph = release.graph
    if subject is None:
        return False, ()
    if p == RDF_TYPE and any(graph.class_iri(int(number)) == o for number in graph.types(subject)):
        return True, ()
    if target is not None:
        for prop in _numbers(graph, p):
            try:
                number = graph.adjacency.forward.position(prop, subject, target)
            except KeyError:
                continue
            return True, release.triples.graphs(number)
    for literal in graph.literals(subject):
        if literal.value == o and graph.property_iri(literal.property) == p:
            return True, literal.graphs
    return False, ()


def _numbers(graph: Graph, iri: str) -> list[int]:
    return [number for number in range(len(graph.property_codes)) if graph.property_iri(number) == iri]


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
        store = self.release.documents
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
        graph = self.release.graph
        ends = {self.subject, self.target}
        if line.kind in (Line.HEADER, Line.NOTE):
            return False
        if line.kind == Line.TYPE and self.p == RDF_TYPE:
            return line.entity == self.subject and line.key == "rdf:type"
        if line.kind == Line.SATELLITE:
            return bool(ends.intersection(line.targets)) and (
                line.entity in ends or self.subject in line.targets
            )
        if self.target is None:
            return line.entity == self.subject and line.key in self._names()
        other = self.target if line.entity == self.subject else self.subject
        keyed = any(line.key in (name, f"{name}i", name.removesuffix("i")) for name in self._names() if name)
        return line.entity in ends and other in line.targets and keyed and len(graph.property_codes) > 0

    def _names(self) -> set[str]:
        """The property's IRI and code."""
        graph = self.release.graph
        return {self.p, *(graph.property_code(number) for number in _numbers(graph, self.p))}

    def _by_way(self, line: Line) -> tuple[Relationship, Path, list[Hop]] | None:
        """The relationship and path by which the triple came into a line, and the way; None when by none."""
        catalogue = self.release.catalogue
        relationship = catalogue[catalogue.number(line.key)]
        ends = {self.subject, self.target}
        # A way to an end of the triple is likelier to run over it than others are; the line tells a time-span's dates.
        targets = sorted(line.targets, key=lambda node: node not in ends)
        dates = self.target is None and self.release.graph.timespan(self.subject) is not None
        if self.target is None:
            targets = [self.subject] if dates and self.subject in targets else []
        for target in targets:
            for path in filter(self._may_hold, relationship.paths):
                if self.left <= 0:
                    return None
                self.left -= 1
                way = way_by(self.release.graph.adjacency, self.release.ontology, path, line.entity, target)
                if any(self._is_it(hop) for hop in way) or (way and dates):
                    return relationship, path, way
        return None

    def _may_hold(self, path: Path) -> bool:
        """Whether a step of the path can be the triple's property; any path may tell the dates of a literal's subject."""
        if self.target is None:
            return True
        if path.id not in self._held:
            legs = legs_of(self.release.graph.adjacency, self.release.ontology, path) or ()
            walked = {prop for leg in legs for prop, _ in leg.moves}
            self._held[path.id] = not walked.isdisjoint(_numbers(self.release.graph, self.p))
        return self._held[path.id]

    def _is_it(self, hop: Hop) -> bool:
        return (
            hop.subject == self.subject
            and hop.object == self.target
            and self.release.graph.property_iri(hop.property) == self.p
        )

    def _line(
        self,
        document: int,
        text: str,
        line: Line,
        relationship: str = "",
        path: str = "",
        way: list[Hop] | None = None,
    ) -> LineageLine:
        graph, store = self.release.graph, self.release.documents
        return LineageLine(
            graph.iri(store.entity(document)), store.label(document), graph.iri(line.entity), KIND_NAMES[line.kind],
            text[line.start : line.end], line.start, line.end, relationship, path,
            tuple(self._step(hop) for hop in way or ()),
        )  # fmt: skip

    def _step(self, hop: Hop) -> Step:
        graph = self.release.graph
        return Step(
            graph.iri(hop.subject), graph.property_iri(hop.property), graph.iri(hop.object),
            graph.label(hop.subject), graph.property_label(hop.property), graph.label(hop.object), hop.forward,
        )  # fmt: skip
