"""Ways over the arrays: which nodes lead to given ends, and what each of given nodes leads to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from crmrag_query.graph.arrays import FLAG_SUSPECT, Adjacency, Ints, Longs
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.nodesets import NodeSet, walk_set
from crmrag_query.plans.records import Way
from crmrag_query.plans.routes import Route, routes_of
from crmrag_query.plans.world import Mask, World, ranges
from crmrag_query.relationships import frontier as fr
from crmrag_query.relationships.plan import Leg
from crmrag_query.relationships.walk import advance

Memo = dict[tuple[Leg, ...], NodeSet]
_CELL = 40  # bits of a cell in a key that sorts pairs


@dataclass(frozen=True, slots=True)
class Pairs:
    """What members lead to, distinct, sorted by member, then cell; arrays of equal length.

    ``index`` int64 into the nodes that were asked; ``cell`` int64: a node, or n + the row of a literal.
    """

    index: Longs
    cell: Longs

    def __len__(self) -> int:
        return len(self.index)

    def part(self, chosen: Mask) -> Pairs:
        return Pairs(self.index[chosen], self.cell[chosen])


@dataclass(frozen=True, slots=True)
class LiteralValue:
    """A literal in a table or group: its text, datatype IRI ("" for strings) and language."""

    text: str
    datatype: str = ""
    lang: str = ""


def admits(world: World, route: Route, nodes: Ints) -> Mask:
    """Which nodes may end the route."""
    if route.relationship is None:
        return np.ones(len(nodes), bool)
    categories = world.adjacency.categories[nodes]
    return np.asarray((categories == 0) | ((categories & int(route.relationship.range)) != 0))


def begins(world: World, route: Route, nodes: Ints) -> Mask:
    """Which nodes may begin the route."""
    if route.relationship is None:
        return np.ones(len(nodes), bool)
    fits = world.adjacency.category[nodes] == int(route.relationship.domain)
    if route.cautious:
        fits &= (world.adjacency.flags[nodes] & FLAG_SUSPECT) == 0
    return np.asarray(fits)


def leading_to(world: World, way: Way, ends: Ints | None, among: Mask | None = None) -> Mask:
    """Nodes that lead by the way to one of ``ends`` (ascending; None: to anything), as a mask over all nodes.

    Only those of ``among`` are looked at. A relationship never leads to where it begins.
    """
    return leading_by(world, routes_of(world, way), ends, among)


def leading_by(world: World, routes: Sequence[Route], ends: Ints | None, among: Mask | None = None) -> Mask:
    """`leading_to` by routes."""
    sure, doubtful = np.zeros(world.size, bool), np.zeros(world.size, bool)
    starts = np.arange(world.size, dtype=np.int32) if ends is None else ends
    at_end = np.zeros(world.size, bool)
    at_end[starts] = True
    memos: dict[Category | None, tuple[Ints, Memo]] = {}
    for route in routes:
        range_ = route.relationship.range if route.relationship else None
        if range_ not in memos:
            memos[range_] = (starts[admits(world, route, starts)], {})
        admitted, memo = memos[range_]
        found = walk_set(route.graph(world), route.back, admitted, memo).all
        found = found[begins(world, route, found)]
        if route.relationship is None:
            sure[found] = True
        else:
            itself = at_end[found] & admits(world, route, found)
            sure[found[~itself]] = True
            doubtful[found[itself]] = True
        if ends is None and route.literals:
            sure[_leading_to_literals(world, route)] = True
    doubtful &= ~sure
    if among is not None:
        sure &= among
        doubtful &= among
    nodes = np.flatnonzero(doubtful).astype(np.int32)
    if len(nodes):
        index, target = node_pairs(world, [route for route in routes if route.relationship], nodes)
        sure[nodes[index[at_end[target]]]] = True
    return sure


def _leading_to_literals(world: World, route: Route) -> Ints:
    found = [np.empty(0, np.int32)]
    for walked, properties in route.literals:
        has = np.flatnonzero(np.isin(world.literal_property, properties))
        subject = np.unique(np.asarray(world.graph.literal_table.column("subject").to_numpy())[has])
        back = route.back[len(route.legs) - walked :]
        found.append(walk_set(world.plain, back, subject.astype(np.int32)).all)
    return np.concatenate(found)


def pairs(world: World, way: Way, nodes: Ints, literals: bool = True) -> Pairs:
    """What each of ``nodes`` leads to by the way; ``literals``: those that end a path of properties too."""
    routes = routes_of(world, way)
    index, target = node_pairs(world, routes, nodes)
    keys = [index << _CELL | target]
    if literals:
        for route in routes:
            at, row = literal_rows(world, route, nodes)
            keys.append(at << _CELL | (world.size + _numbers(world, row)))
    joined = np.unique(np.concatenate(keys))
    return Pairs(joined >> _CELL, joined & ((1 << _CELL) - 1))


def node_pairs(world: World, routes: Sequence[Route], nodes: Ints) -> tuple[Longs, Longs]:
    """(index into ``nodes``, node led to), sorted and distinct."""
    keys = [np.empty(0, np.int64)]
    for route in routes:
        for index, target in _walked(route.graph(world), route.legs, nodes, begins(world, route, nodes)):
            fits = admits(world, route, target)
            if route.relationship is not None:
                fits &= target != nodes[index]
            keys.append(index[fits] << _CELL | target[fits])
    joined = np.unique(np.concatenate(keys))
    return joined >> _CELL, joined & ((1 << _CELL) - 1)


def _walked(
    adjacency: Adjacency, legs: Sequence[Leg], nodes: Ints, chosen: Mask
) -> Iterator[tuple[Longs, Ints]]:
    places = np.flatnonzero(chosen)
    for first in range(0, len(places), fr.BLOCK):
        block = places[first : first + fr.BLOCK]
        for keys in _descend(adjacency, legs, fr.start(np.arange(len(block)), nodes[block])):
            yield block[fr.sources_of(keys)], fr.nodes_of(keys).astype(np.int32)


def _descend(adjacency: Adjacency, legs: Sequence[Leg], frontier: Longs) -> Iterator[Longs]:
    if not legs:
        yield frontier
        return
    for piece in advance(adjacency, legs[0], frontier):
        yield from _descend(adjacency, legs[1:], piece)


def literal_rows(world: World, route: Route, nodes: Ints) -> tuple[Longs, Longs]:
    """(index into ``nodes``, row of the literals) that the route ends in."""
    index, rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    ptr, everyone = world.graph.literal_ptr, np.ones(len(nodes), bool)
    for walked, properties in route.literals:
        for at, node in _walked(world.plain, route.legs[:walked], nodes, everyone):
            count = ptr[node.astype(np.int64) + 1] - ptr[node]
            row = ranges(ptr[node], count)
            fits = np.isin(world.literal_property[row], properties)
            index.append(np.repeat(at, count)[fits])
            rows.append(row[fits])
    return np.concatenate(index), np.concatenate(rows)


def _numbers(world: World, rows: Longs) -> Longs:
    """For each row of the literals the lowest of these rows with the same term."""
    distinct, back = np.unique(rows, return_inverse=True)
    lowest: dict[LiteralValue, int] = {}
    found = [lowest.setdefault(literal(world, row), row) for row in distinct.tolist()]
    return np.array(found, np.int64)[back]


def literal(world: World, row: int) -> LiteralValue:
    """The literal in a row of the graph's literals."""
    table = world.graph.literal_table
    text, datatype, lang = (table.column(name)[row].as_py() for name in ("value", "datatype", "lang"))
    return LiteralValue(text, datatype, lang)
