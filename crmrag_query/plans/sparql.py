"""A plan as SPARQL 1.1 in the data's own IRIs: it returns the rows that executing the plan gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END
from crmrag_query.plans.buckets import buckets
from crmrag_query.plans.execute import execute, members_of
from crmrag_query.plans.identity import once, sameness
from crmrag_query.plans.literals import DAYS, NUMBER, XSD
from crmrag_query.plans.members import anchored, find_members
from crmrag_query.plans.outcome import Outcome
from crmrag_query.plans.records import Column, Compute, Plan
from crmrag_query.plans.routes import links_of
from crmrag_query.plans.sparql_members import end_lines, member_lines
from crmrag_query.plans.sparql_terms import NOTHING, Terms
from crmrag_query.plans.sparql_ways import way_lines
from crmrag_query.plans.tables import table
from crmrag_query.plans.ways import pairs
from crmrag_query.plans.world import World, distinct

MEMBER = "?member"
_DIALECT = "# Parsed dates and folded texts are written out as the nodes that have them."
_SAME = "# So are entities that the data says to be the same, with the one that stands for them."
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
    where groups go by these), ``?c1`` and so on, ``?partner``, ``?size``, ``?size1`` … and ``?common``. Rows of a ranking or
    of groups have the outcome's ties. Triples in named graphs need a store that takes
    all graphs together for the default graph. Raises QuestionError as `execute`.
    """
    outcome = execute(plan, world) if outcome is None else outcome
    terms = Terms(world)
    form = _FORMS[plan.compute.kind](terms, plan, outcome)
    notes = [_DIALECT]
    if plan.compute.identity == "same_as":
        notes.append(_SAME)
    if terms.skolems:
        notes.append(_SKOLEM)
    if terms.unwritable:
        notes.append(f"# {terms.unwritable} IRIs of the data are left out: SPARQL cannot write them.")
    head = "ASK {" if form.select == "ASK" else f"SELECT {form.select} WHERE {{"
    return "\n".join([*notes, head, *("  " + line for line in form.body), "}" + form.after]) + "\n"


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
    return np.flatnonzero(find_members(world, plan, members_of).members).astype(np.int32)


def _merged(terms: Terms, each: str, shown: str, stands: Iterable[tuple[int, int]]) -> list[str]:
    """Binds ``shown`` to what stands for ``each``."""
    same = terms.fresh("same")
    rows = [f"({' '.join(row)})" for pair in stands if len(row := terms.nodes(pair)) == 2]
    if not rows:
        return [f"BIND({each} AS {shown})"]
    return [
        f"OPTIONAL {{ VALUES ({each} {same}) {{ {' '.join(rows)} }} }}",
        f"BIND(COALESCE({same}, {each}) AS {shown})",
    ]


def _led(
    terms: Terms, plan: Plan, column: Column, start: str, shown: str, cells: Iterable[int]
) -> tuple[list[str], str]:
    """Lines that lead from a variable to what a column leads to, and the variable of that before the same is merged."""
    each = shown if plan.compute.identity == "iri" else terms.fresh("each")
    lines = way_lines(terms, column.way, start, each, end_lines(terms, column.to, each), direct=True)[0]
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
    lines, between = way_lines(terms, plan.compute.way, MEMBER, "?group", ends, direct=True)
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
    return [int(cell) for cell in pairs(world, column.way, _members(world, plan), direct=True).cell]


def _by_date(terms: Terms, plan: Plan) -> list[str]:
    """Dates that lie in one bucket, with it."""
    how, date = plan.compute, terms.fresh("date")
    assert how.way is not None
    nodes = distinct(pairs(terms.world, how.way, _members(terms.world, plan), False, direct=True).cell)
    bucket, _, sure = buckets(terms.world, nodes, how.by, how.edge)
    rows = [
        f"({iri} {number})"
        for node, number in zip(nodes[sure].tolist(), bucket[sure].tolist(), strict=True)
        for iri in terms.nodes([node])
    ]
    body, each = _body(terms, plan)
    lines = way_lines(terms, how.way, each, date, end_lines(terms, how.to, date), direct=True)[0]
    return [*body, f"VALUES ({date} ?group) {{ {' '.join(rows)} }}" if rows else NOTHING, *lines]


def _table(terms: Terms, plan: Plan, _: Outcome) -> Form:
    body, each = _body(terms, plan)
    columns = plan.compute.columns
    cells = _cells(terms.world, plan, columns)
    reached = [each]
    for number, column in enumerate(columns):
        of = 0 if column.of is None else column.of + 1
        if of and _may_be_literal(terms.world, columns[of - 1]):
            body.append(f"FILTER(!isLiteral({reached[of]}))")
        lines, end = _led(terms, plan, column, reached[of], f"?c{number + 1}", cells[number])
        body, reached = [*body, *lines], [*reached, end]
    return Form(f"DISTINCT {' '.join([MEMBER, *(f'?c{n + 1}' for n in range(len(columns)))])}", body)


def _cells(world: World, plan: Plan, columns: Sequence[Column]) -> list[list[int]]:
    """For each column what its cells are before what is the same is merged; needed for that alone."""
    if plan.compute.identity == "iri":
        return [[] for _ in columns]
    ends = [anchored(world, column.to, members_of) for column in columns]
    rows = table(world, columns, ends, _members(world, plan))
    return [distinct(rows[:, number + 1]).tolist() for number in range(len(columns))]


def _may_be_literal(world: World, column: Column) -> bool:
    return any(route.literals for route in links_of(world, column.way, direct=True)[-1])


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
        ends = end_lines(terms, column.to, end)
        lines = way_lines(terms, column.way, each, end, ends, direct=True)[0]
        before, after, value = (_number if how.measure.kind == "value" else _day)(terms, plan, end)
        lines = [*before, *lines, *after]
    cut = [_written(outcome.values[-1])] if how.first and len(outcome.values) else []
    return Form(f"{MEMBER} ({value} AS ?value)", [*body, *lines], _ordered(MEMBER, value, "?value", how, cut))


def _day(terms: Terms, plan: Plan, end: str) -> tuple[list[str], list[str], str]:
    """Days of what is measured, before the way; and the expression of the value."""
    measure = plan.compute.measure
    assert measure is not None
    earliest = measure.kind == "earliest"
    days = terms.world.extents[0 if earliest else 1]
    reached = distinct(pairs(terms.world, measure.way, _members(terms.world, plan), False, direct=True).cell)
    known = reached[days[reached] != (OPEN_BEGIN if earliest else OPEN_END)].tolist()
    rows = [f"({iri} {int(days[node])})" for node in known for iri in terms.nodes([node])]
    day = terms.fresh("day")
    days_of = f"VALUES ({end} {day}) {{ {' '.join(rows)} }}" if rows else NOTHING
    return [days_of], [], f"{'MIN' if earliest else 'MAX'}({day})"


def _number(terms: Terms, plan: Plan, end: str) -> tuple[list[str], list[str], str]:
    """The number that a literal states, after the way; and the expression of the value."""
    number, dates = terms.fresh("number"), ", ".join(f"<{one}>" for one in DAYS)
    lines = [
        f'FILTER(isLiteral({end}) && REGEX(STR({end}), "{NUMBER}") && DATATYPE({end}) NOT IN ({dates}))',
        f"BIND(<{XSD}double>(STR({end})) AS {number})",
    ]
    return [], lines, f"{'MIN' if plan.compute.ascending else 'MAX'}({number})"


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
