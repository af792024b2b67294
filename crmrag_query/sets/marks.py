"""Where and when the members of a set were: what a map and a line of time show of a whole set, in columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from crmrag_query.answers.whereabouts import NOWHERE
from crmrag_query.artifacts.release import Release
from crmrag_query.context.text import plain
from crmrag_query.graph.arrays import Longs
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END
from crmrag_query.plans.buckets import bucket_of
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import Plan
from crmrag_query.sets.order import labels_of
from crmrag_query.sets.records import Marks, Spot


def marks(release: Release, plan: Plan, language: str = "en", name: str = "") -> Marks:
    """The marks of a plan's members in the order of the data, as many as configured: of more, some of all parts of them, and
    of a ranking those that come first.

    ``name``: of the data set. Raises QuestionError as `execute`.
    """
    where, limit = release.whereabouts, release.method.sets.limits.marks
    members = members_of(release.world, plan)
    place = where.places(members)
    begin, end = where.dates(members)
    placed, dated = place != NOWHERE, (begin != OPEN_BEGIN) | (end != OPEN_END)
    marked = np.flatnonzero(placed | dated)
    told = marked[:limit] if plan.compute.kind == "rank" else _some(marked, limit)
    nodes, spots = members[told], np.unique(place[told][placed[told]])
    number = np.searchsorted(spots, place[told])
    return Marks(
        len(members),
        int(placed.sum()),
        int(dated.sum()),
        len(marked) - len(told),
        tuple(release.graph.iris.take(pa.array(nodes)).to_pylist()),
        tuple(map(plain, labels_of(release, nodes, language))),
        _years(begin[told], OPEN_BEGIN),
        _years(end[told], OPEN_END),
        tuple(int(at) if has else None for at, has in zip(number, placed[told], strict=True)),
        _spots(release, spots, language),
        release.id,
        name,
    )


def _some(places: Longs, limit: int) -> Longs:
    """At most so many of these, evenly over all: the first would be those of one museum."""
    if len(places) <= limit:
        return places
    return places[np.arange(limit) * len(places) // limit]


def _years(days: Longs, unknown: int) -> tuple[int | None, ...]:
    """Astronomical years of days."""
    historical = bucket_of(np.where(days == unknown, 1, days), "year")
    years = np.where(historical < 0, historical + 1, historical)
    return tuple(
        year if known else None
        for year, known in zip(years.tolist(), (days != unknown).tolist(), strict=True)
    )


def _spots(release: Release, nodes: Longs, language: str) -> tuple[Spot, ...]:
    labels = map(plain, labels_of(release, nodes.astype(np.int32), language))
    return tuple(
        Spot(release.graph.iri(node), label, *release.whereabouts.point(node))
        for node, label in zip(nodes.tolist(), labels, strict=True)
    )
