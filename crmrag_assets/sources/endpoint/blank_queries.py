"""Texts of the queries for blank nodes: which nodes are walked to from where, and everything said of them.

A blank node cannot be named in a query and its label holds within one response, so each query walks to its nodes from
what can be named. Engines were found to join chains of plain triple patterns well; paths (`rdf:rest*`) and nested
queries cost some of them a scan of everything, so these come last (measured on Oxigraph 0.5 and Virtuoso 7.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crmrag_assets.harvest.triples import RDF_TYPE
from crmrag_assets.sources.endpoint.queries import Scope, iri, string

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
"""Blank nodes that only blank nodes lead to, in a ring."""


@dataclass(frozen=True, slots=True)
class Walk:
    """How far from its start a query goes: ``depth`` blank nodes below, or with ``up`` in either direction.

    ``lists`` follows `rdf:rest` to the end: "no", after the "last" step or after "each", so that a list counts as one.
    """

    depth: int
    up: bool = False
    lists: str = "no"


def walks(depth: int) -> tuple[Walk, ...]:
    """The walks to try one after another, from cheap to thorough, for trees of ``depth`` blank nodes below one another."""
    two, four = min(2, depth), min(4, depth)
    ladder = (
        Walk(two, lists="last"),
        Walk(two, up=True),
        Walk(four, lists="each"),
        Walk(depth, lists="each"),
        Walk(four, up=True, lists="each"),
        Walk(depth, up=True),
        Walk(2 * depth, up=True, lists="each"),
    )
    return tuple(dict.fromkeys(ladder))


Way = Callable[[str], str]
"""The pattern that binds a variable to the nodes that a walk starts from."""


@dataclass(frozen=True)
class Start:
    """Where a query begins: values, and the ways from them to its first nodes."""

    given: str
    ways: tuple[Way, ...]


def start_of(anchors: Sequence[Anchor], scope: Scope, longest: int) -> Start:
    """The start at anchors that are all IRIs, all narrowed to a property, or just ROOTS or RINGS (of ``longest`` nodes)."""
    if ROOTS in anchors:
        return Start("", (lambda x: _loose_roots(x, scope),))
    if RINGS in anchors:
        rings = [_ring(length, scope) for length in range(1, longest + 1)]
        return Start("", tuple(rings))
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
        f"SELECT DISTINCT (STR(?a) AS ?iri) WHERE {{ {_anchors(scope)} FILTER(STR(?a) > {string(after)}) }} "
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


def _loose_roots(x: str, scope: Scope) -> str:
    return (
        f"{scope.triples(x, '?q', '?any', '?ga')} FILTER(isBlank({x})) {_at_top(x, scope)} "
        f"FILTER NOT EXISTS {{ {scope.triples(x, '?to', '?named', '?gn')} FILTER(isIRI(?named) && ?to != {TYPE}) }}"
    )


def _ring(length: int, scope: Scope) -> Way:
    """A ring of so many blank nodes, the first of which no IRI points at."""

    def ring(x: str) -> str:
        nodes = [x, *(f"?r{k}" for k in range(1, length))]
        steps = [
            f"{scope.triples(node, f'?z{k}', following, f'?gr{k}')} FILTER(isBlank({node}))"
            for k, (node, following) in enumerate(zip(nodes, [*nodes[1:], x], strict=True))
        ]
        named = f"{scope.triples('?named', '?by', x, '?gn')} FILTER(isIRI(?named))"
        return f"{' '.join(steps)} FILTER NOT EXISTS {{ {named} }}"

    return ring


def _about(start: Start, walk: Walk, scope: Scope) -> str:
    # each node has triples, so OPTIONAL changes nothing but makes engines look them up node by node
    out, into = scope.triples("?x", "?p", "?out"), scope.triples("?in", "?p", "?x")
    return f"{{ {_nodes(start, walk, scope)} }} OPTIONAL {{ {{ {out} }} UNION {{ {into} }} }}"


def _nodes(start: Start, walk: Walk, scope: Scope) -> str:
    return _up(start, walk, scope) if walk.up else _down(start, walk, scope)


def _first(start: Start, x: str) -> str:
    return f"{start.given} {_union([way(x) for way in start.ways])}"


def _down(start: Start, walk: Walk, scope: Scope) -> str:
    """Nodes up to ``depth`` levels below: a chain of patterns for each level."""
    chains = []
    for depth in range(1, walk.depth + 1):
        nodes = [*(f"?n{k}" for k in range(1, depth)), "?x"]
        steps = [
            _step(
                nodes[k - 1],
                nodes[k],
                k,
                walk.lists == "each" or (walk.lists == "last" and k == depth - 1),
                scope,
            )
            for k in range(1, depth)
        ]
        chains += [" ".join([way(nodes[0]), *steps]) for way in start.ways]
    return f"SELECT DISTINCT ?x WHERE {{ {start.given} {_union(chains)} }}"


def _step(node: str, below: str, k: int, along: bool, scope: Scope) -> str:
    """From a node to the blank nodes that it points at, and with ``along`` on to the rest of a list."""
    if not along:
        return f"{scope.triples(node, f'?q{k}', below, f'?g{k}')} FILTER(isBlank({below}))"
    cell = f"?c{k}"
    return (
        f"{scope.triples(node, f'?q{k}', cell, f'?g{k}')} FILTER(isBlank({cell})) "
        f"{scope.triples(cell, REST + '*', below, f'?h{k}')} FILTER(isBlank({below}))"
    )


def _up(start: Start, walk: Walk, scope: Scope) -> str:
    """Nodes up to ``depth`` steps away in either direction: a query for each level around that for the one before.

    Two neighbouring levels hold all nodes but those without neighbours, as a step can be taken back; these are on the
    first. A path of no steps stays where it is, so with lists the last level holds all.
    """
    lists = walk.lists != "no"
    levels = [walk.depth] if lists else sorted({1, max(1, walk.depth - 1), walk.depth})
    return (
        f"SELECT DISTINCT ?x WHERE {{ {_union([_level(start, level, lists, scope) for level in levels])} }}"
    )


def _level(start: Start, depth: int, lists: bool, scope: Scope) -> str:
    text = f"SELECT DISTINCT {_node(1, depth)} WHERE {{ {_first(start, _node(1, depth))} }}"
    for k in range(2, depth + 1):
        node, other = _node(k - 1, depth), _node(k, depth)
        ways = [
            scope.triples(node, f"?q{k}", other, f"?g{k}"),
            scope.triples(other, f"?q{k}", node, f"?g{k}"),
        ]
        if lists:
            ways += [
                scope.triples(node, REST + "*", other, f"?h{k}"),
                scope.triples(other, REST + "*", node, f"?h{k}"),
            ]
        text = f"SELECT DISTINCT {other} WHERE {{ {{ {text} }} {_union(ways)} FILTER(isBlank({other})) }}"
    return text


def _node(k: int, depth: int) -> str:
    return "?x" if k == depth else f"?n{k}"


def _union(patterns: Sequence[str]) -> str:
    return " UNION ".join(f"{{ {pattern} }}" for pattern in patterns)
