"""What a whole set is like: its facets, what a part of its plan may be set to so that something is left, and where and when
its members were.

Counts are exact: each value's plan gives just as many members.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from crmrag_query.artifacts.release import Release
from crmrag_query.dates import year_interval
from crmrag_query.entities.details import NOWHERE, Whereabouts, category_name
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints, Longs, distinct, run_starts, spread
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph
from crmrag_query.ontology.load import Category
from crmrag_query.plans.execute import anchored, bucket_of, members_of
from crmrag_query.plans.records import Anchor, Compute, Constraint, Dated, Member, Plan, Related, Target, Way
from crmrag_query.plans.world import OF_TYPE, Known, Pairs, Walk, World, class_numbers, pairs, routes_of
from crmrag_query.relationships.engine import BLOCK, Catalogue
from crmrag_query.sets.build import Reader, century_label, labels_of
from crmrag_query.sets.describe import Wording, plan_json
from crmrag_query.sets.records import Choices, Facet, Facets, FacetValue, Marks, PossibleValue, Spot, What
from crmrag_query.text import fold, plain
from crmrag_query.timing import check

MOST = 200  # choices given at once
_SORTS = ("category", "class", "type")  # the order of kinds that are equally frequent


@dataclass(frozen=True)
class _Part:
    """A part of a plan that is to be set: the plan without it, and the condition that it is, if any."""

    release: Release
    rest: Plan
    condition: Constraint | None
    language: str

    @property
    def world(self) -> World:
        return self.release[World]

    @cached_property
    def wording(self) -> Wording:
        return Wording(self.release, self.language)

    @cached_property
    def members(self) -> Ints:
        """Members of the plan without the part."""
        return members_of(self.world, self.rest)

    @property
    def counted(self) -> bool:
        """Whether they are few enough to see what each relation leads to."""
        return len(self.members) <= self.release.method.sets.facets.members

    def reached(self) -> Pairs:
        """What the members lead to by the part's way, as (place of the member, node)."""
        if not isinstance(self.condition, Related):
            raise QuestionError(
                "This part leads to no entities.", "Ask for those of a part that has a relation."
            )
        members = self.members if self.counted else self.members[:0]
        return pairs(self.world, self.condition.way, members, literals=False)


def choices(
    release: Release, plan: Plan, path: str, what: What, text: str = "", limit: int = 20, language: str = "en"
) -> Choices:
    """What the part of a chip's ``path`` may be set to (``where``: a condition that is added), most members first.

    ``what``: ``entities`` that its way leads to, ``kinds`` of what is asked for or led to, the ``relation`` (Fundamental
    Relationships that lead to what the part names). ``text``: only those whose name holds it. Raises QuestionError for a part
    that has none of these.
    """
    if not 1 <= limit <= MOST:
        raise QuestionError(f"There cannot be {limit} choices.", f"Ask for 1 to {MOST}.")
    part = _part(release, plan, path, language)
    text = fold(text)
    if what == "entities":
        found = list(_entities(part, text))
    else:
        every = _kinds(part) if what == "kinds" else _relations(part)
        found = [choice for choice in every if text in fold(choice.label)]
    return Choices(tuple(found[:limit]), len(found), len(part.members))


def _part(release: Release, plan: Plan, path: str, language: str) -> _Part:
    listed = plan.model_copy(update={"compute": Compute()})
    match path.split("."):
        case ["where"]:
            return _Part(release, listed, None, language)
        case ["target"] | ["target", "types" | "classes" | "categories"]:
            return _Part(release, listed.model_copy(update={"target": Target()}), None, language)
        case ["where", number] if number.isdecimal() and int(number) < len(plan.where):
            at = int(number)
            rest = listed.model_copy(update={"where": plan.where[:at] + plan.where[at + 1 :]})
            return _Part(release, rest, plan.where[at], language)
    raise QuestionError(f"The plan has no part {path[:100]!r}.", "Give the path of one of its chips.")


def _most_first(keys: Longs) -> tuple[Longs, Longs]:
    """Distinct values and how often each occurs, the most frequent first."""
    ordered = np.sort(keys)  # ``np.unique`` hashes, which is slower
    first = np.flatnonzero(run_starts(ordered))
    values, count = ordered[first], np.diff(first, append=len(ordered))
    order = np.lexsort((values, -count))
    return values[order], count[order]


def _distinct(ordered: Longs) -> int:
    """How many different values there are among ascending ones."""
    return int(np.count_nonzero(run_starts(ordered)))


def _entities(part: _Part, text: str) -> Iterator[PossibleValue]:
    graph = part.release[Graph]
    for node, label, number in _labelled(part, part.reached().cell):
        if not text or text in fold(label):
            yield PossibleValue(graph.iri(node), part.wording.name(label), category_name(graph, node), number)


def _labelled(part: _Part, cells: Longs) -> Iterator[tuple[int, str, int]]:
    """Each of the nodes, its label, and how often it occurs, the most frequent first."""
    nodes, count = _most_first(cells)
    labels = labels_of(part.release, nodes.astype(np.int32), part.language)
    yield from zip(nodes.tolist(), labels, count.tolist(), strict=True)


def _kinds(part: _Part) -> Iterator[PossibleValue]:
    """Types and classes, and of what is asked for categories too."""
    target, graph, wording = part.condition is None, part.release[Graph], part.wording
    nodes = part.members if target else distinct(part.reached().cell).astype(np.int32)
    found = [
        PossibleValue(graph.iri(node), wording.name(label), "type", number)
        for node, label, number in _labelled(part, pairs(part.world, OF_TYPE, nodes, literals=False).cell)
    ]
    for number, iri, count in _stated_classes(part.release, nodes):
        found.append(PossibleValue(graph.class_name(number), wording.class_(iri), "class", count))
    if target:
        has = part.world.adjacency.categories[nodes]
        for name, bit in Category.__members__.items():
            label = wording.words.categories.get(name, name)
            found.append(PossibleValue(name, label, "category", int(((has & int(bit)) != 0).sum())))
    counted = [choice for choice in found if choice.count]
    yield from sorted(
        counted, key=lambda choice: (-(choice.count or 0), _SORTS.index(choice.kind), choice.label)
    )


def _stated_classes(release: Release, nodes: Ints) -> Iterator[tuple[int, str, int]]:
    """Classes that nodes state: number, IRI, and how many of the nodes have it or a class below it."""
    world, graph = release[World], release[Graph]
    ptr, value = graph.type_rows
    for number in np.unique(value[spread(ptr, nodes)[1]]).tolist():
        iri = graph.class_iri(number)
        has = world.of_classes(class_numbers(world, iri) or {number})
        yield number, iri, int(has[nodes].sum())


def _relations(part: _Part) -> Iterator[PossibleValue]:
    """Fundamental Relationships of the members' categories that lead to what the part names, or to dates where it dates; not
    those that say so little that no facet shows them."""
    hidden, condition = part.release.method.sets.facets.hidden, part.condition
    anchor = condition.to if isinstance(condition, Related) else Anchor()
    ends = anchored(part.world, anchor)
    present = set(np.unique(part.world.adjacency.category[part.members]).tolist())
    found = []
    for relationship in part.release[World].catalogue:
        check()
        dates = relationship.range == Category.Time
        if isinstance(condition, Related | Dated) and dates != isinstance(condition, Dated):
            continue
        if relationship.label in hidden or int(relationship.domain) not in present:
            continue
        way = Way(relationships=(relationship.id,))
        count = None
        if part.counted:
            reached = pairs(part.world, way, part.members, literals=False).within(part.world, ends)
            count = len(distinct(reached.index))
        if count != 0:
            label = part.wording.way(way)
            found.append(PossibleValue(relationship.id, label, str(relationship.range.name), count))
    yield from sorted(found, key=lambda choice: -(choice.count or 0))


def marks(release: Release, plan: Plan, language: str = "en", name: str = "") -> Marks:
    """The marks of a plan's members in the order of the data, as many as configured: of more, some of all parts of them, and
    of a ranking those that come first.

    ``name``: of the data set. Raises QuestionError as `execute`.
    """
    where, limit = release[Whereabouts], release.method.sets.limits.marks
    members = members_of(release[World], plan)
    place = where.places(members)
    begin, end = where.dates(members)
    placed, dated = place != NOWHERE, (begin != OPEN_BEGIN) | (end != OPEN_END)
    marked = np.flatnonzero(placed | dated)
    chosen = marked[:limit]
    if len(marked) > limit and plan.compute.kind != "rank":
        chosen = marked[np.arange(limit) * len(marked) // limit]  # over all: the first would be of one museum
    nodes, spots = members[chosen], np.unique(place[chosen][placed[chosen]])
    number = np.searchsorted(spots, place[chosen])
    places = tuple(
        Spot(release[Graph].iri(spot), plain(label), at.lat, at.lon, at.doubt)
        for spot, label in zip(
            spots.tolist(), labels_of(release, spots.astype(np.int32), language), strict=True
        )
        for at in (where.point(spot),)
    )
    return Marks(
        len(members),
        int(placed.sum()),
        int(dated.sum()),
        len(marked) - len(chosen),
        tuple(release[Graph].iris.take(pa.array(nodes)).to_pylist()),
        tuple(map(plain, labels_of(release, nodes, language))),
        _years(begin[chosen], OPEN_BEGIN),
        _years(end[chosen], OPEN_END),
        tuple(int(at) if has else None for at, has in zip(number, placed[chosen], strict=True)),
        places,
        release.id,
        name,
    )


def _years(days: Longs, unknown: int) -> tuple[int | None, ...]:
    """Astronomical years of days."""
    historical = bucket_of(np.where(days == unknown, 1, days), "year")
    years = np.where(historical < 0, historical + 1, historical)
    return tuple(
        year if known else None
        for year, known in zip(years.tolist(), (days != unknown).tolist(), strict=True)
    )


MOST_CHARACTERS = 2_000_000
"""Of the plans of all values together: ten of twelve facets of a plan with a few hundred IRIs."""
FEW = 5  # values that are shown even where each is of one member
FIXED = ("type", "class", "place", "maker", "owner", "century")


@dataclass(frozen=True)
class _Set:
    """What facets are counted of."""

    release: Release
    plan: Plan
    members: Ints
    wording: Wording
    reader: Reader
    base: dict[str, Any]
    known: Known = field(default_factory=dict)
    """What the members reach by the beginnings of ways, walked once for all facets."""

    def narrowed(self, constraint: dict[str, Any]) -> dict[str, Any]:
        """The plan with one more condition, all as plain values."""
        return self.base | {"where": [*self.base.get("where", ()), constraint]}

    def label(self, key: str) -> str:
        return self.wording.words.facets.get(key, key)

    @cached_property
    def categories(self) -> set[int]:
        """Bits of the members' categories, 0 among them where one has none."""
        return set(np.unique(self.release[Graph].category_of_node[self.members]).tolist())

    @cached_property
    def shown(self) -> int:
        """Values of a facet: fewer of a long plan, which stands in each of them."""
        config = self.release.method.sets.facets
        facets = len(FIXED) + config.relationships
        long = len(json.dumps(self.base, ensure_ascii=False))
        return max(1, min(config.values, MOST_CHARACTERS // (long * facets)))


def facets(
    release: Release, plan: Plan, language: str = "en", keys: Sequence[str] = (), name: str = ""
) -> Facets:
    """Facets of the plan's members, whatever it computes of them.

    ``keys``: some of `FIXED` or ids of relationships; empty for `FIXED` and, of sets that are not too large for it, the
    relationships that most members have. Facets that no member has a value of are left out, and where none are asked for by
    key those that count just what one before does. ``name``: of the data set. Raises QuestionError as `execute`.
    """
    listed = plan.model_copy(update={"compute": Compute()})
    members = members_of(release[World], listed)
    limit = release.method.sets.facets.largest
    base = plan_json(listed)
    asked = _Set(release, listed, members, Wording(release, language), Reader(release, language), base)
    found = tuple(_facets(asked, keys)) if 0 < len(members) <= limit else ()
    return Facets(base, len(members), found, len(members) <= limit, release.id, name)


def _facets(asked: _Set, keys: Sequence[str]) -> Iterator[Facet]:
    config = asked.release.method.sets.facets
    ways = {"place": config.place, "maker": config.maker, "owner": config.owner, "century": config.century}
    fixed = []
    for key in FIXED:
        if keys and key not in keys:
            continue
        facet, label = None, asked.label(key)
        if key == "type":
            facet = _by_way(asked, key, label, OF_TYPE)
        elif key == "class":
            facet = _by_class(asked, key, label)
        elif (way := _way(asked, ways[key])) is not None:
            facet = (_by_century if key == "century" else _by_way)(asked, key, label, way)
        if facet is not None:
            fixed.append(facet)
    yield from fixed
    if not keys and len(asked.members) > config.members:
        return
    taken = {id for by in ways.values() for ids in by.values() for id in ids}
    taken |= _general(asked.release[World].catalogue, taken)
    taken |= {one.id for one in asked.release[World].catalogue if one.label in config.hidden}
    yield from _relationships(asked, keys, () if keys else taken, fixed)


def _general(catalogue: Catalogue, ids: set[str]) -> set[str]:
    """The more general relationships of those with these ids: "by" says again who is told as maker."""
    above = {one.id: one.specialises for one in catalogue}
    found = set[str]()
    for id in ids:
        while id := above.get(id, ""):
            found.add(id)
    return found


def _way(asked: _Set, names: dict[str, tuple[str, ...]]) -> Way | None:
    """The configured ways of the members' categories, together."""
    release = asked.release
    present = {Category(bit).name for bit in asked.categories if bit}
    chosen = [id for name, ids in names.items() if name in present for id in ids]
    known = release[World].catalogue.by_id
    relations = tuple(dict.fromkeys(id for id in chosen if id in release.method.relations))
    relationships = tuple(dict.fromkeys(id for id in chosen if id in known))
    return Way(relations=relations, relationships=relationships) if relations or relationships else None


def _pairs(asked: _Set, way: Way) -> tuple[Longs, Longs]:
    """(place of the member, node that it leads to), sorted and distinct."""
    check()
    world = asked.release[World]
    if len(asked.members) < BLOCK:
        found = Walk(world, routes_of(world, way), asked.members, asked.known).pairs
    else:
        found = pairs(world, way, asked.members, literals=False)
    return found.index, found.cell


def _by_way(
    asked: _Set, key: str, label: str, way: Way, known: tuple[Longs, Longs] | None = None
) -> Facet | None:
    index, node = _pairs(asked, way) if known is None else known
    targets, count = _most_first(node)
    graph, related = asked.release[Graph], plan_json(Related(way=way))
    values = []
    for target, number in zip(targets[: asked.shown].tolist(), count.tolist(), strict=False):
        iri = graph.iri(target)
        plan = asked.narrowed(related | {"to": {"iris": [iri]}})
        values.append(FacetValue(asked.reader.named(target).label, iri, number, plan))
    return _facet(key, label, values, len(targets), _distinct(index))


def _facet(key: str, label: str, values: Iterable[FacetValue], total: int, members: int) -> Facet | None:
    return Facet(key, label, tuple(values), total, members) if total else None


def _by_class(asked: _Set, key: str, label: str) -> Facet | None:
    """Classes that members state, each with those of its sub-classes."""
    graph, values = asked.release[Graph], []
    once = {graph.class_name(one[0]): one for one in _stated_classes(asked.release, asked.members)}
    counted = sorted(once.values(), key=lambda one: (-one[2], one[0]))  # one class, in however many spellings
    for number, iri, count in counted[: asked.shown]:
        if asked.plan.target.classes:
            plan = asked.narrowed(plan_json(Member(plan=Plan(target=Target(classes=(iri,))))))
        else:
            target = asked.plan.target.model_copy(update={"classes": (iri,)})
            plan = plan_json(asked.plan.model_copy(update={"target": target}))
        values.append(FacetValue(graph.class_label(number, asked.wording.language), iri, count, plan))
    return _facet(key, label, values, len(counted), len(asked.members))


def _by_century(asked: _Set, key: str, label: str, way: Way) -> Facet | None:
    """Centuries that hold the whole of a member's date, as `Dated` counts it."""
    index, node = _pairs(asked, way)
    first, last = (side[node].astype(np.int64) for side in asked.release[World].extents)
    known = (first != OPEN_BEGIN) & (last != OPEN_END)
    century, until = (bucket_of(np.where(known, day, 1), "century") for day in (first, last))
    whole = known & (century == until)
    low = int(century.min()) if len(century) else 0
    keys = distinct(index[whole] << 32 | century[whole] - low)
    found, count = _most_first(keys & (1 << 32) - 1)
    values = []
    for number, members in zip((found + low).tolist(), count.tolist(), strict=True):
        year = (number - (number > 0)) * 100 + 1  # astronomical: the 1st century BC has the years -99 to 0
        period = year_interval(year, year + 99)
        plan = asked.narrowed(plan_json(Dated(way=way, begin=period.begin, end=period.end)))
        values.append(FacetValue(century_label(number, asked.wording.words), "", members, plan))
    return _facet(key, label, values[: asked.shown], len(values), _distinct(keys >> 32))


def _relationships(
    asked: _Set, keys: Sequence[str], taken: Iterable[str], before: Iterable[Facet]
) -> Iterator[Facet]:
    """Relationships by how many members have them, most first; Time is told by centuries. Where they are not asked for by
    key, those that count just the same as one before or one of ``before`` are left out."""
    left_out = set(taken)
    found = []
    for at, relationship in enumerate(asked.release[World].catalogue):
        chosen = relationship.id in keys if keys else relationship.id not in left_out
        fits = int(relationship.domain) in asked.categories and relationship.range != Category.Time
        if not (chosen and fits):
            continue
        way = Way(relationships=(relationship.id,))
        reached = _pairs(asked, way)
        if len(reached[0]):
            found.append((-_distinct(reached[0]), at, relationship.id, way, reached))
    found.sort(key=lambda one: one[:2])
    seen = [] if keys else list(before)
    left = len(found) if keys else asked.release.method.sets.facets.relationships
    for _, _, id, way, reached in found:
        facet = _by_way(asked, id, asked.wording.way(way), way, reached) if left else None
        if facet is None or (not keys and (_single(facet) or any(_say_the_same(facet, one) for one in seen))):
            continue
        seen.append(facet)
        left -= 1
        yield facet


def _say_the_same(one: Facet, other: Facet) -> bool:
    """Whether half of the values of either facet are those of the other, for as many members each."""
    own, others = (
        {(value.iri or value.label, value.count) for value in facet.values} for facet in (one, other)
    )
    return 2 * len(own & others) >= min(len(own), len(others))


def _single(facet: Facet) -> bool:
    """Whether a facet parts its members one by one: it has many values, each of one member."""
    return facet.total > FEW and facet.values[0].count == 1
