"""Read `config/ontology/`: tables that ship and that a project adds, names that changed between versions (`renames.csv`), and
`index.yaml`, by which they are joined into one Ontology: codes made unique, references resolved, old names known. And the one
step that turns the IRIs that data uses into these codes, whatever namespace, version or profile. And which of the six
Fundamental Categories a class belongs to.

Linked Art's names (`produced_by` stands for P108i_was_produced_by) come from a table that is made of its JSON-LD context.
"""

from __future__ import annotations

import csv
import difflib
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntFlag
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crmrag_query.config.reading import (
    CategoriesPart,
    Pattern,
    Record,
    ontology_folders,
    part_file,
    read_part,
)
from crmrag_query.errors import MissingExtraError, OntologyError
from crmrag_query.syntax import OutOfBounds, require_bounds

_NAME = re.compile(
    r"""(?P<letters>[A-Z]{1,4})
        (?P<number>\d+(?:\.\d+)?)
        (?P<suffix>[a-z]|[FB](?=_|$))?
        (?P<apart>_i(?=_|$))?
        (?P<second>_[A-Z]{1,4}\d+(?=_|$))?
        (?:_(?P<words>.+))?""",
    re.VERBOSE,
)
_SEPARATORS = re.compile(r"[/#]")
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")


class Spelling(NamedTuple):
    """A name taken apart: its code as we write codes, and the words after it."""

    code: str
    words: str


def local_name(iri: str) -> str:
    """What follows the last `/` or `#` of an IRI, percent escapes undone, blanks as underscores."""
    last = _SEPARATORS.split(iri)[-1]
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), last).replace(" ", "_")


def namespace_of(iri: str) -> str:
    """The IRI up to and with its last `/` or `#`."""
    return iri[: len(iri) - len(_SEPARATORS.split(iri)[-1])]


@lru_cache(maxsize=65536)
def take_apart(name: str) -> Spelling | None:
    """Code and words of a name, or None where it carries no code.

    Inverses are written `P108i` whether the name says `P108i_…`, `P108_i_…` or, as CRM up to 5.0.0
    did, `P108B_…` (`P108F_…` being the plain property). Two class codes, as in `E33_E41_…`, are one.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    suffix = found["suffix"] or ""
    inverse = "i" if found["apart"] else {"F": "", "B": "i"}.get(suffix, suffix)
    codes = sorted(
        (found["letters"] + found["number"] + inverse, *filter(None, [(found["second"] or "")[1:]]))
    )
    return Spelling("_".join(codes), found["words"] or "")


def as_words(name: str) -> str:
    """The words of a name for a person: `P108i_was_produced_by` gives "was produced by"."""
    spelling = take_apart(name)
    return (spelling.words if spelling else name).replace("_", " ").strip()


def flipped(code: str) -> str:
    """The code of the other direction by CRM's convention: `P108` and `P108i`."""
    return code[:-1] if code.endswith("i") else code + "i"


Kind = Literal["class", "property"]
FIXED_COLUMNS = (
    "kind", "code", "name", "iri", "parents", "inverse", "symmetric", "transitive", "domain", "range"
)  # fmt: skip
"""Columns of every table; one column `label` or `label@LANG` per language follows."""
LABEL = "label"


@dataclass(frozen=True, slots=True)
class Term:
    """A class or property.

    In a table, as one ontology file states it: `parents`, `inverse`, `domain` and `range` are codes as that file uses them
    (`rdfs:Literal` and `xsd:…` for literal ranges, empty where nothing is stated), and one with an empty `name` adds parents
    to a class or property that another ontology declares. In an ontology every code in it is known there (or is a literal
    type), and `table` is the one that it comes from.
    """

    kind: Kind
    code: str
    name: str
    iri: str
    parents: tuple[str, ...] = ()
    inverse: str = ""
    symmetric: bool = False
    transitive: bool = False
    domain: str = ""
    range: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    table: str = ""


@dataclass(frozen=True, slots=True)
class OntologyTable:
    """The rows of one ontology, sorted by kind and code; `skipped` counts terms that were left out."""

    name: str
    rows: tuple[Term, ...]
    skipped: tuple[str, ...] = ()


def to_csv(table: OntologyTable) -> str:
    """The table as CSV text with Unix line ends; the same table gives the same bytes."""
    languages = sorted({language for row in table.rows for language in row.labels})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*FIXED_COLUMNS, *(f"{LABEL}@{lang}" if lang else LABEL for lang in languages)])
    for row in table.rows:
        cells = (_cell(getattr(row, column)) for column in FIXED_COLUMNS)
        writer.writerow([*cells, *(row.labels.get(language, "") for language in languages)])
    return out.getvalue()


def _cell(value: str | bool | tuple[str, ...]) -> str:
    """A value of a fixed column: codes with blanks between them, 1 for what is so."""
    if isinstance(value, bool):
        return "1" if value else ""
    return value if isinstance(value, str) else " ".join(value)


def from_csv(text: str, name: str, where: str = "") -> OntologyTable:
    """Read what `to_csv` wrote; raises OntologyError naming the file, the line and what is missing there."""
    reader = csv.reader(io.StringIO(text))
    header = next(reader, [])
    if tuple(header[: len(FIXED_COLUMNS)]) != FIXED_COLUMNS:
        raise OntologyError(
            f"{where or name} is not an ontology table; it starts with {','.join(header[:10]) or 'missing'}.",
            f"They must be {','.join(FIXED_COLUMNS)}; write tables with `crmrag ontology extract`.",
        )
    languages = [column.partition("@")[2] for column in header[len(FIXED_COLUMNS) :]]
    return OntologyTable(name, tuple(_rows(reader, languages, len(header), where or name)))


def read_table(path: Path) -> OntologyTable:
    """The table in a CSV file, named after the file."""
    return from_csv(path.read_text(encoding="utf-8"), path.stem, str(path))


def _rows(reader: Iterable[list[str]], languages: list[str], width: int, where: str) -> Iterable[Term]:
    for number, cells in enumerate(reader, start=2):
        if len(cells) != width or cells[0] not in ("class", "property") or not cells[1]:
            raise OntologyError(
                f"{where}, row {number}: {','.join(cells)[:80]!r} is not a row of an ontology table.",
                f"A row has {width} cells, the first 'class' or 'property', the second a code.",
            )
        yield Term(
            "class" if cells[0] == "class" else "property",
            cells[1], cells[2], cells[3], tuple(cells[4].split()), cells[5],
            cells[6] == "1", cells[7] == "1", cells[8], cells[9],
            {lang: text for lang, text in zip(languages, cells[10:], strict=True) if text},
        )  # fmt: skip


Directed = tuple[str, bool]
"""A property's code, and whether its triples are followed from subject to object."""


@dataclass(frozen=True)
class Ontology:
    """Classes and properties by code.

    A code that several ontologies use for different things belongs to the first; the others are
    qualified by their table (`frbroo:R30`). Classes and properties are looked up apart, since CRMdig's
    property F1 is not LRMoo's class F1. All tuples are sorted and never contain the code asked about.
    """

    classes: Mapping[str, Term]
    properties: Mapping[str, Term]
    names: Mapping[Kind, Mapping[str, str]]
    iris: Mapping[Kind, Mapping[str, str]]
    _closures: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)
    _directed: dict[tuple[str, bool], tuple[Directed, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def property_(self, code: str) -> Term:
        """The property with this code; raises OntologyError with the nearest codes."""
        if code not in self.properties:
            remedy = did_you_mean(code, self.properties, "Add its ontology with `crmrag ontology extract`.")
            raise OntologyError(f"No property has the code {code!r}.", remedy)
        return self.properties[code]

    def label(self, code: str, lang: str | Sequence[str] = "en", kind: Kind | None = None) -> str:
        """Label in the first language that has one, then English, then any; an unknown code itself.

        Without `kind` a class is preferred to a property of the same code.
        """
        term = self.classes.get(code) if kind != "property" else None
        if term is None and kind != "class":
            term = self.properties.get(code)
        if term is None:
            return code
        wanted = (lang,) if isinstance(lang, str) else tuple(lang)
        for language in (*wanted, "en", "", *sorted(term.labels)):
            if language in term.labels:
                return term.labels[language]
        return as_words(term.name)

    def superclasses(self, code: str) -> tuple[str, ...]:
        """Codes of all classes above this one."""
        return self._closure("above", code, self._superclasses)

    def subclasses(self, code: str) -> tuple[str, ...]:
        """Codes of all classes below this one."""
        return self._closure("classes below", code, self._subclasses)

    def subproperties(self, code: str) -> tuple[str, ...]:
        """Codes of all properties below this one; a sub-property stated only for the inverses counts too."""
        found = set(self._closure("properties below", code, self._subproperties))
        inverse = self.inverse(code)
        if inverse is not None and inverse != code:
            mirrored = self._closure("properties below", inverse, self._subproperties)
            found |= {below for below in map(self.inverse, mirrored) if below}
        return tuple(sorted(found - {code}))

    def inverse(self, code: str) -> str | None:
        """The property that reads the same triples from the other end: P108i for P108, P121 for P121.

        None for properties whose values are literals, which have no inverse, and for unknown codes.
        """
        term = self.properties.get(code)
        if term is None:
            return None
        return term.inverse or (code if term.symmetric else None)

    def directed(self, code: str, below: bool = True) -> tuple[Directed, ...]:
        """Every property and direction that may state this one in data, sorted: itself, its inverse, a symmetric one both
        ways, and the same of all properties below it, unless not ``below``. An unknown code stands for itself."""
        known = self._directed.get((code, below))
        if known is None:
            known = self._directed[code, below] = tuple(sorted(self._walk(code, below)))
        return known

    def _walk(self, code: str, below: bool) -> set[Directed]:
        found: set[Directed] = set()
        waiting: list[Directed] = [(code, True)]
        while waiting:
            at, forward = waiting.pop()
            if (at, forward) in found:
                continue
            found.add((at, forward))
            inverse = self.inverse(at)
            if inverse:
                waiting.append((inverse, not forward))
                if self.property_(at).symmetric:
                    waiting.append((at, not forward))
            if below:
                waiting.extend((one, forward) for one in self.subproperties(at))
        return found

    def is_a(self, code: str, ancestor: str) -> bool:
        """Whether a class is the other, or below it."""
        return code == ancestor or ancestor in self.superclasses(code)

    @cached_property
    def _superclasses(self) -> Mapping[str, tuple[str, ...]]:
        return {code: term.parents for code, term in self.classes.items()}

    @cached_property
    def _subclasses(self) -> Mapping[str, tuple[str, ...]]:
        return _children(self.classes)

    @cached_property
    def _subproperties(self) -> Mapping[str, tuple[str, ...]]:
        return _children(self.properties)

    def _closure(self, which: str, code: str, step: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        key = (which, code)
        if key not in self._closures:
            seen, waiting = {code}, [code]
            while waiting:
                fresh = set(step.get(waiting.pop(), ())) - seen
                seen |= fresh
                waiting += fresh
            self._closures[key] = tuple(sorted(seen - {code}))
        return self._closures[key]


def did_you_mean(name: str, known: Iterable[str], otherwise: str, most: int = 3) -> str:
    """A remedy that names the nearest known names; ``otherwise`` where none is near."""
    near = difflib.get_close_matches(name, known, n=most)
    return f"Did you mean {' or '.join(near)}?" if near else otherwise


def _children(terms: Mapping[str, Term]) -> dict[str, tuple[str, ...]]:
    below: dict[str, list[str]] = {}
    for term in terms.values():
        for parent in term.parents:
            below.setdefault(parent, []).append(term.code)
    return {code: tuple(sorted(codes)) for code, codes in below.items()}


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
    rows = _rows_of(terms, own, title)
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


def _rows_of(terms: dict[str, _Term], own: set[str], table: str) -> tuple[Term, ...]:
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


def _row(iri: str, kind: Kind, term: _Term, codes: dict[str, str], own: bool) -> Term:
    parents = sorted(
        {_reference(value, codes) for of, value in term.parents if of == kind} - {"", codes[iri]}
    )
    if not own:
        return Term(kind, codes[iri], "", iri, tuple(parents))
    name = local_name(iri)
    return Term(
        kind, codes[iri], name, iri, tuple(parents), "", term.symmetric, term.transitive,
        _single(term.domains, codes), _single(term.ranges, codes), term.labels or {"en": as_words(name)},
    )  # fmt: skip


def _with_inverse(row: Term, listed: set[str], terms: dict[str, _Term], codes: dict[str, str]) -> Term:
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


def _order(row: Term) -> tuple[str, int, str]:
    """Codes in the order a person counts: E2 before E10."""
    found = re.match(r"([A-Za-z_:]*)(\d*)(.*)", row.code)
    assert found is not None
    return found[1], int(found[2] or 0), found[3]


class Index(Record):
    """Order of the tables, namespaces of the CRM family, symmetric properties and corrected labels."""

    tables: tuple[str, ...] = ()
    namespaces: dict[str, Pattern] = Field(default_factory=dict)
    symmetric: tuple[str, ...] = ()
    labels: dict[str, dict[str, str]] = Field(default_factory=dict)

    def family(self, namespace: str) -> str:
        """The family that a namespace belongs to, "" for none."""
        fitting = (family for family, pattern in self.namespaces.items() if re.fullmatch(pattern, namespace))
        return next(fitting, "")


COLUMNS = ("old", "new", "kind", "since", "confidence", "note")
_FIRM = ("exact", "likely")


@dataclass(frozen=True, slots=True)
class Rename:
    """An old name and what stands for it now.

    `replaced_by` is the one code that means the same, empty where there is none; `below` holds the
    codes that the old one only implies (an Allen relation implies both of its parts): such a class or
    property keeps its own code and becomes a sub-class or sub-property of them.
    """

    kind: Kind
    name: str
    code: str
    replaced_by: str
    below: tuple[str, ...]

    @property
    def turned(self) -> bool:
        """Whether the property's new code reads from range to domain of the old one."""
        if self.kind == "class" or not self.replaced_by:
            return False
        return self.code.endswith("i") != self.replaced_by.endswith("i")


def read_renames(path: Path) -> tuple[Rename, ...]:
    """The renames in the file, each property's inverse derived where the file does not list it.

    Raises OntologyError naming the row that cannot be understood.
    """
    reader = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
    if not set(COLUMNS) <= set(reader.fieldnames or ()):
        raise OntologyError(f"{path} has not the columns {', '.join(COLUMNS)}.", "Restore its first line.")
    listed = [
        rename
        for number, row in enumerate(reader, start=2)
        if (rename := _rename(row, f"{path}, row {number}")) is not None
    ]
    names = {(rename.kind, rename.code) for rename in listed}
    derived = []
    for rename in listed:
        code = flipped(rename.code)
        if rename.kind == "property" and not rename.code.endswith("i") and ("property", code) not in names:
            replaced = flipped(rename.replaced_by) if rename.replaced_by else ""
            derived.append(Rename("property", "", code, replaced, tuple(map(flipped, rename.below))))
    return (*listed, *derived)


def _rename(row: dict[str, str], where: str) -> Rename | None:
    """The rename of a row; None for rows about notations and namespaces, which need no table."""
    kind: Kind
    if stated := re.match(r"(class|property) (?:renamed|removed)", row["kind"]):
        kind = "class" if stated[1] == "class" else "property"
    elif "->" in row["kind"]:
        kind = "class" if row["old"].startswith(("E", "F")) else "property"
    else:
        return None
    spelling = take_apart(row["old"])
    if spelling is None:
        raise OntologyError(f"{where}: {row['old']!r} carries no code.", "An old name starts with its code.")
    targets = tuple(target.code for part in row["new"].split(" + ") if (target := take_apart(part.strip())))
    if row["confidence"] in _FIRM and len(targets) == 1:
        return Rename(kind, row["old"], spelling.code, targets[0], ())
    return Rename(kind, row["old"], spelling.code, "", targets)


Key = tuple[Kind, str]
_CORE = {"cidoc", "erlangen"}


@dataclass(slots=True)
class _Joined:
    """What has been joined so far, earlier tables winning, and what decides about clashes."""

    index: Index
    replaced: dict[Key, Rename]
    named: dict[Key, Rename]
    terms: dict[Key, Term] = field(default_factory=dict)
    extra_parents: dict[Key, list[str]] = field(default_factory=dict)
    names: dict[Kind, dict[str, str]] = field(default_factory=lambda: {"class": {}, "property": {}})
    iris: dict[Kind, dict[str, str]] = field(default_factory=lambda: {"class": {}, "property": {}})


def join(tables: Sequence[OntologyTable], renames: Sequence[Rename], index: Index) -> Ontology:
    """One Ontology of all tables; references to codes that nothing declares are left out."""
    joined = _Joined(
        index,
        replaced={(rename.kind, rename.code): rename for rename in reversed(renames) if rename.replaced_by},
        named={(rename.kind, rename.name): rename for rename in renames if rename.name},
    )
    for table in tables:
        _add_table(joined, table)
    _add_old_names(joined, renames)
    terms = {key: _finish(term, joined) for key, term in joined.terms.items()}
    classes = {code: term for (kind, code), term in terms.items() if kind == "class"}
    properties = {code: term for (kind, code), term in terms.items() if kind == "property"}
    return Ontology(classes, properties, joined.names, joined.iris)


def _add_table(joined: _Joined, table: OntologyTable) -> None:
    codes: dict[Key, str] = {}
    for row in table.rows:
        if row.name:
            codes[row.kind, row.code] = _place(joined, row, table.name, codes)
    for row in table.rows:
        key = (row.kind, codes.get((row.kind, row.code), row.code))
        parents = [codes.get((row.kind, parent), parent) for parent in row.parents]
        if not row.name:
            joined.extra_parents.setdefault(key, []).extend(parents)
        elif key in joined.terms and joined.terms[key].iri == row.iri:
            # the row's references, in joined codes where its own table declares them
            joined.terms[key] = replace(
                joined.terms[key],
                parents=tuple(parents),
                inverse=codes.get(("property", row.inverse), row.inverse),
                domain=codes.get(("class", row.domain), row.domain),
                range=codes.get(("class", row.range), row.range),
            )


def _place(joined: _Joined, row: Term, table: str, codes: dict[Key, str]) -> str:
    """Give the row's term its code in the joined ontology, and note its name and IRI."""
    code = row.code
    present = joined.terms.get((row.kind, code))
    if present is not None:
        code = _shared_code(joined, row, present, codes) or f"{stem(table)}:{row.code}"
    if (row.kind, code) not in joined.terms:
        labels = {**row.labels, **joined.index.labels.get(row.code, {})}
        joined.terms[row.kind, code] = Term(
            row.kind, code, row.name, row.iri, symmetric=row.symmetric, transitive=row.transitive,
            labels=labels, table=table,
        )  # fmt: skip
    joined.names[row.kind].setdefault(row.name, code)
    joined.iris[row.kind].setdefault(row.iri, code)
    return code


def _shared_code(joined: _Joined, row: Term, present: Term, codes: dict[Key, str]) -> str:
    """The code of a term that the row means too; "" where the row uses a taken code for something else."""
    rename = joined.named.get((row.kind, row.name))
    if rename is not None and rename.replaced_by:
        return rename.replaced_by
    if row.kind == "property" and row.code.endswith("i") and ("property", row.code[:-1]) in codes:
        forward = codes["property", row.code[:-1]]
        return "" if ":" in forward else flipped(forward)
    families = {joined.index.family(namespace_of(iri)) for iri in (row.iri, present.iri)}
    return row.code if row.name == present.name or families <= _CORE else ""


def _add_old_names(joined: _Joined, renames: Sequence[Rename]) -> None:
    """Terms for old names that no present one replaces, below what they imply; sources: `renames.csv`."""
    for rename in renames:
        key = (rename.kind, rename.code)
        if (rename.kind, rename.replaced_by) in joined.terms:
            if rename.name:
                joined.names[rename.kind].setdefault(rename.name, rename.replaced_by)
            continue
        if rename.replaced_by and not rename.name:  # the inverse of a property whose values are literals
            continue
        joined.extra_parents.setdefault(key, []).extend(rename.below)
        if key not in joined.terms:
            name = rename.name or rename.code
            base = joined.terms.get((rename.kind, rename.below[0])) if rename.below else None
            labels = {"en": as_words(rename.name)} if rename.name else dict(base.labels) if base else {}
            bare = Term(rename.kind, rename.code, name, "", labels=labels, table="renames")
            joined.terms[key] = replace(bare, domain=base.domain, range=base.range) if base else bare
        if rename.name:
            joined.names[rename.kind].setdefault(rename.name, rename.code)


def _finish(term: Term, joined: _Joined) -> Term:
    """The term with references to known codes only, old codes replaced by what stands for them."""

    def known(kind: Kind, code: str) -> str:
        if (kind, code) not in joined.terms and (kind, code) in joined.replaced:
            code = joined.replaced[kind, code].replaced_by
        return code if (kind, code) in joined.terms else ""

    stated = (*term.parents, *joined.extra_parents.get((term.kind, term.code), ()))
    parents = sorted({known(term.kind, code) for code in stated} - {"", term.code})
    if term.kind == "class":
        return replace(term, parents=tuple(parents))
    inverse = known("property", term.inverse) or known(
        "property", "" if ":" in term.code else flipped(term.code)
    )
    literal = term.range.startswith(("rdfs:", "xsd:"))
    return replace(
        term,
        parents=tuple(parents),
        inverse=inverse,
        symmetric=term.symmetric or inverse == term.code or term.code in joined.index.symmetric,
        domain=known("class", term.domain),
        range=term.range if literal else known("class", term.range),
    )


INDEX = "index.yaml"
RENAMES = "renames.csv"
TERMS = "linked_art_names.csv"
NOT_TABLES = ("renames", "linked_art_names")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The joined ontology with what is needed to normalise names to its codes.

    ``linked_art``: Linked Art's JSON-LD names, (kind, name) to the name of the class or property they stand for.
    """

    ontology: Ontology
    renames: tuple[Rename, ...]
    index: Index
    linked_art: dict[tuple[str, str], str]


def load_ontology(folder: Path | None = None) -> Ontology:
    """The ontology of a configuration folder; raises OntologyError or ConfigError."""
    return load_vocabulary(folder).ontology


def load_vocabulary(folder: Path | None = None) -> Vocabulary:
    """Ontology, renames and Linked Art's names of a configuration folder, read once for each folder.

    A table that a user adds to `config/ontology/` needs no further step: those that `index.yaml` does
    not list follow those it lists, in alphabetical order.
    """
    return _load(ontology_folders(folder))


@dataclass(frozen=True, slots=True)
class _Tables:
    """The files of some folders, told apart by what they hold: most releases have the tables that ship."""

    folders: tuple[Path, ...] = field(compare=False)
    content: bytes


@lru_cache(maxsize=4)
def _load(folders: tuple[Path, ...]) -> Vocabulary:
    held = hashlib.sha256()
    for path in (path for place in folders for path in (*sorted(place.glob("*.csv")), place / INDEX)):
        if not path.is_file():
            continue
        held.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return _joined(_Tables(folders, held.digest()))


@lru_cache(maxsize=4)
def _joined(tables: _Tables) -> Vocabulary:
    folders = tables.folders
    index_file = _first(folders, INDEX)
    index = read_part(Index, index_file)
    files = {path.stem: path for place in reversed(folders) for path in sorted(place.glob("*.csv"))}
    missing = [name for name in index.tables if name not in files]
    if missing:
        raise OntologyError(
            f"{index_file} lists tables that do not exist: {', '.join(missing)}.",
            "Write them with `crmrag ontology extract`, or take them off the list.",
        )
    names = [*index.tables, *sorted(set(files) - set(index.tables) - set(NOT_TABLES))]
    renames = read_renames(_first(folders, RENAMES))
    ontology = join([read_table(files[name]) for name in names], renames, index)
    lines = _first(folders, TERMS).read_text(encoding="utf-8").splitlines()[1:]
    linked_art = {(kind, name): target for kind, name, target in (line.split(",") for line in lines if line)}
    return Vocabulary(ontology, renames, index, linked_art)


def _first(folders: tuple[Path, ...], name: str) -> Path:
    found = next((place / name for place in folders if (place / name).is_file()), None)
    if found is None:
        raise OntologyError(
            f"No configuration folder holds ontology/{name}.", "Restore it from the distribution."
        )
    return found


Rule = Literal["exact", "renamed", "erlangen", "linked-art", "version"]
_LINKED_ART = "linked_art"
_UNDEFINED = ("urn:",)
"""What JSON-LD processors put before a name that its context does not define (met in museums' data)."""


@dataclass(frozen=True, slots=True)
class Normalised:
    """The code that an IRI stands for, the present name of that code, and by which rule it was found.

    `stated` is the code in the IRI itself. `turned` says that the property's new name reads from range
    to domain of the old one: `P88_consists_of` is `P89i`, so subject and object stay where they are.
    """

    code: str
    name: str
    rule: Rule
    stated: str = ""
    turned: bool = False


class Normaliser:
    """Normalises with one vocabulary; results are cached for each distinct IRI."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        ontology = vocabulary.ontology
        self._terms = {"class": ontology.classes, "property": ontology.properties}
        self._by_name = {(r.kind, r.name): r for r in vocabulary.renames if r.replaced_by and r.name}
        self._by_code = {(r.kind, r.code): r for r in reversed(vocabulary.renames) if r.replaced_by}
        every = (term for terms in self._terms.values() for term in terms.values())
        self._namespaces = {namespace_of(term.iri) for term in every if term.iri}
        self.class_ = lru_cache(maxsize=65536)(lambda iri: self._normalise("class", iri))
        self.property_ = lru_cache(maxsize=65536)(lambda iri: self._normalise("property", iri))

    def _normalise(self, kind: Kind, iri: str) -> Normalised | None:
        namespace, name = namespace_of(iri), local_name(iri)
        if iri.startswith(_UNDEFINED) and namespace == "":
            return self._linked_art(kind, iri.removeprefix("urn:"))
        family = self._vocabulary.index.family(namespace)
        if not family and namespace not in self._namespaces:
            return None
        if family == _LINKED_ART:
            return self._linked_art(kind, name)
        found = self._crm(kind, iri, name, family)
        if found and family == "erlangen" and found.rule != "renamed":
            return replace(found, rule="erlangen")
        return found

    def _crm(self, kind: Kind, iri: str, name: str, family: str) -> Normalised | None:
        ontology = self._vocabulary.ontology
        spelling = take_apart(name)
        stated = spelling.code if spelling else ""
        rename = self._by_name.get((kind, name))
        if rename is not None and self._terms[kind].get(rename.replaced_by):
            same = self._terms[kind][rename.replaced_by].name == name
            return self._found(
                kind, rename.replaced_by, "exact" if same else "renamed", stated, rename.turned
            )
        code = ontology.iris[kind].get(iri) or ontology.names[kind].get(name)
        if code is not None:
            term = self._terms[kind][code]
            rule: Rule = "exact" if term.name == name else "renamed"
            turned = kind == "property" and bool(stated) and stated.endswith("i") != code.endswith("i")
            return self._found(kind, code, "version" if term.table == "renames" else rule, stated, turned)
        # By the code alone: names of versions that nothing else knows.
        rename = self._by_code.get((kind, stated))
        if family == "frbroo" and f"frbroo:{stated}" in self._terms[kind]:
            return self._found(kind, f"frbroo:{stated}", "version", stated)
        if stated in self._terms[kind]:
            return self._found(kind, stated, "version", stated)
        if rename is not None and rename.replaced_by in self._terms[kind]:
            return self._found(kind, rename.replaced_by, "renamed", stated, rename.turned)
        return None

    def _linked_art(self, kind: Kind, name: str) -> Normalised | None:
        own = f"{_LINKED_ART}:{name}"
        if own in self._terms[kind]:
            return self._found(kind, own, "linked-art", own)
        target = self._vocabulary.linked_art.get((kind, name))
        found = self._crm(kind, "", target, "") if target else None
        return replace(found, rule="linked-art") if found else None

    def _found(self, kind: Kind, code: str, rule: Rule, stated: str, turned: bool = False) -> Normalised:
        return Normalised(code, self._terms[kind][code].name, rule, stated or code, turned)


@lru_cache(maxsize=1)
def normaliser() -> Normaliser:
    """The normaliser of the configuration in use."""
    return Normaliser(load_vocabulary())


def normalise_class(iri: str) -> Normalised | None:
    """The class that an IRI stands for; None for what is not of the CRM family."""
    return normaliser().class_(iri)


def normalise_property(iri: str) -> Normalised | None:
    """The property that an IRI stands for; None for what is not of the CRM family, such as rdfs:label."""
    return normaliser().property_(iri)


_CRM_PREFIXES = ("crm:", "sci:", "dig:", "archaeo:")
_CLASS_LETTERS = frozenset("EDSFAI")
_OLD_NAMES = {
    "ManMadeFeature": "E25_Human-Made_Feature",
    "ManMadeObject": "E22_Human-Made_Object",
    "ManMadeThing": "E71_Human-Made_Thing",
    "PhysicalManMadeThing": "E24_Physical_Human-Made_Thing",
}
"""Names of the profile before 1.0, which follow CRM 6."""


def names_from_context(text: str) -> str:
    """CSV (kind, name, target) of the context's names that mean one class or property wherever they stand.

    A name whose meaning depends on the class around it (`part`) is left to a JSON-LD processor. Raises
    OntologyError for text that is no JSON-LD context.
    """
    try:
        context = json.loads(text)["@context"]
    except (ValueError, KeyError, TypeError) as error:
        raise OntologyError("This JSON is no JSON-LD context.", "It must have the key '@context'.") from error
    meanings: dict[str, set[str]] = {}
    for name, target in _names(context):
        meanings.setdefault(name, set()).add(target)
    rows = {(_kind(target), name, target) for name, target in _OLD_NAMES.items()}
    for name, targets in meanings.items():
        if len(targets) == 1 and (target := next(iter(targets))).startswith(_CRM_PREFIXES):
            local = target.partition(":")[2]
            rows.add((_kind(local), name, local))
    return "kind,name,target\n" + "".join(",".join(row) + "\n" for row in sorted(rows))


def _kind(target: str) -> str:
    spelling = take_apart(target)
    letters = spelling.code.rstrip("0123456789i") if spelling else ""
    return "class" if letters in _CLASS_LETTERS or letters.startswith("E") else "property"


def _names(context: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(context, dict):
        return
    for name, meaning in context.items():
        if not name.startswith("@") and isinstance(meaning, dict):
            if isinstance(meaning.get("@id"), str):
                yield name, meaning["@id"]
            yield from _names(meaning.get("@context"))


class Category(IntFlag):
    """The Fundamental Categories of TR-429 (Tzompanaki & Doerr 2012), and Time; a bit each."""

    Thing = 1
    Actor = 2
    Place = 4
    Event = 8
    Concept = 16
    Time = 32


def mostly(masks: NDArray[np.uint8]) -> int:
    """The categories that at least half of some entities have, as a mask; of each a mask of its own, uint8 [n]."""
    count = np.bincount(masks, minlength=1 << 8)
    have = {int(one): int(count[(_MASKS & int(one)) != 0].sum()) for one in Category}
    return sum(one for one, some in have.items() if len(masks) and 2 * some >= len(masks))


_MASKS = np.arange(1 << 8)


class CategoryMap:
    """Categories of classes: as listed, else those of the nearest listed superclass."""

    def __init__(self, part: CategoriesPart, ontology: Ontology) -> None:
        self._priority = tuple(Category[name] for name in part.priority)
        self._listed = {code: Category[name] for name, codes in part.classes.items() for code in codes}
        self._also = {code: Category[name] for name, codes in part.also.items() for code in codes}
        self._ontology = ontology
        self._main: dict[str, Category | None] = {}
        self._all: dict[str, Category] = {}

    def of(self, class_codes: Iterable[str]) -> Category | None:
        """The one category of an entity of these classes, by priority; None where no class has one."""
        found = {self._class(code) for code in class_codes}
        return next((category for category in self._priority if category in found), None)

    def all_of(self, class_codes: Iterable[str]) -> Category:
        """Every category that an entity of these classes may be asked for, as one bit mask (0 for none).

        A class in `also` has further categories: VIR's characters are Things, yet a question for saints
        means them, and a path that leads to Actors may end in one (facts: method, mistake 7).
        """
        mask = Category(0)
        for code in class_codes:
            mask |= self._every(code)
        return mask

    def _class(self, code: str) -> Category | None:
        """Of the nearest listed class, breadth first up the hierarchy; the priority decides between equally near ones."""
        if code not in self._main:
            self._main[code] = None
            level, seen = [code], {code}
            while level:
                found = {self._listed[at] for at in level if at in self._listed}
                if found:
                    self._main[code] = next(category for category in self._priority if category in found)
                    break
                classes = (self._ontology.classes[at] for at in level if at in self._ontology.classes)
                level = sorted({parent for term in classes for parent in term.parents} - seen)
                seen.update(level)
        return self._main[code]

    def _every(self, code: str) -> Category:
        if code not in self._all:
            mask = self._class(code) or Category(0)
            for ancestor in (code, *self._ontology.superclasses(code)):
                mask |= self._also.get(ancestor, Category(0))
            self._all[code] = mask
        return self._all[code]


@lru_cache(maxsize=1)
def load_categories() -> CategoryMap:
    """The category map of the configuration in use."""
    return CategoryMap(read_part(CategoriesPart, part_file("categories.yaml")), load_ontology())
