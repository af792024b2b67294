"""Ways over the arrays: which nodes lead to given ends, and what each of given nodes leads to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from crmrag_query.graph.arrays import FLAG_SUSPECT, Adjacency, Ints, Longs
from crmrag_query.plans.literals import same_terms
from crmrag_query.plans.nodesets import NodeSet, walk_set
from crmrag_query.plans.records import Way
from crmrag_query.plans.routes import Far, Route, Routes, links_of
from crmrag_query.plans.world import Mask, World, distinct, ranges
from crmrag_query.relationships import frontier as fr
from crmrag_query.relationships.plan import Leg
from crmrag_query.relationships.walk import LIMIT, advance

OF_TYPE = Way(paths=(("P2", "P127*"),))
"""How a node leads to its types and to all that are broader."""
Memo = dict[tuple[Leg, ...], NodeSet]
_WALKED = 256  # so many nodes are walked one by one sooner than all ends twice
_CELL = 40  # bits of a cell in a key that sorts pairs
_CELLS = (1 << _CELL) - 1


@dataclass(frozen=True, slots=True)
class Pairs:
    """What nodes lead to, distinct, sorted by node, then cell; arrays of equal length.

    ``index`` int64 into the nodes that were asked; ``cell`` int64: a node, or n + the row of a literal.
    """

    index: Longs
    cell: Longs

    def __len__(self) -> int:
        return len(self.index)

    @classmethod
    def of(cls, keys: Sequence[Longs]) -> Pairs:
        joined = distinct(np.concatenate([np.empty(0, np.int64), *keys]))
        return cls(joined >> _CELL, joined & _CELLS)

    @property
    def keys(self) -> Longs:
        return self.index << _CELL | self.cell

    def part(self, chosen: Mask) -> Pairs:
        return Pairs(self.index[chosen], self.cell[chosen])

    def within(self, world: World, nodes: Ints | None) -> Pairs:
        """Those whose cell is one of the nodes; all where these are None."""
        if nodes is None:
            return self
        wanted = world.mask(nodes)
        node = self.cell < world.size
        return self.part(node & wanted[np.where(node, self.cell, 0)])

    def rows_of(self, places: Longs) -> tuple[Longs, Longs]:
        """(repeated indices into ``places``, places in these pairs) of all pairs of each of the asked ``places``."""
        low, high = np.searchsorted(self.index, places), np.searchsorted(self.index, places, side="right")
        return np.repeat(np.arange(len(places)), high - low), ranges(low, high - low)


# Which nodes lead to given ends


def admits(world: World, route: Route, nodes: Ints) -> Mask:
    """Which nodes may end the route."""
    return _near(world, route, nodes) if route.inverse else _far(world, route, nodes)


def begins(world: World, route: Route, nodes: Ints) -> Mask:
    """Which nodes may begin the route."""
    return _far(world, route, nodes) if route.inverse else _near(world, route, nodes)


def _far(world: World, route: Route, nodes: Ints) -> Mask:
    fits = np.ones(len(nodes), bool)
    if route.relationship is not None:
        categories = world.adjacency.categories[nodes]
        fits &= (categories == 0) | ((categories & int(route.relationship.range)) != 0)
    if route.far is not None:
        fits &= far_nodes(world, route.far)[nodes]
    return fits


def _near(world: World, route: Route, nodes: Ints) -> Mask:
    if route.relationship is None:
        return np.ones(len(nodes), bool)
    fits = world.adjacency.category[nodes] == int(route.relationship.domain)
    if route.cautious:
        fits &= (world.adjacency.flags[nodes] & FLAG_SUSPECT) == 0
    return np.asarray(fits)


def far_nodes(world: World, far: Far) -> Mask:
    """Nodes that may stand at such an end."""
    if far not in world.fitting:
        fits = np.ones(world.size, bool)
        if far.kinds is not None:
            classes, types = far.kinds
            fits = world.of_classes(classes) | leading_to(world, OF_TYPE, np.array(types, np.int32))
        world.fitting[far] = fits & ~world.of_classes(far.but)
    return world.fitting[far]


def leading_to(world: World, way: Way, ends: Ints | None, among: Mask | None = None) -> Mask:
    """Nodes that lead by the way to one of ``ends`` (ascending; None: to anything), as a mask over all nodes.

    Only those of ``among`` are looked at. A relationship never leads to where it begins.
    """
    first, *others = links_of(world, way)
    literals = True
    for routes in reversed(others):
        ends = np.flatnonzero(leading_by(world, routes, ends, literals=literals)).astype(np.int32)
        literals = False
    return leading_by(world, first, ends, among, literals)


def leading_by(
    world: World, routes: Sequence[Route], ends: Ints | None, among: Mask | None = None, literals: bool = True
) -> Mask:
    """`leading_to` by the routes of one link; ``literals``: they count as anything too."""
    sure, doubtful = np.zeros(world.size, bool), np.zeros(world.size, bool)
    starts = np.arange(world.size, dtype=np.int32) if ends is None else ends
    at_end = world.mask(starts)
    for route, found in _reaching(world, routes, starts):
        if route.relationship is None:
            sure[found] = True
        else:
            itself = at_end[found] & admits(world, route, found)
            sure[found[~itself]] = True
            doubtful[found[itself]] = True
        if ends is None and literals and route.literals:
            sure[_before_literals(world, route)] = True
    doubtful &= ~sure
    if among is not None:
        sure &= among
        doubtful &= among
    return sure | _leading_elsewhere(world, [one for one in routes if one.relationship], starts, doubtful)


def _reaching(world: World, routes: Sequence[Route], ends: Ints) -> Iterator[tuple[Route, Ints]]:
    """For each route the nodes that lead by it to one of the ends, themselves included."""
    memos: dict[tuple[object, ...], tuple[Ints, Memo]] = {}
    for route in routes:
        kind = route.relationship
        alike = (
            route.inverse, route.far, kind and (kind.domain if route.inverse else kind.range),
            route.inverse and route.cautious,
        )  # fmt: skip
        if alike not in memos:
            memos[alike] = (ends[admits(world, route, ends)], {})
        admitted, memo = memos[alike]
        found = walk_set(route.graph(world), route.back, admitted, memo).all
        yield route, found[begins(world, route, found)]


def _leading_elsewhere(world: World, routes: Sequence[Route], ends: Ints, doubtful: Mask) -> Mask:
    """Those of the doubtful nodes, ends themselves, that lead to another end.

    Many are told by halves of the ends: whoever leads into the half in which it is not leads to another. Those that are left
    lead to little but themselves, and are walked.
    """
    sure = np.zeros(world.size, bool)
    if np.count_nonzero(doubtful) > _WALKED:
        for half in (0, 1):
            for _, found in _reaching(world, routes, ends[(ends & 1) == half]):
                sure[found[(found & 1) != half]] = True
        sure &= doubtful
    nodes = np.flatnonzero(doubtful & ~sure).astype(np.int32)
    if len(nodes):
        reached, at_end = link_pairs(world, routes, nodes), world.mask(ends)
        sure[nodes[reached.index[at_end[reached.cell]]]] = True
    return sure


def leading_to_literals(world: World, way: Way, rows: Longs) -> Mask:
    """Nodes that lead by the way to one of these rows of the literals, as a mask over all nodes."""
    *before, last = links_of(world, way)
    found = world.mask(
        np.concatenate([np.empty(0, np.int32), *(_before_literals(world, one, rows) for one in last)])
    )
    for routes in reversed(before):
        found = leading_by(world, routes, np.flatnonzero(found).astype(np.int32), literals=False)
    return found


def _before_literals(world: World, route: Route, rows: Longs | None = None) -> Ints:
    """The nodes at which the route begins that ends in one of these rows of the literals; None: in any."""
    found = [np.empty(0, np.int32)]
    property = world.literal_property if rows is None else world.literal_property[rows]
    subjects = np.asarray(world.graph.literal_table.column("subject").to_numpy())
    subjects = subjects if rows is None else subjects[rows]
    for walked, properties in route.literals:
        subject = distinct(subjects[np.isin(property, properties)])
        back = route.back[len(route.legs) - walked :]
        starts = walk_set(world.plain, back, subject.astype(np.int32)).all
        found.append(starts[begins(world, route, starts)])
    return np.concatenate(found)


# What each of given nodes leads to


def pairs(world: World, way: Way, nodes: Ints, literals: bool = True, direct: bool = False) -> Pairs:
    """What each of ``nodes`` leads to by the way; ``literals``: those that end a path of properties too; ``direct``: see
    `routes_of`."""
    links = links_of(world, way, direct)
    found = link_pairs(world, links[0], nodes, literals and len(links) == 1)
    return led_on(world, found, links[1:], literals)


def led_on(world: World, found: Pairs, links: Sequence[Routes], literals: bool = False) -> Pairs:
    """The pairs with their cells led on by the links; ``literals``: as in `pairs`."""
    for number, routes in enumerate(links, 1):
        found = _joined(world, found, routes, literals and number == len(links))
    return found


def _joined(world: World, found: Pairs, routes: Routes, literals: bool) -> Pairs:
    """The pairs with their cells led on by one more link; never many more of them at work than ``LIMIT``."""
    middle = distinct(found.cell)
    after = link_pairs(world, routes, middle.astype(np.int32), literals)
    place = np.searchsorted(middle, found.cell)
    width = np.searchsorted(after.index, np.arange(len(middle)), side="right")
    width = np.cumsum(np.diff(width, prepend=0)[place])
    keys: list[Longs] = []
    first = 0
    while first < len(found):
        done = int(width[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(width, done + LIMIT, side="right")))
        origin, at = after.rows_of(place[first:last])
        keys = [distinct(np.concatenate([*keys, found.index[first:last][origin] << _CELL | after.cell[at]]))]
        first = last
    return Pairs.of(keys)


def weights(world: World, way: Way, nodes: Ints, ends: Ints | None = None) -> tuple[Longs, Longs]:
    """Cells among ``ends`` that the nodes lead to, ascending, and for each the rows of a node and what each link leads to."""
    cells, weight = nodes.astype(np.int64), np.ones(len(nodes), np.int64)
    links = links_of(world, way, direct=True)
    for number, routes in enumerate(links, 1):
        whole = number == len(links)
        found = link_pairs(world, routes, cells.astype(np.int32), whole)
        found = found.within(world, ends) if whole else found
        reached, back = np.unique(found.cell, return_inverse=True)
        total = np.zeros(len(reached), np.int64)
        np.add.at(total, back, weight[found.index])
        cells, weight = reached, total
    return cells, weight


def link_pairs(world: World, routes: Sequence[Route], nodes: Ints, literals: bool = False) -> Pairs:
    """What each of ``nodes`` leads to by any of the routes."""
    keys: list[Longs] = []
    for route in routes:
        for index, target in _walked(route.graph(world), route.legs, nodes, begins(world, route, nodes)):
            fits = admits(world, route, target)
            if route.relationship is not None:
                fits &= target != nodes[index]
            keys.append(index[fits] << _CELL | target[fits])
    if literals:
        rows = [literal_rows(world, route, nodes) for route in routes if route.literals]
        if rows:
            at, row = (np.concatenate(part) for part in zip(*rows, strict=True))
            keys.append(at << _CELL | (world.size + same_terms(world, row)))
    return Pairs.of(keys)


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
    ptr, chosen = world.graph.literal_ptr, begins(world, route, nodes)
    for walked, properties in route.literals:
        for at, node in _walked(world.plain, route.legs[:walked], nodes, chosen):
            count = ptr[node.astype(np.int64) + 1] - ptr[node]
            row = ranges(ptr[node], count)
            fits = np.isin(world.literal_property[row], properties)
            index.append(np.repeat(at, count)[fits])
            rows.append(row[fits])
    return np.concatenate(index), np.concatenate(rows)


def way_literals(world: World, way: Way, nodes: Ints, direct: bool = False) -> tuple[Longs, Longs]:
    """(index into ``nodes``, row of the literals) that the way ends in, with repetitions."""
    *before, last = links_of(world, way, direct)
    at = Pairs(np.arange(len(nodes)), nodes.astype(np.int64))
    for number, routes in enumerate(before):
        at = _joined(world, at, routes, False) if number else link_pairs(world, routes, nodes)
    index, rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    middle = distinct(at.cell)
    order = np.argsort(at.cell, kind="stable")
    owners = Pairs(np.searchsorted(middle, at.cell[order]), at.index[order])
    for route in last:
        place, row = literal_rows(world, route, middle.astype(np.int32))
        origin, where = owners.rows_of(place)
        index.append(owners.cell[where])
        rows.append(row[origin])
    return np.concatenate(index), np.concatenate(rows)
