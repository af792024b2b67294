"""Ways of a plan as SPARQL property paths in the data's own IRIs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crmrag_query.graph.arrays import FLAG_SUSPECT, Ints
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.records import Way
from crmrag_query.plans.routes import Route, links_of
from crmrag_query.plans.sparql_terms import NOTHING, Terms, absent, union
from crmrag_query.plans.ways import OF_TYPE, admits, leading_by, link_pairs
from crmrag_query.relationships.catalogue import Relationship
from crmrag_query.relationships.plan import Leg


@dataclass(frozen=True, slots=True)
class Ends:
    """What a way leads to: these nodes (None: anything), written out unless ``lines`` say them of the end's variable."""

    nodes: Ints | None = None
    lines: tuple[str, ...] = ()


def way_lines(
    terms: Terms, way: Way, member: str, end: str, ends: Ends, direct: bool = False
) -> tuple[list[str], list[str]]:
    """Lines that lead from ``member`` to ``end`` (variables), and the variables on the way, one between two links."""
    links = links_of(terms.world, way, direct)
    stops = [member, *(terms.fresh("by") for _ in links[1:]), end]
    parts = []
    for number, routes in enumerate(links):
        last = number == len(links) - 1
        lines = union(branches_of(terms, routes, stops[number], stops[number + 1], ends if last else Ends()))
        if not last and any(route.literals for route in routes):
            lines.append(f"FILTER(!isLiteral({stops[number + 1]}))")
        parts.append(_braced(lines) if len(links) > 1 else lines)
    if ends.nodes is not None:  # the end says most: it is looked up first
        parts.reverse()
    lines = [line for part in parts for line in part]
    return ([NOTHING] if NOTHING in lines else lines), stops[1:-1]


def _braced(lines: list[str]) -> list[str]:
    """A group of its own where a union would run into what stands before it."""
    return ["{", *("  " + line for line in lines), "}"] if "UNION {" in lines else lines


def branches_of(terms: Terms, routes: Sequence[Route], member: str, end: str, ends: Ends) -> list[list[str]]:
    """Routes from ``member`` to ``end`` (variables) in branches of which one must hold."""
    found = []
    for alike in _together(terms, routes):
        to = _end_lines(terms, alike[0], end, ends)
        if to is None:
            continue
        if any(_unsayable(terms, route) for route in alike):
            found += [_inlined(terms, route, member, end, ends) for route in alike]
            continue
        path = [*to, *_pattern(terms, alike, member, end)]
        if alike[0].relationship is not None:
            path.append(f"FILTER({member} != {end})")
        path += _side(terms, alike[0], member, far=alike[0].inverse)
        found.append(path)
    return found


def _together(terms: Terms, routes: Sequence[Route]) -> list[list[Route]]:
    """Routes that one property path can say: of equal ends, where nothing has to be checked on the way."""
    groups: list[list[Route]] = []
    alike: dict[tuple[object, ...], list[Route]] = {}
    for route in routes:
        if (route.relationship is not None and len(terms.world.suspects)) or _joints(terms, route):
            groups.append([route])
            continue
        if not route.legs or _unsayable(terms, route):
            groups.append([route])
            continue
        id = route.relationship.id if route.relationship else ""
        key = (id, route.inverse, route.far, bool(route.literals))
        if key in alike:
            alike[key].append(route)
        else:
            groups.append(alike.setdefault(key, [route]))
    return groups


def _end_lines(terms: Terms, route: Route, end: str, ends: Ends) -> list[str] | None:
    """What is said of the end before the path; None where nothing can end it."""
    if ends.nodes is not None and not ends.lines:
        fitting = ends.nodes[admits(terms.world, route, ends.nodes)]
        return [terms.values(end, fitting.tolist())] if len(fitting) else None
    return [*ends.lines, *_side(terms, route, end, far=not route.inverse)]


def _side(terms: Terms, route: Route, variable: str, far: bool) -> list[str]:
    """What holds of the far or the near end of a route."""
    kind, lines = route.relationship, []
    if far:
        lines = _in_range(terms, kind, variable) if kind is not None else []
        return [*lines, *_fitting(terms, route, variable)]
    if kind is not None:
        lines = in_domain(terms, kind.domain, variable)
        if route.cautious:
            lines += terms.none_of(variable, terms.world.suspects.tolist())
    return lines


def _fitting(terms: Terms, route: Route, variable: str) -> list[str]:
    """A far end, unless it is a literal, is of the kinds that a relation asks for."""
    if route.far is None:
        return []
    lines = []
    if route.far.kinds is not None:
        classes, types = route.far.kinds
        ways = [f"isLiteral({variable})"] if route.literals else []
        ways += _is_one(terms, variable, classes)
        paths = [_path(terms, one.legs) for one in links_of(terms.world, OF_TYPE)[0]]
        kinds = terms.nodes(types)
        for path in paths if kinds else []:
            kind = terms.fresh("type")
            ways.append(f"EXISTS {{ {variable} {path} {kind} . FILTER({kind} IN ({', '.join(kinds)})) }}")
        lines += [f"FILTER({' || '.join(ways)})"] if ways else [NOTHING]
    return [*lines, *(f"FILTER(NOT {one})" for one in _is_one(terms, variable, route.far.but))]


def _is_one(terms: Terms, variable: str, numbers: Sequence[int]) -> list[str]:
    """That the variable has one of the classes; nothing where there are none."""
    written, kind = terms.classes(numbers), terms.fresh("class")
    return [f"EXISTS {{ {variable} a {kind} . FILTER({kind} IN ({', '.join(written)})) }}"] if written else []


def _in_range(terms: Terms, relationship: Relationship, end: str) -> list[str]:
    """The end is no literal, and is in the range or of no known category."""
    every = _is_one(terms, end, terms.with_category(sum(Category)))
    if not every:
        return [f"FILTER(!isLiteral({end}))"]
    inside = _is_one(terms, end, terms.with_category(int(relationship.range)))
    return [f"FILTER(!isLiteral({end}) && ({' || '.join([*inside, 'NOT ' + every[0]])}))"]


def in_domain(terms: Terms, category: Category, variable: str) -> list[str]:
    """The variable's first category is this one."""
    world = terms.world
    own, before = terms.mainly(category)
    wanted = world.adjacency.category == int(category)
    has = world.of_classes(own)
    if np.array_equal(has, wanted):
        return terms.has_class(variable, own)
    if np.array_equal(has & ~world.of_classes(before), wanted):
        return [*terms.has_class(variable, own), *absent(terms.has_class(variable, before))]
    return [terms.values(variable, np.flatnonzero(wanted).tolist())]


def _pattern(terms: Terms, routes: Sequence[Route], member: str, end: str) -> list[str]:
    """Routes without checks as one path of alternatives; a route with checks as a chain of variables."""
    if len(routes) > 1:
        return [f"{member} {'|'.join(f'({_path(terms, route.legs)})' for route in routes)} {end} ."]
    route = routes[0]
    if not route.legs:
        return [f"{member} <urn:absent>* {end} ."]
    cuts = [0, *sorted(_joints(terms, route)), len(route.legs)]
    stops = [member, *(terms.fresh("via") for _ in cuts[2:]), end]
    lines = []
    for number, (first, last) in enumerate(pairwise(cuts)):
        here, there = stops[number], stops[number + 1]
        lines.append(f"{here} {_path(terms, route.legs[first:last])} {there} .")
        if number:
            lines += _check(terms, route, here, there if route.legs[first].recursive else "")
    return lines


def _check(terms: Terms, route: Route, here: str, after: str) -> list[str]:
    """A node on the way is no literal and no suspected merge; one may be where legs (to ``after``) are walked zero times."""
    lines = [f"FILTER(!isLiteral({here}))"]
    suspects = terms.nodes(terms.world.suspects.tolist()) if route.relationship is not None else []
    if suspects:
        stays = f" || {here} = {after}" if after else ""
        lines.append(f"FILTER({here} NOT IN ({', '.join(suspects)}){stays})")
    return lines


def _joints(terms: Terms, route: Route) -> set[int]:
    """After how many legs something must be checked: a suspected merge, or a literal that could be left again."""
    inner = range(1, len(route.legs))
    if route.relationship is not None and len(terms.world.suspects):
        return set(inner)
    return {
        at
        for at in inner
        if _touches(terms, route.legs[:at], True) and _touches(terms, route.legs[at:], False)
    }


def _touches(terms: Terms, legs: Sequence[Leg], ahead: bool) -> bool:
    """Whether a leg follows a property with literals in this direction."""
    return any(
        forward == ahead and p in terms.world.with_literals for leg in legs for p, forward in leg.moves
    )


def _unsayable(terms: Terms, route: Route) -> bool:
    """Whether a repeated leg could run through a suspected merge, or through a literal: no property path can forbid it."""
    for leg in route.legs:
        if not leg.recursive:
            continue
        if _touches(terms, (leg,), True) and _touches(terms, (leg,), False):
            return True
        if route.relationship is not None and any(_passes(terms, leg, int(s)) for s in terms.world.suspects):
            return True
    return False


def _passes(terms: Terms, leg: Leg, node: int) -> bool:
    return _leaves(terms, leg, node) and _leaves(terms, leg.reversed(), node)


def _leaves(terms: Terms, leg: Leg, node: int) -> bool:
    adjacency = terms.world.adjacency
    assert adjacency.flags[node] & FLAG_SUSPECT
    return any(
        len((adjacency.forward if forward else adjacency.backward).neighbours(prop, node))
        for prop, forward in leg.moves
    )


def _inlined(terms: Terms, route: Route, member: str, end: str, ends: Ends) -> list[str]:
    """What leads to the ends by the route, pair by pair."""
    world = terms.world
    members = np.flatnonzero(leading_by(world, (route,), ends.nodes)).astype(np.int32)
    found = link_pairs(world, (route,), members)
    index, target = found.index, found.cell
    fits = np.ones(len(target), bool) if ends.nodes is None else np.isin(target, ends.nodes)
    rows = (
        terms.nodes(pair) for pair in zip(members[index[fits]].tolist(), target[fits].tolist(), strict=True)
    )
    written = " ".join(f"({' '.join(row)})" for row in rows if len(row) == 2)
    return [f"VALUES ({member} {end}) {{ {written} }}" if written else NOTHING]


def _path(terms: Terms, legs: Sequence[Leg]) -> str:
    return "/".join(_leg(terms, leg) for leg in legs)


def _leg(terms: Terms, leg: Leg) -> str:
    ways = []
    for prop, forward in leg.moves:
        text = terms.iri(terms.world.graph.property_iri(prop))
        if text is not None:
            ways.append(text if forward else "^" + text)
    alternatives = "|".join(ways or ["<urn:absent>"])
    return (
        f"({alternatives}){'*' if leg.recursive else ''}" if len(ways) > 1 or leg.recursive else alternatives
    )
