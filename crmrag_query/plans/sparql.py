"""A plan as SPARQL 1.1 in the data's own IRIs: it returns the rows that executing the plan gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.execute import execute, members_of
from crmrag_query.plans.members import (
    OF_TYPE,
    anchored,
    anchored_classes,
    find_members,
    target_classes,
    targeted,
    within_period,
)
from crmrag_query.plans.nodesets import walk_set
from crmrag_query.plans.records import Among, Anchor, Constraint, Dated, Plan, Related, Target, Texted
from crmrag_query.plans.routes import routes_of
from crmrag_query.plans.sparql_terms import NOTHING, Terms, absent, union
from crmrag_query.plans.sparql_ways import Ends, branches_of
from crmrag_query.plans.texts import holding
from crmrag_query.plans.ways import pairs
from crmrag_query.plans.world import Mask, World

MEMBER = "?member"
_DIALECT = "# Parsed dates and folded texts are written out as the nodes that have them."
_SKOLEM = "# Names that begin with urn:skolem: stand for blank nodes of the source; only this release's store knows them."


def to_sparql(plan: Plan, world: World) -> str:
    """The query. Variables: ``?member``, ``?count``, ``?value`` (a count or a day number), ``?group``, ``?c1`` and so on.

    Rows of a ranking or of groups have the outcome's ties. Raises QuestionError as `execute`.
    """
    outcome = execute(plan, world)
    terms = Terms(world)
    body = _members(terms, plan, MEMBER)
    how = plan.compute
    select, after = f"SELECT DISTINCT {MEMBER}", ""
    if how.kind == "count":
        select = f"SELECT (COUNT(DISTINCT {MEMBER}) AS ?count)"
    elif how.kind == "ask":
        select = "ASK"
    elif how.kind == "table":
        columns = [f"?c{number}" for number in range(1, len(how.columns) + 1)]
        select = f"SELECT DISTINCT {' '.join([MEMBER, *columns])}"
        for column, way in zip(columns, how.columns, strict=True):
            body += union(branches_of(terms, way, MEMBER, column, Ends()))
    elif how.kind == "group":
        assert how.way is not None
        body += union(branches_of(terms, how.way, MEMBER, "?group", Ends()))
        select = f"SELECT ?group (COUNT(DISTINCT {MEMBER}) AS ?count)"
        cut = outcome.groups[:, 1].tolist() if how.first else []
        after = _grouped("?group", f"COUNT(DISTINCT {MEMBER})", "?count", how.ascending, cut)
    elif how.kind == "rank":
        lines, value = _measure(terms, plan)
        body += lines
        select = f"SELECT {MEMBER} ({value} AS ?value)"
        cut = [] if how.first is None or outcome.values is None else outcome.values.tolist()
        after = _grouped(MEMBER, value, "?value", how.ascending, cut)
    return _whole(terms, select, body, after)


def _whole(terms: Terms, select: str, body: Sequence[str], after: str) -> str:
    notes = [_DIALECT]
    if terms.skolems:
        notes.append(_SKOLEM)
    if terms.unwritable:
        notes.append(f"# {terms.unwritable} IRIs of the data are left out: SPARQL cannot write them.")
    where = "{" if select == "ASK" else "WHERE {"
    return "\n".join([*notes, f"{select} {where}", *("  " + line for line in body), "}" + after]) + "\n"


def _grouped(key: str, value: str, name: str, ascending: bool, kept: list[int]) -> str:
    """Grouping, the last value of those kept as the bound, and the order."""
    bound = f"\nHAVING ({value} {'<=' if ascending else '>='} {int(kept[-1])})" if kept else ""
    return f"\nGROUP BY {key}{bound}\nORDER BY {'ASC' if ascending else 'DESC'}({name}) {key}"


def _measure(terms: Terms, plan: Plan) -> tuple[list[str], str]:
    """Lines that bind what is measured, and the expression of the value."""
    measure = plan.compute.measure
    assert measure is not None
    end = terms.fresh("measured")
    lines = union(branches_of(terms, measure.way, MEMBER, end, Ends()))
    if measure.kind == "count":
        return lines, f"COUNT(DISTINCT {end})"
    earliest = measure.kind == "earliest"
    days = terms.world.extents[0 if earliest else 1]
    members = np.flatnonzero(find_members(terms.world, plan, members_of).members).astype(np.int32)
    reached = np.unique(pairs(terms.world, measure.way, members, literals=False).cell)
    known = reached[days[reached] != (OPEN_BEGIN if earliest else OPEN_END)].tolist()
    rows = [f"({iri} {int(days[node])})" for node in known for iri in terms.nodes([node])]
    day = terms.fresh("day")
    days_of = f"VALUES ({end} {day}) {{ {' '.join(rows)} }}" if rows else NOTHING
    return [days_of, *lines], f"{'MIN' if earliest else 'MAX'}({day})"


def _members(terms: Terms, plan: Plan, member: str) -> list[str]:
    """Lines that hold of the variable for the plan's members alone."""
    if plan.compute.kind == "rank" and member != MEMBER:
        return [terms.values(member, members_of(terms.world, plan).tolist())]
    lines = _target(terms, plan.target, member)
    bound = bool(lines) or any(not one.negated for one in plan.where)
    subject = f"{member} {terms.fresh('anyProperty')} {terms.fresh('anyValue')} ."
    if not (plan.target.categories or plan.target.classes):
        lines += [f"FILTER EXISTS {{ {subject} }}"] if bound else [subject]
    for one in sorted(plan.where, key=lambda one: one.negated):
        lines += _constraint(terms, plan, one, member)
    return lines


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
    return union(branches_of(terms, OF_TYPE, variable, terms.fresh("type"), Ends(nodes)))


def _constraint(terms: Terms, plan: Plan, one: Constraint, member: str) -> list[str]:
    match one:
        case Related():
            end = terms.fresh("end")
            lines = union(branches_of(terms, one.way, member, end, _ends(terms, one.to, end)))
            return absent(lines) if one.negated else lines
        case Dated():
            return _dated(terms, plan, one, member)
        case Texted():
            held = np.flatnonzero(holding(terms.world, one, _but_texts(terms.world, plan))).tolist()
        case Among():
            held = terms.world.nodes_of(one.iris).tolist()
    return terms.none_of(member, held) if one.negated else [terms.values(member, held)]


def _but_texts(world: World, plan: Plan) -> Mask:
    """What the plan without its texts finds: only these are looked through."""
    rest = tuple(one for one in plan.where if not isinstance(one, Texted))
    return find_members(world, plan.model_copy(update={"where": rest}), members_of).members


def _dated(terms: Terms, plan: Plan, one: Dated, member: str) -> list[str]:
    world = terms.world
    candidates, ends = targeted(world, plan.target), within_period(world, one)
    if one.way is None:
        held = np.flatnonzero(ends & candidates).tolist()
        return terms.none_of(member, held) if one.negated else [terms.values(member, held)]
    reached = np.zeros(world.size, bool)
    start = np.flatnonzero(candidates).astype(np.int32)
    for route in routes_of(world, one.way):
        reached[walk_set(route.graph(world), route.legs, start).all] = True
    nodes = np.flatnonzero(ends & reached).astype(np.int32)
    lines = union(branches_of(terms, one.way, member, terms.fresh("date"), Ends(nodes)))
    return absent(lines) if one.negated else lines


def _ends(terms: Terms, anchor: Anchor, end: str) -> Ends:
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
        branches.append(_members(terms, anchor.plan, end))
    return Ends(nodes, tuple(union(branches)))
