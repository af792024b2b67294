"""Holding entities against shapes with pySHACL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from crmrag_assets.quality.shapes.rdf import View
from crmrag_query.errors import BuildError, MissingExtraError
from crmrag_query.graph.arrays import Ints

if TYPE_CHECKING:
    import rdflib
    from rdflib.term import Node

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

    Raises BuildError for shapes that pySHACL does not take, MissingExtraError without it.
    """
    try:
        import pyshacl
        from pyshacl.errors import ReportableRuntimeError
    except ImportError as error:
        raise MissingExtraError("SHACL", "build", "pyshacl") from error
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
    known = {view.graph.iri(node): view.graph.label(node) for node in entities.tolist()}
    return ShapesReport(len(entities), statements, _names(shapes), _broken(results, shapes, known))


def _unusable(error: Exception) -> BuildError:
    what = str(getattr(error, "message", error)).splitlines()[0].rstrip(".")
    return BuildError(f"The shapes cannot be used: {what}.", "Correct the data set's own files of shapes.")


def _names(shapes: rdflib.Graph) -> tuple[str, ...]:
    from rdflib import RDF, SH

    return tuple(sorted(_name(shapes, shape) for shape in shapes.subjects(RDF.type, SH.NodeShape)))


def _broken(results: rdflib.Graph, shapes: rdflib.Graph, known: Mapping[str, str]) -> tuple[Broken, ...]:
    from rdflib import RDF, SH

    found = []
    for result in results.subjects(RDF.type, SH.ValidationResult):
        iri = str(results.value(result, SH.focusNode))
        if iri not in known:
            continue
        shape = _name(shapes, _owner(shapes, results.value(result, SH.sourceShape)))
        grade = str(results.value(result, SH.resultSeverity)).rpartition("#")[2]
        value = str(results.value(result, SH.value) or "")
        message = str(results.value(result, SH.resultMessage) or "")
        shown = "" if value == iri else value[:LONGEST]
        found.append(Broken(shape, grade if grade in GRADES else GRADES[0], iri, known[iri], message, shown))
    return tuple(sorted(set(found), key=lambda one: (one.shape, one.grade, one.iri, one.message, one.value)))


def _owner(shapes: rdflib.Graph, shape: Node | None) -> Node | None:
    """The named shape that a shape without a name stands in."""
    from rdflib import BNode

    seen = set()
    while isinstance(shape, BNode) and shape not in seen:
        seen.add(shape)
        shape = next(iter(shapes.subjects(None, shape)), shape)
    return shape


def _name(shapes: rdflib.Graph, shape: Node | None) -> str:
    """A shape's name, else the end of its IRI."""
    from rdflib import RDFS, SH

    named = shapes.value(shape, SH.name) or shapes.value(shape, RDFS.label)
    return str(named or str(shape).replace("#", "/").rpartition("/")[2] or shape)
