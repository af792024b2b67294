"""Works per actor, through the events that produced them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crmrag_query.config.build import Aggregation
from crmrag_query.graph.arrays import Adjacency, Ints


def works_per_actor(adjacency: Adjacency, steps: Aggregation) -> npt.NDArray[np.int64]:
    """Distinct works of each node as actor, int64 [n], by way of events (facts: method, Build)."""
    event_work = edges(adjacency, steps.work_properties)[::-1]
    events, actors = edges(adjacency, steps.actor_properties)
    order = np.argsort(event_work[0], kind="stable")
    event, work = event_work[0][order], event_work[1][order]
    low, high = np.searchsorted(event, events, "left"), np.searchsorted(event, events, "right")
    count = high - low
    at = np.repeat(low, count) + np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    pairs = np.unique(np.repeat(actors.astype(np.int64), count) * adjacency.nodes + work[at])
    return np.bincount(pairs // max(adjacency.nodes, 1), minlength=adjacency.nodes)


def edges(adjacency: Adjacency, codes: Sequence[str]) -> tuple[Ints, Ints]:
    """(subject, object) of all triples of these properties, and of their inverses turned round."""
    subjects, objects = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for code in codes:
        for number in adjacency.by_code.get(code, ()):
            _append(adjacency, number, subjects, objects)
        for number in adjacency.by_code.get(inverse(code), ()):
            _append(adjacency, number, objects, subjects)
    return np.concatenate(subjects), np.concatenate(objects)


def inverse(code: str) -> str:
    """Code of the inverse property: ``P108`` and ``P108i``."""
    return code[:-1] if code.endswith("i") else code + "i"


def _append(adjacency: Adjacency, prop: int, first: list[Ints], second: list[Ints]) -> None:
    rows = adjacency.forward
    low, high = int(rows.prop[prop]), int(rows.prop[prop + 1])
    first.append(np.repeat(rows.row[low:high], np.diff(rows.ptr[low : high + 1])))
    second.append(rows.val[rows.ptr[low] : rows.ptr[high]])
