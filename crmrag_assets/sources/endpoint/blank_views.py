"""What one response shows of blank nodes: components of them, whole or in part, and what they hang on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import pyoxigraph as ox

from crmrag_assets.harvest.skolem import blank_ends, components
from crmrag_assets.harvest.triples import RDF_TYPE
from crmrag_assets.sources.endpoint.results import Row, Term

T = TypeVar("T")


@dataclass(frozen=True)
class Piece:
    """A component of blank nodes as far as a response shows it; it is whole when it shows all of each node.

    ``hangs`` holds IRIs that it can be asked for from, each with the property; ``topped``: nothing points at one of its
    nodes; ``parents``: a node points at it whose own triples are not shown.
    """

    quads: tuple[ox.Quad, ...]
    whole: bool
    hangs: frozenset[tuple[str, str]]
    topped: bool
    parents: bool


def quads_of(rows: Iterable[Row], number: int) -> list[ox.Quad]:
    """Rows of s, p, o (and g) as distinct triples with blank nodes, their labels made those of response ``number``."""
    made = (_quad(row[0], row[1], row[2], row[3:], number) for row in rows)
    return list(dict.fromkeys(quad for quad in made if quad and blank_ends(quad)))


def pieces_of(rows: Iterable[Row], number: int) -> list[Piece]:
    """The pieces that rows of x, p, out, in (and g) show: the triples `x p out` and `in p x`, each x shown in full."""
    seen, quads = set[str](), dict[ox.Quad, None]()
    for x, p, out, into, *graph in rows:
        quad = _quad(x, p, out, graph, number) if into is None else _quad(into, p, x, graph, number)
        if isinstance(x, ox.BlankNode) and quad:
            seen.add(_labelled(x, number).value)
            quads[quad] = None
    return [_piece(component, seen) for component in components(quads)]


def is_shown(row: Row) -> bool:
    """Whether a row of x, p, out, in says something of a blank node x."""
    return isinstance(row[0], ox.BlankNode) and row[1] is not None and (row[2] is None) != (row[3] is None)


def shared_nodes(quads: Iterable[ox.Quad]) -> int:
    """Blank nodes that several subjects point at."""
    parents: dict[str, set[object]] = {}
    for s, _, o, _ in quads:
        if isinstance(o, ox.BlankNode):
            parents.setdefault(o.value, set()).add(s)
    return sum(len(subjects) > 1 for subjects in parents.values())


def has_ring(quads: Sequence[ox.Quad]) -> bool:
    """Whether following the triples from one blank node to the next can come back to where it was."""
    below: dict[str, list[str]] = {}
    above: dict[str, int] = {}
    for s, _, o, _ in quads:
        if isinstance(s, ox.BlankNode) and isinstance(o, ox.BlankNode):
            below.setdefault(s.value, []).append(o.value)
            above[o.value] = above.get(o.value, 0) + 1
            above.setdefault(s.value, 0)
    free = [node for node, count in above.items() if not count]
    passed = 0
    while free:
        passed += 1
        for node in below.get(free.pop(), ()):
            above[node] -= 1
            if not above[node]:
                free.append(node)
    return passed < len(above)


def _piece(component: Sequence[ox.Quad], seen: set[str]) -> Piece:
    nodes = {end for quad in component for end in blank_ends(quad)}
    below = {quad.object.value for quad in component if isinstance(quad.object, ox.BlankNode)}
    tops = (nodes & seen) - below
    hidden = nodes - seen
    hangs = set[tuple[str, str]]()
    for s, p, o, _ in component:
        if isinstance(s, ox.NamedNode):
            hangs.add((s.value, p.value))
        elif isinstance(o, ox.NamedNode) and cast(ox.BlankNode, s).value in tops and p.value != RDF_TYPE:
            hangs.add((o.value, p.value))
    parents = any(
        isinstance(quad.subject, ox.BlankNode) and quad.subject.value in hidden for quad in component
    )
    return Piece(tuple(component), not hidden, frozenset(hangs), bool(tops), parents)


def _quad(
    s: Term | None, p: Term | None, o: Term | None, graph: Sequence[Term | None], number: int
) -> ox.Quad | None:
    """The triple with labels of response ``number``; None for what is no triple, or one about a triple."""
    if not isinstance(p, ox.NamedNode) or not isinstance(s, ox.NamedNode | ox.BlankNode):
        return None
    if o is None or isinstance(o, ox.Triple):
        return None
    name = graph[0] if graph else None
    if isinstance(name, ox.NamedNode | ox.BlankNode):
        return ox.Quad(_labelled(s, number), p, _labelled(o, number), _labelled(name, number))
    return ox.Quad(_labelled(s, number), p, _labelled(o, number))


def _labelled(term: T, number: int) -> T:
    if isinstance(term, ox.BlankNode):
        return cast(T, ox.BlankNode(f"r{number}-{term.value}"))
    return term
