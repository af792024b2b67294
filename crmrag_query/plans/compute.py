"""What is made of the members of a plan: a count, a ranking, groups, a table, pairs, a comparison; measures of several units
made comparable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

import numpy as np
import numpy.typing as npt

from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints, Longs, consecutive, distinct, spread, united
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END
from crmrag_query.plans.records import Anchor, Column, Compute, ComputeKind, Edge, GroupedBy, Plan, Way
from crmrag_query.plans.ways import (
    LiteralValue,
    Pairs,
    literal,
    numbers,
    pairs,
    way_literals,
    way_shown,
    weights,
)
from crmrag_query.plans.world import Mask, World, once, representatives, same_cells
from crmrag_query.text import fold
from crmrag_query.timing import check

UNIT: Final = Way(paths=(("P91",),))
CURRENCY: Final = Way(paths=(("P180",),))
# Names of units and of their entries in the AAT, by quantity, each with its factor to the SI's unit. Source: NIST SP 811.
_LENGTHS: Final = {
    0.001: "mm millimetre millimeter millimètre millimetro millimetri milímetro χιλιοστό χιλιοστά 300379097",
    0.01: "cm centimetre centimeter zentimeter centimètre centimetro centimetri centímetro εκ εκατοστό εκατοστά 300379098",
    1.0: "m metre meter mètre metro metri μ μέτρο μέτρα 300379099",
    1000.0: "km kilometre kilometer kilomètre chilometro chilometri kilómetro χλμ χιλιόμετρο χιλιόμετρα",
    0.0254: "in inch inches zoll pouce pollice pollici pulgada ίντσα ίντσες 300379100",
    0.3048: "ft foot feet fuß pied piede piedi pie πόδι πόδια 300379101",
}
_WEIGHTS: Final = {
    1e-6: "mg milligram milligramm milligramme milligrammo miligramo",
    0.001: "g gram gramm gramme grammo grammi gramo γρ γραμμάριο γραμμάρια 300379225",
    1.0: "kg kilogram kilogramm kilogramme chilogrammo chilogrammi chilo chili kilogramo kilo κιλό κιλά 300379226",
    0.028349523125: "oz ounce unze once oncia onza",
    0.45359237: "lb lbs pound pfund livre libbra libbre libra λίβρα λίβρες 300379229",
    1000.0: "t tonne tonnellata tonnellate tonelada τόνος τόνοι τόνους",
}


def _known() -> Mapping[str, tuple[str, float]]:
    return {
        fold(name): (quantity, factor)
        for quantity, table in (("length", _LENGTHS), ("weight", _WEIGHTS))
        for factor, names in table.items()
        for name in names.split()
    }


FACTORS: Final = _known()


def factor_of(world: World, unit: int) -> tuple[str, float] | None:
    """The quantity that a unit measures, and its factor, by its names or its IRI's last part; None for one not known."""
    texts = [label.text for label in world.graph.labels(unit)]
    texts.append(re.split(r"[/#:]", world.graph.iri(unit).rstrip("/"))[-1])
    return next((known for text in texts if (known := known_unit(text)) is not None), None)


def known_unit(name: str) -> tuple[str, float] | None:
    """The quantity that a unit of this name measures, and its factor; None for one not known."""
    name = fold(name).strip(" .")
    forms = (name, name.removesuffix("s"), name.removesuffix("n"), name.removeprefix("unit-"))
    return next((FACTORS[one] for one in forms if one in FACTORS), None)


def units_of(world: World, nodes: Ints) -> tuple[Longs, Ints]:
    """The unit of each of some dimensions or sums of money, -1 for none or several, int64; and all of them, ascending."""
    found = np.full(len(nodes), -1, np.int64)
    every = [np.empty(0, np.int64)]
    for way in (UNIT, CURRENCY):
        stated = pairs(world, way, nodes, literals=False)
        once, first, count = np.unique(stated.index, return_index=True, return_counts=True)
        found[once[count == 1]] = stated.cell[first[count == 1]]
        every.append(stated.cell)
    return found, distinct(np.concatenate(every)).astype(np.int32)


def comparable(world: World, units: Ints) -> bool:
    """Whether numbers in these units can be compared: there is one at most, or all are known and measure one quantity."""
    if len(units) < 2:
        return True
    known = [factor_of(world, int(unit)) for unit in units]
    return None not in known and len({one[0] for one in known if one}) == 1


def in_one_unit(world: World, nodes: Ints, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The values of dimensions in the unit that most of them have; as they are where these cannot be compared."""
    own, units = units_of(world, nodes)
    if len(units) < 2 or not comparable(world, units):
        return values
    factors = {int(unit): found[1] for unit in units if (found := factor_of(world, int(unit)))}
    stated = own[own >= 0]
    kinds, counts = np.unique(stated, return_counts=True)
    most = factors[int(kinds[np.argmax(counts)])]
    by = np.array([factors.get(int(unit), most) for unit in own])
    return np.asarray(values * (by / most))


def in_unit(
    world: World, nodes: Ints, values: npt.NDArray[np.float64], unit: str
) -> tuple[Mask, npt.NDArray[np.float64]]:
    """Which values of dimensions are in a unit, told by its IRI or one of its names ("m" for the data's metre), or in another
    of the same quantity; and all values in it, NaN for those of other quantities."""
    own, units = units_of(world, nodes)
    asked = [int(one) for one in units if _is_called(world, int(one), unit)]
    known = next((found for one in asked if (found := factor_of(world, one))), known_unit(unit))
    factors = dict.fromkeys(asked, 1.0)
    for one in map(int, units):
        if known and (found := factor_of(world, one)) and found[0] == known[0]:
            factors[one] = found[1] / known[1]
    by = np.array([factors.get(int(one), np.nan) for one in own])
    return ~np.isnan(by), np.array([*map(converted, values, by)], np.float64)


def _is_called(world: World, unit: int, name: str) -> bool:
    labels = {fold(label.text) for label in world.graph.labels(unit)}
    return world.graph.iri(unit) == name or fold(name) in labels


def converted(value: float, by: float) -> float:
    """A value in another unit: 2.3 m are 230 cm, and not 229.99999999999997."""
    return float(value) if by == 1 else float(f"{value * by:.12g}")


UNDATED = "undated"  # no date where a date was asked for
UNCERTAIN = "uncertain"
"""A date that may lie in the period, but need not; or in several years, decades or centuries; or that may come before one of
those that come first."""
UNMEASURED = "unmeasured"  # nothing to rank by
UNGROUPED = "ungrouped"  # leads to no group
INCOMPLETE = "incomplete"  # a column of the table, or what pairs share, would be empty
NO_CELLS = np.empty((0, 2), np.int64)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Members that lead to the same cells, held by what they share: n of them make n * (n - 1) pairs.

    ``shared`` int64 [s, ways]: cells that two members or more have in common; ``ptr`` int64 [s+1]: range of their members;
    ``member`` int32, ascending within a range; ``partner``: whether rows tell the other one.
    """

    shared: Longs
    ptr: Longs
    member: Ints
    partner: bool

    @property
    def size(self) -> int:
        """How many rows there are."""
        count = np.diff(self.ptr)
        return int((count * (count - 1)).sum()) if self.partner else len(self.member)

    def blocks(self, most: int) -> Iterator[Longs]:
        """Rows (member, partner, cells…) or (member, cells…), about ``most`` at a time, by what is shared."""
        count = np.diff(self.ptr)
        width = np.repeat(count - 1 if self.partner else np.ones_like(count), count)  # rows of each place
        for part in consecutive(np.cumsum(width), most):
            places = np.arange(part.start, part.stop)
            of = np.searchsorted(self.ptr, places, side="right") - 1
            columns, cells = [places], self.shared[of]
            if self.partner:
                index, other = spread(self.ptr, of)
                apart = places[index] != other
                columns, cells = [places[index[apart]], other[apart]], self.shared[of[index[apart]]]
            yield np.column_stack([*(self.member[at].astype(np.int64) for at in columns), cells])


@dataclass(frozen=True, slots=True)
class Outcome:
    """The exact result of a plan.

    ``members`` int32: nodes ascending, or of a ranking in its order with ``values`` beside them (int64; float64 of numbers);
    ``value``: the count, or whether there is any; ``groups`` int64 [g, 2]: cell (or year, decade, century: see ``by``) and
    how many members lead to it; ``rows`` int64 [r, 1 + columns] of a table: member and cells, see `cell`; ``pairing``: the
    rows of pairs; ``sizes``: of compared sets, this one first, and what is ``common`` to them; ``iris`` and ``identities``:
    how many members there are by IRI, and how many different ones by what the data says to be the same; ``excluded``:
    reason -> nodes for which everything else holds; ``settled``: recorded dates decide who comes first, False where spans
    overlap so that others may.

    Years are historical (1 BC is -1), a decade goes by its first year, 19 is the 19th century, -5 the fifth BC.
    """

    members: Ints
    kind: ComputeKind = "list"
    values: Longs | npt.NDArray[np.float64] | None = None
    value: int | bool | None = None
    groups: Longs = field(default_factory=lambda: NO_CELLS)
    by: GroupedBy = "entity"
    rows: Longs = field(default_factory=lambda: NO_CELLS)
    pairing: Pairing | None = None
    sizes: tuple[int, ...] = ()
    common: Ints | None = None
    iris: int = 0
    identities: int = 0
    excluded: Mapping[str, Ints] = field(default_factory=dict)
    settled: bool = True

    @property
    def size(self) -> int:
        """How many rows it has: of the table, groups, pairs; else how many members."""
        if self.pairing is not None:
            return self.pairing.size
        if self.kind == "table":
            return len(self.rows)
        return len(self.groups) if self.kind == "group" else len(self.members)

    def blocks(self, most: int) -> Iterator[Longs]:
        """The rows of a table, of groups or of pairs, else the members in one column, about ``most`` at a time."""
        if self.pairing is not None:
            yield from self.pairing.blocks(most)
            return
        whole = {"table": self.rows, "group": self.groups}.get(self.kind)
        rows = self.members.astype(np.int64)[:, None] if whole is None else whole
        for first in range(0, len(rows), most):
            yield rows[first : first + most]


def cell(world: World, number: int) -> str | LiteralValue:
    """A cell of a table, pair or group of entities: the IRI of a node, or a literal."""
    return world.graph.iri(number) if number < world.size else literal(world, number - world.size)


def ranking(values: npt.NDArray[np.number], nodes: npt.NDArray[np.integer], ascending: bool) -> Longs:
    """The order of a ranking: by value, the highest first unless ``ascending``; equal ones by node."""
    return np.lexsort((nodes, values if ascending else -values)).astype(np.int64)


_EPOCH = 719_163  # day number of 1970-01-01, from which NumPy counts


def buckets(
    world: World, nodes: Longs | Ints, by: GroupedBy, edge: Edge = "span"
) -> tuple[Longs, Mask, Mask]:
    """For each node its bucket, whether it has a date, and whether its whole recorded span lies in the bucket.

    A span of which one end alone is known lies where that end does. Where one ``edge`` counts, that alone is the date.
    """
    begin, end = (side[nodes].astype(np.int64) for side in world.extents)
    if edge != "span":
        known = begin != OPEN_BEGIN if edge == "begin" else end != OPEN_END
        bucket = bucket_of(np.where(known, begin if edge == "begin" else end, 0), by)
        return bucket, known, known
    first, last = np.where(begin == OPEN_BEGIN, end, begin), np.where(end == OPEN_END, begin, end)
    dated = (begin != OPEN_BEGIN) | (end != OPEN_END)
    bucket, until = (bucket_of(np.where(dated, day, 0), by) for day in (first, last))
    return bucket, np.asarray(dated), np.asarray(dated & (bucket == until))


def bucket_of(day: Longs, by: GroupedBy) -> Longs:
    """The year (1 BC is -1), the first year of the decade, or the century (19: 1801 to 1900; -5: 500 to 401 BC) of days."""
    astronomical = (day - _EPOCH).astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970
    historical = np.where(astronomical > 0, astronomical, astronomical - 1)
    if by == "decade":
        return np.asarray(astronomical // 10 * 10, np.int64)
    if by == "century":
        size = (np.abs(historical) - 1) // 100 + 1
        return np.asarray(np.sign(historical) * size, np.int64)
    return np.asarray(historical, np.int64)


Ends = Sequence[Ints | None]
"""For each column the nodes that its cells are among, None for anything."""
MOST_ROWS = 5_000_000
"""Of a table: a few hundred megabytes at work."""
MOST_CELLS = 20_000_000
"""Of a table: 160 megabytes, and twice that while a column is added."""
BLOCK_ROWS = 65_536
"""Rows in a block of those that stream."""


def table(world: World, columns: Sequence[Column], ends: Ends, members: Ints) -> Longs:
    """Rows int64 [r, 1 + columns], distinct, in the order of members, then of the columns' cells from left to right.

    Raises QuestionError for more rows than `MOST_ROWS`, and for more cells than `MOST_CELLS`.
    """
    rows = members.astype(np.int64)[:, None]
    for column, within in zip(columns, ends, strict=True):
        check()
        source = rows[:, 0 if column.of is None else column.of + 1]
        asked, place = np.unique(source, return_inverse=True)
        asked = asked[asked < world.size]
        found = pairs(world, way_shown(column.way, column.to), asked.astype(np.int32)).within(world, within)
        count = np.bincount(found.index, minlength=len(asked) + 1)
        size = int(count[np.minimum(place, len(asked))].sum())
        if size > MOST_ROWS:
            raise QuestionError(f"The table has {size} rows or more.", "Ask for fewer columns or members.")
        if size * (rows.shape[1] + 1) > MOST_CELLS:
            raise QuestionError(
                f"The table has more than {MOST_CELLS:,} cells.", "Ask for fewer columns or members."
            )
        origin, at = found.rows_of(place)
        rows = np.column_stack([rows[origin], found.cell[at]])
    return rows


def pairing(world: World, how: Compute, members: Ints) -> tuple[Pairing, Ints]:
    """The pairs of members that lead by each way to the same cells, and the members that lead to any."""
    columns = [Column(way=way) for way in how.ways]
    rows = table(world, columns, [None] * len(columns), members)
    if how.identity == "same_as":
        rows = same_rows(world, rows, members)
    cells = rows[:, 1:]
    order = np.lexsort((rows[:, 0], *cells.T[::-1]))
    rows = rows[order]
    first = np.flatnonzero(_differing(rows[:, 1:]))
    count = np.diff(np.append(first, len(rows)))
    several = count > 1
    kept = np.repeat(several, count)
    ptr = np.concatenate([[0], np.cumsum(count[several])]).astype(np.int64)
    shared = rows[first[several], 1:]
    having = distinct(rows[:, 0]).astype(np.int32)
    return Pairing(shared, ptr, rows[kept, 0].astype(np.int32), how.partner), having


def same_rows(world: World, rows: Longs, members: Ints) -> Longs:
    """Rows whose members and cells are the same things, each once."""
    kept, place = once(world, members)
    first = kept[place[np.searchsorted(members, rows[:, 0])]].astype(np.int64)
    merged = np.column_stack([first, same_cells(world, rows[:, 1:])])
    order = np.lexsort(merged.T[::-1])
    merged = merged[order]
    return merged[_differing(merged)]


def _differing(rows: Longs) -> Mask:
    """Which rows differ from the one before."""
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return new


Anchored = Callable[[Anchor], Ints | None]
"""Gives the nodes of an anchor, None for anything at all."""
Inner = Callable[[Plan], Ints]
"""Gives the members of another plan."""
Values = Longs | npt.NDArray[np.float64]


def compute(world: World, how: Compute, members: Ints, anchored: Anchored, inner: Inner) -> Outcome:
    """The outcome of ``members``, ascending. Raises QuestionError for a table that is too large."""
    same_as = how.identity == "same_as"
    kept = once(world, members)[0] if same_as else members
    match how.kind:
        case "count" if how.distinct or how.way is None:
            return Outcome(kept, "count", value=len(kept))
        case "count":
            assert how.way is not None
            rows = weights(world, way_shown(how.way, how.to), members, anchored(how.to))[1]
            return Outcome(kept, "count", value=int(rows.sum()))
        case "ask":
            return Outcome(kept, "ask", value=len(members) > 0)
        case "rank":
            return _ranked(world, how, members, anchored(how.measure.to) if how.measure else None)
        case "group":
            return (_by_entity if how.by == "entity" else _by_date)(world, how, members, anchored(how.to))
        case "table":
            rows = table(world, how.columns, [anchored(column.to) for column in how.columns], members)
            left = _all_but(members, distinct(rows[:, 0]), INCOMPLETE)
            return Outcome(
                kept, "table", rows=same_rows(world, rows, members) if same_as else rows, excluded=left
            )
        case "pairs":
            pairs_, having = pairing(world, how, members)
            return Outcome(kept, "pairs", pairing=pairs_, excluded=_all_but(kept, having, INCOMPLETE))
        case "compare":
            sets = [members, *map(inner, how.others)]
            alike = world.kept(representatives)
            shared = [distinct(alike[one]) for one in sets] if same_as else sets
            common = reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), shared)
            if same_as:
                common = once(world, members[np.isin(alike[members], common)])[0]
                sets = [once(world, one)[0] for one in sets]
            sizes = tuple(map(len, sets))
            return Outcome(sets[0], "compare", sizes=sizes, common=common.astype(np.int32))
        case _:
            return Outcome(kept)


# Rankings
def _measured(world: World, how: Compute, members: Ints, found: Pairs | None) -> tuple[Longs, Values]:
    """(index into ``members``, value) of those that have one; see `records.Measure`. ``found``: what they lead to, where no
    literal is measured."""
    measure = how.measure
    assert measure is not None
    if found is None:
        index, row = way_literals(world, measure.way.stated(), members)
        stated, number = numbers(world, row)
        subject = np.searchsorted(world.graph.literal_ptr, row[stated], side="right") - 1
        number = in_one_unit(world, subject.astype(np.int32), number)
        return _best(index[stated], number, how.ascending)
    if measure.kind == "count":
        if how.identity == "same_as":
            found = _same(world, found, once(world, members)[1])
        index, value = np.unique(found.index, return_counts=True)
        return index.astype(np.int64), value.astype(np.int64)
    earliest = measure.kind == "earliest"
    day = world.extents[0 if earliest else 1][found.cell].astype(np.int64)
    known = day != (OPEN_BEGIN if earliest else OPEN_END)
    return _best(found.index[known], day[known], earliest)


def _best(index: Longs, value: Values, lowest: bool) -> tuple[Longs, Values]:
    """Of each index the lowest or highest value."""
    order = np.lexsort((value if lowest else -value, index))
    found, first = np.unique(index[order], return_index=True)
    return found, value[order][first]


def _same(world: World, found: Pairs, place: Longs) -> Pairs:
    """Pairs of what is different: ``place`` gives for each index that of the one that stands for it."""
    return Pairs.of([Pairs(place[found.index], same_cells(world, found.cell)).keys])


def _ranked(world: World, how: Compute, members: Ints, ends: Ints | None) -> Outcome:
    measure = how.measure
    assert measure is not None
    found, dates = None, measure.kind in ("earliest", "latest")
    if measure.kind != "value":
        way = way_shown(measure.way, measure.to)
        found = pairs(world, way, members, literals=not dates).within(world, ends)
    index, value = _measured(world, how, members, found)
    kept, place = members, None
    if how.identity == "same_as":
        kept, place = once(world, members)
        if measure.kind != "count":  # counts go by place already
            lowest = measure.kind == "earliest" or (measure.kind == "value" and how.ascending)
            index, value = _best(place[index], value, lowest)
    measured = index
    if how.at_least is not None:
        enough = value >= how.at_least
        index, value = index[enough], value[enough]
    order = ranking(value, index, how.ascending)[: with_ties(value, how)]
    first, values = index[order], value[order]
    may, settled = np.empty(0, np.int64), True
    if how.first is not None and dates and found is not None:
        may, settled = _undecided(world, how, found, place, first, values)
    left = _without(kept, united(measured, may), UNMEASURED) | _picked(kept, may, UNCERTAIN)
    return Outcome(kept[first], "rank", values=values, excluded=left, settled=settled)


def _undecided(
    world: World, how: Compute, found: Pairs, place: Longs | None, shown: Longs, values: Values
) -> tuple[Longs, bool]:
    """Who of those not ``shown`` may belong to the first too, as fewer certainly come before; and whether the dates decide:
    no such one, and those that tie at the cut have one span.

    A value is the earliest (latest) of an entity's dates, each of which lies anywhere in its span, open where unknown.
    """
    assert how.measure is not None and how.first is not None
    begin, end = (side[found.cell].astype(np.int64) for side in world.extents)
    dated = (begin != OPEN_BEGIN) | (end != OPEN_END)
    index = found.index[dated] if place is None else place[found.index[dated]]
    earliest = how.measure.kind == "earliest"
    known, low = _best(index, begin[dated], earliest)
    high = _best(index, end[dated], earliest)[1]
    if not how.ascending:
        low, high = -high, -low
    before = np.searchsorted(np.sort(high), low, side="left")  # whose last day lies before one's first
    may = np.setdiff1d(known[before < how.first], shown, assume_unique=True)
    more = len(shown) > how.first
    tied = np.isin(known, shown[values == values[-1]]) if more else np.zeros(0, bool)
    one_span = not tied.any() or (np.ptp(low[tied]) == 0 and np.ptp(high[tied]) == 0)
    return may, bool(len(may) == 0 and one_span)


def with_ties(values: Values, how: Compute) -> int:
    """How many come first, those as good as the last of them included."""
    if how.first is None or how.first >= len(values):
        return len(values)
    ordered = np.sort(values if how.ascending else -values)
    return int(np.searchsorted(ordered, ordered[how.first - 1], side="right"))


# Groups
def _by_entity(world: World, how: Compute, members: Ints, ends: Ints | None) -> Outcome:
    assert how.way is not None
    way, kept = way_shown(how.way, how.to), members
    found = pairs(world, way, members).within(world, ends)
    if how.identity == "same_as":
        kept, place = once(world, members)
        found = _same(world, found, place)
    if how.distinct:
        cell, count = np.unique(found.cell, return_counts=True)
    else:
        cell, count = weights(world, way, members, ends)
    left = _without(kept, distinct(found.index), UNGROUPED)
    return _groups(how, kept, cell, count.astype(np.int64), left)


def _by_date(world: World, how: Compute, members: Ints, ends: Ints | None) -> Outcome:
    """A date whose whole span counts and lies in several buckets counts in none; members with such alone are uncertain."""
    assert how.way is not None
    found = pairs(world, way_shown(how.way, how.to), members, literals=False).within(world, ends)
    kept, index = members, found.index
    if how.identity == "same_as":
        kept, place = once(world, members)
        index = place[index]
    bucket, dated, sure = buckets(world, found.cell, how.by, how.edge)
    low = int(bucket.min()) if len(bucket) else 0
    shift = Pairs.of([Pairs(index[sure], bucket[sure] - low).keys])
    cell, count = np.unique(shift.cell + low, return_counts=True)
    grouped, with_date = distinct(shift.index), distinct(index[dated])
    uncertain = np.setdiff1d(with_date, grouped, assume_unique=True)
    left = _without(kept, with_date, UNDATED) | _picked(kept, uncertain, UNCERTAIN)
    return _groups(how, kept, cell, count.astype(np.int64), left)


def _groups(how: Compute, members: Ints, cell: Longs, count: Longs, left: dict[str, Ints]) -> Outcome:
    if how.at_least is not None:
        cell, count = cell[count >= how.at_least], count[count >= how.at_least]
    order = ranking(count, cell, how.ascending)[: with_ties(count, how)]
    groups = np.stack([cell[order], count[order]], axis=1).astype(np.int64)
    return Outcome(members, "group", groups=groups, by=how.by, excluded=left)


# What is left out
def _all_but(members: Ints, having: Longs | Ints, reason: str) -> dict[str, Ints]:
    left = np.setdiff1d(members, having, assume_unique=True)
    return {reason: left} if len(left) else {}


def _without(members: Ints, having: Longs, reason: str) -> dict[str, Ints]:
    """Members but those at these indices."""
    lacking = np.ones(len(members), bool)
    lacking[having] = False
    return _picked(members, np.flatnonzero(lacking), reason)


def _picked(members: Ints, index: Longs, reason: str) -> dict[str, Ints]:
    return {reason: members[index]} if len(index) else {}
