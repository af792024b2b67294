"""Sets of named graphs: every triple remembers who states it by the number of one such set."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Ints, Longs


def number_groups(first: Longs, values: Ints) -> tuple[list[tuple[int, ...]], Ints]:
    """Distinct groups of consecutive values, and for each group which of them it is.

    ``first`` int [k]: where each group starts in ``values``; a group may be empty. The distinct groups are in order of
    length, then value.
    """
    size = np.diff(np.append(first, len(values)))
    which = np.zeros(len(first), np.int32)
    distinct: list[tuple[int, ...]] = []
    for width in np.unique(size).tolist():
        groups = np.flatnonzero(size == width)
        rows, inverse = _distinct_rows(values[first[groups][:, None] + np.arange(width)])
        which[groups] = inverse + len(distinct)
        distinct.extend(tuple(row) for row in rows.tolist())
    return distinct, which


def _distinct_rows(rows: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], Longs]:
    if rows.shape[1] == 0:
        return rows[:1], np.zeros(len(rows), np.int64)
    if rows.shape[1] == 1:
        values, inverse = np.unique(rows[:, 0], return_inverse=True)
        return values[:, None], inverse
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    return distinct, inverse.reshape(-1)


@dataclass
class GraphSets:
    """Collects sets of graph numbers and gives each a provisional number; 0 is the default graph alone."""

    found: dict[tuple[int, ...], int] = field(default_factory=lambda: {(0,): 0})

    def number(self, first: Longs, graph: Ints) -> Ints:
        """Provisional set of each group; ``graph`` ascending within a group, ``first`` where each group starts."""
        distinct, which = number_groups(first, graph)
        known = [self.found.setdefault(group, len(self.found)) for group in distinct]
        return np.array(known, np.int32)[which]

    def final(self, names: tuple[str, ...]) -> tuple[list[list[str]], Ints]:
        """The sets as names in their final order, and the final number of each provisional one.

        The default graph alone is set 0 and has no names; together with named graphs it is "".
        """
        ordered = sorted(self.found, key=lambda key: (key != (0,), key))
        renumbered = np.empty(len(ordered), np.int32)
        for number, key in enumerate(ordered):
            renumbered[self.found[key]] = number
        return [[] if key == (0,) else [names[graph] for graph in key] for key in ordered], renumbered
