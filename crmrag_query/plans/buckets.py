"""Years, decades and centuries of dates."""

from __future__ import annotations

import numpy as np

from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END
from crmrag_query.plans.records import Edge, GroupedBy
from crmrag_query.plans.world import Mask, World

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
