"""Texts of the queries for blank nodes: which nodes are walked to from where, and everything said of them.

A blank node cannot be named in a query and its label holds within one response, so each query walks to its nodes from
what can be named. Engines were found to join chains of plain triple patterns well; paths (`rdf:rest*`) and nested
queries cost some of them a scan of everything, so these come last (measured on Oxigraph 0.5 and Virtuoso 7.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Literal

from crmrag_assets.harvest.triples import RDF_TYPE
from crmrag_assets.sources.endpoint.queries import Scope, by_text, iri, later_than

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
    return Start(f"VALUES ?a {{ {' '.join(iri(anchor.iri) for anchor in anchors)} }}", _ways(scope))


def surroundings(start: Start, walk: Walk, scope: Scope) -> str:
    """Every triple of each node ?x that is walked to: ?x ?p ?out, or ?in ?p ?x."""
    return f"SELECT {scope.columns('?x', '?p', '?out', '?in')} WHERE {{ {_about(start, walk, scope)} }}"


def count_surroundings(start: Start, walk: Walk, scope: Scope) -> str:
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ {_about(start, walk, scope)} }}"


def halves(start: Start, walk: Walk, scope: Scope) -> tuple[str, str]:
    """`surroundings` in two queries, of what nodes say and of what is said of them: columns ?x, ?p, ?o (and ?g)."""
    nodes, columns = _nodes(start, walk, scope), scope.columns("?x", "?p", "?o")
    ways = scope.triples("?x", "?p", "?o"), scope.triples("?o", "?p", "?x")
    out, into = (f"SELECT {columns} WHERE {{ {{ {nodes} }} {{ {way} }} }}" for way in ways)
    return out, into


def touching(scope: Scope) -> str:
    """Every triple with a blank node."""
    return f"SELECT {scope.columns('?s', '?p', '?o')} WHERE {{ {_touching(scope)} }}"


def count_touching(scope: Scope) -> str:
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ {_touching(scope)} }}"


def count_touching_once(scope: Scope) -> str:
    """As `count_touching`, for an endpoint that repeats a triple which several of its graphs hold."""
    return (
        f"SELECT (COUNT(*) AS ?n) WHERE {{ {{ SELECT DISTINCT {touching(scope).removeprefix('SELECT ')} }} }}"
    )


def anchor_page(scope: Scope, after: str, limit: int) -> str:
    """IRIs of anchors as strings in order, after ``after``."""
    return (
        f"SELECT DISTINCT (STR(?a) AS ?iri) WHERE {{ {_anchors(scope)} {later_than('?a', after)} }} "
        f"ORDER BY ?iri LIMIT {limit}"
    )


def all_anchors(scope: Scope) -> str:
    """IRIs of anchors as strings, in any order."""
    return f"SELECT DISTINCT (STR(?a) AS ?iri) WHERE {{ {_anchors(scope)} }}"


def count_anchors(scope: Scope) -> str:
    return f"SELECT (COUNT(DISTINCT ?a) AS ?n) WHERE {{ {_anchors(scope)} }}"


def properties_at(anchor: Anchor, scope: Scope) -> str:
    """Properties, as strings, that join an anchor with blank nodes."""
    start = start_of([anchor], scope, 0)
    return f"SELECT DISTINCT (STR(?q) AS ?iri) WHERE {{ {_first(start, '?x')} }}"


def _touching(scope: Scope) -> str:
    return f"{scope.triples('?s', '?p', '?o')} FILTER(isBlank(?s) || isBlank(?o))"


def _anchors(scope: Scope) -> str:
    above, below = (way("?b") for way in _ways(scope))
    return f"{{ {above} }} UNION {{ {below} }} FILTER(isIRI(?a))"


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
    return (
        f"{{ SELECT DISTINCT {x} WHERE {{ {_union([_ring(scope, n, x) for n in range(1, longest + 1)])} }} }}"
    )


def _ring(scope: Scope, length: int, x: str) -> str:
    nodes = [x, *(f"?r{k}" for k in range(1, length))]
    steps = [
        f"{scope.triples(node, f'?z{k}', following, f'?gr{k}')} FILTER(isBlank({node}))"
        for k, (node, following) in enumerate(zip(nodes, [*nodes[1:], x], strict=True))
    ]
    return " ".join(steps)


def _about(start: Start, walk: Walk, scope: Scope) -> str:
    # each node has triples, so OPTIONAL changes nothing but makes engines look them up node by node
    out, into = scope.triples("?x", "?p", "?out"), scope.triples("?in", "?p", "?x")
    return f"{{ {_nodes(start, walk, scope)} }} OPTIONAL {{ {{ {out} }} UNION {{ {into} }} }}"


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
