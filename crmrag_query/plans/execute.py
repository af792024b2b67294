"""Executing a plan exactly on the arrays of a graph: who its members are, why each of them is, and what is made of them: a
count, a ranking, groups, a table, pairs, a comparison; measures of several units made comparable.

Members are found as sets of nodes, constraint by constraint; a text is looked for in folded names or literals. A proof gives
for each condition one way, node by node, each step a triple.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, reduce
from itertools import product
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.documents.pages import READ
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Bytes, Ints, Longs, consecutive, distinct, run_starts, spread, united
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Column,
    Compute,
    ComputeKind,
    Constraint,
    Dated,
    Edge,
    Either,
    GroupedBy,
    Member,
    Plan,
    ReadFromPage,
    Related,
    StatedIn,
    Texted,
    Valued,
    Way,
    check_size,
)
from crmrag_query.plans.world import (
    YEAR,
    LiteralValue,
    Mask,
    Pairs,
    Routes,
    Walk,
    World,
    classes_named,
    how_many,
    leading_to,
    leading_to_literals,
    led_on,
    link_pairs,
    links_of,
    literal,
    nodes_leading_to,
    numbers,
    of_types,
    once,
    pairs,
    representatives,
    same_cells,
    subjects_in,
    targeted,
    way_literals,
    way_shown,
    ways_over,
    weights,
)
from crmrag_query.relationships.engine import Hop
from crmrag_query.text import fold
from crmrag_query.timing import check, working

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
_AREAS: Final = {
    1e-4: "cm2 cm²",
    1.0: "m2 m² sqm qm",
    1e4: "hectare hektar ettaro ettari hectárea hectareas εκτάριο εκτάρια",
    4046.8564224: "acre",
    1e6: "km2 km²",
}
_VOLUMES: Final = {
    1e-6: "ml millilitre milliliter millilitro millilitri mililitro",
    1e-5: "cl centilitre centiliter zentiliter centilitro centilitri",
    0.001: "litre liter litro litri λίτρο λίτρα",
    0.1: "hl hectolitre hectoliter hektoliter ettolitro ettolitri hectolitro",
    1.0: "m3 m³",
}


FACTORS: Final[Mapping[str, tuple[str, float]]] = {
    fold(name): (quantity, factor)
    for quantity, units in (
        ("length", _LENGTHS),
        ("weight", _WEIGHTS),
        ("area", _AREAS),
        ("volume", _VOLUMES),
    )
    for factor, names in units.items()
    for name in names.split()
}


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


def in_one_unit(
    world: World, nodes: Ints, values: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], int]:
    """The values of dimensions in the unit that most of them have, and this unit; as they are, and -1, where they have none
    or cannot be compared."""
    own, units = units_of(world, nodes)
    if len(units) < 2 or not comparable(world, units):
        return values, int(units[0]) if len(units) == 1 and (own >= 0).all() else -1
    factors = {int(unit): found[1] for unit in units if (found := factor_of(world, int(unit)))}
    stated = own[own >= 0]
    kinds, counts = np.unique(stated, return_counts=True)
    unit = int(kinds[np.argmax(counts)])
    most = factors[unit]
    by = np.array([factors.get(int(one), most) for one in own])
    return np.asarray(values * (by / most)), unit if (own >= 0).all() else -1


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
    return float(value) if by == 1 else shortest(value * by)


def shortest(value: float) -> float:
    """A number without what adding and multiplying floats leaves behind the twelfth figure."""
    return float(f"{value:.12g}")


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
    overlap so that others may, and where one of what is summed has several numbers; ``summed``: the total or mean of the
    values; ``unit``: the node of the unit of the values of a ranking by a number, -1 for none.

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
    summed: float | None = None
    unit: int = -1

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


MOST_ROWS = 5_000_000
"""Of a table: a few hundred megabytes at work."""
MOST_CELLS = 20_000_000
"""Of a table: 160 megabytes, and twice that while a column is added."""
BLOCK_ROWS = 65_536
"""Rows in a block of those that stream."""


def table(world: World, columns: Sequence[Column], members: Ints) -> Longs:
    """Rows int64 [r, 1 + columns], distinct, in the order of members, then of the columns' cells from left to right.

    Raises QuestionError for more rows than `MOST_ROWS`, and for more cells than `MOST_CELLS`.
    """
    rows = members.astype(np.int64)[:, None]
    for column in columns:
        check()
        source = rows[:, 0 if column.of is None else column.of + 1]
        asked, place = np.unique(source, return_inverse=True)
        asked = asked[asked < world.size]
        found = pairs(world, way_shown(column.way, column.to), asked.astype(np.int32))
        found = found.within(world, anchored(world, column.to))
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
    rows = table(world, [Column(way=way) for way in how.ways], members)
    if how.identity == "same_as":
        rows = same_rows(world, rows, members)
    cells = rows[:, 1:]
    order = np.lexsort((rows[:, 0], *cells.T[::-1]))
    rows = rows[order]
    first = np.flatnonzero(run_starts(*rows[:, 1:].T))
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
    return merged[run_starts(*merged.T)]


Values = Longs | npt.NDArray[np.float64]


def _computed(world: World, how: Compute, held: Mask) -> Outcome:
    """The outcome of the members that are ``held``. Raises QuestionError for a table that is too large."""
    members = _nodes(held)
    same_as, kept = how.identity == "same_as", _counted(world, how, members)[0]
    match how.kind:
        case "count" if how.distinct or how.way is None:
            return Outcome(kept, "count", value=len(kept))
        case "count":
            assert how.way is not None
            rows = weights(world, way_shown(how.way, how.to), members, anchored(world, how.to))[1]
            return Outcome(kept, "count", value=int(rows.sum()))
        case "ask":
            return Outcome(kept, "ask", value=len(members) > 0)
        case "rank":
            return _ranked(world, how, members)
        case "group":
            return (_by_entity if how.by == "entity" else _by_date)(
                world, how, members, anchored(world, how.to)
            )
        case "table":
            rows = table(world, how.columns, members)
            left = _all_but(members, distinct(rows[:, 0]), INCOMPLETE)
            return Outcome(
                kept, "table", rows=same_rows(world, rows, members) if same_as else rows, excluded=left
            )
        case "pairs":
            pairs_, having = pairing(world, how, members)
            return Outcome(kept, "pairs", pairing=pairs_, excluded=_all_but(kept, having, INCOMPLETE))
        case "compare":
            sets = [members, *(members_of(world, other) for other in how.others)]
            alike = world.kept(representatives)
            shared = [distinct(alike[one]) for one in sets] if same_as else sets
            common = reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), shared)
            if same_as:
                common = once(world, members[np.isin(alike[members], common)])[0]
            sizes = tuple(len(_counted(world, how, one)[0]) for one in sets)
            return Outcome(kept, "compare", sizes=sizes, common=common.astype(np.int32))
        case _:
            return Outcome(kept)


# Rankings
NO_UNITS = np.empty(0, np.int32)
NAMED_UNITS = 3  # of those that cannot be added up


def _measured(
    world: World, how: Compute, members: Ints, found: Pairs | None, place: Longs
) -> tuple[Longs, Values, int]:
    """(index of what counts, value) of each number or day that members lead to, or how many cells all do; and the unit of the
    values, -1 for none; see `records.Measure`. ``found``: what they lead to, where no literal is measured; ``place``: see
    `_counted`."""
    measure = how.measure
    assert measure is not None
    if found is None:
        index, row = way_literals(world, measure.way.stated(), members)
        stated, number = numbers(world, row)
        subject = np.searchsorted(world.graph.literal_ptr, row[stated], side="right") - 1
        units = units_of(world, distinct(subject).astype(np.int32))[1] if how.summed else NO_UNITS
        if not comparable(world, units):
            names = ", ".join(world.graph.label(int(one)) for one in units[:NAMED_UNITS])
            raise QuestionError(
                f"These numbers are in several units, which cannot be added up: {names}.",
                remedy="Ask for those in one unit, or for a list of them.",
            )
        number, unit = in_one_unit(world, subject.astype(np.int32), number)
        return place[index[stated]], number, unit
    if measure.kind == "count":
        index, value = np.unique(_merged(world, how, found, place).index, return_counts=True)
        return index.astype(np.int64), value.astype(np.int64), -1
    earliest = measure.kind == "earliest"
    day = world.extents[0 if earliest else 1][found.cell].astype(np.int64)
    known = day != (OPEN_BEGIN if earliest else OPEN_END)
    return place[found.index[known]], day[known], -1


def _best(index: Longs, value: Values, lowest: bool) -> tuple[Longs, Values]:
    """Of each index the lowest or highest value."""
    order = np.lexsort((value if lowest else -value, index))
    found, first = np.unique(index[order], return_index=True)
    return found, value[order][first]


def _counted(world: World, how: Compute, members: Ints) -> tuple[Ints, Longs]:
    """What counts as one: all members, or of those that are the same the lowest; and of each member its place among these."""
    return once(world, members) if how.identity == "same_as" else (members, np.arange(len(members)))


def _merged(world: World, how: Compute, found: Pairs, place: Longs) -> Pairs:
    """The pairs of what counts as one; ``place``: see `_counted`."""
    if how.identity == "iri":
        return found
    return Pairs.of([Pairs(place[found.index], same_cells(world, found.cell)).keys])


def _ranked(world: World, how: Compute, members: Ints) -> Outcome:
    measure = how.measure
    assert measure is not None
    found, dates = None, measure.kind in ("earliest", "latest")
    if measure.kind != "value":
        way = way_shown(measure.way, measure.to)
        found = pairs(world, way, members, literals=not dates).within(world, anchored(world, measure.to))
    kept, place = _counted(world, how, members)
    index, value, unit = _measured(world, how, members, found, place)
    every = len(np.unique(np.column_stack([index, value]), axis=0)) if how.summed else 0
    if measure.kind != "count":
        lowest = measure.kind == "earliest" or (measure.kind == "value" and how.ascending)
        index, value = _best(index, value, lowest)
    single, measured = every <= len(index), index
    if how.at_least is not None:
        enough = value >= how.at_least
        index, value = index[enough], value[enough]
    order = ranking(value, index, how.ascending)[: with_ties(value, how)]
    first, values = index[order], value[order]
    may, settled = np.empty(0, np.int64), single
    if how.first is not None and dates and found is not None:
        may, settled = _undecided(world, how, found, place, first, values)
    left = _without(kept, united(measured, may), UNMEASURED) | _picked(kept, may, UNCERTAIN)
    summed = None
    if how.summed and len(values):
        total = float(values.sum())
        summed = shortest(total if how.summed == "total" else total / len(values))
    return Outcome(
        kept[first], "rank", values=values, excluded=left, settled=settled, summed=summed, unit=unit
    )


def _undecided(
    world: World, how: Compute, found: Pairs, place: Longs, shown: Longs, values: Values
) -> tuple[Longs, bool]:
    """Who of those not ``shown`` may belong to the first too, as fewer certainly come before; and whether the dates decide:
    no such one, and those that tie at the cut have one span.

    A value is the earliest (latest) of an entity's dates, each of which lies anywhere in its span, open where unknown.
    """
    assert how.measure is not None and how.first is not None
    begin, end = (side[found.cell].astype(np.int64) for side in world.extents)
    dated = (begin != OPEN_BEGIN) | (end != OPEN_END)
    index = place[found.index[dated]]
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
    way = way_shown(how.way, how.to)
    kept, place = _counted(world, how, members)
    found = _merged(world, how, pairs(world, way, members).within(world, ends), place)
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
    kept, place = _counted(world, how, members)
    index = place[found.index]
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


_SHARE = 100  # all texts are looked through where those of more than one node in so many are asked for
_HITS = 200_000  # found one by one; what is more frequent is left to Arrow
_TOGETHER = 100  # needles in one regular expression, of which RE2 takes so many
_KEPT = 64  # needles of which is kept which texts hold them: a question asks for the same again and again


def holding(world: World, constraint: Texted, among: Mask) -> Mask:
    """Nodes of ``among`` for which a text is held, negated or not. Raises QuestionError for a text without letters."""
    needles, whole = tuple(dict.fromkeys(fold(text) for text in constraint.texts)), constraint.whole
    if not all(any(map(str.isalnum, needle)) for needle in needles):
        raise QuestionError("The text to look for holds no letter or digit.", "Give a word.")
    if np.count_nonzero(among) * _SHARE > world.size:  # from the texts that hold it back to who has them
        if constraint.way is None:
            rows = np.flatnonzero(world.kept(searched_names).holding(needles, whole))
            return among & world.mask(np.searchsorted(world.names[0], rows, side="right") - 1)
        rows = np.flatnonzero(world.kept(searched_literals).holding(needles, whole))
        return among & leading_to_literals(world, constraint.way, rows)
    nodes = np.flatnonzero(among).astype(np.int32)
    if constraint.way is None:
        index, row = spread(world.names[0], nodes)
        texts = Folded.of(world.kept(searched_names).column.take(pa.array(row)))
        return world.mask(nodes[index[texts.matching(needles, whole)]])
    index, row = way_literals(world, constraint.way, nodes)
    several, back = np.unique(row, return_inverse=True)
    texts = Folded.of(folded(world.graph.literal_table.column("value").take(pa.array(several))))
    return world.mask(nodes[index[texts.matching(needles, whole)[back]]])


def searched_names(world: World) -> Folded:
    """The names, folded in memory: two seconds for two million of them."""
    return Folded.of(folded(world.names[1]))


def searched_literals(world: World) -> Folded:
    """The texts of all literals, folded in memory."""
    return Folded.of(folded(world.graph.literal_table.column("value")))


def folded(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts as `fold` folds each; ASCII ones all at once."""
    import pyarrow.compute as pc

    odd = pc.or_(pc.invert(pc.string_is_ascii(texts)), pc.match_substring(texts, "_"))
    by_hand = pa.array([fold(text) for text in texts.filter(odd).to_pylist()], pa.large_utf8())
    plain = pc.ascii_lower(texts)
    return pc.replace_with_mask(plain, odd, by_hand) if len(by_hand) else plain


@dataclass(frozen=True)
class Folded:
    """Folded texts as one piece of UTF-8, in which `bytes.find` is several times faster than Arrow's kernels.

    ``ends`` int64 [texts + 1]: where each begins and the one before ends; ``column``: the same texts, not copied.
    """

    utf8: bytes
    ends: Longs
    column: pa.LargeStringArray

    @classmethod
    def of(cls, texts: pa.LargeStringArray) -> Folded:
        _, offsets, data = texts.buffers()
        if data is None or not len(texts):
            return cls(b"", np.zeros(len(texts) + 1, np.int64), pa.array([""] * len(texts), pa.large_utf8()))
        ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        utf8 = data.slice(int(ends[0]), int(ends[-1] - ends[0])).to_pybytes()
        ends = ends - ends[0]
        column = pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(utf8))
        return cls(utf8, ends, column)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def holding(self, needles: tuple[str, ...], whole: bool) -> Mask:
        """As `matching`; what was looked for last is kept."""
        return np.unpackbits(self._found(needles, whole), count=len(self)).view(bool)

    @cached_property
    def _found(self) -> Callable[[tuple[str, ...], bool], Bytes]:
        def found(needles: tuple[str, ...], whole: bool) -> Bytes:
            return np.packbits(self.matching(needles, whole))

        return lru_cache(_KEPT)(found)

    def matching(self, needles: tuple[str, ...], whole: bool) -> Mask:
        """Which texts hold a folded needle."""
        found = np.zeros(len(self), bool)
        for first in range(0, len(needles), _TOGETHER):
            check()
            some = needles[first : first + _TOGETHER]
            any_of = "|".join(map(_escaped, some))  # RE2 looks for all of them in one pass
            if len(some) == 1:
                held, unsure = self._having(some[0], whole)
            else:
                held = _matching(self.column, any_of)
                unsure = held.copy()
            if whole and unsure.any():
                pattern = rf"(^|[^\pL\pN])(?:{any_of})([^\pL\pN]|$)"
                held[unsure] = _matching(self.column.filter(pa.array(unsure)), pattern)
            found |= held
        return found

    def _having(self, needle: str, whole: bool) -> tuple[Mask, Mask]:
        """Which texts hold a folded needle, and of which a look at bytes does not tell whether they do so ``whole``."""
        import pyarrow.compute as pc

        sought = needle.encode()
        hits: list[int] = []
        at = self.utf8.find(sought)
        while at >= 0 and len(hits) < _HITS:
            hits.append(at)
            at = self.utf8.find(sought, at + 1)
        if at >= 0:
            held = np.array(pc.match_substring(self.column, needle).to_numpy(zero_copy_only=False), bool)
            return held, held.copy()
        held, unsure = np.zeros(len(self), bool), np.zeros(len(self), bool)
        hit = np.array(hits, np.int64)
        row = np.searchsorted(self.ends, hit, side="right") - 1
        within = hit + len(sought) <= self.ends[row + 1]
        hit, row = hit[within], row[within]
        if not whole or not len(hit):
            held[row] = True
            return held, unsure
        texts, behind = np.frombuffer(self.utf8, np.uint8), hit + len(sought)
        before = np.where(hit > self.ends[row], _IN_WORDS[texts[hit - 1]], 0)
        after = np.where(behind < self.ends[row + 1], _IN_WORDS[texts[behind % len(texts)]], 0)
        around = np.maximum(before, after)
        unsure[row[around == 1]] = True
        unsure[row[around == 0]] = False  # it stands there as a word, wherever else it stands
        held[row[around < 2]] = True
        return held, unsure


_IN_WORDS = np.array([2 if chr(byte).isalnum() else 0 for byte in range(128)] + [1] * 128, np.uint8)
"""By a byte of UTF-8 beside a word: 0 where it is no part of it, 2 where it is, 1 where the letter has several bytes."""


def _matching(texts: pa.LargeStringArray, pattern: str) -> Mask:
    import pyarrow.compute as pc

    return np.array(pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False), bool)


def _escaped(needle: str) -> str:
    """The needle as a regular expression of RE2."""
    return "".join(char if char.isalnum() or not char.isascii() else re.escape(char) for char in needle)


ALL = slice(None)


def find_members(world: World, plan: Plan) -> Mask:
    """The members: entities of the target for which every constraint holds. Raises QuestionError."""
    return _narrowed(world, plan)[1]


def _narrowed(world: World, plan: Plan, asked: Mask | None = None) -> tuple[Mask, Mask]:
    """Of the target, and of those ``asked``, whom all but dates, texts and choices keep, and whom these keep too."""
    among = world.recalled(plan.target, lambda: _nodes(targeted(world, plan.target))).mask
    among = among if asked is None else among & asked
    last = [one for one in plan.where if isinstance(one, Dated | Texted | Either)]
    for one in plan.where:
        if not isinstance(one, Dated | Texted | Either):
            among = satisfying(world, one, among)
    within = among
    for one in sorted(last, key=lambda one: not isinstance(one, Dated)):
        within = satisfying(world, one, within)
    return among, within


def _left_out(world: World, plan: Plan, among: Mask, within: Mask) -> dict[str, Ints]:
    """Why those that all but the dates keep are not members: no date at all, or one that only may lie in the period."""
    dates = [one for one in plan.where if isinstance(one, Dated) and not one.negated]
    left = among & ~within
    if not dates or not left.any():
        return {}
    for one in plan.where:
        if isinstance(one, Texted | Either) or (isinstance(one, Dated) and one.negated):
            left = satisfying(world, one, left)
    undated, possible = np.zeros(world.size, bool), left.copy()
    for one in dates:
        known = _span(world, one)[2]
        undated |= left & ~(known if one.way is None else leading_to(world, one.way, _nodes(known), left))
        possible = satisfying(world, one.model_copy(update={"certain": False}), possible)
    reasons = {UNDATED: undated, UNCERTAIN: possible & ~undated}
    return {reason: _nodes(mask) for reason, mask in reasons.items() if mask.any()}


def satisfying(world: World, constraint: Constraint, among: Mask) -> Mask:
    """Those of ``among`` for which the constraint holds."""
    found = _stated(world, constraint, among)
    return among & (~found if constraint.negated else found)


def _stated(world: World, constraint: Constraint, among: Mask) -> Mask:
    """Nodes for which what the constraint says holds, negated or not; only those of ``among`` are looked at."""
    check()
    match constraint:
        case Related():
            return related(world, constraint, among)
        case Dated():
            return dated(world, constraint, among)
        case Texted():
            return holding(world, constraint, among)
        case Valued():
            return valued(world, constraint)
        case Among():
            return world.mask(world.nodes_of(constraint.iris))
        case Member():
            return world.mask(members_of(world, constraint.plan))
        case StatedIn():
            return subjects_in(world, constraint.graphs)
        case ReadFromPage():
            return world.mask(np.arange(*world.graph.beginning(READ)))  # IRIs are numbered in their order
        case Either():
            found = np.zeros(world.size, bool)
            for one in constraint.of:
                found |= satisfying(world, one, among & ~found)
            return found


def related(world: World, constraint: Related, among: Mask | None = None) -> Mask:
    """Nodes, perhaps of ``among`` alone, that lead by the way to the anchor, negated or not."""
    way, anchor = constraint.way, constraint.to

    def ends() -> Ints | None:  # readings lead by several ways to the same
        if anchor == Anchor():
            return None
        return world.recalled(anchor, lambda: _nodes_of(world, anchor)).ascending

    return _recalled(world, way, anchor, ends, among)


def dated(world: World, constraint: Dated, among: Mask | None = None) -> Mask:
    """Nodes, perhaps of ``among`` alone, with a date in the period, or that lead by the way to one, negated or not."""
    if constraint.way is None:
        return within_period(world, constraint)
    period = constraint.model_copy(update={"negated": False, "way": None})
    return _recalled(world, constraint.way, period, lambda: _nodes(within_period(world, period)), among)


def valued(world: World, constraint: Valued) -> Mask:
    """Nodes that lead by the way to a number within the bounds, negated or not."""
    stated = constraint.model_copy(update={"negated": False})
    return world.recalled(
        stated, lambda: _nodes(leading_to_literals(world, stated.way, _rows_within(world, stated)))
    ).mask


def _rows_within(world: World, constraint: Valued) -> Longs:
    """The rows of the literals, of properties that the way may end in, that state a number within the bounds."""
    last = links_of(world, constraint.way)[-1]
    ends = {number for route in last for _, properties in route.literals for number in properties}
    rows = np.flatnonzero(np.isin(world.literal_property, [*ends]))
    states, value = numbers(world, rows, years=constraint.unit == YEAR)
    rows = rows[states]
    if constraint.unit and constraint.unit != YEAR:
        owners = np.asarray(world.graph.literal_table.column("subject").to_numpy())[rows]
        known, value = in_unit(world, owners.astype(np.int32), value, constraint.unit)
        rows, value = rows[known], value[known]
    within = np.ones(len(rows), bool)
    if (least := constraint.least) is not None:
        within &= (value >= least) if constraint.least_counts else (value > least)
    if (most := constraint.most) is not None:
        within &= (value <= most) if constraint.most_counts else (value < most)
    return rows[within]


def _recalled(
    world: World, way: Way, to: Hashable, ends: Callable[[], Ints | None], among: Mask | None
) -> Mask:
    """Nodes that lead by the way to the ends, kept for other plans; not by relationships, which look at ``among`` alone."""
    if any(route.relationship for routes in links_of(world, way) for route in routes):
        return leading_to(world, way, ends(), among)
    return world.recalled((way, to), lambda: nodes_leading_to(world, way, ends())).mask


def within_period(world: World, constraint: Dated, nodes: Ints | slice = ALL) -> Mask:
    """Which of the nodes have a date of their own that lies in the period, or (not ``certain``) overlaps it."""
    begin, end, known = _span(world, constraint, nodes)
    first = OPEN_BEGIN if constraint.begin is None else constraint.begin
    last = OPEN_END if constraint.end is None else constraint.end
    if constraint.certain:
        return known & (begin >= first) & (end <= last)
    return known & (begin <= last) & (end >= first)


def _span(world: World, constraint: Dated, nodes: Ints | slice = ALL) -> tuple[Ints, Ints, Mask]:
    """First and last day of what counts of the nodes' own dates, and which of them have that."""
    begin, end = (side[nodes] for side in world.extents)
    if constraint.edge == "begin":
        return begin, begin, np.asarray(begin != OPEN_BEGIN)
    if constraint.edge == "end":
        return end, end, np.asarray(end != OPEN_END)
    return begin, end, world.dated[nodes]


def anchored(world: World, anchor: Anchor, asked: Mask | None = None) -> Ints | None:
    """The nodes of an anchor, ascending; None for anything at all. ``asked``: a plan's members are told of these alone."""
    return _nodes_of(world, anchor, asked) if anchor.iris or anchor.types or anchor.plan else None


def _nodes_of(world: World, anchor: Anchor, asked: Mask | None = None) -> Ints:
    found = world.mask(world.nodes_of(anchor.iris))
    if anchor.types:
        found |= world.of_classes(classes_named(world, anchor.types))
        found |= of_types(world, anchor.types)
    if anchor.plan is not None:
        found[members_of(world, anchor.plan, asked)] = True
    return _nodes(found)


def _nodes(mask: Mask) -> Ints:
    return np.flatnonzero(mask).astype(np.int32)


SECONDS = 20.0
"""That a plan may take: the slowest of a question takes one or two on the largest data sets, a reader waits no longer."""


def execute(plan: Plan, world: World) -> Outcome:
    """What the plan asks for, the same at each call.

    IRIs that the data does not have match nothing. Raises QuestionError for relations, relationships and codes that nothing
    knows, for plans and tables too large, and for what takes longer than `SECONDS`.
    """
    check_size(plan)
    with working(SECONDS, "The plan", _LESS):
        among, held = _narrowed(world, plan)
        outcome, left = _computed(world, plan.compute, held), _left_out(world, plan, among, held)
        excluded = {**left, **outcome.excluded}
        for reason in left.keys() & outcome.excluded.keys():
            excluded[reason] = united(left[reason], outcome.excluded[reason])
        members = _nodes(held)
        return replace(outcome, iris=len(members), identities=how_many(world, members), excluded=excluded)


def results(plan: Plan, world: World) -> Outcome:
    """`execute` without whom the plan's dates leave out, and without how many members there are by IRI and by identity: all
    by which plans are compared."""
    check_size(plan)
    with working(SECONDS, "The plan", _LESS):
        return _computed(world, plan.compute, find_members(world, plan))


_LESS = "Ask for less: fewer conditions, shorter ways, fewer columns."


def members_of(world: World, plan: Plan, asked: Mask | None = None) -> Ints:
    """The members of a plan within another, ascending: of a ranking those that come first, of pairs those that have one.

    ``asked``: of these nodes alone it is told which are members.
    """
    if plan.compute.kind == "rank":
        found = np.sort(_computed(world, plan.compute, find_members(world, plan)).members)
    elif plan.compute.kind == "pairs":
        paired = _computed(world, plan.compute, find_members(world, plan)).pairing
        assert paired is not None
        found = distinct(paired.member)
    else:
        return _nodes(_narrowed(world, plan, asked)[1])
    return found if asked is None else found[asked[found]]


_BLOCK = 32  # members that are walked from at once
Proofs = list["Proof"]


@dataclass(frozen=True, slots=True)
class Proof:
    """How a member meets a constraint of the plan: by ``hops`` it leads to ``target``.

    ``hops`` are empty where the way takes none: the member is its own target. ``literal``: what a way ends in from the target
    on, where it ends in no node. ``path``: where the constraint stands in the plan, such as ``where.0.of.1``.
    """

    target: int
    hops: tuple[Hop, ...]
    literal: LiteralValue | None = None
    path: str = ""


def explain(world: World, plan: Plan, members: Sequence[int]) -> list[tuple[Proof, ...]]:
    """For each member one shortest way for each relation, relationship, path or date that the plan demands, link by link.

    Of an `Either` the first that holds; of a `Member` what the other plan demands. Of several targets the one with the lowest
    number counts; negated constraints have no way.
    """
    found: list[tuple[Proof, ...]] = []
    for first in range(0, len(members), _BLOCK):
        nodes = np.array(members[first : first + _BLOCK], np.int32)
        found += map(tuple, _explained(world, plan.where, nodes))
    return found


def _explained(world: World, where: Sequence[Constraint], nodes: Ints) -> list[Proofs]:
    """For each of the nodes the proofs of all constraints."""
    found: list[Proofs] = [[] for _ in nodes]
    for place, one in enumerate(where):
        for known, proofs in zip(found, _proofs(world, one, nodes), strict=True):
            known += _inwards(proofs, f"where.{place}")
    return found


def _proofs(world: World, one: Constraint, nodes: Ints) -> list[Proofs]:
    """For each of the nodes the proofs of one constraint, their paths from it on."""
    check()
    if one.negated:
        return [[] for _ in nodes]
    match one:
        case Related():
            anything = one.to == Anchor()

            def meets(cells: Longs) -> Mask:  # of a plan these alone are asked
                ends = anchored(world, one.to, asked=world.mask(cells))
                return np.ones(len(cells), bool) if ends is None else world.mask(ends)[cells]

            return _proofs_by_way(world, one.way, nodes, meets, anything)
        case Dated(way=Way() as way):
            return _proofs_by_way(
                world, way, nodes, lambda cells: within_period(world, one, cells.astype(np.int32))
            )
        case Valued():
            links, rows = links_of(world, one.way), _rows_within(world, one)
            literals = (_to_literal(world, links, node, rows) for node in nodes.tolist())
            return [[] if proof is None else [proof] for proof in literals]
        case Member():
            return [_inwards(proofs, ".plan.") for proofs in _explained(world, one.plan.where, nodes)]
        case Either():
            return _by_first(world, one, nodes)
    return [[] for _ in nodes]


def _inwards(proofs: Proofs, path: str) -> Proofs:
    """The proofs, their paths from this one on."""
    return [replace(proof, path=path + proof.path) for proof in proofs]


def _by_first(world: World, either: Either, nodes: Ints) -> list[Proofs]:
    """The proofs of the first constraint that holds."""
    found: list[Proofs] = [[] for _ in nodes]
    left = np.arange(len(nodes))
    for place, one in enumerate(either.of):
        if not len(left):
            break
        proofs = _proofs(world, one, nodes[left])
        if isinstance(one, Related) and not one.negated:
            holds = np.array([bool(proof) for proof in proofs], bool)
        else:
            holds = satisfying(world, one, world.mask(nodes[left]))[nodes[left]]
        for at in np.flatnonzero(holds).tolist():
            found[int(left[at])] = _inwards(proofs[at], f".of.{place}")
        left = left[~holds]
    return found


def _proofs_by_way(
    world: World, way: Way, nodes: Ints, meets: Callable[[Longs], Mask], anything: bool = False
) -> list[Proofs]:
    """The way to the lowest target that ``meets`` what is asked; where it leads to none and may lead to ``anything``, to the
    first literal."""
    links = links_of(world, way)
    walk = Walk(world, links[0], nodes)
    reached = led_on(world, walk.pairs, links[1:])
    reached = reached.part(meets(reached.cell))
    places, first = np.unique(reached.index, return_index=True)
    asks = list(zip(places.tolist(), reached.cell[first].tolist(), strict=True))
    found: list[Proofs] = [[] for _ in nodes]
    for (place, target), hops in zip(asks, ways_over(walk, links, asks), strict=True):
        found[place] = [Proof(target, hops)]
    if anything and any(route.literals for route in links[-1]):
        for place in np.setdiff1d(np.arange(len(nodes)), places).tolist():
            proof = _to_literal(world, links, int(nodes[place]))
            found[place] = [] if proof is None else [proof]
    return found


def _to_literal(
    world: World, links: Sequence[Routes], member: int, among: Longs | None = None
) -> Proof | None:
    """The way to the first literal, perhaps of those in some rows: over nodes to the one that has it."""
    *before, last = links
    at = np.array([member], np.int64)
    for routes in before:
        at = distinct(link_pairs(world, routes, at.astype(np.int32)).cell)
    ptr = world.graph.literal_ptr
    ends = [(route, walked, properties) for route in last for walked, properties in route.literals]
    for node, (route, walked, properties) in product(at.tolist(), ends):
        check()
        start = replace(route, legs=route.legs[:walked], literals=(), far=None)
        for owner in link_pairs(world, [start], np.array([node], np.int32)).cell.tolist():
            rows = np.arange(int(ptr[owner]), int(ptr[owner + 1]))
            rows = rows[np.isin(world.literal_property[rows], properties)]
            rows = rows if among is None else rows[np.isin(rows, among)]
            if len(rows):
                links = (*before, (start,))
                walk = Walk(world, links[0], np.array([member], np.int32))
                (hops,) = ways_over(walk, links, [(0, owner)])
                return Proof(owner, hops, literal(world, int(rows[0])))
    return None
