"""Texts of the queries that an endpoint is asked: SELECT only, plain SPARQL 1.1, from checked IRIs and escaped strings.

A blank node cannot be named in a query and its label holds within one response, so queries for blank nodes walk to them
from what can be named. Engines were found to join chains of plain triple patterns well; paths (`rdf:rest*`) and nested
queries cost some of them a scan of everything, so these come last (measured on Oxigraph 0.5 and Virtuoso 7.2).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from typing import Literal

import pyoxigraph as ox

from crmrag_query.syntax import RDF_TYPE

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


def count(pattern: str, what: str = "*") -> str:
    """The number ?n of the solutions of a pattern."""
    return f"SELECT (COUNT({what}) AS ?n) WHERE {{ {pattern} }}"


def strings(variable: str, name: str, pattern: str) -> str:
    """The distinct texts of a variable of a pattern, in any order, under another name."""
    return f"SELECT DISTINCT (STR({variable}) AS ?{name}) WHERE {{ {pattern} }}"


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

    def select(self, pattern: str, *variables: str) -> str:
        """The rows of a pattern: these variables, and the graph where there may be one."""
        return f"SELECT {' '.join([*variables, '?g'] if self.graph else variables)} WHERE {{ {pattern} }}"

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
    return scope.select(part.pattern(scope), "?s", "?p", "?o")


def properties_of(part: Part, scope: Scope) -> str:
    """Each property of the part's subjects with the number of its triples."""
    return f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {part.pattern(scope)} }} GROUP BY ?p"


def odd(subjects: Sequence[str], scope: Scope) -> str:
    """The pattern of triples of subjects whose IRIs are not valid, so that they cannot be named: found by their texts."""
    return f"{scope.triples('?e', '?p', '?o')} {by_text('?e', subjects)}"


def all_subjects(scope: Scope, only: str = "", after: str = "") -> str:
    """Subjects that are IRIs, as strings in any order, after ``after``; ``only`` is a pattern that they must match."""
    return strings("?e", listed_as(only), f"{_subjects(scope, only)} {later_than('?e', after)}")


def subject_page(scope: Scope, after: str, limit: int, only: str = "") -> str:
    """The first ``limit`` of these subjects, in order.

    They are made distinct before they are sorted: an endpoint would sort every triple's subject.
    """
    name = listed_as(only)
    return (
        f"SELECT ?{name} WHERE {{ {{ {all_subjects(scope, only, after)} }} }} ORDER BY ?{name} LIMIT {limit}"
    )


def counted_subjects(scope: Scope, after: str = "") -> str:
    """All subjects after ``after``, each with the number of its triples: ?iri and ?n."""
    pattern = f"{_subjects(scope, '')} {later_than('?e', after)}"
    return f"SELECT (STR(?e) AS ?iri) (COUNT(*) AS ?n) WHERE {{ {pattern} }} GROUP BY ?e"


def counted_page(scope: Scope, after: str, limit: int) -> str:
    """The first ``limit`` of these subjects, in order."""
    return f"SELECT ?iri ?n WHERE {{ {{ {counted_subjects(scope, after)} }} }} ORDER BY ?iri LIMIT {limit}"


def count_subjects(scope: Scope, only: str = "") -> str:
    return count(_subjects(scope, only), "DISTINCT ?e")


def listed_as(only: str) -> str:
    """The variable of a list of subjects: an answer to one kind of list is never taken for one to another."""
    return "member" if only else "iri"


def _subjects(scope: Scope, only: str) -> str:
    return f"{only or scope.triples('?e', '?p', '?o')} FILTER(isIRI(?e))"


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
    return count(scope.triples("?s", "?p", "?o"))


def stated_dates(scope: Scope) -> str:
    """What descriptions of data sets (VoID, DCAT) say of their last change, and of their size."""
    return (
        f"SELECT DISTINCT (STR(?m) AS ?stated) WHERE {{ {values('?c', DESCRIBED)} {values('?p', CHANGED)} "
        f"{scope.triples('?d', 'a', '?c', '?g')} {scope.triples('?d', '?p', '?m', '?h')} }}"
    )


def class_list(scope: Scope) -> str:
    return strings("?c", "class", f"{scope.triples('?e', 'a', '?c')} FILTER(isIRI(?c))")


def property_list(scope: Scope) -> str:
    return strings("?p", "property", scope.triples("?e", "?p", "?o"))


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

REST = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#rest>"
TYPE = f"<{RDF_TYPE}>"


@dataclass(frozen=True, slots=True, order=True)
class Anchor:
    """An IRI that a blank node can be asked for from: it points at one, or one that nothing points at points at it.

    ``property`` narrows it to the triples of one property. Without ``iri`` it stands for what no IRI leads to.
    """

    iri: str
    property: str = ""


ROOTS = Anchor("", "roots")
"""Blank nodes that nothing points at, and that point at no IRI but their class."""
RINGS = Anchor("", "rings")
"""Blank nodes in a ring: where no IRI leads, what is not below a root is below a ring."""


@dataclass(frozen=True, slots=True)
class Walk:
    """Which steps a query takes from its first nodes: each of ``ways`` is a series of steps "d" down and "u" up.

    ``lists`` follows `rdf:rest` to the end: "no", in the "last" step or in "each", so that a list counts as one.
    ``spread`` is the number of steps, in any direction, of a walk that is no series.
    """

    ways: tuple[str, ...] = ()
    lists: Literal["no", "last", "each"] = "no"
    spread: int = 0

    @property
    def longest(self) -> int:
        """The most blank nodes in a row."""
        return 1 + max([self.spread, *map(len, self.ways)])

    @property
    def upwards(self) -> bool:
        return self.spread > 0 or any("u" in way for way in self.ways)


def down(depth: int, lists: Literal["no", "last", "each"]) -> Walk:
    """To ``depth`` blank nodes below one another."""
    return Walk(tuple("d" * steps for steps in range(depth)), lists)


def around(depth: int) -> Walk:
    """To ``depth`` blank nodes in a row, in either direction at each step."""
    return Walk(tuple("".join(way) for steps in range(depth) for way in product("du", repeat=steps)))


def over(above: int, depth: int) -> Walk:
    """Up to so many blank nodes above the first, and down from there."""
    return Walk(tuple("u" * up + "d" * steps for up in range(above + 1) for steps in range(depth)), "each")


SHORT, ROUND, ABOVE = 2, 4, 2  # blank nodes in a row; beyond ROUND there are too many ways for one query


def walks(depth: int) -> tuple[Walk, ...]:
    """The walks to try one after another, for trees of ``depth`` blank nodes below one another.

    The last two are for engines that cannot spread; in a dense component their ways are too many to be answered.
    """
    short, round_ = min(SHORT, depth), min(ROUND, depth)
    ladder = (
        down(short, "last"),
        around(short),
        down(round_, "each"),
        down(depth, "each"),
        around(round_),
        Walk(spread=2 * depth - 1),
        over(ABOVE, depth),
        down(2 * depth, "no"),
    )
    return tuple(dict.fromkeys(ladder))


Way = Callable[[str], str]
"""The pattern that binds a variable to the nodes that a walk starts from."""


@dataclass(frozen=True)
class Start:
    """Where a query begins: values, and the ways from them to its first nodes."""

    given: str
    ways: tuple[Way, ...]


def start_of(anchors: Sequence[Anchor], scope: Scope, longest: int, spelt: Sequence[str] = ()) -> Start:
    """The start at anchors that are all IRIs, all narrowed to a property, or just ROOTS or RINGS (of ``longest`` nodes).

    ``spelt``: how the endpoint spells the IRI of a single anchor that is not valid there; it is found by its text.
    """
    if ROOTS in anchors:
        return Start("", (partial(_loose_roots, scope),))
    if RINGS in anchors:
        return Start("", (partial(_rings, scope, longest),))
    if spelt:
        text = by_text("?a", spelt)
        down, up = _ways(scope)
        return Start("", (lambda x: f"{down(x)} {text}", lambda x: f"{up(x)} {text}"))
    if anchors[0].property:
        pairs = " ".join(f"({iri(anchor.iri)} {iri(anchor.property)})" for anchor in anchors)
        return Start(f"VALUES (?a ?q) {{ {pairs} }}", _ways(scope))
    return Start(values("?a", (anchor.iri for anchor in anchors)), _ways(scope))


def surroundings(start: Start, walk: Walk, scope: Scope) -> str:
    """The pattern of every triple of each node ?x that is walked to: ?x ?p ?out, or ?in ?p ?x."""
    # each node has triples, so OPTIONAL changes nothing but makes engines look them up node by node
    out, into = scope.triples("?x", "?p", "?out"), scope.triples("?in", "?p", "?x")
    return f"{{ {_nodes(start, walk, scope)} }} OPTIONAL {{ {{ {out} }} UNION {{ {into} }} }}"


def halves(start: Start, walk: Walk, scope: Scope) -> tuple[str, str]:
    """`surroundings` in two queries, of what nodes say and of what is said of them: columns ?x, ?p, ?o (and ?g)."""
    nodes = _nodes(start, walk, scope)
    ways = scope.triples("?x", "?p", "?o"), scope.triples("?o", "?p", "?x")
    out, into = (scope.select(f"{{ {nodes} }} {{ {way} }}", "?x", "?p", "?o") for way in ways)
    return out, into


def touching(scope: Scope) -> str:
    """The pattern of every triple with a blank node: ?s, ?p, ?o (and ?g)."""
    return f"{scope.triples('?s', '?p', '?o')} FILTER(isBlank(?s) || isBlank(?o))"


def count_touching_once(scope: Scope) -> str:
    """For an endpoint that repeats a triple which several of its graphs hold."""
    return count(f"{{ {scope.select(touching(scope), 'DISTINCT ?s', '?p', '?o')} }}")


def anchors(scope: Scope) -> str:
    """The pattern of every IRI ?a of an anchor."""
    below, above = (way("?b") for way in _ways(scope))
    return f"{_union([below, above])} FILTER(isIRI(?a))"


def anchor_page(scope: Scope, after: str, limit: int) -> str:
    """IRIs of anchors as strings in order, after ``after``."""
    listed = strings("?a", "iri", f"{anchors(scope)} {later_than('?a', after)}")
    return f"{listed} ORDER BY ?iri LIMIT {limit}"


def properties_at(anchor: Anchor, scope: Scope) -> str:
    """Properties, as strings, that join an anchor with blank nodes."""
    return strings("?q", "iri", _first(start_of([anchor], scope, 0), "?x"))


def _ways(scope: Scope) -> tuple[Way, Way]:
    """From ?a down to the blank nodes that it points at by ?q, and up to those at the top that point at it."""

    def down(x: str) -> str:
        return f"{scope.triples('?a', '?q', x, '?ga')} FILTER(isBlank({x}))"

    def up(x: str) -> str:
        return (
            f"{scope.triples(x, '?q', '?a', '?ga')} FILTER(isBlank({x}) && ?q != {TYPE}) {_at_top(x, scope)}"
        )

    return down, up


def _at_top(x: str, scope: Scope) -> str:
    return f"FILTER NOT EXISTS {{ {scope.triples('?above', '?by', x, '?gt')} }}"


def _loose_roots(scope: Scope, x: str) -> str:
    return (
        f"{{ SELECT DISTINCT {x} WHERE {{ {scope.triples(x, '?q', '?any', '?ga')} FILTER(isBlank({x})) "
        f"{_at_top(x, scope)} FILTER NOT EXISTS {{ {scope.triples(x, '?to', '?named', '?gn')} "
        f"FILTER(isIRI(?named) && ?to != {TYPE}) }} }} }}"
    )


def _rings(scope: Scope, longest: int, x: str) -> str:
    """Nodes in rings of up to so many, each once, as there may be many ways around."""
    rings = []
    for length in range(1, longest + 1):
        nodes = [x, *(f"?r{k}" for k in range(1, length)), x]
        steps = [
            f"{scope.triples(node, f'?z{k}', following, f'?gr{k}')} FILTER(isBlank({node}))"
            for k, (node, following) in enumerate(pairwise(nodes))
        ]
        rings.append(" ".join(steps))
    return f"{{ SELECT DISTINCT {x} WHERE {{ {_union(rings)} }} }}"


def _nodes(start: Start, walk: Walk, scope: Scope) -> str:
    return _spread(start, walk.spread, scope) if walk.spread else _along(start, walk, scope)


def _first(start: Start, x: str) -> str:
    return f"{start.given} {_union([way(x) for way in start.ways])}"


def _along(start: Start, walk: Walk, scope: Scope) -> str:
    """Nodes at the end of each way: a chain of patterns for each, and one by way of lists.

    The second would do, but Virtuoso has no paths of no steps in named graphs.
    """
    chains = []
    for way in walk.ways:
        lists = {"no": 0, "last": min(1, len(way)), "each": len(way)}[walk.lists]
        for listed in sorted({0, lists}):
            nodes = [*(f"?n{k}" for k in range(len(way))), "?x"]
            steps = [
                _step(nodes[k], nodes[k + 1], k, turn == "d", k >= len(way) - listed, scope)
                for k, turn in enumerate(way)
            ]
            chains += [" ".join([first(nodes[0]), *steps]) for first in start.ways]
    return f"SELECT DISTINCT ?x WHERE {{ {start.given} {_union(chains)} }}"


def _step(node: str, other: str, k: int, below: bool, along: bool, scope: Scope) -> str:
    """From a node to blank nodes below or above it; with ``along`` by way of all cells of a list."""
    cell = f"?c{k}" if along else other if below else node
    top, bottom = (node, cell) if below else (other, cell)
    parts = [scope.triples(top, f"?q{k}", bottom, f"?g{k}"), f"FILTER(isBlank({other}))"]
    if along:
        end = other if below else node
        rest = scope.triples(cell, REST + "*", end, f"?h{k}")
        parts = [parts[0], f"FILTER(isBlank({cell}))", rest, parts[1]] if below else [rest, *parts]
    return " ".join(parts)


def _spread(start: Start, steps: int, scope: Scope) -> str:
    """Nodes up to so many steps away: a query for each step around that for the one before.

    A path of no steps stays where it is, so each holds the nodes of the one before.
    """
    text = f"SELECT DISTINCT ?n0 WHERE {{ {_first(start, '?n0')} }}"
    for k in range(1, steps + 1):
        node, other = f"?n{k - 1}", f"?n{k}" if k < steps else "?x"
        ways = [
            scope.triples(node, f"?q{k}", other, f"?g{k}"),
            scope.triples(other, f"?q{k}", node, f"?g{k}"),
            scope.triples(node, REST + "*", other, f"?h{k}"),
            scope.triples(other, REST + "*", node, f"?h{k}"),
        ]
        text = f"SELECT DISTINCT {other} WHERE {{ {{ {text} }} {_union(ways)} FILTER(isBlank({other})) }}"
    return text


def _union(patterns: Sequence[str]) -> str:
    return " UNION ".join(f"{{ {pattern} }}" for pattern in patterns)
