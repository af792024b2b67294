"""Texts of the queries that an endpoint is asked: SELECT only, plain SPARQL 1.1, from checked IRIs and escaped strings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import pyoxigraph as ox

from crmrag_assets.harvest.triples import RDF_TYPE

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_ESCAPED = re.compile(r'[\\"\n\r\t\b\f]')

Graphs = Literal["default", "named", "all"] | tuple[str, ...]


def is_iri(text: str) -> bool:
    """Whether the text can stand between < and > as an absolute IRI, for every endpoint."""
    try:
        ox.NamedNode(text)
    except ValueError:
        return False
    return True


def iri(text: str) -> str:
    """The IRI for a query; ValueError for what would not be one: nothing unchecked enters a query."""
    if not is_iri(text):
        raise ValueError(f"not an absolute IRI: {text!r}")
    return f"<{text}>"


def string(text: str) -> str:
    """The text as a string literal, with every character that could end it escaped."""
    return '"' + _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text) + '"'


def values(variable: str, iris: Iterable[str]) -> str:
    return f"VALUES {variable} {{ {' '.join(map(iri, iris))} }}"


@dataclass(frozen=True)
class Scope:
    """Which graphs are read: the default graph, all named graphs, both, or the named graphs of a list."""

    graphs: Graphs = "default"

    @property
    def graph(self) -> bool:
        """Whether results tell the graph of each triple."""
        return self.graphs != "default"

    def triples(self, s: str, p: str, o: str, g: str = "?g") -> str:
        """The group pattern of one triple pattern."""
        plain, named = f"{s} {p} {o} .", f"GRAPH {g} {{ {s} {p} {o} }}"
        if self.graphs == "default":
            return plain
        if self.graphs == "named":
            return named
        if self.graphs == "all":
            return f"{{ {plain} }} UNION {{ {named} }}"
        return f"{values(g, self.graphs)} {named}"

    def columns(self, *variables: str) -> str:
        """The variables to select: these, and the graph where there may be one."""
        return " ".join([*variables, "?g"] if self.graph else variables)

    @property
    def width(self) -> int:
        """Columns of a response of triples."""
        return 4 if self.graph else 3


@dataclass(frozen=True)
class Part:
    """Some triples of a harvest: of these subjects, of these properties alone, of objects whose MD5 begins so.

    ``unnamed``: leave out triples whose object is a blank node, which are fetched elsewhere.
    """

    subjects: tuple[str, ...]
    properties: tuple[str, ...] = ()
    digest: str = ""
    unnamed: bool = False

    def pattern(self, scope: Scope) -> str:
        parts = [values("?s", self.subjects)]
        if self.properties:
            parts.append(values("?p", self.properties))
        parts.append(scope.triples("?s", "?p", "?o"))
        if self.unnamed:
            parts.append("FILTER(!isBlank(?o))")
        if self.digest:
            parts.append(digest_filter("?o", self.digest))
        return " ".join(parts)


def rows_of(part: Part, scope: Scope) -> str:
    return f"SELECT {scope.columns('?s', '?p', '?o')} WHERE {{ {part.pattern(scope)} }}"


def count_of(part: Part, scope: Scope) -> str:
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ {part.pattern(scope)} }}"


def properties_of(part: Part, scope: Scope) -> str:
    """Each property of the part's subjects with the number of its triples."""
    return f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {part.pattern(scope)} }} GROUP BY ?p"


def property_names(part: Part, scope: Scope) -> str:
    """Each property of the part's subjects, for endpoints that do not count."""
    return f"SELECT DISTINCT (STR(?p) AS ?property) WHERE {{ {part.pattern(scope)} }}"


def odd_rows(subjects: Sequence[str], scope: Scope) -> str:
    """Triples of subjects whose IRIs are not valid, so that they cannot be named: found by their texts."""
    return f"SELECT {scope.columns('(STR(?e) AS ?s)', '?p', '?o')} WHERE {{ {_odd(subjects, scope)} }}"


def odd_count(subjects: Sequence[str], scope: Scope) -> str:
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ {_odd(subjects, scope)} }}"


def _odd(subjects: Sequence[str], scope: Scope) -> str:
    return f"{scope.triples('?e', '?p', '?o')} {by_text('?e', subjects)}"


def counted_subjects(scope: Scope, after: str = "") -> str:
    """Subjects that are IRIs, as strings in any order, after ``after``, each with the number of its triples: ?iri and ?n."""
    return (
        f"SELECT (STR(?e) AS ?iri) (COUNT(*) AS ?n) WHERE {{ {scope.triples('?e', '?p', '?o')} "
        f"FILTER(isIRI(?e)) {later_than('?e', after)} }} GROUP BY ?e"
    )


def counted_page(scope: Scope, after: str, limit: int) -> str:
    """The first ``limit`` of these subjects, in order."""
    return f"SELECT ?iri ?n WHERE {{ {{ {counted_subjects(scope, after)} }} }} ORDER BY ?iri LIMIT {limit}"


def subject_page(scope: Scope, after: str, limit: int, only: str = "") -> str:
    """Subjects that are IRIs, as strings in order, after ``after``; ``only`` is a pattern that they must match."""
    name, pattern = _subjects(scope, only)
    distinct = (  # made distinct before they are sorted: an endpoint would sort every triple's subject
        f"SELECT DISTINCT (STR(?e) AS ?{name}) WHERE {{ {pattern} "
        f"FILTER(isIRI(?e)) {later_than('?e', after)} }}"
    )
    return f"SELECT ?{name} WHERE {{ {{ {distinct} }} }} ORDER BY ?{name} LIMIT {limit}"


def all_subjects(scope: Scope, only: str = "") -> str:
    """Subjects that are IRIs, as strings in any order."""
    name, pattern = _subjects(scope, only)
    return f"SELECT DISTINCT (STR(?e) AS ?{name}) WHERE {{ {pattern} FILTER(isIRI(?e)) }}"


def listed_as(only: str) -> str:
    """The variable of a list of subjects: an answer to one kind of list is never taken for one to another."""
    return "member" if only else "iri"


def _subjects(scope: Scope, only: str) -> tuple[str, str]:
    return listed_as(only), only or scope.triples("?e", "?p", "?o")


def typed(scope: Scope, classes: Sequence[str]) -> str:
    """The pattern of an ?e that is an instance of one of the classes."""
    return f"{values('?c', classes)} {scope.triples('?e', 'a', '?c')}"


def later_than(variable: str, after: str) -> str:
    """Leaves terms whose text comes after another, by code points; all where that is empty.

    Both sides go through CONCAT, as Virtuoso compares the bare text of an IRI with a string rightly for ASCII only.
    """
    return f'FILTER(CONCAT(STR({variable}), "") > CONCAT({string(after)}, ""))' if after else ""


def by_text(variable: str, texts: Sequence[str]) -> str:
    """Leaves IRIs with one of these texts, valid or not; by VALUES, as IN misses texts beyond ASCII in Virtuoso."""
    listed = " ".join(map(string, texts))
    return f"FILTER(isIRI({variable}) && STR({variable}) = ?spelt) VALUES ?spelt {{ {listed} }}"


def digest_filter(variable: str, digest: str) -> str:
    """Leaves terms whose text has an MD5 that begins so: an even split that needs no order."""
    return f"FILTER(STRSTARTS(LCASE(MD5(STR({variable}))), {string(digest)}))"


def untyped(scope: Scope) -> str:
    """The pattern of an ?e of which no class is stated."""
    return f"{scope.triples('?e', '?p', '?o')} FILTER NOT EXISTS {{ {scope.triples('?e', 'a', '?c', '?h')} }}"


def count_triples(scope: Scope) -> str:
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ {scope.triples('?s', '?p', '?o')} }}"


def count_subjects(scope: Scope, only: str = "") -> str:
    pattern = only or scope.triples("?e", "?p", "?o")
    return f"SELECT (COUNT(DISTINCT ?e) AS ?n) WHERE {{ {pattern} FILTER(isIRI(?e)) }}"


def stated_dates(scope: Scope) -> str:
    """What descriptions of data sets (VoID, DCAT) say of their last change, and of their size."""
    return (
        f"SELECT DISTINCT (STR(?m) AS ?stated) WHERE {{ {values('?c', DESCRIBED)} {values('?p', CHANGED)} "
        f"{scope.triples('?d', 'a', '?c', '?g')} {scope.triples('?d', '?p', '?m', '?h')} }}"
    )


def class_list(scope: Scope) -> str:
    return (
        f"SELECT DISTINCT (STR(?c) AS ?class) WHERE {{ {scope.triples('?e', 'a', '?c')} FILTER(isIRI(?c)) }}"
    )


def property_list(scope: Scope) -> str:
    return f"SELECT DISTINCT (STR(?p) AS ?property) WHERE {{ {scope.triples('?e', '?p', '?o')} }}"


def pointing_at(scope: Scope, targets: Sequence[str], limit: int) -> str:
    """For each target the first ``limit`` other IRIs that point at it, rdf:type aside: columns ?iri and ?target."""
    parts = (
        f"{{ SELECT DISTINCT (STR(?e) AS ?iri) ({string(target)} AS ?target) WHERE {{ "
        f"{scope.triples('?e', '?p', iri(target))} "
        f"FILTER(isIRI(?e) && ?p != {iri(RDF_TYPE)} && ?e != {iri(target)}) }} ORDER BY ?iri LIMIT {limit} }}"
        for target in targets
    )
    return f"SELECT ?iri ?target WHERE {{ {' UNION '.join(parts)} }}"


# A response to this holds what formats get wrong: tab, line ends, quotes, backslash, a language, a datatype, other scripts.
PROBED = ('tab\tnew\nline\rreturn "quoted" back\\slash', "Παναγία 𐀀", "urn:x:crmrag#probe")
PRECISE = "35.0459871234"
PROBE = (
    f"SELECT ?a ?b ?c ?d ?e WHERE {{ VALUES (?a ?b ?c ?d ?e) {{ ({string(PROBED[0])} {string(PROBED[1])}@el "
    f"{string('x')}^^<urn:x:crmrag#type> {iri(PROBED[2])} "
    f"{string(PRECISE)}^^<http://www.w3.org/2001/XMLSchema#double>) }} }}"
)
DESCRIBED = ("http://rdfs.org/ns/void#Dataset", "http://www.w3.org/ns/dcat#Dataset")
CHANGED = (
    "http://purl.org/dc/terms/modified", "http://purl.org/dc/terms/issued", "http://schema.org/dateModified",
    "http://purl.org/pav/lastUpdateOn", "http://rdfs.org/ns/void#triples",
)  # fmt: skip
ALIVE = "SELECT ?n WHERE { VALUES ?n { 1 } }"
