"""A plan as SPARQL 1.1 in the data's own IRIs: it returns the rows that executing the plan gives.

Terms are safe by construction: nothing that data or a plan holds can leave the place it is written to. A way becomes property
paths; target and constraints become lines that hold of one variable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crmrag_query.documents.pages import READ
from crmrag_query.graph.arrays import FLAG_SKOLEM, Ints, distinct
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END
from crmrag_query.ontology.load import Category
from crmrag_query.plans.execute import (
    SECONDS,
    Outcome,
    anchored,
    buckets,
    execute,
    find_members,
    holding,
    members_of,
    table,
    valued,
    within_period,
)
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Column,
    Compute,
    Constraint,
    Dated,
    Either,
    Member,
    Plan,
    ReadFromPage,
    Related,
    StatedIn,
    Target,
    Texted,
    Valued,
    Way,
)
from crmrag_query.plans.world import (
    DAYS,
    NUMBER,
    OF_TYPE,
    XSD,
    Route,
    World,
    admits,
    classes_named,
    leading_by,
    link_pairs,
    links_of,
    of_type_or_role,
    once,
    pairs,
    sameness,
    target_classes,
    targeted,
    way_shown,
)
from crmrag_query.relationships.engine import Leg, Relationship, any_of, walk_set
from crmrag_query.syntax import RDF_TYPE
from crmrag_query.timing import check, working

_UNSAFE = re.compile(r"[\x00-\x20<>\"{}|^`\\\ud800-\udfff]")
"""What an IRIREF of SPARQL 1.1 (rule 139) may not hold; escapes would be undone before it is parsed."""
NOTHING = "FILTER(1 = 0)"
"""A line that never holds (rdflib 7.6 passes over a bare `false`)."""
MOST_CHARACTERS = 1_000_000
"""Of a query: five times what our own endpoint takes. Where nodes are written out, each condition may name all of them."""


class TooLong(Exception):
    """The query has more than `MOST_CHARACTERS`."""


@dataclass
class Terms:
    """Nodes, classes and properties of a world as SPARQL; notes what it cannot write. Raises TooLong."""

    world: World
    skolems: bool = False
    unwritable: int = 0
    used: int = 0
    characters: int = 0

    def fresh(self, name: str) -> str:
        """A variable that nothing else uses."""
        self.used += 1
        return f"?{name}{self.used}"

    def nodes(self, nodes: Iterable[int]) -> list[str]:
        """The nodes' IRIs, those left out that SPARQL cannot write."""
        written = []
        for node in nodes:
            text = self.iri(self.world.graph.iri(node))
            if text is not None:
                self.skolems |= bool(self.world.graph.flags[node] & FLAG_SKOLEM)
                written.append(text)
        return written

    def iri(self, iri: str) -> str | None:
        """The IRI as SPARQL, None for one that it cannot write."""
        if _UNSAFE.search(iri):
            self.unwritable += 1
            return None
        self.characters += len(iri) + 3  # brackets and a blank
        if self.characters > MOST_CHARACTERS:
            raise TooLong
        return f"<{iri}>"

    def values(self, variable: str, nodes: Iterable[int]) -> str:
        return values_of(variable, self.nodes(nodes))

    def none_of(self, variable: str, nodes: Iterable[int]) -> list[str]:
        """A filter that keeps the nodes out; none where there are none."""
        written = self.nodes(nodes)
        return [f"FILTER({variable} NOT IN ({', '.join(written)}))"] if written else []

    def pairs(self, pairs: Iterable[tuple[int, int]]) -> list[str]:
        """Rows of two nodes each, those left out that SPARQL cannot write."""
        return [f"({' '.join(row)})" for pair in pairs if len(row := self.nodes(pair)) == 2]

    def numbered(self, nodes: Iterable[int], numbers: Iterable[int]) -> list[str]:
        """Rows of a node and a number."""
        rows = zip(nodes, numbers, strict=True)
        return [f"({iri} {number})" for node, number in rows for iri in self.nodes([node])]

    def classes(self, numbers: Iterable[int]) -> list[str]:
        found = (self.iri(self.world.graph.class_iri(number)) for number in numbers)
        return [text for text in found if text is not None]

    def has_class(self, variable: str, numbers: Iterable[int]) -> list[str]:
        kind, written = self.fresh("class"), self.classes(numbers)
        return [values_of(kind, written), f"{variable} a {kind} ."] if written else [NOTHING]

    def with_category(self, mask: int) -> list[int]:
        """Numbers of the classes that have one of these categories."""
        of = self.world.categories.all_of
        codes = self.world.graph.class_codes
        return [n for n, code in enumerate(codes) if code and int(of((code,))) & mask]

    def mainly(self, category: Category) -> tuple[list[int], list[int]]:
        """Numbers of the classes whose first category is this one, and of those that go before them."""
        of = self.world.categories.of
        codes = [(n, code) for n, code in enumerate(self.world.graph.class_codes) if code]
        own = [n for n, code in codes if of((code,)) == category]
        if not own:
            return [], []
        sample = self.world.graph.class_codes[own[0]]
        before = [n for n, code in codes if of((code,)) is not None and of((code, sample)) != category]
        return own, before


def values_of(variables: str, rows: Sequence[str]) -> str:
    """The rows, of which one must hold; a line that never does for none."""
    return f"VALUES {variables} {{ {' '.join(rows)} }}" if rows else NOTHING


def union(branches: Sequence[Sequence[str]]) -> list[str]:
    """Branches of which one must hold; those that cannot are left out."""
    possible = [branch for branch in branches if NOTHING not in branch]
    if not possible:
        return [NOTHING]
    if len(possible) == 1:
        return list(possible[0])
    lines: list[str] = []
    for number, branch in enumerate(possible):
        lines += ["UNION {" if number else "{", *("  " + line for line in branch), "}"]
    return lines


def absent(lines: Sequence[str]) -> list[str]:
    """What must not hold; none where it never does."""
    return [] if NOTHING in lines else ["FILTER NOT EXISTS {", *("  " + line for line in lines), "}"]


@dataclass(frozen=True, slots=True)
class Ends:
    """What a way leads to: these nodes (None: anything), written out unless ``lines`` say them of the end's variable."""

    nodes: Ints | None = None
    lines: tuple[str, ...] = ()


def way_lines(terms: Terms, way: Way, member: str, end: str, ends: Ends) -> tuple[list[str], list[str]]:
    """Lines that lead from ``member`` to ``end`` (variables), and the variables on the way, one between two links."""
    links = links_of(terms.world, way)
    stops = [member, *(terms.fresh("by") for _ in links[1:]), end]
    parts = []
    for number, routes in enumerate(links):
        last = number == len(links) - 1
        lines = union(branches_of(terms, routes, stops[number], stops[number + 1], ends if last else Ends()))
        if not last and any(route.literals for route in routes):
            lines.append(f"FILTER(!isLiteral({stops[number + 1]}))")
        if len(links) > 1 and "UNION {" in lines:  # else the union would run into what stands before it
            lines = ["{", *("  " + line for line in lines), "}"]
        parts.append(lines)
    if ends.nodes is not None:  # the end says most: it is looked up first
        parts.reverse()
    lines = [line for part in parts for line in part]
    return ([NOTHING] if NOTHING in lines else lines), stops[1:-1]


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
        checked = (route.relationship is not None and len(terms.world.suspects)) or _joints(terms, route)
        id = route.relationship.id if route.relationship else ""
        key = (id, route.inverse, route.far, bool(route.literals))
        if checked or not route.legs or _unsayable(terms, route):
            groups.append([route])
        elif key in alike:
            alike[key].append(route)
        else:
            groups.append(alike.setdefault(key, [route]))
    return groups


def _end_lines(terms: Terms, route: Route, end: str, ends: Ends) -> list[str] | None:
    """Lines of the end before the path; None where nothing can end it."""
    if ends.nodes is not None and not ends.lines:
        fitting = ends.nodes[admits(terms.world, route, ends.nodes)]
        return [terms.values(end, fitting.tolist())] if len(fitting) else None
    return [*ends.lines, *_side(terms, route, end, far=not route.inverse)]


def _side(terms: Terms, route: Route, variable: str, far: bool) -> list[str]:
    """What holds of the far or the near end of a route."""
    kind = route.relationship
    if far:
        return [*(_in_range(terms, kind, variable) if kind else []), *_fitting(terms, route, variable)]
    if kind is None:
        return []
    suspects = terms.world.suspects.tolist() if route.cautious else []
    return [*in_domain(terms, kind.domain, variable), *terms.none_of(variable, suspects)]


def _fitting(terms: Terms, route: Route, variable: str) -> list[str]:
    """A far end, unless it is a literal, is of the kinds that a relation asks for."""
    if route.far is None:
        return []
    lines = []
    if route.far.kinds is not None:
        classes, types = route.far.kinds
        ways = [f"isLiteral({variable})"] if route.literals else []
        ways += _is_one(terms, variable, classes)
        kinds = terms.nodes(types)
        for one in links_of(terms.world, terms.world.kept(of_type_or_role))[0] if kinds else ():
            kind, path = terms.fresh("type"), _path(terms, one.legs)
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
        if not number:
            continue
        lines.append(f"FILTER(!isLiteral({here}))")
        suspects = terms.nodes(terms.world.suspects.tolist()) if route.relationship is not None else []
        if suspects:  # one may be on the way where the legs from it on are walked zero times
            stays = f" || {here} = {there}" if route.legs[first].recursive else ""
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


def _touches(terms: Terms, legs: Sequence[Leg], forwards: bool) -> bool:
    """Whether a leg follows a property with literals in this direction."""
    return any(
        forward == forwards and p in terms.world.with_literals for leg in legs for p, forward in leg.moves
    )


def _unsayable(terms: Terms, route: Route) -> bool:
    """Whether a repeated leg could run through a suspected merge, or through a literal: no property path can forbid it."""
    for leg in route.legs:
        if leg.recursive and _touches(terms, (leg,), True) and _touches(terms, (leg,), False):
            return True
        for suspect in terms.world.suspects.tolist() if leg.recursive and route.relationship else ():
            if all(_leaves(terms.world, way, suspect) for way in (leg, leg.reversed())):
                return True
    return False


def _leaves(world: World, leg: Leg, node: int) -> bool:
    return any(
        len((world.adjacency.forward if forward else world.adjacency.backward).neighbours(prop, node))
        for prop, forward in leg.moves
    )


def _inlined(terms: Terms, route: Route, member: str, end: str, ends: Ends) -> list[str]:
    """What leads to the ends by the route, pair by pair."""
    world = terms.world
    members = np.flatnonzero(leading_by(world, (route,), ends.nodes)).astype(np.int32)
    found = link_pairs(world, (route,), members)
    index, target = found.index, found.cell
    fits = np.ones(len(target), bool) if ends.nodes is None else np.isin(target, ends.nodes)
    rows = terms.pairs(zip(members[index[fits]].tolist(), target[fits].tolist(), strict=True))
    return [values_of(f"({member} {end})", rows)]


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


def member_lines(terms: Terms, plan: Plan, member: str, inner: bool = False) -> list[str]:
    """Lines that hold of the variable for the plan's members alone; ``inner``: the plan stands in another."""
    if inner and plan.compute.kind in ("rank", "pairs"):
        return [terms.values(member, members_of(terms.world, plan).tolist())]
    lines = _target(terms, plan.target, member)
    bound = bool(lines) or any(map(_binds, plan.where))
    if not (plan.target.categories or plan.target.classes):
        subject = _subject(terms, member)
        lines += [f"FILTER EXISTS {{ {subject} }}"] if bound else [subject]
    for one in sorted(plan.where, key=lambda one: not _binds(one)):
        lines += _constraint(terms, plan, one, member)
    return lines


def end_lines(terms: Terms, anchor: Anchor, end: str) -> Ends:
    """The anchor as nodes, and unless it names IRIs alone as lines."""
    nodes = anchored(terms.world, anchor)
    if nodes is None or not (anchor.types or anchor.plan):
        return Ends(nodes)
    branches = [[terms.values(end, terms.world.nodes_of(anchor.iris).tolist())]] if anchor.iris else []
    if classes := classes_named(terms.world, anchor.types):
        branches.append(terms.has_class(end, classes))
    if anchor.types:
        branches.append(_of_types(terms, anchor.types, end))
    if anchor.plan is not None:
        branches.append(member_lines(terms, anchor.plan, end, inner=True))
    return Ends(nodes, tuple(union(branches)))


def _subject(terms: Terms, variable: str) -> str:
    return f"{variable} {terms.fresh('anyProperty')} {terms.fresh('anyValue')} ."


def _binds(one: Constraint) -> bool:
    """Whether the constraint's lines bind the member, rather than filter it."""
    return not one.negated and (not isinstance(one, Either) or all(map(_binds, one.of)))


def _target(terms: Terms, target: Target, member: str) -> list[str]:
    lines = []
    if target.classes:
        lines += terms.has_class(member, target_classes(terms.world, target))
    if target.categories:
        mask = sum(int(Category[name]) for name in set(target.categories))
        classes = terms.with_category(mask)
        wanted = (terms.world.adjacency.categories & mask) != 0
        if np.array_equal(terms.world.of_classes(classes), wanted):
            lines += terms.has_class(member, classes)
        else:
            lines.append(terms.values(member, np.flatnonzero(wanted).tolist()))
    if target.types:
        lines += _of_types(terms, target.types, member)
    return lines


def _of_types(terms: Terms, types: Sequence[str], variable: str) -> list[str]:
    nodes = terms.world.nodes_of(types)
    return way_lines(terms, OF_TYPE, variable, terms.fresh("type"), Ends(nodes))[0]


def _constraint(terms: Terms, plan: Plan, one: Constraint, member: str) -> list[str]:
    check()
    match one:
        case Related():
            end = terms.fresh("end")
            lines = way_lines(terms, one.way, member, end, end_lines(terms, one.to, end))[0]
        case Member():
            lines = member_lines(terms, one.plan, member, inner=True)
        case StatedIn():
            lines = _stated_in(terms, one, member)
        case ReadFromPage():
            prop, value = terms.fresh("anyProperty"), terms.fresh("anyValue")
            lines = [f'{member} {prop} {value} . FILTER(STRSTARTS(STR({member}), "{READ}"))']
        case Either():
            return _either(terms, plan, one, member)
        case Valued(unit=""):
            lines = _valued(terms, one, member)
        case Dated() if one.way is not None:
            lines = _dated(terms, plan, one, member)
        case _:
            held = _held(terms.world, plan, one).tolist()
            return terms.none_of(member, held) if one.negated else [terms.values(member, held)]
    return absent(lines) if one.negated else lines


def _held(world: World, plan: Plan, one: Constraint) -> Ints:
    """Nodes that SPARQL cannot find by itself: named ones, and those with such a text, date or number in a unit."""
    match one:
        case Among():
            return world.nodes_of(one.iris)
        case Dated():
            found = within_period(world, one) & targeted(world, plan.target)
        case Valued():
            found = valued(world, one) & targeted(world, plan.target)
        case Texted():  # only what the plan without its texts finds is looked through
            rest = tuple(other for other in plan.where if not isinstance(other, Texted | Either))
            among = find_members(world, plan.model_copy(update={"where": rest}))
            found = holding(world, one, among)
        case _:
            raise TypeError(one.kind)
    return np.flatnonzero(found).astype(np.int32)


def _dated(terms: Terms, plan: Plan, one: Dated, member: str) -> list[str]:
    """A way to a date; only dates that the plan's target leads to are written out."""
    assert one.way is not None
    world = terms.world
    at = np.flatnonzero(targeted(world, plan.target)).astype(np.int32)
    for routes in links_of(world, one.way):
        at = any_of([walk_set(route.graph(world), route.legs, at, {}).all for route in routes], world.size)
    dates = at[within_period(world, one)[at]]
    return way_lines(terms, one.way, member, terms.fresh("date"), Ends(dates))[0]


def _valued(terms: Terms, one: Valued, member: str) -> list[str]:
    """A way to a number within the bounds."""
    end = terms.fresh("end")
    states, number = _stated_number(terms, end)
    bounds = []
    if one.least is not None:
        bounds.append(f"{number} {'>=' if one.least_counts else '>'} {_written(one.least)}")
    if one.most is not None:
        bounds.append(f"{number} {'<=' if one.most_counts else '<'} {_written(one.most)}")
    lines = way_lines(terms, one.way, member, end, Ends())[0]
    return lines if NOTHING in lines else [*lines, *states, f"FILTER({' && '.join(bounds)})"]


def _stated_in(terms: Terms, one: StatedIn, member: str) -> list[str]:
    graphs = [text for graph in one.graphs if (text := terms.iri(graph)) is not None]
    if not graphs:
        return [NOTHING]
    graph, prop, value = terms.fresh("graph"), terms.fresh("anyProperty"), terms.fresh("anyValue")
    return [
        values_of(graph, graphs),
        f"GRAPH {graph} {{ {member} {prop} {value} . FILTER({prop} != <{RDF_TYPE}>) }}",
    ]


def _either(terms: Terms, plan: Plan, one: Either, member: str) -> list[str]:
    """Branches where each of them binds the member; else one filter, since what only filters must not stand alone."""
    if all(map(_binds, one.of)):
        lines = union([_constraint(terms, plan, part, member) for part in one.of])
        return absent(lines) if one.negated else lines
    written: list[str] = []
    for part in one.of:
        written += [*(["||"] if written else []), *_holds(terms, plan, part, member)]
    return ["FILTER(!(" if one.negated else "FILTER((", *("  " + line for line in written), "))"]


def _holds(terms: Terms, plan: Plan, one: Constraint, member: str) -> list[str]:
    """That the constraint holds, as an expression."""
    whether = "NOT EXISTS {" if one.negated else "EXISTS {"
    lines = _constraint(terms, plan, one.model_copy(update={"negated": False}), member)
    if NOTHING in lines:
        return ["(1 = 1)" if one.negated else "(1 = 0)"]
    if not _binds(one.model_copy(update={"negated": False})):
        lines = [_subject(terms, member), *lines]
    return [whether, *("  " + line for line in lines), "}"]


MEMBER = "?member"
_DIALECT = "# Parsed dates and folded texts are written out as the nodes that have them."
_SAME = "# So are entities that the data says to be the same, with the one that stands for them."
_TOO_LONG = f"# Not written: the query has more than {MOST_CHARACTERS:,} characters.\n"
_SKOLEM = "# Names that begin with urn:skolem: stand for blank nodes of the source; only this release's store knows them."


@dataclass(frozen=True, slots=True)
class Form:
    """The parts of a query: its first line, what must hold, and what follows."""

    select: str
    body: Sequence[str]
    after: str = ""

    def nested(self) -> list[str]:
        """The query as part of another."""
        whole = [f"SELECT {self.select} WHERE {{", *("  " + line for line in self.body), "}" + self.after]
        return ["{", *("  " + line for line in whole), "}"]


def to_sparql(plan: Plan, world: World, outcome: Outcome | None = None) -> str:
    """The query; ``outcome``: that of the plan, where it was executed already.

    Variables: ``?member``, ``?count``, ``?value`` (a count, a day number or a number), ``?group`` (a year, decade or century
    where groups go by these), ``?summed``, ``?c1`` and so on, ``?partner``, ``?size``, ``?size1`` … and ``?common``. Rows of
    a ranking or of groups have the outcome's ties. Triples in named graphs need a store that takes
    all graphs together for the default graph. A query of more than `MOST_CHARACTERS` is a comment that says so. Raises
    QuestionError as `execute`.
    """
    outcome = execute(plan, world) if outcome is None else outcome
    terms = Terms(world)
    try:
        with working(SECONDS, "The plan's SPARQL", "Ask for less: fewer conditions, fewer columns."):
            form = _FORMS[plan.compute.kind](terms, plan, outcome)
    except TooLong:
        return _TOO_LONG
    notes = [_DIALECT]
    if plan.compute.identity == "same_as":
        notes.append(_SAME)
    if terms.skolems:
        notes.append(_SKOLEM)
    if terms.unwritable:
        notes.append(f"# {terms.unwritable} IRIs of the data are left out: SPARQL cannot write them.")
    head = "ASK {" if form.select == "ASK" else f"SELECT {form.select} WHERE {{"
    query = "\n".join([*notes, head, *("  " + line for line in form.body), "}" + form.after]) + "\n"
    return query if len(query) <= MOST_CHARACTERS else _TOO_LONG


# Members, and what is the same
def _body(terms: Terms, plan: Plan, shown: str = MEMBER) -> tuple[list[str], str]:
    """Lines that bind the members to a variable, and that variable: ``shown`` unless several members count as one."""
    if plan.compute.identity == "iri":
        return member_lines(terms, plan, shown), shown
    each = terms.fresh("each")
    members = _members(terms.world, plan)
    kept, place = once(terms.world, members)
    stands = [(a, b) for a, b in zip(members.tolist(), kept[place].tolist(), strict=True) if a != b]
    inner = Form(f"DISTINCT {each}", member_lines(terms, plan, each))
    return [*inner.nested(), *_merged(terms, each, shown, stands)], each


def _members(world: World, plan: Plan) -> Ints:
    return np.flatnonzero(find_members(world, plan)).astype(np.int32)


def _merged(terms: Terms, each: str, shown: str, stands: Iterable[tuple[int, int]]) -> list[str]:
    """Binds ``shown`` to what stands for ``each``."""
    same = terms.fresh("same")
    rows = terms.pairs(stands)
    if not rows:
        return [f"BIND({each} AS {shown})"]
    return [
        f"OPTIONAL {{ {values_of(f'({each} {same})', rows)} }}",
        f"BIND(COALESCE({same}, {each}) AS {shown})",
    ]


def _led(
    terms: Terms, plan: Plan, column: Column, start: str, shown: str, cells: Iterable[int]
) -> tuple[list[str], str]:
    """Lines that lead from a variable to what a column leads to, and the variable of that before the same is merged."""
    each = shown if plan.compute.identity == "iri" else terms.fresh("each")
    lines = way_lines(
        terms, way_shown(column.way, column.to), start, each, end_lines(terms, column.to, each)
    )[0]
    if each != shown:
        lines += _merged(terms, each, shown, sameness(terms.world, cells))
    return lines, each


# Forms
def _list(terms: Terms, plan: Plan, _: Outcome) -> Form:
    return Form(f"DISTINCT {MEMBER}", _body(terms, plan)[0])


def _ask(terms: Terms, plan: Plan, _: Outcome) -> Form:
    return Form("ASK", member_lines(terms, plan, MEMBER))


def _count(terms: Terms, plan: Plan, _: Outcome) -> Form:
    if plan.compute.distinct or plan.compute.way is None:
        return Form(f"(COUNT(DISTINCT {MEMBER}) AS ?count)", _body(terms, plan)[0])
    return Form("(COUNT(*) AS ?count)", _rows(terms, plan))


def _rows(terms: Terms, plan: Plan) -> list[str]:
    """A subquery with a row for each member and what each link of the way leads to."""
    assert plan.compute.way is not None
    ends = end_lines(terms, plan.compute.to, "?group")
    way = way_shown(plan.compute.way, plan.compute.to)
    lines, between = way_lines(terms, way, MEMBER, "?group", ends)
    every = " ".join([MEMBER, *between, "?group"])
    return Form(f"DISTINCT {every}", [*member_lines(terms, plan, MEMBER), *lines]).nested()


def _group(terms: Terms, plan: Plan, outcome: Outcome) -> Form:
    how = plan.compute
    assert how.way is not None
    count = f"COUNT(DISTINCT {MEMBER})" if how.distinct else "COUNT(*)"
    cut = [f"{outcome.groups[-1, 1]}"] if how.first and len(outcome.groups) else []
    after = _ordered("?group", count, "?count", how, cut)
    select = f"?group ({count} AS ?count)"
    if how.by != "entity":
        return Form(select, _by_date(terms, plan), after)
    if not how.distinct:
        return Form(select, _rows(terms, plan), after)
    body, each = _body(terms, plan)
    column = Column(way=how.way, to=how.to)
    lines, _ = _led(terms, plan, column, each, "?group", _reached(terms.world, plan, column))
    return Form(select, [*body, *lines], after)


def _reached(world: World, plan: Plan, column: Column) -> list[int]:
    """What the members lead to, for what is the same among it; needed for that alone."""
    if plan.compute.identity == "iri":
        return []
    return [int(cell) for cell in pairs(world, way_shown(column.way, column.to), _members(world, plan)).cell]


def _by_date(terms: Terms, plan: Plan) -> list[str]:
    """Dates that lie in one bucket, with it."""
    how, date = plan.compute, terms.fresh("date")
    assert how.way is not None
    way = way_shown(how.way, how.to)
    nodes = distinct(pairs(terms.world, way, _members(terms.world, plan), False).cell)
    bucket, _, sure = buckets(terms.world, nodes, how.by, how.edge)
    rows = terms.numbered(nodes[sure].tolist(), bucket[sure].tolist())
    body, each = _body(terms, plan)
    lines = way_lines(terms, way, each, date, end_lines(terms, how.to, date))[0]
    return [*body, values_of(f"({date} ?group)", rows), *lines]


def _table(terms: Terms, plan: Plan, _: Outcome) -> Form:
    body, each = _body(terms, plan)
    columns = plan.compute.columns
    cells = _cells(terms.world, plan, columns)
    reached = [each]
    for number, column in enumerate(columns):
        of = 0 if column.of is None else column.of + 1
        before = columns[of - 1] if of else None
        if before is not None and any(
            route.literals for route in links_of(terms.world, way_shown(before.way, before.to))[-1]
        ):
            body.append(f"FILTER(!isLiteral({reached[of]}))")
        lines, end = _led(terms, plan, column, reached[of], f"?c{number + 1}", cells[number])
        body, reached = [*body, *lines], [*reached, end]
    return Form(f"DISTINCT {' '.join([MEMBER, *(f'?c{n + 1}' for n in range(len(columns)))])}", body)


def _cells(world: World, plan: Plan, columns: Sequence[Column]) -> list[list[int]]:
    """For each column what its cells are before what is the same is merged; needed for that alone."""
    if plan.compute.identity == "iri":
        return [[] for _ in columns]
    rows = table(world, columns, _members(world, plan))
    return [distinct(rows[:, number + 1]).tolist() for number in range(len(columns))]


def _pairs(terms: Terms, plan: Plan, _: Outcome) -> Form:
    """Two subqueries of members and their cells, which an engine joins by the cells."""
    columns = [Column(way=way) for way in plan.compute.ways]
    names = [f"?c{number + 1}" for number in range(len(columns))]
    cells = _cells(terms.world, plan, columns)
    body: list[str] = []
    for shown in (MEMBER, "?partner"):
        lines, each = _body(terms, plan, shown)
        for column, name, reached in zip(columns, names, cells, strict=True):
            lines += _led(terms, plan, column, each, name, reached)[0]
        body += Form(f"DISTINCT {' '.join([shown, *names])}", lines).nested()
    select = " ".join([MEMBER, *(["?partner"] if plan.compute.partner else []), *names])
    return Form(f"DISTINCT {select}", [*body, f"FILTER({MEMBER} != ?partner)"])


def _compare(terms: Terms, plan: Plan, _: Outcome) -> Form:
    parts = [_alike(terms, plan, plan, False)]
    parts += [_alike(terms, plan, other, True) for other in plan.compute.others]
    names = ["?size", *(f"?size{number}" for number in range(1, len(parts)))]
    body: list[str] = []
    for name, lines in zip(names, parts, strict=True):
        body += Form(f"(COUNT(DISTINCT {MEMBER}) AS {name})", lines).nested()
    common = [line for lines in parts for line in Form(f"DISTINCT {MEMBER}", lines).nested()]
    body += Form(f"(COUNT(DISTINCT {MEMBER}) AS ?common)", common).nested()
    return Form(" ".join([*names, "?common"]), body)


def _alike(terms: Terms, plan: Plan, one: Plan, inner: bool) -> list[str]:
    """The members of one of the compared plans, or what stands for them in all."""
    if plan.compute.identity == "iri":
        return member_lines(terms, one, MEMBER, inner)
    each = terms.fresh("each")
    members = members_of(terms.world, one) if inner else _members(terms.world, one)
    stands = sameness(terms.world, members.tolist())
    lines = Form(f"DISTINCT {each}", member_lines(terms, one, each, inner)).nested()
    return [*lines, *_merged(terms, each, MEMBER, stands)]


def _rank(terms: Terms, plan: Plan, outcome: Outcome) -> Form:
    how = plan.compute
    assert how.measure is not None and outcome.values is not None
    body, each = _body(terms, plan)
    end = terms.fresh("measured")
    column = Column(way=how.measure.way, to=how.measure.to)
    if how.measure.kind == "count":
        lines, _ = _led(terms, plan, column, each, end, _reached(terms.world, plan, column))
        value = f"COUNT(DISTINCT {end})"
    else:
        way = way_shown(column.way, column.to)
        lines = way_lines(terms, way, each, end, end_lines(terms, column.to, end))[0]
        dates = how.measure.kind != "value"
        measured, value = (_day if dates else _number)(terms, plan, end)
        lines = [*measured, *lines] if dates else [*lines, *measured]  # days are looked up first
    cut = [_written(outcome.values[-1])] if how.first and len(outcome.values) else []
    ranked = Form(
        f"{MEMBER} ({value} AS ?value)", [*body, *lines], _ordered(MEMBER, value, "?value", how, cut)
    )
    if how.summed:
        made = "SUM" if how.summed == "total" else "AVG"
        return Form(f"({made}(?value) AS ?summed)", ranked.nested())
    return ranked


def _day(terms: Terms, plan: Plan, end: str) -> tuple[list[str], str]:
    """The days of what is measured, and the expression of the value."""
    measure = plan.compute.measure
    assert measure is not None
    earliest = measure.kind == "earliest"
    days = terms.world.extents[0 if earliest else 1]
    way = way_shown(measure.way, measure.to)
    reached = distinct(pairs(terms.world, way, _members(terms.world, plan), False).cell)
    known = reached[days[reached] != (OPEN_BEGIN if earliest else OPEN_END)]
    rows = terms.numbered(known.tolist(), days[known].tolist())
    day = terms.fresh("day")
    return [values_of(f"({end} {day})", rows)], f"{'MIN' if earliest else 'MAX'}({day})"


def _number(terms: Terms, plan: Plan, end: str) -> tuple[list[str], str]:
    """The number that a literal states, and the expression of the value."""
    lines, number = _stated_number(terms, end)
    return lines, f"{'MIN' if plan.compute.ascending else 'MAX'}({number})"


def _stated_number(terms: Terms, end: str) -> tuple[list[str], str]:
    """Lines by which a literal states a number, and the variable of that."""
    number, dates = terms.fresh("number"), ", ".join(f"<{one}>" for one in DAYS)
    lines = [
        f'FILTER(isLiteral({end}) && REGEX(STR({end}), "{NUMBER}") && DATATYPE({end}) NOT IN ({dates}))',
        f"BIND(<{XSD}double>(STR({end})) AS {number})",
    ]
    return lines, number


def _written(value: float | int) -> str:
    text = repr(float(value)) if isinstance(value, float) else str(int(value))
    return text if isinstance(value, int | np.integer) or "e" in text else text + "e0"


def _ordered(key: str, value: str, name: str, how: Compute, cut: Sequence[str]) -> str:
    """Grouping, the least and the last value of those kept as bounds, and the order."""
    bounds = [f"{value} {'<=' if how.ascending else '>='} {one}" for one in cut]
    bounds += [f"{value} >= {how.at_least}"] if how.at_least is not None else []
    having = f"\nHAVING ({' && '.join(bounds)})" if bounds else ""
    return f"\nGROUP BY {key}{having}\nORDER BY {'ASC' if how.ascending else 'DESC'}({name}) {key}"


_FORMS: dict[str, Callable[[Terms, Plan, Outcome], Form]] = {
    "list": _list,
    "count": _count,
    "ask": _ask,
    "rank": _rank,
    "group": _group,
    "table": _table,
    "pairs": _pairs,
    "compare": _compare,
}
