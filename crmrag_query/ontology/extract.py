"""Read RDFS or OWL files into ontology tables: identifiers, labels and hierarchy, no scope notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from crmrag_query.errors import MissingExtraError, OntologyError
from crmrag_query.ontology.rows import (
    Kind,
    OntologyTable,
    Row,
    as_words,
    flipped,
    local_name,
    namespace_of,
    take_apart,
)
from crmrag_query.syntax import OutOfBounds, require_bounds

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
XSD = "http://www.w3.org/2001/XMLSchema#"

_KINDS: dict[str, Kind] = {
    RDFS + "Class": "class",
    OWL + "Class": "class",
    RDF + "Property": "property",
    OWL + "ObjectProperty": "property",
    OWL + "DatatypeProperty": "property",
}
_PARENTS: dict[str, Kind] = {RDFS + "subClassOf": "class", RDFS + "subPropertyOf": "property"}
_LITERALS = {RDFS: "rdfs:", XSD: "xsd:"}
_XML_START = re.compile(rb"<\?xml|<!DOCTYPE|<!--|<(?:\w+:)?RDF[\s>]")
_SYMMETRIC = re.compile(r"\b(?:property|it) is (?:transitive and )?symmetric\b", re.IGNORECASE)
_TRANSITIVE = re.compile(r"\bproperty is transitive\b", re.IGNORECASE)
_VERSION = re.compile(r"_v(?=\d)")


@dataclass(slots=True)
class _Term:
    """What a file says of one IRI, while it is being read."""

    kinds: set[Kind] = field(default_factory=set)
    parents: list[tuple[Kind, str]] = field(default_factory=list)
    inverses: set[str] = field(default_factory=set)
    domains: set[str] = field(default_factory=set)
    ranges: set[str] = field(default_factory=set)
    labels: dict[str, str] = field(default_factory=dict)
    symmetric: bool = False
    transitive: bool = False


def table_name(path: Path) -> str:
    """The name of the table a file gives: `CRMdig_v5.0.rdf` gives `crmdig_5.0`."""
    return _VERSION.sub("_", path.stem.lower()).replace(" ", "_")


def stem(table: str) -> str:
    """A table's name without its version: what qualifies a code that is not unique."""
    return re.sub(r"_[\d.]+$", "", table)


def extract(paths: Sequence[Path], name: str = "") -> OntologyTable:
    """One table of all classes and properties that the files declare, sorted by kind and code.

    RDF/XML or Turtle is told by content, whatever the extension says. A term without a code in its
    name gets `TABLE:name`. Symmetric and transitive flags come from OWL types, or from the sentence
    that CRM's definitions use for it. Raises OntologyError for a file that cannot be read or that
    declares nothing, MissingExtraError without pyoxigraph.
    """
    if not paths:
        raise OntologyError("No ontology file was given.", "Name one or more RDFS or OWL files.")
    title = name or table_name(paths[0])
    terms: dict[str, _Term] = {}
    own: set[str] = set()
    for path in paths:
        declared: Counter[str] = Counter()
        for subject, predicate, value, language in _statements(path):
            if _note(terms.setdefault(subject, _Term()), predicate, value, language):
                declared[namespace_of(subject)] += 1
        own |= {namespace for namespace, _ in declared.most_common(1)}
    rows = _rows(terms, own, title)
    if not rows:
        raise OntologyError(
            f"{', '.join(str(path) for path in paths)} declares no class and no property.",
            "It has neither rdfs:Class, owl:Class, rdf:Property nor owl:ObjectProperty; is this data?",
        )
    kept = {row.iri for row in rows}
    skipped = tuple(sorted(iri for iri, term in terms.items() if term.kinds and iri not in kept))
    return OntologyTable(title, rows, skipped)


def is_xml(head: bytes) -> bool:
    """Whether a file's first bytes are RDF/XML rather than Turtle (whose `<` opens an IRI)."""
    return _XML_START.match(head.removeprefix(b"\xef\xbb\xbf").lstrip()) is not None


def _statements(path: Path) -> Iterable[tuple[str, str, str, str | None]]:
    """Subject, predicate and object of the statements about IRIs; the language is None unless a literal's."""
    try:
        import pyoxigraph
    except ImportError as error:
        raise MissingExtraError("Reading ontology files", "build", "pyoxigraph") from error
    try:
        data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        xml = is_xml(data[:4096])
        require_bounds(data, "XML" if xml else "Turtle")
        form = pyoxigraph.RdfFormat.RDF_XML if xml else pyoxigraph.RdfFormat.TURTLE
        for quad in pyoxigraph.parse(data, form, base_iri="http://ontology.invalid/"):
            if isinstance(quad.subject, pyoxigraph.NamedNode):
                stated = quad.object
                language = (stated.language or "") if isinstance(stated, pyoxigraph.Literal) else None
                value = "" if isinstance(stated, pyoxigraph.BlankNode | pyoxigraph.Triple) else stated.value
                yield quad.subject.value, quad.predicate.value, value, language
    except OSError as error:
        raise OntologyError(f"{path} cannot be read: {error.strerror}.", "Check the path.") from error
    except OutOfBounds as error:
        raise OntologyError(f"{path} is not read: {error.what}.", error.remedy) from error
    except (SyntaxError, ValueError) as error:
        raise OntologyError(
            f"{path} is neither valid RDF/XML nor valid Turtle: {error}.", "Convert it, or repair that line."
        ) from error


def _note(term: _Term, predicate: str, value: str, language: str | None) -> Kind | None:
    """Take one statement into the term; returns the kind where the statement declares it."""
    if predicate == RDF + "type":
        term.symmetric |= value == OWL + "SymmetricProperty"
        term.transitive |= value == OWL + "TransitiveProperty"
        if value in _KINDS:
            term.kinds.add(_KINDS[value])
            return _KINDS[value]
    elif predicate in (RDFS + "label", SKOS + "prefLabel") and language is not None:
        text = " ".join(value.split())
        term.labels[language] = min(term.labels.get(language, text), text)
    elif predicate == RDFS + "comment":
        term.symmetric |= _SYMMETRIC.search(value) is not None
        term.transitive |= _TRANSITIVE.search(value) is not None
    elif value and language is None and predicate in _PARENTS:
        term.parents.append((_PARENTS[predicate], value))
    elif value and language is None:
        links = {OWL + "inverseOf": term.inverses, RDFS + "domain": term.domains, RDFS + "range": term.ranges}
        links.get(predicate, set()).add(value)
    return None


def _rows(terms: dict[str, _Term], own: set[str], table: str) -> tuple[Row, ...]:
    codes = {iri: _code(iri, own, table) for iri in terms}
    rows = []
    for iri, term in terms.items():
        declared = namespace_of(iri) in own
        for kind in sorted(term.kinds if declared else {kind for kind, _ in term.parents}):
            row = _row(iri, kind, term, codes, declared)
            if row.code and (row.name or row.parents):
                rows.append(row)
    listed = {row.code for row in rows if row.kind == "property"}
    whole = (_with_inverse(row, listed, terms, codes) for row in rows)
    return tuple(sorted(whole, key=lambda row: (row.kind, _order(row))))


def _row(iri: str, kind: Kind, term: _Term, codes: dict[str, str], own: bool) -> Row:
    parents = sorted(
        {_reference(value, codes) for of, value in term.parents if of == kind} - {"", codes[iri]}
    )
    if not own:
        return Row(kind, codes[iri], "", iri, tuple(parents))
    name = local_name(iri)
    return Row(
        kind, codes[iri], name, iri, tuple(parents), "", term.symmetric, term.transitive,
        _single(term.domains, codes), _single(term.ranges, codes), term.labels or {"en": as_words(name)},
    )  # fmt: skip


def _with_inverse(row: Row, listed: set[str], terms: dict[str, _Term], codes: dict[str, str]) -> Row:
    """The row with the inverse that the file states in either direction, else by CRM's convention."""
    if row.kind == "class" or not row.name:
        return row
    stated = {_reference(value, codes) for value in terms[row.iri].inverses}
    stated |= {codes[iri] for iri, term in terms.items() if row.iri in term.inverses}
    candidates = sorted(stated & listed) or sorted({flipped(row.code)} & listed)
    inverse = candidates[0] if candidates else ""
    return replace(row, inverse=inverse, symmetric=row.symmetric or inverse == row.code)


def _code(iri: str, own: set[str], table: str) -> str:
    name = local_name(iri)
    spelling = take_apart(name)
    if spelling is not None:
        return spelling.code
    return f"{stem(table)}:{name}" if namespace_of(iri) in own else ""


def _reference(iri: str, codes: dict[str, str]) -> str:
    """How a row names another term: literal types by prefix, CRM terms by code, others not at all."""
    namespace = namespace_of(iri)
    if namespace in _LITERALS:
        return _LITERALS[namespace] + local_name(iri) if local_name(iri) not in ("Resource", "Class") else ""
    if iri in codes:
        return codes[iri]
    spelling = take_apart(local_name(iri))
    return spelling.code if spelling and spelling.words else ""


def _single(values: set[str], codes: dict[str, str]) -> str:
    """The only domain or range stated; nothing where several are (RDFS intersects, files mean a union)."""
    references = sorted({_reference(value, codes) for value in values} - {""})
    return references[0] if len(references) == 1 else ""


def _order(row: Row) -> tuple[str, int, str]:
    """Codes in the order a person counts: E2 before E10."""
    found = re.match(r"([A-Za-z_:]*)(\d*)(.*)", row.code)
    assert found is not None
    return found[1], int(found[2] or 0), found[3]
