"""Facets of a set: how many members are of each type and class, lead to each place, maker, owner, other entity, century.

Counts are exact: each value's plan gives just as many members.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.dates.calendar import year_interval
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.buckets import bucket_of
from crmrag_query.plans.classes import class_numbers
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import Compute, Dated, Member, Plan, Related, Target, Way
from crmrag_query.plans.routes import routes_of
from crmrag_query.plans.shortest import Known, Walk
from crmrag_query.plans.ways import OF_TYPE, pairs
from crmrag_query.plans.world import distinct, ranges
from crmrag_query.relationships.frontier import BLOCK
from crmrag_query.sets.cells import Reader
from crmrag_query.sets.describe import plan_json
from crmrag_query.sets.records import Facet, Facets, FacetValue
from crmrag_query.sets.tables import century_label
from crmrag_query.sets.wording import Wording

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

    @property
    def shown(self) -> int:
        return self.release.method.sets.facets.values


def facets(
    release: Release, plan: Plan, language: str = "en", keys: Sequence[str] = (), name: str = ""
) -> Facets:
    """Facets of the plan's members, whatever it computes of them.

    ``keys``: some of `FIXED` or ids of relationships; empty for `FIXED` and, of sets that are not too large for it, the
    relationships that most members have. Facets that no member has a value of are left out, and where none are asked for by
    key those that count just what one before does. ``name``: of the data set. Raises QuestionError as `execute`.
    """
    listed = plan.model_copy(update={"compute": Compute()})
    members = members_of(release.world, listed)
    limit = release.method.sets.facets.largest
    base = plan_json(listed)
    asked = _Set(release, listed, members, Wording(release, language), Reader(release, language), base)
    found = tuple(_facets(asked, keys)) if 0 < len(members) <= limit else ()
    return Facets(base, len(members), found, len(members) <= limit, release.id, name)


def _facets(asked: _Set, keys: Sequence[str]) -> Iterator[Facet]:
    config = asked.release.method.sets.facets
    ways = {"place": config.place, "maker": config.maker, "owner": config.owner}
    told = []
    for key in FIXED:
        if keys and key not in keys:
            continue
        facet = None
        if key == "type":
            facet = _by_way(asked, key, asked.label(key), OF_TYPE)
        elif key == "class":
            facet = _by_class(asked)
        else:
            way = _way(asked, config.century if key == "century" else ways[key])
            if way is not None:
                facet = (_by_century if key == "century" else _by_entity)(asked, key, way)
        if facet is not None:
            told.append(facet)
    yield from told
    if not keys and len(asked.members) > config.members:
        return
    fixed = (config.place, config.maker, config.owner, config.century)
    taken = {id for by in fixed for ids in by.values() for id in ids}
    taken |= {one.id for one in asked.release.catalogue if one.label in config.hidden}
    yield from _relationships(asked, keys, () if keys else taken, told)


def _way(asked: _Set, names: dict[str, tuple[str, ...]]) -> Way | None:
    """The configured ways of the members' categories, together."""
    release = asked.release
    present = {Category(bit).name for bit in _categories(asked) if bit}
    chosen = [id for name, ids in names.items() if name in present for id in ids]
    known = {one.id for one in release.catalogue}
    relations = tuple(dict.fromkeys(id for id in chosen if id in release.method.relations))
    relationships = tuple(dict.fromkeys(id for id in chosen if id in known))
    return Way(relations=relations, relationships=relationships) if relations or relationships else None


def _categories(asked: _Set) -> list[int]:
    found: list[int] = np.unique(asked.release.graph.category_of_node[asked.members]).tolist()
    return found


def _pairs(asked: _Set, way: Way) -> tuple[Longs, Longs]:
    """(place of the member, node that it leads to), sorted and distinct."""
    world = asked.release.world
    if len(asked.members) < BLOCK:
        found = Walk(world, routes_of(world, way), asked.members, asked.known).pairs
    else:
        found = pairs(world, way, asked.members, literals=False)
    return found.index, found.cell


def _by_entity(asked: _Set, key: str, way: Way) -> Facet | None:
    return _by_way(asked, key, asked.label(key), way)


def _by_way(
    asked: _Set, key: str, label: str, way: Way, known: tuple[Longs, Longs] | None = None
) -> Facet | None:
    index, node = _pairs(asked, way) if known is None else known
    targets, count = _counted(np.sort(node))
    order = np.lexsort((targets, -count))[: asked.shown]
    graph, related = asked.release.graph, plan_json(Related(way=way))
    values = []
    for target, number in zip(targets[order].tolist(), count[order].tolist(), strict=True):
        iri = graph.iri(target)
        plan = asked.narrowed(related | {"to": {"iris": [iri]}})
        values.append(FacetValue(asked.reader.named(target).label, iri, number, plan))
    return _facet(key, label, values, len(targets), len(_counted(index)[0]))


def _counted(ordered: Longs) -> tuple[Longs, Longs]:
    """Distinct values of ascending ones, and how often each occurs. (``np.unique`` hashes, which is slower.)"""
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(ordered) else ordered
    return ordered[first], np.diff(np.append(first, len(ordered))).astype(np.int64)


def _facet(key: str, label: str, values: Iterable[FacetValue], total: int, members: int) -> Facet | None:
    return Facet(key, label, tuple(values), total, members) if total else None


def _by_class(asked: _Set) -> Facet | None:
    """Classes that members state, each with those of its sub-classes."""
    world, graph = asked.release.world, asked.release.graph
    stated = {number for node in (asked.members,) for number in _classes(asked, node)}
    counted = []
    for number in sorted(stated):
        iri = graph.class_iri(number)
        has = world.of_classes(sorted(class_numbers(world, iri) or {number}))
        counted.append((-int(has[asked.members].sum()), number, iri))
    values = []
    for negative, number, iri in sorted(counted)[: asked.shown]:
        if asked.plan.target.classes:
            plan = asked.narrowed(plan_json(Member(plan=Plan(target=Target(classes=(iri,))))))
        else:
            target = asked.plan.target.model_copy(update={"classes": (iri,)})
            plan = plan_json(asked.plan.model_copy(update={"target": target}))
        label = graph.class_label(number, asked.wording.language)
        values.append(FacetValue(label, iri, -negative, plan))
    return _facet("class", asked.label("class"), values, len(counted), len(asked.members))


def _classes(asked: _Set, nodes: Ints) -> list[int]:
    ptr, value = asked.release.graph.type_rows
    at = nodes.astype(np.int64)
    found: list[int] = np.unique(value[ranges(ptr[at], ptr[at + 1] - ptr[at])]).tolist()
    return found


def _by_century(asked: _Set, key: str, way: Way) -> Facet | None:
    """Centuries that hold the whole of a member's date, as `Dated` counts it."""
    index, node = _pairs(asked, way)
    first, last = (side[node].astype(np.int64) for side in asked.release.world.extents)
    known = (first != OPEN_BEGIN) & (last != OPEN_END)
    century, until = (bucket_of(np.where(known, day, 1), "century") for day in (first, last))
    whole = known & (century == until)
    low = int(century.min()) if len(century) else 0
    keys = distinct(index[whole] << 32 | century[whole] - low)
    found, count = _counted(np.sort(keys & (1 << 32) - 1))
    values = []
    for number, members in sorted(
        zip((found + low).tolist(), count.tolist(), strict=True), key=lambda one: (-one[1], one[0])
    ):
        year = (number - (number > 0)) * 100 + 1  # astronomical: the 1st century BC has the years -99 to 0
        period = year_interval(year, year + 99)
        plan = asked.narrowed(plan_json(Dated(way=way, begin=period.begin, end=period.end)))
        values.append(FacetValue(century_label(number, asked.wording.words), "", members, plan))
    members = len(_counted(keys >> 32)[0])
    return _facet(key, asked.label(key), values[: asked.shown], len(values), members)


def _relationships(
    asked: _Set, keys: Sequence[str], taken: Iterable[str], told: Iterable[Facet]
) -> Iterator[Facet]:
    """Relationships by how many members have them, most first; Time is told by centuries. Where they are not asked for by
    key, those that count just the same as one before or of ``told`` are left out."""
    bits, left_out = set(_categories(asked)), set(taken)
    found = []
    for at, relationship in enumerate(asked.release.catalogue):
        chosen = relationship.id in keys if keys else relationship.id not in left_out
        if not chosen or int(relationship.domain) not in bits or relationship.range == Category.Time:
            continue
        way = Way(relationships=(relationship.id,))
        led = _pairs(asked, way)
        if len(led[0]):
            found.append((-len(_counted(led[0])[0]), at, relationship.id, way, led))
    found.sort(key=lambda one: one[:2])
    seen = set() if keys else {_counts(facet) for facet in told}
    left = len(found) if keys else asked.release.method.sets.facets.relationships
    for _, _, id, way, led in found:
        facet = _by_way(asked, id, asked.wording.way(way), way, led) if left else None
        if facet is None or (not keys and _counts(facet) in seen):
            continue
        seen.add(_counts(facet))
        left -= 1
        yield facet


def _counts(facet: Facet) -> tuple[object, ...]:
    """What two facets that say the same have in common."""
    return (
        facet.total,
        facet.members,
        tuple((value.iri or value.label, value.count) for value in facet.values),
    )
