"""Members of a plan as SPARQL: target and constraints as lines that hold of one variable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crmrag_query.graph.arrays import Ints
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.classes import target_classes
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.members import anchored, anchored_classes, find_members, targeted, within_period
from crmrag_query.plans.nodesets import walk_set
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Constraint,
    Dated,
    Either,
    Member,
    Plan,
    Related,
    StatedIn,
    Target,
    Texted,
)
from crmrag_query.plans.routes import links_of
from crmrag_query.plans.sparql_terms import NOTHING, Terms, absent, union
from crmrag_query.plans.sparql_ways import Ends, way_lines
from crmrag_query.plans.texts import holding
from crmrag_query.plans.ways import OF_TYPE
from crmrag_query.plans.world import Mask, World

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


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
    nodes = anchored(terms.world, anchor, members_of)
    if nodes is None or not (anchor.types or anchor.plan):
        return Ends(nodes)
    branches = [[terms.values(end, terms.world.nodes_of(anchor.iris).tolist())]] if anchor.iris else []
    if classes := anchored_classes(terms.world, anchor):
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
    match one:
        case Related():
            end = terms.fresh("end")
            lines = way_lines(terms, one.way, member, end, end_lines(terms, one.to, end))[0]
        case Member():
            lines = member_lines(terms, one.plan, member, inner=True)
        case StatedIn():
            lines = _stated_in(terms, one, member)
        case Either():
            return _either(terms, plan, one, member)
        case Dated() if one.way is not None:
            lines = _dated(terms, plan, one, member)
        case _:
            held = _held(terms.world, plan, one).tolist()
            return terms.none_of(member, held) if one.negated else [terms.values(member, held)]
    return absent(lines) if one.negated else lines


def _held(world: World, plan: Plan, one: Constraint) -> Ints:
    """Nodes that SPARQL cannot find by itself: named ones, and those with such a text or date."""
    match one:
        case Among():
            return world.nodes_of(one.iris)
        case Dated():
            found = within_period(world, one) & targeted(world, plan.target)
        case Texted():
            found = holding(world, one, _but_texts(world, plan))
        case _:
            raise TypeError(one.kind)
    return np.flatnonzero(found).astype(np.int32)


def _but_texts(world: World, plan: Plan) -> Mask:
    """What the plan without its texts finds: only these are looked through."""
    rest = tuple(one for one in plan.where if not isinstance(one, Texted | Either))
    return find_members(world, plan.model_copy(update={"where": rest}), members_of).members


def _dated(terms: Terms, plan: Plan, one: Dated, member: str) -> list[str]:
    """A way to a date; only dates that the plan's target leads to are written out."""
    assert one.way is not None
    world = terms.world
    at = np.flatnonzero(targeted(world, plan.target)).astype(np.int32)
    for routes in links_of(world, one.way):
        reached = np.zeros(world.size, bool)
        for route in routes:
            reached[walk_set(route.graph(world), route.legs, at).all] = True
        at = np.flatnonzero(reached).astype(np.int32)
    dates = at[within_period(world, one)[at]]
    return way_lines(terms, one.way, member, terms.fresh("date"), Ends(dates))[0]


def _stated_in(terms: Terms, one: StatedIn, member: str) -> list[str]:
    graphs = [text for graph in one.graphs if (text := terms.iri(graph)) is not None]
    if not graphs:
        return [NOTHING]
    graph, prop, value = terms.fresh("graph"), terms.fresh("anyProperty"), terms.fresh("anyValue")
    return [
        f"VALUES {graph} {{ {' '.join(graphs)} }}",
        f"GRAPH {graph} {{ {member} {prop} {value} . FILTER({prop} != {TYPE}) }}",
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
