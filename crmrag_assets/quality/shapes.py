"""A sample of a built graph, held against SHACL shapes for CIDOC-CRM with pySHACL.

Shapes see entities and what stands around them in the one vocabulary that they are written for: see crm.ttl. An operator's
own shapes are Turtle, of which nothing is run and for which nothing is fetched.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import rdflib
from rdflib import RDF, RDFS, SH, XSD, BNode, URIRef

from crmrag_assets.build.step import BuildContext, Hashes
from crmrag_assets.opened import graph_of, numbering_of
from crmrag_assets.quality.finding import SHOWN, percent, share
from crmrag_query.config.loading import Dates
from crmrag_query.config.reading import default_folder
from crmrag_query.dates import parse_date
from crmrag_query.errors import BuildError, ConfigError
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_LABELLED, Ints, Rows
from crmrag_query.graph.graph import Graph, Literal
from crmrag_query.ontology.load import Ontology, Term
from crmrag_query.verify.check import Finding, Row

if TYPE_CHECKING:
    from rdflib.term import Node

ENTITIES = 300  # held against the shapes: pySHACL takes about 10 ms for each
STATEMENTS = 50  # of one property of an entity, either way, that the shapes are shown: a hub has thousands


def sampled(graph: Graph, ids: Hashes, size: int) -> Ints:
    """Up to ``size`` entities, ascending: of each class, and of none, those of the lowest ids, in turns.

    ``ids`` uint64 [n]: of the nodes, by the hash of their IRIs, so that a change of the data changes few of the sample.
    """
    ptr, val = graph.type_rows
    counts = np.diff(ptr)
    nodes = np.concatenate([np.repeat(np.arange(graph.nodes), counts), np.flatnonzero(counts == 0)])
    classes = np.concatenate([val, np.full(int((counts == 0).sum()), len(graph.class_codes), np.int32)])
    frame = pl.DataFrame({"node": nodes, "class": classes, "id": ids[nodes]})
    entities = frame.filter(pl.Series((graph.flags & FLAG_ENTITY)[nodes] != 0)).sort("class", "id")
    turn = pl.int_range(pl.len()).over("class")  # place within the class
    in_turns = entities.with_columns(turn=turn).filter(pl.col("turn") < size).sort("turn", "class")
    chosen = in_turns["node"].unique(maintain_order=True).head(size)
    return chosen.sort().to_numpy().astype(np.int32)


CRMRAG = rdflib.Namespace("urn:crmrag:")
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
    statements: int = STATEMENTS
    _readings: dict[int, Readings] = field(default_factory=dict)

    def around(self, entities: Ints) -> rdflib.Graph:
        """What the entities state and what points at them, and of what they are connected with classes and literals."""
        found, adjacency = rdflib.Graph(), self.graph.adjacency
        with _quiet():
            near = [entities]
            for number in range(len(adjacency.codes)):
                own, others = _first(adjacency.forward, number, entities, self.statements)
                objects, subjects = _first(adjacency.backward, number, entities, self.statements)
                for s, o in ((own, others), (subjects, objects)):
                    near += [s, o]
                    for subject, object_ in zip(s.tolist(), o.tolist(), strict=True):
                        self._add(found, number, self._iri(subject), self._iri(object_))
            for node in np.unique(np.concatenate(near)).tolist():
                self._describe(found, node)
            for node in entities.tolist():
                found.add((self._iri(node), RDF.type, CRMRAG.Entity))
            for number in {n for node in entities.tolist() for n in self.graph.types(node).tolist()}:
                self._place(found, number)
        return found

    def _iri(self, node: int) -> URIRef:
        return URIRef(self.graph.iri(node))

    def _add(self, found: rdflib.Graph, number: int, subject: URIRef, value: Node) -> None:
        """A statement, by every property that it states; one with a literal is not turned round."""
        if number not in self._readings:
            own = URIRef(self.graph.property_iri(number)), True
            above = readings(self.ontology, self.graph.property_code(number))
            self._readings[number] = tuple(dict.fromkeys((own, *above)))
        for iri, forward in self._readings[number]:
            if forward:
                found.add((subject, iri, value))
            elif isinstance(value, URIRef):
                found.add((value, iri, subject))

    def _describe(self, found: rdflib.Graph, node: int) -> None:
        """Classes, literals, name and dates of a node."""
        iri = self._iri(node)
        for number in self.graph.types(node).tolist():
            for name in self._class_iris(number):
                found.add((iri, RDF.type, name))
            if code := self.graph.class_code(number):
                found.add((iri, CRMRAG["class"], rdflib.Literal(code)))
        if int(self.graph.flags[node]) & FLAG_LABELLED:
            found.add((iri, CRMRAG["name"], rdflib.Literal(self.graph.label(node))))
        for literal in self.graph.literals(node)[: self.statements]:
            self._add(found, literal.property, iri, _literal(literal))
            bound = self._bounds.get(literal.property)
            interval = parse_date(literal.value, literal.datatype) if bound else None
            if bound and interval:
                day = interval.begin if bound in BEGINS else interval.end
                if day is not None:
                    found.add((iri, CRMRAG[BOUNDS[bound]], rdflib.Literal(day, datatype=XSD.integer)))

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


SHIPPED = "shapes/crm.ttl"
SHACL = "http://www.w3.org/ns/shacl#"
RUNS = (
    "sparql", "select", "ask", "construct", "update", "rule", "js", "jsFunctionName", "jsLibrary", "expression",
    "validator", "nodeValidator", "propertyValidator", "SPARQLTarget", "JSConstraint", "SPARQLFunction",
)  # fmt: skip
"""Terms of SHACL by which shapes would have queries, rules or scripts run, or define components of their own."""
CORE = "Say it in SHACL Core (https://www.w3.org/TR/shacl/#core-components); queries and code are not run."


def read_shapes(files: Iterable[Path] = ()) -> rdflib.Graph:
    """The shapes for CIDOC-CRM and those of ``files``, together.

    Raises ConfigError for a file that is missing, no Turtle, holds no shape, or would have something run.
    """
    found = rdflib.Graph()
    for file in (default_folder() / SHIPPED, *files):
        found += _read(file)
    return found


def _read(file: Path) -> rdflib.Graph:
    shapes = rdflib.Graph()
    try:
        shapes.parse(data=file.read_text(encoding="utf-8"), format="turtle", publicID=file.resolve().as_uri())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise ConfigError.single(file, "", f"the shapes cannot be read: {reason}") from error
    except Exception as error:  # rdflib's parser raises what it likes
        line = getattr(error, "lines", None)
        where = f"line {line + 1}" if isinstance(line, int) else ""
        reason = str(getattr(error, "message", error)).partition("\n")[0]
        what = f"the shapes are no Turtle: {reason}"
        raise ConfigError.single(file, where, what, remedy="Correct that line.") from error
    for name in RUNS:
        term = URIRef(SHACL + name)
        if (None, term, None) in shapes or (None, RDF.type, term) in shapes:
            remedy = f"Take it out. {CORE}"
            raise ConfigError.single(file, f"sh:{name}", "shapes may not have anything run", remedy=remedy)
    if not any((None, RDF.type, kind) in shapes for kind in (SH.NodeShape, SH.PropertyShape)):
        remedy = "A shape is a sh:NodeShape: config/shapes/crm.ttl has examples."
        raise ConfigError.single(file, "", "it holds no shape", remedy=remedy)
    return shapes


GRADES = ("Violation", "Warning", "Info")
LONGEST = 120  # characters of a value that is shown


@dataclass(frozen=True, slots=True)
class Broken:
    """One entity that does not keep to a shape; ``grade`` one of GRADES, ``value`` what is wrong, "" where it is missing."""

    shape: str
    grade: str
    iri: str
    label: str
    message: str
    value: str


@dataclass(frozen=True)
class ShapesReport:
    """What came of so many ``entities`` with ``statements`` about them; ``shapes``: by their names, in order."""

    entities: int
    statements: int
    shapes: tuple[str, ...]
    broken: tuple[Broken, ...]

    @cached_property
    def violating(self) -> int:
        """Entities that break a shape, warnings aside."""
        return len({one.iri for one in self.broken if one.grade == "Violation"})

    @cached_property
    def counts(self) -> Mapping[tuple[str, str], int]:
        """Entities by shape and grade, the most first."""
        distinct = {(one.shape, one.grade, one.iri) for one in self.broken}
        counted = Counter((shape, grade) for shape, grade, _ in distinct)
        return dict(
            sorted(counted.items(), key=lambda item: (GRADES.index(item[0][1]), -item[1], item[0][0]))
        )

    def worst(self, most: int) -> list[Broken]:
        """So many examples: of every shape in turns, of those that most entities break first."""
        order = {key: place for place, key in enumerate(self.counts)}
        seen: Counter[tuple[str, str]] = Counter()
        ranked = []
        for one in self.broken:
            key = one.shape, one.grade
            ranked.append((seen[key], order[key], one))
            seen[key] += 1
        return [one for _, _, one in sorted(ranked, key=lambda entry: entry[:2])[:most]]


def validate(view: View, entities: Ints, shapes: rdflib.Graph) -> ShapesReport:
    """Hold the entities against the shapes; what is around them is seen, and not judged.

    Raises BuildError for shapes that pySHACL does not take.
    """
    import pyshacl  # loads html5lib and more
    from pyshacl.errors import ReportableRuntimeError

    data = view.around(entities)
    statements = len(data)
    try:
        _, results, _ = pyshacl.validate(
            data, shacl_graph=shapes, inference="none", inplace=True, advanced=False, js=False, meta_shacl=False,
            do_owl_imports=False,
        )  # fmt: skip
    except ReportableRuntimeError as error:
        raise _unusable(error) from error
    if isinstance(results, Exception):  # so pySHACL tells that it gave up
        raise _unusable(results)
    found: set[Broken] = set()
    known = {view.graph.iri(node): view.graph.label(node) for node in entities.tolist()}
    for result in results.subjects(RDF.type, SH.ValidationResult):
        iri = str(results.value(result, SH.focusNode))
        if iri not in known:
            continue
        shape = _name(shapes, _owner(shapes, results.value(result, SH.sourceShape)))
        grade = str(results.value(result, SH.resultSeverity)).rpartition("#")[2]
        value = str(results.value(result, SH.value) or "")
        message = str(results.value(result, SH.resultMessage) or "")
        shown = "" if value == iri else value[:LONGEST]
        found.add(Broken(shape, grade if grade in GRADES else GRADES[0], iri, known[iri], message, shown))
    names = sorted(_name(shapes, shape) for shape in shapes.subjects(RDF.type, SH.NodeShape))
    broken = sorted(found, key=lambda one: (one.shape, one.grade, one.iri, one.message, one.value))
    return ShapesReport(len(entities), statements, tuple(names), tuple(broken))


def _unusable(error: Exception) -> BuildError:
    what = str(getattr(error, "message", error)).splitlines()[0].rstrip(".")
    return BuildError(f"The shapes cannot be used: {what}.", "Correct the data set's own files of shapes.")


def _owner(shapes: rdflib.Graph, shape: Node | None) -> Node | None:
    """The named shape that a shape without a name stands in."""
    seen = set()
    while isinstance(shape, BNode) and shape not in seen:
        seen.add(shape)
        shape = next(iter(shapes.subjects(None, shape)), shape)
    return shape


def _name(shapes: rdflib.Graph, shape: Node | None) -> str:
    """A shape's name, else the end of its IRI."""
    named = shapes.value(shape, SH.name) or shapes.value(shape, RDFS.label)
    return str(named or str(shape).replace("#", "/").rpartition("/")[2] or shape)


def held_against(context: BuildContext, files: Sequence[Path] = (), size: int | None = None) -> ShapesReport:
    """The shapes that ship, the data set's own and those of ``files`` against ``size`` entities (ENTITIES).

    Raises ConfigError for files that hold no usable shapes, BuildError where no graph is built.
    """
    shapes = read_shapes([*context.config.shapes_files(), *files])
    view = View(graph_of(context), context.vocabulary.ontology, context.method.dates)
    chosen = sampled(view.graph, numbering_of(context).ids, size or ENTITIES)
    return validate(view, chosen, shapes)


def shapes_hold(context: BuildContext) -> Finding:
    """A sample of the entities keeps to the SHACL shapes for CIDOC-CRM and to the data set's own (`shapes` in datasets.yaml).
    If not, mend the data where it is made; `crmrag shacl NAME` lists every case. Of a data set without shapes of its
    own nothing is asked where no source has to hold CIDOC-CRM.
    """
    report = held_against(context)
    part = share(report.violating, report.entities)
    counts: dict[str, int | float | str] = {
        "sampled": report.entities,
        "violating": report.violating,
        "violating_share": part,
        "shapes": len(report.shapes),
        "shapes_broken": len({shape for shape, _ in report.counts}),
    }
    by_shape: list[Row] = [
        {"shape": shape, "grade": grade, "entities": count} for (shape, grade), count in report.counts.items()
    ]
    worst: list[Row] = [
        {"entity": one.label, "iri": one.iri, "what": f"{one.message} {one.value}".strip()}
        for one in report.worst(2 * SHOWN)
    ]
    says = (
        f"{report.violating:,} of {report.entities:,} sampled entities ({percent(part)}) break one of "
        f"{len(report.shapes)} shapes."
    )
    remedy = f"Mend the data where it is made. Every case: crmrag shacl {context.name}."
    asked = context.config.crm or context.config.shapes
    few = part <= context.method.checks.violating_share or not asked
    return Finding(few, says, counts, {"by_shape": by_shape, "examples": worst}, remedy)
