"""Which documents get vectors first: those that are most likely asked for, and that say most where they are found.

A release may have vectors of the first 1, 5, 20 or 50 per cent in this order. It follows from the data and the method alone,
so that such a release can be made again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from crmrag_query.documents.documents import Documents
from crmrag_query.graph.arrays import FLAG_LABELLED, Ints

SHARES = (1, 5, 20, 50, 100)
"""Per cent of the documents whose vectors make a better release."""
SMOOTHING = 60  # ranks are joined by 1 / (60 + rank), as elsewhere: Cormack, Clarke & Büttcher 2009


def by_importance(documents: Documents, pagerank: npt.NDArray[np.floating]) -> Ints:
    """The documents, int32 [documents], the most important first.

    Those of entities with a name of their own come before all others; then those that are central, by their entities'
    ``pagerank`` [nodes], and rich, by their characters: both ranks are fused. Equals come in their own order.
    """
    entities = documents.entities
    named = (documents.graph.flags[entities] & FLAG_LABELLED) != 0
    length = pc.utf8_length(documents.table.column("text")).to_numpy()
    fused = 1 / (SMOOTHING + _ranks(pagerank[entities])) + 1 / (SMOOTHING + _ranks(length))
    return np.lexsort((-fused, ~named)).astype(np.int32)


def _ranks(values: npt.NDArray[np.number]) -> npt.NDArray[np.int64]:
    """From 1 for the highest."""
    found = np.empty(len(values), np.int64)
    found[np.argsort(-values.astype(np.float64), kind="stable")] = np.arange(1, len(values) + 1)
    return found


def shares_of(order: Ints) -> npt.NDArray[np.uint8]:
    """For each document of an order the first of ``SHARES`` that it is among, uint8 [documents]; each has at least one."""
    found = np.empty(len(order), np.uint8)
    for share in reversed(SHARES):
        found[order[: -(-len(order) * share // 100)]] = share
    return found
